"""Column types, and what text may be kept: SQLite holds UTF-8, so a lone surrogate is kept as its escape."""

import dataclasses
import zlib
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import DateTime, Dialect, LargeBinary, Text
from sqlalchemy.types import TypeDecorator

T = TypeVar("T")
LARGE = 1024
"""Bytes from which a text is compressed."""


def storable_text(text: str) -> str:
    r"""The text as UTF-8 can hold it: a lone surrogate (a byte that was no UTF-8) becomes its escape, `\udcff`."""
    return text.encode("utf-8", "backslashreplace").decode()


def storable(value: T) -> T:
    """The value (a dataclass or a container of them) with every text in it storable."""
    changed: Any = value
    if isinstance(value, str):
        # StrEnum members are plain words already, and must stay members
        changed = storable_text(value) if type(value) is str else value
    elif isinstance(value, tuple | list):
        changed = type(value)(storable(item) for item in value)
    elif isinstance(value, dict):
        changed = {storable(key): storable(item) for key, item in value.items()}
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        changed = dataclasses.replace(value, **{field.name: storable(getattr(value, field.name)) for field in fields})
    return changed  # type: ignore[no-any-return]  # each branch keeps the type it was given


class UtcDateTime(TypeDecorator[datetime]):
    """An instant, kept as UTC without a zone, handed out with it. A naive datetime is refused: it names no instant."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.replace(tzinfo=UTC)


class PlainText(TypeDecorator[str]):
    """Text that any server may have written."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else storable_text(value)


class LongText(TypeDecorator[str]):
    """Raw outputs and documents: UTF-8 behind `t`, or from LARGE bytes on its zlib stream behind `z`."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        if value is None:
            return None
        text = value.encode("utf-8", "backslashreplace")
        return b"z" + zlib.compress(text) if len(text) >= LARGE else b"t" + text

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None:
            return None
        return (zlib.decompress(value[1:]) if value[:1] == b"z" else value[1:]).decode()

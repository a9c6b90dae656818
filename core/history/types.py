"""The types of the history's values: columns on SQLite and PostgreSQL alike, and what a value must be to be ours.

Neither holds a lone surrogate, which is kept as its escape; PostgreSQL's text no NUL, for which it has a stand-in.
"""

import json
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import BigInteger, DateTime, Dialect, Float, Integer, LargeBinary, Text
from sqlalchemy.types import TypeDecorator

from core.documents import each_text, redacted_text, storable_text

T = TypeVar("T")
SERVER = "postgresql"
"""What SQLAlchemy calls PostgreSQL."""
WHOLE = Integer().with_variant(BigInteger(), SERVER)
"""A whole number of 64 bits, as SQLite's are."""
TEXT = Text().with_variant(Text(collation="C"), SERVER)
"""A text that is sorted by its bytes, as SQLite does, whatever the database of the server sorts by."""
_MARK = "\ufffe"
_NUL = f"{_MARK}0"
"""What stands for a NUL on a server; no character has this mark, and where a text has it, it is doubled by an `m`."""
LARGE = 1024
"""Bytes from which a text is compressed."""
LARGEST = 256 * 2**20
"""Bytes of the longest text: of a command's output 64 MiB are kept, each byte of which may be written as four."""


def storable(value: T) -> T:
    """The value (a dataclass or a container of them) with every text in it storable."""
    return each_text(value, storable_text)


class UtcDateTime(TypeDecorator[datetime]):
    """An instant, kept as UTC without a zone, handed out with it. A naive datetime is refused: it names no instant."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  SQLAlchemy calls it so
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  SQLAlchemy calls it so
        return None if value is None else value.replace(tzinfo=UTC)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:
        """As SQLAlchemy's own, which reads the text of an instant and raises what it meets there."""
        read = super().result_processor(dialect, coltype)

        def process(value: Any) -> datetime | None:
            try:
                return value if read is None else read(value)
            except (TypeError, ValueError) as error:
                raise GarbledError(f"{value!r} is not a point in time") from error

        return process


class WholeNumber(TypeDecorator[int]):
    """A whole number."""

    impl = WHOLE
    cache_ok = True

    def process_result_value(self, value: int | None, dialect: Dialect) -> int | None:  # noqa: ARG002  SQLAlchemy calls it so
        return None if value is None else of_type(int, value, "whole number")


class Number(TypeDecorator[float]):
    """A number."""

    impl = Float
    cache_ok = True

    def process_result_value(self, value: float | None, dialect: Dialect) -> float | None:  # noqa: ARG002  SQLAlchemy calls it so
        return None if value is None else of_type(float, value, "number")


class PlainText(TypeDecorator[str]):
    """Text that any server may have written."""

    impl = TEXT
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        text = storable_text(value)
        return text.replace(_MARK, _MARK + "m").replace("\0", _NUL) if dialect.name == SERVER else text

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        text = of_type(str, value, "text")
        return text.replace(_NUL, "\0").replace(_MARK + "m", _MARK) if dialect.name == SERVER else text


class LongText(TypeDecorator[str]):
    """Raw outputs and documents: UTF-8 behind `t`, or from LARGE bytes on its zlib stream behind `z`."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002  SQLAlchemy calls it so
        if value is None:
            return None
        text = value.encode("utf-8", "backslashreplace")
        return b"z" + zlib.compress(text) if len(text) >= LARGE else b"t" + text

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:  # noqa: ARG002  SQLAlchemy calls it so
        if value is None:
            return None
        try:
            return unpacked(value).decode()
        except UnicodeDecodeError as error:
            raise GarbledError(f"a packed text is not UTF-8: {error}") from error


def unpacked(value: object) -> bytes:
    """The text of a LongText, up to a bound: a history from elsewhere may hold what becomes gigabytes."""
    packed = of_type(bytes, value, "packed text")
    if packed[:1] != b"z":
        return packed[1:]
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(packed[1:], LARGEST)
    except zlib.error as error:
        raise GarbledError(f"a text in it is damaged: {error}") from error
    if not stream.eof:
        raise GarbledError(f"a text in it is cut off, or longer than the {LARGEST >> 20} MiB that pghaul keeps of any")
    return text


class _Said(str):
    """Text that has passed the filter of secrets."""

    __slots__ = ()


def redacted(value: T) -> T:
    """The value with every text in it storable and without secrets.

    The store does so before it begins to write: a long text takes its time, and other programs would wait meanwhile.
    """
    return each_text(value, _said)


def _said(text: str) -> str:
    return text if isinstance(text, _Said) else _Said(redacted_text(text))


class SaidText(PlainText):
    """What a server or a command said, or was told: without the secrets in it."""

    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return super().process_bind_param(None if value is None else _said(value), dialect)


class LongSaidText(LongText):
    """The same, where it may be long."""

    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return super().process_bind_param(None if value is None else _said(value), dialect)


# What a value in the history must be to be one of pghaul's: a file from elsewhere, or a damaged one, holds others.

E = TypeVar("E", bound=StrEnum)


class GarbledError(Exception):
    """A value in the history that no pghaul has written."""


def member(kind: type[E], word: str) -> E:
    """The member of that word."""
    try:
        return kind(word)
    except ValueError as error:
        raise GarbledError(f"unknown {kind.__name__.lower()}: {word!r}") from error


def of_type(kind: type[T], value: object, what: str) -> T:
    """The value, which SQLite hands out as whatever it was put in as, in whatever column."""
    if isinstance(value, kind):
        return value
    raise GarbledError(f"the value {value!r} is not a {what}")


def parsed(kind: type[T], text: str) -> T:
    """The JSON document, which is of that type at its outmost."""
    try:
        return of_type(kind, json.loads(text), kind.__name__)
    except (ValueError, RecursionError) as error:
        raise GarbledError(f"{text[:80]!r} is not JSON: {error}") from error

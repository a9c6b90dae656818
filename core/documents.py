"""Dataclasses to JSON and back: for `--json`, for documents kept in the history, for files that a DBA edits.

pydantic validates at this edge alone; inside, the dataclasses are plain. It loads with the first document: most
commands read and write none.
"""

import dataclasses
import json
import re
import threading
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import InputError
from core.redaction import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import TypeAdapter

T = TypeVar("T")

_loading = threading.Lock()
"""Held while pydantic is imported, which goes on while it is used: its modules import each other inside of functions.
If two threads did so, Python would let one of them go on with a module of which a part is still missing."""


def to_plain(value: object) -> Any:
    """A dataclass (or a container of them) as dicts, lists, strings, numbers, booleans and None."""
    return _adapter(type(value)).dump_python(value, mode="json")


def dump(value: object, *, indent: int | None = None) -> str:
    """A dataclass (or a container of them) as one JSON document; a byte that was no UTF-8 is an escape there."""
    try:
        return _adapter(type(value)).dump_json(value, indent=indent).decode()
    except ValueError:  # pydantic's error for a lone surrogate, which a server's file names may hold
        return json.dumps(to_plain(value), indent=indent)


def load(kind: type[T], text: str | bytes) -> T:
    """The dataclass `kind` from a JSON document; raises InputError that names each wrong field by its path."""
    adapter = _adapter(kind)
    from pydantic import ValidationError  # behind the adapter, for which it was loaded

    try:
        result: T = adapter.validate_json(text)
    except ValidationError as error:
        found = "; ".join(
            f"{'.'.join(str(part) for part in item['loc']) or 'document'}: {_words(item['type'], item['msg'])}"
            for item in error.errors(include_url=False, include_input=False)
        )
        raise InputError(f"this is no valid {_name(kind)}: {found}") from error
    return result


def each_text(value: T, change: "Callable[[str], str]") -> T:
    """The value (a dataclass or a container of them) with every text in it changed."""
    changed: Any = value
    if isinstance(value, str):
        # StrEnum members are plain words already, and must stay members
        changed = change(value) if type(value) is str else value
    elif isinstance(value, tuple | list):
        changed = type(value)(each_text(item, change) for item in value)
    elif isinstance(value, dict):
        changed = {each_text(key, change): each_text(item, change) for key, item in value.items()}
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        changed = dataclasses.replace(value, **each_text(fields, change))
    return changed  # type: ignore[no-any-return]  # each branch keeps the type it was given


def storable_text(text: str) -> str:
    r"""Return the text as a file can hold it: a lone surrogate, for a byte that was no UTF-8, as `\udcff`."""
    return text.encode("utf-8", "backslashreplace").decode()


def redacted_text(text: str) -> str:
    """Return what a server or a command said as it is kept: storable, and without secrets."""
    return storable_text(without_secrets(text))


def _made(kind: Any) -> "TypeAdapter[Any]":
    with _loading:
        from pydantic import TypeAdapter

        return TypeAdapter(kind)


_adapter: "Callable[[Any], TypeAdapter[Any]]" = cache(_made)
"""Made once a kind: for facts that takes a tenth of a second, in which no other thread runs."""


def _name(kind: type) -> str:
    """A dataclass's name in plain words: `suite file`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).lower()


def _words(problem: str, message: str) -> str:
    return "it is missing" if problem == "missing" else message[:1].lower() + message[1:]

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
    from collections.abc import Callable, Mapping

    from pydantic import TypeAdapter

T = TypeVar("T")

_loading = threading.Lock()
"""Held while pydantic is imported, which goes on while it is used: its modules import each other inside of functions.
If two threads did so, Python would let one of them go on with a module of which a part is still missing."""


PROBLEMS = {
    "missing": "it is missing",
    "unexpected_keyword_argument": "it is not allowed here",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "it must be a whole number"),
    "int_parsing_size": "the number is too large",
    **dict.fromkeys(("float_type", "float_parsing"), "it must be a number"),
    "string_type": "it must be a text",
    **dict.fromkeys(("bool_type", "bool_parsing"), "it must be true or false"),
    **dict.fromkeys(("list_type", "tuple_type", "frozen_set_type"), "it must be a list"),
    "too_long": "the list is too long",
    **dict.fromkeys(("dict_type", "dataclass_type"), "it must be a table"),
    **dict.fromkeys(("datetime_type", "datetime_parsing", "datetime_from_date_parsing"), "it must be a point in time"),
    **dict.fromkeys(("enum", "literal_error"), "it must be one of {expected}"),
    "json_invalid": "it is no valid JSON",
}
"""What is wrong with a field, by the type of the error (https://docs.pydantic.dev/latest/errors/validation_errors/)."""
OTHER_PROBLEM = "its value cannot be used"


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
    """The dataclass `kind` from a JSON document; raises InputError that names each wrong field by its path.

    What pydantic says itself stands behind it, so that one can search for it.
    """
    adapter = _adapter(kind)
    from pydantic import ValidationError  # behind the adapter, for which it was loaded

    try:
        result: T = adapter.validate_json(text)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        found = "; ".join(_problem(each["loc"], each["type"], each.get("ctx", {})) for each in errors)
        said = "; ".join(dict.fromkeys(each["msg"] for each in errors))
        raise InputError(f"this is no valid {_name(kind)}: {found} (pydantic says: {said})") from error
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


def _problem(location: tuple[int | str, ...], kind: str, context: "Mapping[str, Any]") -> str:
    """The path of a field and what is wrong with it; of the whole document only the latter."""
    values = {name: str(value).replace("' or '", "', '") for name, value in context.items()}
    # a dataclass of pghaul's own has refused its values, in a sentence of its own
    words = values["error"] if kind == "value_error" else PROBLEMS.get(kind, OTHER_PROBLEM).format(**values)
    return f"{'.'.join(map(str, location))}: {words}" if location else words

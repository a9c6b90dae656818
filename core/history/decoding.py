"""What a value in the history must be to be one of pghaul's: a file from elsewhere, or a damaged one, holds others."""

import json
from enum import StrEnum
from typing import TypeVar

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")


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
    raise GarbledError(f"{value!r} is not a {what}")


def parsed(kind: type[T], text: str) -> T:
    """The JSON document, which is of that type at its outmost."""
    try:
        return of_type(kind, json.loads(text), kind.__name__)
    except (ValueError, RecursionError) as error:
        raise GarbledError(f"{text[:80]!r} is not JSON: {error}") from error

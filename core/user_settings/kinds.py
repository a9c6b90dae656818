"""The kinds of values that a setting takes: what each refuses, and how it is typed and described."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

Value = str | bool | int | None
"""What a setting holds; None: nothing, as where a file does not name it."""

_SHOWN = 60


class Kind(Protocol):
    """What a setting takes."""

    def problem(self, value: object) -> str:
        """Return what is wrong with a value of the file, as it follows the name of the setting; empty if nothing is."""

    def typed(self, text: str) -> Value:
        """Return the value that was typed. What is none is returned as it is, for `problem` to name."""

    def describe(self) -> str:
        """Return which values are allowed."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words.

    Attributes:
        titles: returns the words, each with what the window calls it.
    """

    titles: Callable[[], Mapping[str, str]]

    def problem(self, value: object) -> str:
        words = tuple(self.titles())
        return (
            "" if value in words and isinstance(value, str) else f"must be one of {', '.join(words)}, not {said(value)}"
        )

    def typed(self, text: str) -> Value:
        return text

    def describe(self) -> str:
        return ", ".join(self.titles())


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text. `least`: how many characters it has at least."""

    longest: int
    least: int = 0

    def problem(self, value: object) -> str:
        if not isinstance(value, str):
            return f"must be a text, not {said(value)}"
        if len(value) < self.least:
            return "must not be empty"
        if len(value) > self.longest:
            return f"must not be longer than {self.longest} characters"
        return "" if value.isprintable() else "must be a single line without control characters"

    def typed(self, text: str) -> Value:
        return text

    def describe(self) -> str:
        return f"a text of {f'{self.least} to' if self.least else 'at most'} {self.longest} characters"


@dataclass(frozen=True, slots=True)
class File:
    """The path of a file, or empty. It does not depend on the folder in which pghaul is started."""

    def problem(self, value: object) -> str:
        if not isinstance(value, str):
            return f"must be a text, not {said(value)}"
        if not value.isprintable():
            return "must be a single line without control characters"
        fits = not value or value.startswith("~/") or Path(value).is_absolute()
        return "" if fits else f"must be an absolute path, or begin with ~/, not {said(value)}"

    def typed(self, text: str) -> Value:
        return text

    def describe(self) -> str:
        return "an absolute path, or one that begins with ~/"


@dataclass(frozen=True, slots=True)
class Switch:
    """Yes or no."""

    def problem(self, value: object) -> str:
        return "" if isinstance(value, bool) else f"must be true or false, not {said(value)}"

    def typed(self, text: str) -> Value:
        return {"true": True, "false": False}.get(text, text)

    def describe(self) -> str:
        return "true, false"


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number. `unit`: of it, empty for a count."""

    least: int
    most: int
    unit: str = ""

    def problem(self, value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, int):
            return f"must be a whole number, not {said(value)}"
        inside = self.least <= value <= self.most
        return "" if inside else f"must be from {self.least} to {self.most}, not {said(value)}"

    def typed(self, text: str) -> Value:
        return int(text) if text.isdecimal() and text.isascii() and len(text) < _SHOWN else text

    def describe(self) -> str:
        return f"{self.least} to {self.most}{f' {self.unit}' if self.unit else ''}"


DECLARED: Final = "declared"
"""The name in the metadata of a field under which its declaration stands."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a setting means, beside its name and default.

    Attributes:
        title: the label in the window.
        text: a sentence, for the window and the manual.
        absent: what holds where there is no value.
    """

    kind: Kind
    title: str
    text: str
    absent: str = ""


def said(value: object) -> str:
    """Return a value of the file as a message quotes it."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):  # a number or a list without end
        text = type(value).__name__
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"

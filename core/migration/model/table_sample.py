"""What the probes of dump & restore print of the tables that they sampled, and how it is read. SI base units."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TABLE = re.compile(r"^table (\d{1,2}) (\d{1,19}) (\d{1,19}) (\d{1,19})$", re.MULTILINE)
_COLUMNS = re.compile(
    r"^columns (?P<number>\d{1,2})(?P<columns>(?: \d{1,5}:[A-Za-z0-9_]{1,63}){1,1700})$", re.MULTILINE
)
_KEY = re.compile(r"^key (?P<number>\d{1,2})(?P<places>(?: \d{1,5}){1,40})$", re.MULTILINE)
_LOCKED = re.compile(r"^locked (.+)$", re.MULTILINE)
_MARK = re.compile(
    r'^"pghaul (?P<name>[a-z]+) (?P<number>\d{1,2})(?P<values>(?: \d{1,19}(?:\.\d{1,9})?){0,2})"$', re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Sampled:
    """A table of a sample: `bytes` of its pages, or of its index, that took `seconds`; `text`: of its rows, by COPY;
    zero where that was not told."""

    bytes: int
    seconds: float
    text: int = 0


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of a table that were kept: its columns, place and type; the places of those that an index is over."""

    columns: tuple[tuple[int, str], ...]
    key: tuple[int, ...]


def copied(said: str) -> dict[int, Sampled]:
    """By number of the table what COPY put out on old."""
    found = (tuple(map(int, each)) for each in _TABLE.findall(said))
    return {number: Sampled(size, taken / 1e9, text) for number, size, text, taken in found if taken and size}


def left_out(said: str) -> tuple[str, ...]:
    """The tables that were left out, as somebody had them locked, by their names as SQL has them."""
    return tuple(_LOCKED.findall(said))


def kept(said: str) -> dict[int, Kept]:
    """By number of the table what of it can be loaded."""
    keys = {int(each["number"]): tuple(map(int, each["places"].split())) for each in _KEY.finditer(said)}
    tables = {int(each["number"]): each["columns"].split() for each in _COLUMNS.finditer(said)}
    made = {number: tuple(_column(word) for word in words) for number, words in tables.items()}
    return {number: Kept(columns, _within(keys.get(number, ()), columns)) for number, columns in made.items()}


def _column(word: str) -> tuple[int, str]:
    place, _, kind = word.partition(":")
    return int(place), kind


def _within(key: tuple[int, ...], columns: tuple[tuple[int, str], ...]) -> tuple[int, ...]:
    """The places of the key where each is one of the columns; else none."""
    places = {place for place, _ in columns}
    return key if places.issuperset(key) else ()


def loaded(said: str) -> dict[int, Sampled]:
    """By number of the table what the throwaway cluster on new took, of those that it took whole."""
    return _between(said, "start", "loaded")


def indexed(said: str) -> dict[int, Sampled]:
    """By number of the table the index that was built over it there; what made no bytes is left out."""
    return _between(said, "indexing", "indexed")


def table_seconds(said: str) -> float | None:
    """What each of the small tables took the throwaway cluster, with its row; None where that was not told."""
    return _each(said, "creating", "created")


def index_seconds(said: str) -> float | None:
    """What each of the indexes on them took; None where that was not told."""
    return _each(said, "keying", "keyed")


def rows_take(said: Mapping[int, Sampled], on_new: Mapping[int, Sampled]) -> float | None:
    """Bytes of table for each byte of its rows as text: by the tables on new, which hold no dead rows, where they were
    loaded, else by those on old; None where nothing was told."""
    both = {number: each for number, each in on_new.items() if number in said and said[number].text}
    tables = [(each.bytes, said[number].text) for number, each in both.items()]
    tables = tables or [(each.bytes, each.text) for each in said.values() if each.text]
    text = sum(each for _, each in tables)
    return sum(each for each, _ in tables) / text if text else None


def _each(said: str, begun: str, ended: str) -> float | None:
    marks = _marks(said)
    match marks.get((begun, 0)), marks.get((ended, 0)):
        case [start, _], [end, count] if count and end > start:
            return (end - start) / count
        case _:
            return None


def _marks(said: str) -> dict[tuple[str, int], list[float]]:
    found = _MARK.finditer(said)
    return {(each["name"], int(each["number"])): [float(value) for value in each["values"].split()] for each in found}


def _between(said: str, begun: str, ended: str) -> dict[int, Sampled]:
    marks = _marks(said)
    found = {}
    for (name, number), values in marks.items():
        start, whole = marks.get((begun, number), []), marks.get(("whole", number), [0.0])
        if name != ended or len(values) != 2 or len(start) != 1 or whole != [1.0]:
            continue
        at, size = values
        if size and at > start[0]:
            found[number] = Sampled(int(size), at - start[0])
    return found

"""What the probes of dump & restore print of the tables that they sampled, and how it is read. SI base units."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TABLE = re.compile(r"^table (\d{1,2}) (\d{1,19}) (\d{1,19}) (\d{1,19})(?: (\d{1,19}))?$", re.MULTILINE)
_OTHERS = re.compile(r"^others (\d{1,19})$", re.MULTILINE)
_COLUMNS = re.compile(
    r"^columns (?P<number>\d{1,2})(?P<columns>(?: \d{1,5}:[A-Za-z0-9_]{1,63}){1,1700})$", re.MULTILINE
)
_KEY = re.compile(r"^key (?P<number>\d{1,2})(?P<places>(?: \d{1,5}){1,40})$", re.MULTILINE)
_LOCKED = re.compile(r"^locked (.+)$", re.MULTILINE)
_MARK = re.compile(
    r'^"pghaul (?P<name>[a-z]+) (?P<number>\d{1,2})(?P<values>(?: \d{1,19}(?:\.\d{1,9})?){0,2})"$', re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class SampledTable:
    """A table of a sample: `bytes` of its pages, or of its index, that took `seconds`; `text`: of its rows, by COPY;
    `whole`: the size of all of it; zero where that was not told."""

    bytes: int
    seconds: float
    text: int = 0
    whole: int = 0


@dataclass(frozen=True, slots=True)
class CopiedRows:
    """How tables come out of COPY: bytes of table for each byte of text, and for each second."""

    per_text_byte: float
    per_second: float


@dataclass(frozen=True, slots=True)
class LoadableRows:
    """The part of a sampled table that can be loaded.

    Attributes:
        columns: position and type of each column.
        key: positions of the columns that the index is on.
    """

    columns: tuple[tuple[int, str], ...]
    key: tuple[int, ...]


def parse_copied_tables(output: str) -> dict[int, SampledTable]:
    """Return by table number what COPY wrote on the old server."""
    found = (tuple(int(word or 0) for word in each) for each in _TABLE.findall(output))
    return {
        number: SampledTable(size, taken / 1e9, text, whole)
        for number, size, text, taken, whole in found
        if taken and size
    }


def parse_size_of_others(output: str) -> int:
    """Return the size of the largest tables that were not sampled, in bytes; 0 if that was not told."""
    found = _OTHERS.search(output)
    return int(found[1]) if found is not None else 0


def parse_locked_tables(output: str) -> tuple[str, ...]:
    """Return the SQL names of the tables that were left out because another session had locked them."""
    return tuple(_LOCKED.findall(output))


def parse_loadable_rows(output: str) -> dict[int, LoadableRows]:
    """Return by table number the columns that can be loaded, and the columns of its index."""
    keys = {int(each["number"]): tuple(map(int, each["places"].split())) for each in _KEY.finditer(output)}
    tables = {int(each["number"]): each["columns"].split() for each in _COLUMNS.finditer(output)}
    made = {number: tuple(_column(word) for word in words) for number, words in tables.items()}
    return {number: LoadableRows(columns, _within(keys.get(number, ()), columns)) for number, columns in made.items()}


def _column(word: str) -> tuple[int, str]:
    place, _, kind = word.partition(":")
    return int(place), kind


def _within(key: tuple[int, ...], columns: tuple[tuple[int, str], ...]) -> tuple[int, ...]:
    """The places of the key where each is one of the columns; else none."""
    places = {place for place, _ in columns}
    return key if places.issuperset(key) else ()


def parse_loaded_tables(output: str) -> dict[int, SampledTable]:
    """Return by table number what the temporary cluster on the new server loaded, if it loaded all rows."""
    return _parse_intervals(output, "start", "loaded")


def parse_built_indexes(output: str) -> dict[int, SampledTable]:
    """By number of the table the index that was built over it there; what made no bytes is left out."""
    return _parse_intervals(output, "indexing", "indexed")


def parse_seconds_per_table(output: str) -> float | None:
    """Return the seconds for each small table with its row in the temporary cluster; None if not known."""
    return _parse_seconds_per_item(output, "creating", "created")


def parse_seconds_per_index(output: str) -> float | None:
    """Return the seconds for each index on the small tables; None if not known."""
    return _parse_seconds_per_item(output, "keying", "keyed")


def copied_rows(
    on_old: Mapping[int, SampledTable], on_new: Mapping[int, SampledTable], others: int = 0
) -> CopiedRows | None:
    """Return how the tables of a database come out of COPY, each table with the weight of all of it.

    The largest table stands for itself alone. The other sampled tables also stand for those that were not sampled.
    Tables on the new server hold no dead rows, so bytes of table are counted there, if a table was loaded there.

    Args:
        on_old: the sampled tables, by number.
        on_new: the tables that the new server loaded.
        others: the size of the tables that were not sampled, in bytes.

    Returns:
        None if no text was told.
    """
    # what shrinks much in the database is not loaded: its rows would fill the disk of the sample
    sizes = {number: on_new.get(number, each).bytes for number, each in on_old.items() if each.text}
    if not sizes:
        return None
    weights = _weights({number: on_old[number] for number in sizes}, others)
    text = {number: weight * on_old[number].text / sizes[number] for number, weight in weights.items()}
    seconds = sum(each * on_old[number].seconds / on_old[number].text for number, each in text.items())
    whole = sum(weights.values())
    return CopiedRows(whole / sum(text.values()), whole / seconds)


def rate_of_all(
    made: Mapping[int, SampledTable],
    loaded: Mapping[int, SampledTable],
    on_old: Mapping[int, SampledTable],
    others: int = 0,
) -> float | None:
    """Return the rate at which the new server makes the tables of a database or their indexes, in bytes per second.

    Each table has the weight of all of it, as in `copied_rows`: the parts of a sample are not those of the database.

    Args:
        made: what the new server made of the sampled tables, by number: the tables or the indexes.
        loaded: the tables that it loaded.
        on_old: the sampled tables.
        others: the size of the tables that were not sampled, in bytes.

    Returns:
        None if nothing was made of a table whose size is known.
    """
    weights = _weights(on_old, others)
    sizes = {
        number: weights[number] * each.bytes / loaded[number].bytes
        for number, each in made.items()
        if number in weights and number in loaded
    }
    seconds = sum(size * made[number].seconds / made[number].bytes for number, size in sizes.items())
    return sum(sizes.values()) / seconds if seconds else None


def _weights(on_old: Mapping[int, SampledTable], others: int) -> dict[int, float]:
    """Return by table number the bytes of the database that each sampled table stands for."""
    weights = {number: float(each.whole or each.bytes) for number, each in on_old.items()}
    largest = max(weights, key=lambda number: weights[number], default=0)
    rest = sum(each for number, each in weights.items() if number != largest)
    factor = 1 + others / rest if rest else 1.0
    return {number: each if number == largest else factor * each for number, each in weights.items()}


def _parse_seconds_per_item(output: str, begun: str, ended: str) -> float | None:
    marks = _parse_marks(output)
    match marks.get((begun, 0)), marks.get((ended, 0)):
        case [start, _], [end, count] if count and end > start:
            return (end - start) / count
        case _:
            return None


def _parse_marks(output: str) -> dict[tuple[str, int], list[float]]:
    found = _MARK.finditer(output)
    return {(each["name"], int(each["number"])): [float(value) for value in each["values"].split()] for each in found}


def _parse_intervals(output: str, begun: str, ended: str) -> dict[int, SampledTable]:
    marks = _parse_marks(output)
    found = {}
    for (name, number), values in marks.items():
        start, whole = marks.get((begun, number), []), marks.get(("whole", number), [0.0])
        if name != ended or len(values) != 2 or len(start) != 1 or whole != [1.0]:
            continue
        at, size = values
        if size and at > start[0]:
            found[number] = SampledTable(int(size), at - start[0])
    return found

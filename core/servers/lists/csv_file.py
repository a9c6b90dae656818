"""A list of servers as CSV (RFC 4180): the first row names the columns, in any order; others than ours are left, where
one is called address."""

import csv
import io
from collections.abc import Iterator, Sequence

from core.errors import ParseError
from core.servers.lists.model import FIELDS, Fields

_DELIMITERS = ",;\t"
_NAMES = {"name", "address"}
_SHOWN = 5


def is_csv(text: str) -> bool:
    """Whether the first line names columns of ours: the one of the servers, or any among several."""
    head = _head(text)
    return bool(_NAMES & set(head)) or (len(head) > 1 and bool(set(FIELDS) & set(head)))


def parse_csv(text: str) -> Iterator[Fields]:
    """The entries; `place` is the line in which each ends.

    Raises:
        ParseError: no column is known to hold the addresses; or a line is none of a CSV: a quotation mark that is not
            closed makes one of megabytes.
    """
    names = _head(text)
    _refuse_other_columns(names)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        next(rows, None)
        for row in rows:
            fields = {name: cell.strip() for name, cell in zip(names, row, strict=False) if name in FIELDS}
            found = {name: cell for name, cell in fields.items() if cell}
            if found:
                yield f"line {rows.line_num}", found
    except csv.Error as error:
        raise ParseError(
            f"line {rows.line_num} of the list is not valid CSV: {error}", "close or remove the quotation mark"
        ) from error


def _refuse_other_columns(names: Sequence[str]) -> None:
    """Where no column is called address, one that is not known may be it: the names would be taken for addresses."""
    unknown = [repr(name[:60]) for name in names if name not in FIELDS]
    if "address" in names or ("name" in names and not unknown):
        return
    named = f"; unknown columns: {', '.join(unknown[:_SHOWN])}" if unknown else ""
    raise ParseError(
        f"the list has no column with the name address{named}",
        "name the column of addresses address; if the names are the addresses, remove the other columns",
    )


def _head(text: str) -> list[str]:
    first = text.partition("\n")[0].strip()
    return [name.strip().strip('"').lower().replace(" ", "_") for name in first.split(_delimiter(text))]


def _delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return max(_DELIMITERS, key=first.count)

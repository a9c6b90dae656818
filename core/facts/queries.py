"""SQL for a running cluster, by major version; what is asked stands in cluster_queries and database_queries.

Every row comes back as one line `KIND|HEX|HEX…`, so that no name can garble it; `parse_row` takes it apart. Nothing is
locked but catalogs, in ACCESS SHARE. Sizes come from the file system, which locks the relation likewise and costs the
session memory for each: a bounded number is measured. Of all others the catalog's own number of pages is taken, as of a
relation that somebody has locked exclusively, or waits to. So it is of system catalogs, for there are hundreds in each
database, but not of pg_largeobject (2613), which may be the largest.

Sources: the chapters System Catalogs and System Views of PostgreSQL's manual, major versions 8.2 to 18.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.facts.sections import decode_hexadecimal
from core.facts.text import unreadable_error

NEVER = 9999
"""Later than every major version."""


@dataclass(frozen=True, slots=True)
class Query:
    """One statement for the major version from `since` up to, not including, `before`: 9.6 is 906, 15 is 1500."""

    sql: str
    since: int = 801
    before: int = NEVER


def as_line(kind: str, *expressions: str) -> str:
    """Return the SQL expression of a line of this kind; NULL becomes an empty text."""
    # hexadecimal: a name may hold the bar, a line break, or what is no UTF-8 in another encoding
    digits = (f"encode(textsend(coalesce(({each})::text, '')), 'hex')" for each in expressions)
    return " || '|' || ".join((f"'{kind}'", *digits))


def escaped_name(name: str) -> str:
    """Return the SQL expression of a name that `unescape_name` of the shell functions decodes again."""
    return f"replace(replace({name}::text, chr(92), chr(92) || chr(92)), chr(10), chr(92) || 'n')"


Row = tuple[str, tuple[str, ...]]
"""The kind of a line and its values."""


def parse_row(text: str, fields: Mapping[str, int]) -> Row:
    """Return the values of a line; `fields` contains the number of values of each kind."""
    kind, *values = text.split("|")
    if fields.get(kind) != len(values):
        raise unreadable_error("psql", "a line 'database|NAME|…'", text)
    try:
        return kind, tuple(decode_hexadecimal(value) for value in values)
    except ValueError as error:
        raise unreadable_error("psql", "hexadecimal digits", text) from error


def make_select(kind: str, expressions: Iterable[str], rest: str) -> str:
    """Return a statement whose rows are lines of this kind."""
    return f"select {as_line(kind, *expressions)} {rest};"


LOCALE = "^[A-Za-z0-9][A-Za-z0-9_.@-]*$"
"""What can be a libc locale; those in use come as `libc NAME`, to be sorted under."""

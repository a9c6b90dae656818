"""Scripts of pgbench's that the operator hands in: what they are refused for before anything runs, and where they run.

They run as a role of the operator's (`resources/sh/queries.sh`). A look at their text bounds nothing: a statement may
hide another one in a text, and a function may do anything. It finds what was handed in by mistake, with its line. One
thing alone it must find, since no role bounds it: \\shell and \\setshell, by which pgbench runs programs.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from core.errors import InputError
from core.facts.model import Cluster, Database
from core.files import read_small
from core.migration.model.queries import MOST_CLIENTS, MOST_SECONDS, Queries, Script
from core.text import printable

LARGEST = 100_000
"""Bytes of all scripts together."""
MOST_SCRIPTS = 20
_MOST_WEIGHT = 1_000_000
_WEIGHTED = re.compile(r"(?P<name>.+)@(?P<weight>\d+)", re.DOTALL)
_NAME = re.compile(r"[^\x00-\x1f\x7f\"'\\/]{1,63}")
"""A name that pg_hba.conf, pg_ident.conf, a connection string and a text of SQL take as it is."""

_PROGRAM = re.compile(r"(?<![\s\\])\s*+(?P<at>\\)[\s\\]*+(?:set)?shell", re.IGNORECASE)
"""However a script is split: between its backslash and its name a command has blanks and continued lines alone."""
_PIECE = re.compile(
    r"""
    (?P<silent>--[^\n]* | /\*.*?(?:\*/|\Z))
  | (?P<text>(?<![\w$])[eE]'(?:[^'\\]|\\.)*' | '[^']*' | "[^"]*" | (?<![\w$])\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z))
  | (?P<command>\\[^\S\n]*(?P<word>\w*)(?:\\\r?\n|[^\n])*)
    """,
    re.VERBOSE | re.DOTALL,
)
_FIRST = re.compile(r"(?:^|;)[\s(]*([^\s(;]+)")
_READS = ("select", "with", "values", "table")


def read_script(option: str) -> Script:
    """The script that `FILE` or `FILE@WEIGHT` names, looked at.

    Raises:
        InputError: it cannot be read, its weight is none, or it holds what is not run.
    """
    found = _WEIGHTED.fullmatch(option)
    name, weight = (found["name"], int(found["weight"][:12])) if found is not None else (option, 1)
    shown = printable(name)
    if not 1 <= weight <= _MOST_WEIGHT:
        raise InputError(f"{shown}: the weight must be a number from 1 to {_MOST_WEIGHT}, not {weight}.")
    try:
        content = read_small(Path(name), LARGEST)
    except InputError as error:
        raise InputError(f"{shown} {error.message}") from error
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"Cannot read {shown}: {why.lower()}.") from error
    return Script(printable(Path(name).name), weight, text_of(shown, content))


def text_of(shown: str, content: bytes) -> str:
    """The text of a script, whose file is `shown` so, with lines that end as on the servers.

    Raises:
        InputError: it is no text, or holds what is not run; it names file and line.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{shown}, line {line}: the text is not UTF-8.", "Save the script as UTF-8.") from error
    text = text.replace("\r\n", "\n")
    if "\0" in text:
        raise _refused(shown, text, text.index("\0"), "the file contains a NUL character, so it is not a text file")
    _look(shown, text)
    return text


def check_queries(queries: Queries) -> Queries:
    """The queries, whose scripts were looked at one by one.

    Raises:
        InputError: all together are too many or too long, a number is out of bounds, or no role has that name.
    """
    if not _NAME.fullmatch(queries.role):
        raise InputError(f"--queries-as {queries.role!r}: pghaul cannot measure queries as a role with this name.")
    if len(queries.scripts) > MOST_SCRIPTS:
        raise InputError(f"There are {len(queries.scripts)} scripts. pghaul measures at most {MOST_SCRIPTS}.")
    if sum(len(each.text.encode()) for each in queries.scripts) > LARGEST:
        raise InputError(f"The scripts together are longer than {LARGEST} bytes.")
    for what, number, most in (
        ("--queries-clients", queries.clients, MOST_CLIENTS),
        ("--queries-seconds", queries.seconds, MOST_SECONDS),
    ):
        if not 1 <= number <= most:
            raise InputError(f"{what} must be from 1 to {most}, not {number}.")
    return queries


def database_of(queries: Queries, cluster: Cluster) -> str:
    """The database that the queries run in.

    Raises:
        InputError: the cluster has none of that name, or nothing tells which of several is meant.
    """
    known = [each for each in cluster.databases if not each.template]
    choices = ", ".join(each.name for each in known)
    if queries.database is not None:
        if queries.database not in {each.name for each in known}:
            raise InputError(
                f"There is no database {queries.database} to run the queries in.", f"Choose one of these: {choices}."
            )
        name = queries.database
    else:
        found = [each for each in known if _has_tables(each)] or known
        if len(found) != 1:
            raise InputError(
                "The queries could run in several databases."
                if found
                else "The old cluster has no database in which the queries could run.",
                f"Name one with --queries-in: {choices}.",
            )
        name = found[0].name
    if not _NAME.fullmatch(name):
        raise InputError(
            f"pghaul cannot measure queries in the database {name!r}, because its name contains a quote or a slash."
        )
    return name


def _has_tables(database: Database) -> bool:
    """Whether clients have made something in it; also where nobody knows."""
    return database.catalogs is None or database.catalogs.tables != 0


def _look(shown: str, text: str) -> None:
    program = _PROGRAM.search(text)
    if program is not None:
        raise _refused(shown, text, program.start("at"), "pgbench would run a program, which a script may not do here")
    number = 0
    for start, word in _statements(shown, text):
        number += 1
        if word.lower() not in _READS:
            why = f"{word[:40]} does not begin a query; each statement must begin with SELECT, WITH, VALUES or TABLE"
            raise _refused(shown, text, start, why)
    if not number:
        raise InputError(f"{shown} contains no query, so there is nothing to measure.")


def _statements(shown: str, text: str) -> Iterator[tuple[int, str]]:
    """Where each statement begins, and its first word."""

    def bare(found: re.Match[str]) -> str:
        if found["command"] is not None and found["word"].lower() != "set":
            raise _refused(
                shown,
                text,
                found.start(),
                f"\\{found['word']} is not allowed here; of pgbench's commands only \\set is",
            )
        blank = re.sub(r"[^\n]", " ", found[0][1:])
        return ("'" if found["text"] is not None else ";" if found["command"] is not None else " ") + blank

    for each in _FIRST.finditer(_PIECE.sub(bare, text)):
        yield each.start(1), each[1]


def _refused(shown: str, text: str, at: int, why: str) -> InputError:
    line = text.count("\n", 0, at) + 1
    return InputError(f"{shown}, line {line}: {why}.")

"""Scripts for pgbench from the operator: what is refused before anything runs, and in which database they run.

They run as a role that the operator names (`resources/sh/queries.sh`). Checking their text is no protection: a
statement may be hidden in a text, and a function may do anything. The check finds mistakes, with their lines. One thing
it must find, because no role prevents it: \\shell and \\setshell, by which pgbench runs programs.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from core.errors import InputError
from core.facts.model import Cluster, Database
from core.files import read_small
from core.migration.model.dress import MOST_CLIENTS, MOST_SECONDS, Queries, Script
from core.system_errors import reason
from core.text import printable

LARGEST = 100_000
"""The maximum size of all scripts together, in bytes."""
MOST_SCRIPTS = 20
_MOST_WEIGHT = 1_000_000
_WEIGHTED = re.compile(r"(?P<name>.+)@(?P<weight>\d+)", re.DOTALL)
_NAME = re.compile(r"[^\x00-\x1f\x7f\"'\\/]{1,63}")
"""A name that needs no quoting in pg_hba.conf, pg_ident.conf, a connection string and a text of SQL."""

_PROGRAM = re.compile(r"(?<![\s\\])\s*+(?P<at>\\)[\s\\]*+(?:set)?shell", re.IGNORECASE)
"""Between the backslash and the name of a command there can only be blanks and continued lines."""
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
    """Return the checked script that `FILE` or `FILE@WEIGHT` names.

    Raises:
        InputError: the file cannot be read, the weight is invalid, or the script contains what is not allowed.
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
    except OSError as error:
        raise InputError(f"The script {shown} cannot be read: {reason(error)}.") from error
    except ValueError as error:
        raise InputError(f"The script {shown} cannot be read: this is not a file name.") from error
    return Script(printable(Path(name).name), weight, decode_script(shown, content))


def decode_script(shown: str, content: bytes) -> str:
    """Return the text of a script, with the line ends of the servers.

    Args:
        shown: the name of the file, for messages.
        content: the contents of the file.

    Raises:
        InputError: it is not text, or contains what is not allowed; the message names file and line.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{shown}, line {line}: the text is not UTF-8.", "Save the script as UTF-8.") from error
    text = text.replace("\r\n", "\n")
    if "\0" in text:
        raise _refusal(shown, text, text.index("\0"), "the file contains a NUL character, so it is not a text file")
    _check_statements(shown, text)
    return text


def check_queries(queries: Queries) -> Queries:
    """Return the queries, whose scripts were checked before.

    Raises:
        InputError: there are too many scripts, they are too long, a number is out of range, or the name of the role
            is not allowed.
    """
    if not _NAME.fullmatch(queries.role):
        raise InputError(f"--queries-as {queries.role!r}: pghaul cannot measure queries as a role with this name.")
    if len(queries.scripts) > MOST_SCRIPTS:
        raise InputError(f"There are {len(queries.scripts)} scripts. pghaul measures at most {MOST_SCRIPTS}.")
    if sum(len(each.text.encode()) for each in queries.scripts) > LARGEST:
        raise InputError(f"The scripts together are longer than {LARGEST} bytes.")
    for option, number, maximum in (
        ("--queries-clients", queries.clients, MOST_CLIENTS),
        ("--queries-seconds", queries.seconds, MOST_SECONDS),
    ):
        if not 1 <= number <= maximum:
            raise InputError(f"{option} must be from 1 to {maximum}, not {number}.")
    return queries


def query_database(queries: Queries, cluster: Cluster) -> str:
    """Return the name of the database in which the queries run.

    Raises:
        InputError: the cluster has no such database, or it is unclear which of several is meant.
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
    """Return whether the database contains tables of clients, or if that is not known."""
    return database.catalogs is None or database.catalogs.tables != 0


def _check_statements(shown: str, text: str) -> None:
    program = _PROGRAM.search(text)
    if program is not None:
        raise _refusal(shown, text, program.start("at"), "pgbench would run a program, which a script may not do here")
    number = 0
    for start, word in _statements(shown, text):
        number += 1
        if word.lower() not in _READS:
            problem = (
                f"{word[:40]} does not begin a query; each statement must begin with SELECT, WITH, VALUES or TABLE"
            )
            raise _refusal(shown, text, start, problem)
    if not number:
        raise InputError(f"{shown} contains no query, so there is nothing to measure.")


def _statements(shown: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the position of each statement and its first word."""

    def blank_out(found: re.Match[str]) -> str:
        if found["command"] is not None and found["word"].lower() != "set":
            raise _refusal(
                shown,
                text,
                found.start(),
                f"\\{found['word']} is not allowed here; of pgbench's commands only \\set is",
            )
        blank = re.sub(r"[^\n]", " ", found[0][1:])
        return ("'" if found["text"] is not None else ";" if found["command"] is not None else " ") + blank

    for each in _FIRST.finditer(_PIECE.sub(blank_out, text)):
        yield each.start(1), each[1]


def _refusal(shown: str, text: str, at: int, why: str) -> InputError:
    line = text.count("\n", 0, at) + 1
    return InputError(f"{shown}, line {line}: {why}.")

"""The configuration of a cluster: its files, the settings of a command line, and whether a server could start so.

How they are found: resources/sh/configuration_files.sh.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.errors import InputError
from core.facts.catalog import Edited
from core.facts.parsing import first_line, lines_of, unreadable_error
from core.facts.queries import UNSHOWN
from core.facts.sections import Section, decode_hexadecimal
from core.servers.shell import split

Family = Literal["settings", "rules", "list"]
Mode = Literal["required", "optional", "folder"]
State = Literal["file", "folder", "missing", "unreadable", "odd"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A line of a configuration file whose value names the data directory."""

    line: int
    setting: str
    """Its name in lower case."""


@dataclass(frozen=True, slots=True)
class ConfigurationFile:
    """A file that a start reads, or would read if it were there."""

    path: str
    """Absolute and without `..`, which is resolved by the text, as PostgreSQL does; links are not followed."""
    family: Family
    """`settings`: postgresql.conf and what it includes; `rules`: pg_hba.conf and pg_ident.conf likewise; `list`: names
    of databases or users, which a rule names by @."""
    mode: Mode
    """`optional`: a start does without; `folder`: include_dir, of which it reads each *.conf."""
    state: State
    """`odd`: neither file nor folder, or larger than 16 MiB; it was not read."""
    by: str | None = None
    """The file that names it; None: the server does."""
    absolute: bool = True
    """It is named by a whole path, which stays the same wherever the naming file lies."""
    mentions: tuple[Mention, ...] = ()


def parse_configuration_files(text: str) -> tuple[ConfigurationFile, ...]:
    """The files in the order in which they were met, each once.

    Raises:
        ParseError: a line is none of ours, or the last one is not there.
    """
    lines = lines_of(text)
    if not lines or lines[-1] != "whole":
        raise unreadable_error("configuration files", "a last line 'whole'", first_line(text))
    found: dict[int, ConfigurationFile] = {}
    for line in lines[:-1]:
        try:
            _read(line, found)
        except (ValueError, KeyError) as error:
            raise unreadable_error("configuration files", "a file or a mention", line) from error
    once: dict[tuple[str, str], ConfigurationFile] = {}
    for each in found.values():
        once.setdefault((each.path, each.family), each)
    return tuple(once.values())


def _read(line: str, found: dict[int, ConfigurationFile]) -> None:
    """One line, into what was found.

    Raises:
        ValueError: it is none of ours.
        KeyError: it is about a file that no line before it told.
    """
    match line.split(" "):
        case ["mention", number, at, setting]:
            known = found[int(number)]
            found[int(number)] = replace(known, mentions=(*known.mentions, Mention(int(at), setting)))
        case [
            "file",
            number,
            ("settings" | "rules" | "list") as family,
            ("required" | "optional" | "folder") as mode,
            ("file" | "folder" | "missing" | "unreadable" | "odd") as state,
            ("absolute" | "relative") as written,
            by,
            digits,
        ]:
            namer = None if by == "0" else found[int(by)].path
            path = posixpath.normpath(decode_hexadecimal(digits))
            found[int(number)] = ConfigurationFile(path, family, mode, state, namer, absolute=written == "absolute")
        case _:
            raise ValueError(line)


CONFIGURATION_FILES = Section(
    "configuration-files", "configuration files", ("cluster_configuration",), parse_configuration_files, deadline=20
)


# The settings that a command line gives to the server program, from the words of a unit's ExecStart.
#
# Options as in postgres(1) and pg_ctl(1).

Options = tuple[tuple[str, str | None], ...]
"""Settings by name, in the words of the command line; None for one that may hold a secret."""

_SERVERS = ("postgres", "postmaster", "edb-postgres")
_VALUED = {
    "-B": "shared_buffers",
    "-N": "max_connections",
    "-S": "work_mem",
    "-W": "post_auth_delay",
    "-h": "listen_addresses",
    "-k": "unix_socket_directories",
    "-p": "port",
}
_FLAGS = {
    "-F": ("fsync", "off"),
    "-O": ("allow_system_table_mods", "on"),
    "-P": ("ignore_system_indexes", "on"),
    "-i": ("listen_addresses", "*"),
    "-l": ("ssl", "on"),
}


def options_of(command: Sequence[str]) -> Options | None:
    """Return the settings that a command gives the server.

    None if that is unclear: the command is a script, or it has a variable or another kind of option.

    Args:
        command: the words of the command, with known variables replaced.
    """
    program = posixpath.basename(command[0].lstrip("@-:+!")) if command else ""
    try:
        if program in _SERVERS:
            given = dict(_settings(command[1:]))
        elif program == "pg_ctl":
            given = dict(_settings([word for text in _pg_ctl_options(command[1:]) for word in split(text)]))
        else:
            return None
    except (InputError, ValueError):
        return None
    return tuple((name, None if _may_be_secret(name) else value) for name, value in sorted(given.items()))


def _pg_ctl_options(words: Sequence[str]) -> Iterator[str]:
    """Yield what -o of pg_ctl passes to the server."""
    following = iter(words)
    for word in following:
        if word in ("-o", "--options"):
            yield _next_value(following)
        elif word.startswith("--options="):
            yield word.partition("=")[2]
        elif word.startswith("-o"):
            yield word[2:]
        elif word.startswith("$"):
            raise ValueError(word)


def _settings(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each setting with its value.

    Raises:
        ValueError: a word has no clear meaning.
    """
    following = iter(words)
    for word in following:
        short, joined = word[:2], word[2:]
        if word == "-D":
            _next_value(following)
        elif short == "-D":
            continue
        elif short in ("--", "-c"):
            name, equals, value = (joined or _next_value(following)).partition("=")
            if not equals:
                raise ValueError(word)
            yield name.replace("-", "_").lower(), _without_systemd_escapes(value)
        elif short in _VALUED:
            yield _VALUED[short], _without_systemd_escapes(joined or _next_value(following))
        elif word in _FLAGS:
            yield _FLAGS[word]
        else:
            raise ValueError(word)


def _next_value(following: Iterator[str]) -> str:
    """Return the value of an option; raise ValueError if there is none."""
    value = next(following, None)
    if value is None:
        raise ValueError("an option without its value")
    return value


def _without_systemd_escapes(value: str) -> str:
    """Return the value without systemd's escapes; raise ValueError for a variable or specifier."""
    if "$" in value or re.search(r"%(?!%)", value.replace("%%", "")):
        raise ValueError(value)
    return value.replace("%%", "%")


def _may_be_secret(name: str) -> bool:
    return re.search(UNSHOWN, name) is not None and not re.fullmatch("ssl.*file", name)


# Whether a server could be started with its files as they stand, and what of them is not in force.
#
# `postgres -C` reads the files as a start does, and starts nothing. pg_file_settings alone does not tell: it has the
# same words for a value that no server takes and for one that waits for a restart.


@dataclass(frozen=True, slots=True)
class StartFiles:
    """What the server program says of the files.

    Attributes:
        complaints: a line each.
        edited: settings that were edited, and are not in force; None: too many may be.
        options: settings that the running server's command line gives, and the files alone would not; None likewise.
    """

    complaints: tuple[str, ...]
    edited: tuple[Edited, ...] | None
    options: tuple[Edited, ...] | None = ()


def parse_start_files(text: str) -> StartFiles:
    """The complaints and the settings.

    Raises:
        ParseError: a line is none of ours, or the last one is not there.
    """
    lines = lines_of(text)
    if not lines or lines[-1] != "whole":
        raise unreadable_error("postgres -C", "a last line 'whole'", first_line(text))
    complaints = list[str]()
    found: dict[str, list[Edited]] = {"edited": [], "option": []}
    for line in lines[:-1]:
        kind, _, rest = line.partition(" ")
        try:
            if kind == "complaint":
                complaints.append(decode_hexadecimal(rest))
                continue
            if kind == "beyond":
                del found[rest]
                continue
            name, hidden, unit, values = rest.split(" ")
            in_force, in_file = map(decode_hexadecimal, values.split("|"))
        except (KeyError, ValueError) as error:
            raise unreadable_error("postgres -C", "a complaint, or a setting with two values", line) from error
        if kind not in found:
            raise unreadable_error("postgres -C", "a complaint, or a setting with two values", line)
        known = hidden != "t"
        unit = "" if unit == "-" else unit
        found[kind].append(Edited(name, in_force if known else None, in_file if known else None, unit))
    edited, options = (None if each is None else tuple(each) for each in map(found.get, ("edited", "option")))
    return StartFiles(tuple(complaints), edited, options)


START_FILES = Section("start-files", "startup configuration", ("cluster_start_files",), parse_start_files, deadline=30)

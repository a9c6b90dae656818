"""The configuration files of a cluster as a start would read them: what they include, and the lists that they name.

How they are found: resources/sh/configuration_files.sh.
"""

from dataclasses import dataclass, replace
from typing import Literal

from core.facts.sections import Section, decode_hexadecimal
from core.facts.text import first_line, unreadable_error

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
    """Absolute; links are not followed."""
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
    lines = text.splitlines()
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
            found[int(number)] = ConfigurationFile(
                decode_hexadecimal(digits), family, mode, state, namer, absolute=written == "absolute"
            )
        case _:
            raise ValueError(line)


SECTION = Section(
    "configuration-files", "configuration files", ("cluster_configuration",), parse_configuration_files, deadline=20
)

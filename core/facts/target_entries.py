"""The names in folders that a copy is to go to: whether they are empty, and whose they may be."""

import re
from collections.abc import Sequence

from core.facts.sections import Section, decode_hexadecimal
from core.facts.text import unreadable_error

NAMES = 1000
"""At most so many names of a folder are read."""


def parse_target_entries(text: str) -> dict[str, tuple[str, ...]]:
    """Folder -> the names in it.

    Raises:
        ParseError: a line cannot be read.
    """
    found: dict[str, tuple[str, ...]] = {}
    folder = None
    for line in text.splitlines():
        match = re.fullmatch(r"(folder|name) =((?:[0-9a-f]{2})*)", line)
        if match is None or (folder is None and match[1] == "name"):
            raise unreadable_error("target-entries", "a line 'folder =PATH' or 'name =NAME'", line)
        if match[1] == "folder":
            folder = decode_hexadecimal(match[2])
            found[folder] = ()
        elif folder is not None:
            found[folder] = (*found[folder], decode_hexadecimal(match[2]))
    return found


def section(folders: Sequence[str]) -> Section[dict[str, tuple[str, ...]]]:
    """A section that lists each folder; one that is not there holds nothing."""
    return Section(
        "target-entries",
        "target directories",
        ("target_entries", str(NAMES), *folders),
        parse_target_entries,
        deadline=30,
    )

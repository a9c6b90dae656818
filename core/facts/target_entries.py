"""The names in folders that a copy is to go to: whether they are empty, and whose they may be."""

import re
from collections.abc import Sequence

from core.facts.sections import Section, hexadecimal
from core.facts.text import unreadable
from core.servers.shell import command, script

NAMES = 1000
"""At most so many names of a folder are read."""


def section(folders: Sequence[str]) -> Section:
    """A section that lists each folder; one that is not there holds nothing."""
    listing = script(
        'hex() { od -An -v -tx1 | tr -d " \\n"; }; '
        'for folder do echo "folder =$(printf %s "$folder" | hex)"; '
        'if [ -e "$folder" ]; then { ls -A -- "$folder" || exit; } | head -n @names@ | '
        'while IFS= read -r name; do echo "name =$(printf %s "$name" | hex)"; done; fi; done',
        names=NAMES,
    )
    return Section("target-entries", command("sh", "-c", listing, "sh", *folders), deadline=30)


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
            raise unreadable("target-entries", "a line 'folder =PATH' or 'name =NAME'", line)
        if match[1] == "folder":
            folder = hexadecimal(match[2])
            found[folder] = ()
        elif folder is not None:
            found[folder] = (*found[folder], hexadecimal(match[2]))
    return found

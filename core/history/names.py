"""Names that a DBA gives to servers and moves: what may be one."""

import unicodedata

from core.benchmarks.model import ELSEWHERE
from core.errors import InputError

LONGEST = 100
_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}
_DIRECTIONS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn the direction of writing: a name with one looks like another name."""


def checked_name(what: str, name: str) -> str:
    """The name, if it can be one of a `what` (`server`, `move`).

    Raises:
        InputError: it is empty, too long, has spaces around it, or characters that cannot be seen.
    """
    if not name.strip():
        raise InputError(f"the name of the {what} is empty", f"give the {what} a name")
    if len(name) > LONGEST:
        raise InputError(f"the name of the {what} has {len(name)} characters: {name[:20]!r}…", f"use at most {LONGEST}")
    unseen = [c for c in name if unicodedata.category(c) in _UNSEEN or c in _DIRECTIONS]
    if unseen:
        raise InputError(
            f"the name of the {what} {name!r} contains an invisible character: U+{ord(unseen[0]):04X}",
            "type the name again",
        )
    if what == "server" and name == ELSEWHERE:
        raise InputError(
            f"a server cannot be called {ELSEWHERE}: this name is reserved for imported results",
            "choose another name",
        )
    if name != name.strip():
        raise InputError(f"the name of the {what} {name!r} begins or ends with a space", "remove the space")
    return name

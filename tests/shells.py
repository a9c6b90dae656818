"""Pieces of shell for tests, written out: what the product itself runs is plain commands and calls of functions."""

import re
import shlex
from pathlib import Path

from core.servers.shell import Secret, Shell


def sh(text: str, **values: str | Path | int | Secret) -> Shell:
    """Shell as it stands, with values put in quoted for `@name@`."""

    def quoted(found: re.Match[str], *, shown: bool) -> str:
        value = values[found[1]]
        if isinstance(value, Secret):
            return "••••••" if shown else shlex.quote(value.value)
        return shlex.quote(str(value))

    runs, seen = (re.sub(r"@([a-z_]+)@", lambda found, s=s: quoted(found, shown=s), text) for s in (False, True))  # type: ignore[misc]
    return Shell(runs, seen, compound=True)

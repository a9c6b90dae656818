"""What programs and libraries for Linux are linked to, as objdump reads it in the head of each: its own words alone."""

import re
import subprocess
from collections.abc import Iterable


def libraries(programs: Iterable[str]) -> set[str]:
    """The shared libraries that these files ask for, by the name they ask for."""
    return set(re.findall(r"^  NEEDED +(\S+)", _heads(programs), re.MULTILINE))


def symbol_versions(programs: Iterable[str]) -> dict[str, set[str]]:
    """The versions of symbols that these files ask of each library: `libc.so.6` -> `GLIBC_2.34`, `GLIBC_2.2.5`."""
    found: dict[str, set[str]] = {}
    for name, lines in re.findall(r"^  required from (\S+):\n((?:    .*\n)*)", _heads(programs), re.MULTILINE):
        found.setdefault(name, set()).update(re.findall(r"\b(\w+_[\d.]+)$", lines, re.MULTILINE))
    return found


def imported(program: str) -> dict[str, set[str]]:
    """The functions that a file asks for by a version: `GLIBC_2.35` -> `hypot`."""
    table = subprocess.run(["objdump", "-T", program], check=True, capture_output=True, text=True).stdout
    found: dict[str, set[str]] = {}
    for version, name in re.findall(r" \*UND\*\t\S+ +\(?(\w+_[\d.]+)\)? +(\S+)$", table, re.MULTILINE):
        found.setdefault(version, set()).add(name)
    return found


def _heads(programs: Iterable[str]) -> str:
    return subprocess.run(["objdump", "-p", *programs], check=True, capture_output=True, text=True).stdout

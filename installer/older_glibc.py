"""Libraries of Debian 12's for the glibc of RHEL 9, 2.34: what they ask of a newer one is there under an older version.

glibc keeps the earlier versions of a function for programs that were linked before; which of them a library wants
stands in one place of its head.
https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/symversion.html
"""

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from installer.linked import imported

GLIBC = "2.34"
"""The oldest that the packages run on."""
SAME_SINCE_THE_FIRST = {"hypot"}
"""Functions whose first version computes what a newer one does: since 2.35 `hypot` calls no `matherr` of a program."""
FIRST = {b"GLIBC_2.2.5", b"GLIBC_2.17"}
"""The first version of all functions: on x86_64, on aarch64."""
_NEEDED_VERSIONS = 0x6FFFFFFE
_SECTION, _LIBRARY, _VERSION = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<HHIII"), struct.Struct("<IHHII")


def ask_for_older(program: Path) -> None:
    """Change the file so that it asks for no newer glibc than that; ends the program where that cannot be."""
    newer = _newer(program)
    if not newer:
        return
    others = set().union(*newer.values()) - SAME_SINCE_THE_FIRST
    if others:
        sys.exit(
            f"{program.name} asks for {', '.join(sorted(others))} of a glibc after {GLIBC}; RHEL 9 has no newer one"
        )
    data = bytearray(program.read_bytes())
    for versions in _needed(data):
        first = next((each for each in versions if each[1] in FIRST), None)
        for place, name in versions:
            if name.decode() in newer and first is not None:
                old = _VERSION.unpack_from(data, place)
                wanted = _VERSION.unpack_from(data, first[0])
                _VERSION.pack_into(data, place, wanted[0], *old[1:3], wanted[3], old[4])
    program.write_bytes(data)
    left = _newer(program)
    if left:
        sys.exit(
            f"{program.name} still asks for {', '.join(sorted(left))}: its library has no version that all glibc have"
        )


def _newer(program: Path) -> dict[str, set[str]]:
    """What the file asks of a newer glibc than that: versions and their functions."""
    return {version: names for version, names in imported(str(program)).items() if _number(version) > _number(GLIBC)}


def _number(version: str) -> tuple[int, ...]:
    kind, _, number = version.rpartition("_")
    return tuple(int(part) for part in number.split(".")) if kind in {"", "GLIBC"} else ()


def _needed(data: bytearray) -> Iterator[list[tuple[int, bytes]]]:
    """Of each library that is asked for versions: where each version stands in the file, and its name."""
    start, size, count = (*struct.unpack_from("<Q", data, 0x28), *struct.unpack_from("<HH", data, 0x3A))
    sections = [_SECTION.unpack_from(data, start + index * size) for index in range(count)]
    for section in sections:
        if section[1] != _NEEDED_VERSIONS:
            continue
        strings, place = sections[section[6]][4], section[4]
        for _ in range(section[7]):
            _, versions, _, first, following = _LIBRARY.unpack_from(data, place)
            yield list(_versions(data, place + first, versions, strings))
            place += following


def _versions(data: bytearray, place: int, count: int, strings: int) -> Iterator[tuple[int, bytes]]:
    for _ in range(count):
        *_, name, following = _VERSION.unpack_from(data, place)
        yield place, bytes(data[strings + name : data.index(0, strings + name)])
        place += following

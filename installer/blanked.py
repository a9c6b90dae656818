"""Zeros, which pack to nothing, in place of data that libraries carry and nothing of pghaul reads.

typst carries fonts of its own, and pghaul lays out with those of `resources/fonts` alone. ICU, which Qt is linked to,
carries the words, zones and encodings of every language, and Qt asks it for the order of names alone: the order that
holds for all languages stays. No library changes its size, and no code or address in it moves.
"""

import re
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

_FONT = re.compile(rb"(?:OTTO|\x00\x01\x00\x00)\x00[\x08-\x20]")
"""How an OpenType font begins: its kind, and how many tables its directory names.
https://learn.microsoft.com/typography/opentype/spec/otff"""
_PACKAGE = re.compile(rb"\xda\x27.{8}CmnD", re.DOTALL)
"""In the header of ICU's common data, behind the header's length. ICU4C, common/ucmndata.h and unicode/udata.h"""
_UNREAD = re.compile(
    r"(brkitr|curr|lang|rbnf|region|translit|unit|zone)/"  # boundaries, money, names, numbers as words, scripts, units
    r"|coll/(?!root|ucadata|res_index)"  # the order of names where a language has its own
    r"|.*\.cnv$"  # encodings: Qt takes text from the system as UTF-8
    r"|(?!res_index)[a-z]{2,3}(_\w+)?\.res$"  # dates and numbers of a language
    r"|unames\.icu$"  # what each character is called
)
"""ICU's items by the names in its table of contents, without the package's own."""


def fonts(library: bytes) -> list[range]:
    """Where the library carries an OpenType font: from its directory of tables to the end of the last of these."""
    found = []
    for match in _FONT.finditer(library):
        begin, tables = match.start(), library[match.end() - 1]
        directory = library[begin + 12 : begin + 12 + 16 * tables]
        if len(directory) < 16 * tables:
            continue
        entries = list(struct.iter_unpack(">4s4xII", directory))
        end = begin + max(offset + length for _, offset, length in entries)
        if end <= len(library) and b"head" in {tag for tag, _, _ in entries}:
            found.append(range(begin, end))
    return found


def icu_items(library: bytes) -> dict[str, range]:
    """Where each item of ICU's data lies in the library, by its name, without the last: nothing states its end."""
    match = _PACKAGE.search(library)
    if match is None:
        return {}
    header = match.start() - 2
    (length,) = struct.unpack_from("<H", library, header)
    contents = header + length
    (count,) = struct.unpack_from("<I", library, contents)
    entries = list(struct.iter_unpack("<II", library[contents + 4 : contents + 4 + 8 * count]))
    names = [library[contents + at : library.index(b"\0", contents + at)].decode("ascii") for at, _ in entries]
    begins = [contents + at for _, at in entries]
    return {
        name.partition("/")[2]: range(begin, end)
        for name, begin, end in zip(names[:-1], begins[:-1], begins[1:], strict=True)
    }


def unread(library: bytes) -> list[range]:
    """What of ICU's data nothing of pghaul reads."""
    return [span for name, span in icu_items(library).items() if _UNREAD.match(name)]


def blanked(library: bytes, spans: Iterable[range]) -> bytes:
    """The library with zeros in these places."""
    made = bytearray(library)
    for span in spans:
        made[span.start : span.stop] = bytes(len(span))
    return bytes(made)


def blank(frozen: Path) -> None:
    """Blank both in the frozen folder; ends the program where one of them is not what it was any more."""
    for pattern, find in (("typst/_typst*.so", fonts), ("PySide6/Qt/lib/libicudata.so.*", unread)):
        found = [*(frozen / "_internal").glob(pattern)]
        if not found:
            sys.exit(f"pghaul: there is no {pattern} to blank any more; see installer/blanked.py")
        for path in found:
            library = path.read_bytes()
            spans = find(library)
            if not spans:
                sys.exit(f"pghaul: {path.name} carries nothing to blank any more; see installer/blanked.py")
            path.write_bytes(blanked(library, spans))

"""Which characters the report's fonts can show, read from their cmap tables.

A PDF/A may hold no character without a glyph, so what the fonts lack is shown by its code point: `<U+1F418>`.
Format: OpenType specification 1.9, chapters `otff` (table directory) and `cmap` (subtables 4 and 12).
"""

import re
import struct
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from core import settings

TEXT = ("IBMPlexSans-Regular.ttf", "IBMPlexSans-SemiBold.ttf", "IBMPlexMono-Regular.ttf")
FALLBACK = ("DejaVuSans.ttf", "DroidSansFallback.ttf")
_ASCII = re.compile(r"[ -~\n]*")
_NEVER = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Controls, marks that turn the direction of writing, private and unassigned characters: never shown as themselves."""


def printable(text: str, *, plain: bool = False) -> str:
    """The text with every character that cannot be shown as its code point, tabs as spaces, one kind of line end.

    With `plain` only characters of the text fonts themselves count: each of them has all of these, so that no mixture
    of fonts inside one character (a letter of one, an accent of another) is left.
    """
    if _ASCII.fullmatch(text):
        return text
    known = _text_characters() if plain else _all_characters()
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\t", "    "))
    return "".join(character if character == "\n" else _shown(character, known) for character in text)


def _shown(character: str, known: frozenset[int]) -> str:
    category = unicodedata.category(character)
    if category == "Zs":
        return character if ord(character) in _text_characters() else "\u00a0"
    return character if ord(character) in known and category not in _NEVER else f"<U+{ord(character):04X}>"


@cache
def _text_characters() -> frozenset[int]:
    return frozenset.intersection(*(characters(settings.resource("fonts", name)) for name in TEXT))


@cache
def _all_characters() -> frozenset[int]:
    return _text_characters().union(*(characters(settings.resource("fonts", name)) for name in FALLBACK))


def characters(font: Path) -> frozenset[int]:
    """The code points that a TrueType font has a glyph for."""
    data = font.read_bytes()
    (tables,) = struct.unpack_from(">H", data, 4)
    records = (struct.unpack_from(">4s4xLL", data, 12 + 16 * number) for number in range(tables))
    start = next(offset for tag, offset, _ in records if tag == b"cmap")
    (subtables,) = struct.unpack_from(">H", data, start + 2)
    found: set[int] = set()
    for number in range(subtables):
        platform, _, offset = struct.unpack_from(">HHL", data, start + 4 + 8 * number)
        if platform in {0, 3}:  # Unicode and Windows
            found.update(_subtable(data, start + offset))
    return frozenset(found)


def _subtable(data: bytes, at: int) -> Iterator[int]:
    (form,) = struct.unpack_from(">H", data, at)
    if form == 12:
        (groups,) = struct.unpack_from(">L", data, at + 12)
        for number in range(groups):
            first, last, glyph = struct.unpack_from(">LLL", data, at + 16 + 12 * number)
            yield from (code for code in range(first, last + 1) if glyph + code - first)
    elif form == 4:
        yield from _segments(data, at)


def _segments(data: bytes, at: int) -> Iterator[int]:
    """Format 4: segments of codes, each with a delta or an offset into the glyph numbers behind it."""
    (doubled,) = struct.unpack_from(">H", data, at + 6)
    count = doubled // 2
    ends = struct.unpack_from(f">{count}H", data, at + 14)
    starts = struct.unpack_from(f">{count}H", data, at + 16 + doubled)
    deltas = struct.unpack_from(f">{count}H", data, at + 16 + 2 * doubled)
    offsets_at = at + 16 + 3 * doubled
    offsets = struct.unpack_from(f">{count}H", data, offsets_at)
    for number, (first, last) in enumerate(zip(starts, ends, strict=True)):
        for code in range(first, min(last, 0xFFFE) + 1):
            glyph = code
            if offsets[number]:
                place = offsets_at + 2 * number + offsets[number] + 2 * (code - first)
                (glyph,) = struct.unpack_from(">H", data, place)
                if not glyph:
                    continue
            if (glyph + deltas[number]) & 0xFFFF:
                yield code

"""A report as a PDF: typst with the fonts that ship, PDF/A-2a and PDF/UA-1, the same bytes for the same report."""

import dataclasses
import json
import re
import struct
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typst

from core import settings, units
from core.errors import InputError
from core.language import ENGLISH, catalogue_texts, current, tr
from core.reports import drawing
from core.reports.model import Block, Cell, Code, Document, Items, Section, Table, Text
from core.reports.options import Options
from core.reports.words import instant
from core.text import code_spans

# Which characters the report's fonts can show, read from their cmap tables.
#
# A PDF/A may hold no character without a glyph, so what the fonts lack is shown by its code point: `<U+1F418>`. Format:
# OpenType specification 1.9, chapters `otff` (table directory) and `cmap` (subtables 4 and 12).

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


Plain = dict[str, Any]
_REGIONS = {"en": "GB", "de": "DE"}
_LONG = re.compile(r"[\S\u00a0]*/[\S\u00a0]*|\S{16,}")
"""Words in which a line may break: typst itself breaks one behind a slash. A rate is one word, see `units.unbroken`."""
_FOOTER, _LEAST_TITLE, _MOST_TITLE = 140.0, 25.0, 50.0
"""Millimetres of the footer's one line beside the number of the page, and of a title in it."""
_WIDE, _NARROW = 80, 11
"""Letters that a line of a list and of a table's narrowest column holds at least."""
_ACROSS, _ACROSS_DENSE = 90, 103
"""Letters that a line across a whole table holds at least."""
_BETWEEN = 2
"""Letters that would fit between two columns."""
_NEARLY_EMPTY = 0.25
"""Less of a last page, and the report is set with less space, if it has a page fewer then."""
_SHORT = 36
"""Lines, at the most, of a table that stands on one page, whole."""
_SHORT_LIST = 12
"""The same of a list, which can be read across the end of a page."""
_SIGNED = re.compile(r"[^/,;:=._\-&|]*[/,;:=._\-&|]+|[^/,;:=._\-&|]+")
_USUAL = drawing.width_of("0")
_AROUND = "()[],.;:!?„“'"


def pdf(document: Document, options: Options) -> bytes:
    """The PDF's bytes.

    Raises:
        InputError: the logo is no picture.
    """
    try:
        return _compiled(document, options, plain=False)
    except typst.TypstError as error:
        if "image" in error.message and options.logo is not None:
            raise InputError("the logo cannot be read as a picture", "save it as PNG or JPEG again") from error
        # a letter of one font between accents of others: no font can shape the three together
        if "could not be displayed" not in error.message:
            raise
        return _compiled(document, options, plain=True)


def compiler(document: Document, options: Options, *, plain: bool = False, tight: bool = False) -> typst.Compiler:
    """Typst with the template, the report and the fonts that ship, and no others; `tight`: with less space."""
    folder = settings.resource("report")
    return typst.Compiler(
        input=folder / "report.typ",
        root=folder,
        font_paths=_loaded(settings.resource("fonts")),
        sys_inputs={
            "report": json.dumps(_plain(document, options, plain=plain), ensure_ascii=False),
            "tight": "yes" if tight else "no",
        },
    )


@cache
def _loaded(folder: Path) -> typst.Fonts:
    loaded = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[folder])
    if not loaded.families():
        # typst would leave every text out and say nothing
        raise FileNotFoundError(f"no fonts in {folder}")
    return loaded


def _compiled(document: Document, options: Options, *, plain: bool) -> bytes:
    made_at = int(document.made_at.timestamp())

    def made(*, tight: bool) -> tuple[bytes, int, float]:
        found = compiler(document, options, plain=plain, tight=tight)
        content = found.compile(format="pdf", pdf_standards=["a-2a", "ua-1"], timestamp=made_at)
        if not isinstance(content, bytes):
            raise TypeError("typst gave no single file")
        end = json.loads(found.query("<end>", field="value", one=True))
        return content, end["page"], end["filled"]

    content, pages, filled = made(tight=False)
    if pages > 2 and filled < _NEARLY_EMPTY:
        tight, fewer, _ = made(tight=True)
        return tight if fewer < pages else content
    return content


def _plain(document: Document, options: Options, *, plain: bool) -> Plain:
    """What the template reads."""

    def shown(text: str) -> str | Plain:
        return _breakable(printable(text, plain=plain))

    def whole(text: str) -> str:
        return printable(text, plain=plain).replace("\n", " ")

    at, logo = document.made_at, options.logo
    return {
        "title": shown(document.title),
        "subtitle": shown(document.subtitle),
        "label": whole(f"{document.label}, {instant(at)}"),
        "properties": {
            "title": whole(f"{document.title}: {document.label}"),
            "author": whole(options.company or document.program),
            "description": whole(document.subtitle),
            "keywords": ["PostgreSQL", document.kind],
        },
        "date": {"year": at.year, "month": at.month, "day": at.day},
        "language": document.language,
        "region": _REGIONS.get(document.language, document.language.upper()),
        "paper": options.paper.value,
        "company": shown(options.company),
        "company-alt": whole(options.company or tr("Logo")),
        "logo": None if logo is None else {"bytes": list(logo.content), "format": logo.format},
        "footer": shown(_footer(document)),
        "page": tr("Page {page} of {pages}"),
        "contents": tr("Contents"),
        "answers": [
            {
                "question": shown(one.question),
                "words": shown(one.words),
                "details": [_prose(detail, plain=plain) for detail in one.details],
                "tone": one.tone.value,
            }
            for one in document.answers
        ],
        "charts": [_section(section, plain=plain) for section in document.charts],
        "sections": [_section(section, plain=plain) for section in document.sections],
    }


def _footer(document: Document) -> str:
    made = f"{document.program}, {instant(document.made_at)}"
    room = _FOOTER - drawing.width_of(f" · {document.label} · {made}")
    title = drawing.fitted(document.title, min(_MOST_TITLE, max(_LEAST_TITLE, room)))
    return " · ".join(dict.fromkeys((title, document.label, made)))


def _prose(text: str, room: int = _WIDE // 2, *, plain: bool) -> str | Plain:
    """The text, its code in the font of program text."""
    text = printable(text, plain=plain)
    spans = code_spans(text)
    if not any(is_code for _, is_code in spans):
        return _breakable(text, room)
    shown = ((_breakable(part, room), is_code) for part, is_code in spans)
    return {"parts": [{"code": part} if is_code else part for part, is_code in shown]}


def _breakable(text: str, room: int = _NARROW) -> str | Plain:
    """The text, and where a word is long, in pieces between which a line may break.

    A word of the catalogue's is one piece, which is hyphenated by the rules of its language; a path or a name never is.

    Args:
        text: the text.
        room: a word of no more letters is not broken; a wide letter counts as more than one.
    """
    text = units.unbroken(text)
    if not _LONG.search(text):
        return text
    pieces: list[str | Plain] = []
    at = 0
    for word in _LONG.finditer(text):
        ours = word[0].strip(_AROUND) in _long_words(current())
        pieces += [text[at : word.start()], *(_parts(word[0]) if ours else _pieces(word[0], room))]
        at = word.end()
    return {"pieces": [piece for piece in (*pieces, text[at:]) if piece]}


def _pieces(word: str, room: int) -> list[str | Plain]:
    """Those of a path or a name, which end behind a sign that parts it, where they can."""
    parts = [word] if _letters(word) <= room else _SIGNED.findall(word)
    found = [piece for part in parts for piece in _cut(part, room)]
    return [{"whole": piece} if "/" in piece[:-1] else piece for piece in found]


def _cut(word: str, room: int) -> Iterator[str]:
    """Yield the word in pieces that have room."""
    begin, used = 0, 0.0
    for at, letter in enumerate(word):
        used += _letters(letter)
        if used > room and at > begin:
            yield word[begin:at]
            begin, used = at, _letters(letter)
    yield word[begin:]


def _letters(text: str) -> float:
    """How many letters of usual width need as much room; a narrow one counts as a whole one."""
    return sum(max(1.0, drawing.width_of(letter) / _USUAL) for letter in text)


def _parts(word: str) -> list[str | Plain]:
    """A compound's, of which a long one may be hyphenated."""
    return [part if len(part) <= _NARROW else {"word": part} for part in re.findall(r"[^-]*-|[^-]+", word)]


@cache
def _long_words(language: str) -> frozenset[str]:
    """Those that translations into a language are made of."""
    if language == ENGLISH:
        return frozenset()
    texts = " ".join(catalogue_texts(language))
    found = (word.strip(_AROUND) for word in _LONG.findall(texts))
    return frozenset(word for word in found if word.replace("-", "").isalpha())


def _section(section: Section, *, plain: bool) -> Plain:
    title = _breakable(printable(section.title, plain=plain))
    return {"type": "section", "title": title, "blocks": [_block(block, plain=plain) for block in section.blocks]}


def _block(block: Block, *, plain: bool) -> Plain:
    def shown(text: str) -> str | Plain:
        return _breakable(printable(text, plain=plain))

    def said(text: str) -> str | Plain:
        return _prose(text, plain=plain)

    if isinstance(block, Section):
        return _section(block, plain=plain)
    if isinstance(block, Text):
        return {"type": "text", "words": said(block.words), "tone": block.tone.value, "small": block.small}
    if isinstance(block, Items):
        entries = [
            {"title": shown(one.title), "words": said(one.words), "hint": said(one.hint), "tone": one.tone.value}
            for one in block.entries
        ]
        lines = sum(_lines(one.title + one.words + one.hint, _WIDE) for one in block.entries)
        return {"type": "items", "entries": entries, "whole": lines <= _SHORT_LIST}
    if isinstance(block, Code):
        return {"type": "code", "words": printable(block.words, plain=plain)}
    if isinstance(block, Table):
        lines = sum(max(_lines(_words(cell), _NARROW) for cell in row) for row in block.rows)
        rooms = _rooms(block)
        return {
            "type": "table",
            "head": [shown(text) for text in block.head],
            "rows": [
                [_cell(cell, room, plain=plain) for cell, room in zip(row, rooms, strict=False)] for row in block.rows
            ],
            "widths": list(block.widths),
            "right": sorted(block.right),
            "dense": block.dense,
            "whole": lines <= _SHORT,
        }
    return _drawing(block, plain=plain)


def _lines(text: str, letters: int) -> int:
    return sum(1 + len(line) // letters for line in text.split("\n"))


def _words(cell: str | Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _rooms(table: Table) -> list[int]:
    """Letters that a line of each column holds at least; a column as wide as what is in it counts as narrow."""
    natural = [
        max((len(_words(row[number])) for row in table.rows if number < len(row) > 1), default=0)
        for number, width in enumerate(table.widths)
        if not width
    ]
    left = (_ACROSS_DENSE if table.dense else _ACROSS) - sum(natural) - _BETWEEN * len(table.widths)
    parts = sum(table.widths) or 1
    return [max(_NARROW, int(left * width / parts)) for width in table.widths]


def _cell(cell: str | Cell, room: int, *, plain: bool) -> str | Plain:
    is_prose = isinstance(cell, Cell) and cell.is_prose
    words = _words(cell)
    text = _prose(words, room, plain=plain) if is_prose else _breakable(printable(words, plain=plain), room)
    return text if isinstance(cell, str) or cell.tone.value == "plain" else {"text": text, "tone": cell.tone.value}


def _drawing(plot: drawing.Drawing, *, plain: bool) -> Plain:
    marks = [
        {"type": type(mark).__name__.lower(), **_mark(dataclasses.asdict(mark), plain=plain)} for mark in plot.marks
    ]
    alt = printable(plot.alt, plain=plain).replace("\n", " ")
    return {"type": "drawing", "alt": alt, "width": plot.width, "height": plot.height, "marks": marks}


def _mark(fields: Plain, *, plain: bool) -> Plain:
    for name in ("fill", "colour", "outline"):
        if fields.get(name):
            fields[name] = drawing.PALETTE[fields[name]]
    if "text" in fields:
        fields["text"] = printable(fields["text"], plain=plain).replace("\n", " ")
    return fields

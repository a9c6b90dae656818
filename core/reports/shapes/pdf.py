"""A report as a PDF: typst with the fonts that ship, PDF/A-2a and PDF/UA-1, the same bytes for the same report."""

import dataclasses
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import typst

from core import settings
from core.errors import InputError
from core.language import ENGLISH, catalogue_texts, current, tr
from core.reports import drawing
from core.reports.model import Block, Cell, Code, Document, Items, Section, Table, Text
from core.reports.options import Options
from core.reports.shapes import fonts
from core.reports.words import instant

Plain = dict[str, Any]
_REGIONS = {"en": "GB", "de": "DE"}
_LONG = re.compile(r"\S{16,}")
_FOOTER_TITLE = 50.0
"""Millimetres of a title in the footer, which has one line."""
_WIDE, _NARROW = 80, 11
"""Letters that a line of a list and of a table's narrowest column holds at least."""
_SHORT = 36
"""Lines, at the most, of a table that stands on one page, whole."""
_SHORT_LIST = 12
"""The same of a list, which can be read across the end of a page."""
_AROUND = "()[],.;:!?„“'"
_UNIT = re.compile(r"(?<=\d) (?=(?:[kMGT]?i?B(?:/s|ytes)?|[kMGT]?bit/s|[mµn]?s|min|h|d|×|%|Bytes)(?![\w]))")
_PIECE = re.compile(r".{1,11}[/,;:=._\-&|]+|.{1,11}", re.DOTALL)


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


def compiler(document: Document, options: Options, *, plain: bool = False) -> typst.Compiler:
    """Typst with the template, the report and the fonts that ship, and no others."""
    folder = settings.resource("report")
    return typst.Compiler(
        input=folder / "report.typ",
        root=folder,
        font_paths=_loaded(settings.resource("fonts")),
        sys_inputs={"report": json.dumps(_plain(document, options, plain=plain), ensure_ascii=False)},
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
    made = compiler(document, options, plain=plain)
    content = made.compile(format="pdf", pdf_standards=["a-2a", "ua-1"], timestamp=made_at)
    if not isinstance(content, bytes):
        raise TypeError("typst gave no single file")
    return content


def _plain(document: Document, options: Options, *, plain: bool) -> Plain:
    """What the template reads."""

    def shown(text: str) -> str | Plain:
        return _breakable(fonts.printable(text, plain=plain))

    def whole(text: str) -> str:
        return fonts.printable(text, plain=plain).replace("\n", " ")

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
                "detail": shown(" ".join(one.details)),
                "tone": one.tone.value,
            }
            for one in document.answers
        ],
        "charts": [_section(section, plain=plain) for section in document.charts],
        "sections": [_section(section, plain=plain) for section in document.sections],
    }


def _footer(document: Document) -> str:
    made = f"{document.program}, {instant(document.made_at)}"
    title = drawing.fitted(document.title, _FOOTER_TITLE)
    return " · ".join(dict.fromkeys((title, document.label, made)))


def _breakable(text: str) -> str | Plain:
    """The text, and where a word is long, in pieces between which a line may break.

    A word of the catalogue's is one piece, which is hyphenated by the rules of its language; a path or a name never is.
    """
    text = _UNIT.sub("\u00a0", text)
    if not _LONG.search(text):
        return text
    pieces: list[str | Plain] = []
    at = 0
    for word in _LONG.finditer(text):
        ours = word[0].strip(_AROUND) in _long_words(current())
        pieces += [text[at : word.start()], *(_parts(word[0]) if ours else _PIECE.findall(word[0]))]
        at = word.end()
    return {"pieces": [piece for piece in (*pieces, text[at:]) if piece]}


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
    title = _breakable(fonts.printable(section.title, plain=plain))
    return {"type": "section", "title": title, "blocks": [_block(block, plain=plain) for block in section.blocks]}


def _block(block: Block, *, plain: bool) -> Plain:
    def shown(text: str) -> str | Plain:
        return _breakable(fonts.printable(text, plain=plain))

    if isinstance(block, Section):
        return _section(block, plain=plain)
    if isinstance(block, Text):
        return {"type": "text", "words": shown(block.words), "tone": block.tone.value, "small": block.small}
    if isinstance(block, Items):
        entries = [
            {"title": shown(one.title), "words": shown(one.words), "hint": shown(one.hint), "tone": one.tone.value}
            for one in block.entries
        ]
        lines = sum(_lines(one.title + one.words + one.hint, _WIDE) for one in block.entries)
        return {"type": "items", "entries": entries, "whole": lines <= _SHORT_LIST}
    if isinstance(block, Code):
        return {"type": "code", "words": fonts.printable(block.words, plain=plain)}
    if isinstance(block, Table):
        lines = sum(max(_lines(_words(cell), _NARROW) for cell in row) for row in block.rows)
        return {
            "type": "table",
            "head": [shown(text) for text in block.head],
            "rows": [[_cell(cell, plain=plain) for cell in row] for row in block.rows],
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


def _cell(cell: str | Cell, *, plain: bool) -> str | Plain:
    text = _breakable(fonts.printable(_words(cell), plain=plain))
    return text if isinstance(cell, str) or cell.tone.value == "plain" else {"text": text, "tone": cell.tone.value}


def _drawing(plot: drawing.Drawing, *, plain: bool) -> Plain:
    marks = [
        {"type": type(mark).__name__.lower(), **_mark(dataclasses.asdict(mark), plain=plain)} for mark in plot.marks
    ]
    alt = fonts.printable(plot.alt, plain=plain).replace("\n", " ")
    return {"type": "drawing", "alt": alt, "width": plot.width, "height": plot.height, "marks": marks}


def _mark(fields: Plain, *, plain: bool) -> Plain:
    for name in ("fill", "colour", "outline"):
        if fields.get(name):
            fields[name] = drawing.PALETTE[fields[name]]
    if "text" in fields:
        fields["text"] = fonts.printable(fields["text"], plain=plain).replace("\n", " ")
    return fields

"""A report as data, whatever it is about and whatever file it becomes: sections of blocks, every number a text already.

Each kind of report makes one `Document`; each shape of file (PDF, HTML, Markdown, tables, plots) reads one. A text is a
text: no shape reads markup in it. The one exception is prose, in which PDF and HTML show words in backticks as code.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from core.reports.drawing import Drawing, Mark, Words


class Tone(StrEnum):
    """What a text means for whoever decides; never said by its colour alone."""

    PLAIN = "plain"
    GOOD = "good"
    MIXED = "mixed"
    BAD = "bad"
    MUTED = "muted"


class Paper(StrEnum):
    """The size of a page, by typst's names."""

    A4 = "a4"
    LETTER = "us-letter"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that is more than a text.

    Attributes:
        value: the figure behind it in SI base units, for tables that are read on.
        is_prose: it holds sentences of pghaul, and no value in which a backtick would be a backtick.
    """

    text: str
    value: float | None = None
    tone: Tone = Tone.PLAIN
    is_prose: bool = False


Row = tuple[str | Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        name: what its file is called where tables become files.
        rows: a row of one cell is a head of its own for those that follow.
        widths: of each column its part of the page; 0: as wide as what is in it.
        right: the columns of figures, by their number from 0.
        dense: many short rows that few people read: as low as they can be.
    """

    name: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    widths: tuple[float, ...]
    right: frozenset[int] = frozenset()
    dense: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; `small`: beside the point."""

    words: str
    tone: Tone = Tone.PLAIN
    small: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One thing of a list, with what may be done about it."""

    words: str
    hint: str = ""
    tone: Tone = Tone.PLAIN
    title: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    entries: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Program text, its lines as they are."""

    words: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One line of the answer on page one.

    Attributes:
        figure: the answer at a glance, such as `2.08 – 3.33 ×` or `7.0 s`; `line`: what belongs to that figure.
    """

    question: str
    words: str
    details: tuple[str, ...] = ()
    tone: Tone = Tone.PLAIN
    figure: str = ""
    line: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a title; those that are sections lie one level deeper."""

    title: str
    blocks: "tuple[Block, ...]"

    def __bool__(self) -> bool:
        return bool(self.blocks)


Block = Text | Items | Table | Drawing | Code | Section


@dataclass(frozen=True, slots=True)
class Document:
    """A report.

    Attributes:
        kind: storage, plan, execution, capacity or fleet.
        answers: at most five lines; with `charts` all of page one.
        sections: the evidence, worst first, then the method; appendices behind it.
    """

    kind: str
    title: str
    subtitle: str
    label: str
    language: str
    made_at: datetime
    program: str
    answers: tuple[Answer, ...]
    charts: tuple[Section, ...]
    sections: tuple[Section, ...]

    @property
    def all_sections(self) -> tuple[Section, ...]:
        return (*self.charts, *self.sections)


def blocks_of(sections: tuple[Section, ...]) -> Iterator[Block]:
    """Every block, those inside of sections too, in order."""
    for section in sections:
        for block in section.blocks:
            yield block
            if isinstance(block, Section):
                yield from blocks_of((block,))


def tables(document: Document) -> tuple[Table, ...]:
    """Every table of a report."""
    return tuple(block for block in blocks_of(document.all_sections) if isinstance(block, Table))


def drawings(document: Document) -> tuple[Drawing, ...]:
    """Every plot of a report."""
    return tuple(block for block in blocks_of(document.all_sections) if isinstance(block, Drawing))


def reworded(document: Document, change: Callable[[str], str]) -> Document:
    """The document with every text changed that people read; names of files and colours stay."""
    return replace(
        document,
        title=change(document.title),
        subtitle=change(document.subtitle),
        answers=tuple(
            replace(
                one, question=change(one.question), words=change(one.words), details=tuple(map(change, one.details))
            )
            for one in document.answers
        ),
        charts=tuple(_section(section, change) for section in document.charts),
        sections=tuple(_section(section, change) for section in document.sections),
    )


def _section(section: Section, change: Callable[[str], str]) -> Section:
    return Section(change(section.title), tuple(_block(block, change) for block in section.blocks))


def _block(block: Block, change: Callable[[str], str]) -> Block:
    if isinstance(block, Section):
        return _section(block, change)
    if isinstance(block, Text | Code):
        return replace(block, words=change(block.words))
    if isinstance(block, Items):
        entries = (
            replace(one, words=change(one.words), hint=change(one.hint), title=change(one.title))
            for one in block.entries
        )
        return Items(tuple(entries))
    if isinstance(block, Table):
        rows = tuple(tuple(_cell(cell, change) for cell in row) for row in block.rows)
        return replace(block, head=tuple(map(change, block.head)), rows=rows)
    return replace(block, alt=change(block.alt), marks=tuple(_mark(mark, change) for mark in block.marks))


def _cell(cell: str | Cell, change: Callable[[str], str]) -> str | Cell:
    return change(cell) if isinstance(cell, str) else replace(cell, text=change(cell.text))


def _mark(mark: Mark, change: Callable[[str], str]) -> Mark:
    return replace(mark, text=change(mark.text)) if isinstance(mark, Words) else mark

"""A report as Markdown (CommonMark 0.31 with GitHub's tables), to be pasted into a ticket or a wiki."""

import re

from core.language import tr
from core.reports.model import Block, Cell, Code, Document, Items, Section, Table, Text
from core.reports.words import instant
from core.text import printable, printable_lines

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&!^])")
_LINE_START = re.compile(r"^(\s*\d*)([-+=.)])(?=\s|[-=]*$)")
_TICKS = re.compile(r"`+")


def markdown(document: Document) -> str:
    """The file's text."""
    lines = [
        f"# {_text(document.title)}",
        "",
        f"{_text(document.label)}, {instant(document.made_at)}  ",
        _text(document.subtitle),
        "",
    ]
    for one in document.answers:
        details = f" {_text(' '.join(one.details))}" if one.details else ""
        lines.append(f"- {_text(one.question)} **{_text(one.words)}**{details}")
    lines.append("")
    for section in document.all_sections:
        lines += _section(section, 2)
    return "\n".join([*lines, f"{_text(document.program)}, {instant(document.made_at)}", ""])


def _text(text: str) -> str:
    """Text in which nothing is markup, on one line."""
    escaped = _SPECIAL.sub(r"\\\1", printable(" ".join(text.split())))
    return _LINE_START.sub(lambda found: f"{found[1]}\\{found[2]}", escaped)


def _section(section: Section, level: int) -> list[str]:
    lines = [f"{'#' * min(level, 6)} {_text(section.title)}", ""]
    for block in section.blocks:
        lines += _section(block, level + 1) if isinstance(block, Section) else [*_block(block), ""]
    return lines


def _block(block: Block) -> list[str]:
    if isinstance(block, Text):
        return [_text(block.words)]
    if isinstance(block, Items):
        return [
            f"- {f'**{_text(one.title)}:** ' if one.title else ''}{_text(one.words)}"
            + (f" → {_text(one.hint)}" if one.hint else "")
            for one in block.entries
        ]
    if isinstance(block, Code):
        return _code(block.words)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Section):
        return _section(block, 3)
    return [f"> {tr('Plot')}: {_text(block.alt)}"]


def _code(text: str) -> list[str]:
    # longer than any run of backticks inside (CommonMark 4.5)
    fence = "`" * max(3, 1 + max((len(found) for found in _TICKS.findall(text)), default=0))
    return [fence, *printable_lines(text).splitlines(), fence]


def _table(table: Table) -> list[str]:
    ends = ["---:" if number in table.right else "---" for number in range(len(table.head))]
    rows = [[*map(_cell, row), *[""] * (len(table.head) - len(row))] for row in table.rows]
    return [_row([_text(text) for text in table.head]), _row(ends), *map(_row, rows)]


def _cell(cell: str | Cell) -> str:
    return _text(cell if isinstance(cell, str) else cell.text)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"

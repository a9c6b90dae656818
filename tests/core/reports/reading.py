"""What tests read out of a document: its words, its tables, its answers."""

from collections.abc import Sequence

from core.reports.drawing import Drawing, Words
from core.reports.model import Block, Cell, Code, Document, Items, Section, Table, Text, blocks_of, tables


def text_of(cell: str | Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def rows(found: Document | Section, name: str) -> list[list[str]]:
    """The rows of the table of that name, as texts."""
    all_of = tables(found) if isinstance(found, Document) else [one for one in blocks_of((found,)) if _is_table(one)]
    table = next(one for one in all_of if isinstance(one, Table) and one.name == name)
    return [[text_of(cell) for cell in row] for row in table.rows]


def _is_table(block: Block) -> bool:
    return isinstance(block, Table)


def names(document: Document) -> list[str]:
    """The names of all tables."""
    return [table.name for table in tables(document)]


def titles(document: Document) -> list[str]:
    """The titles of the sections behind page one."""
    return [section.title for section in document.sections]


def answers(document: Document) -> list[str]:
    return [one.words for one in document.answers]


def words(sections: Sequence[Section]) -> str:
    """All that is said in sections, with what the plots say."""
    said = [section.title for section in sections]
    for block in blocks_of(tuple(sections)):
        if isinstance(block, Text | Code):
            said.append(block.words)
        elif isinstance(block, Items):
            said += [f"{one.title} {one.words} {one.hint}" for one in block.entries]
        elif isinstance(block, Table):
            said += [*block.head, *(text_of(cell) for row in block.rows for cell in row)]
        elif isinstance(block, Drawing):
            said += [block.alt, *(mark.text for mark in block.marks if isinstance(mark, Words))]
        else:
            said.append(block.title)
    return "\n".join(said)

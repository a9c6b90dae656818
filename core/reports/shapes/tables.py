"""The figures of a report for other programs: each table as CSV (RFC 4180), the whole as one JSON document."""

import csv
import io
import json
from typing import Any

from core.reports.model import Block, Cell, Code, Document, Items, Section, Table, Text
from core.reports.model import tables as tables_of
from core.text import no_formula

SCHEMA = 1


def csv_files(document: Document) -> dict[str, str]:
    """File name to text: a file a table, figures in SI base units without a unit."""
    found: dict[str, str] = {}
    for table in tables_of(document):
        number = sum(name.rpartition(".")[0].rstrip("-0123456789") == table.name for name in found) + 1
        found[f"{table.name}{f'-{number}' if number > 1 else ''}.csv"] = _csv(table)
    return found


def _csv(table: Table) -> str:
    file = io.StringIO()
    written = csv.writer(file)
    group = any(len(row) == 1 for row in table.rows)
    written.writerow([*(["group"] if group else []), *(no_formula(text) for text in table.head)])
    under = ""
    for row in table.rows:
        if len(row) == 1:
            under = _words(row[0])
            continue
        written.writerow([*([no_formula(under)] if group else []), *map(_figure, row)])
    return file.getvalue()


def _words(cell: str | Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _figure(cell: str | Cell) -> str | float:
    return no_formula(_words(cell)) if isinstance(cell, str) or cell.value is None else cell.value


def as_json(document: Document) -> str:
    """The report as data: answers, texts, tables with figures in SI base units, the words of each plot."""
    plain = {
        "schema_version": SCHEMA,
        "kind": document.kind,
        "title": document.title,
        "subtitle": document.subtitle,
        "label": document.label,
        "language": document.language,
        "made_at": document.made_at.isoformat(),
        "program": document.program,
        "answers": [
            {"question": one.question, "words": one.words, "details": list(one.details), "tone": one.tone.value}
            for one in document.answers
        ],
        "sections": [_section(section) for section in document.all_sections],
    }
    # a byte that was no UTF-8 stays an escape
    return json.dumps(plain, indent=1) + "\n"


def _section(section: Section) -> dict[str, Any]:
    return {"title": section.title, "blocks": [_block(block) for block in section.blocks]}


def _block(block: Block) -> dict[str, Any]:
    if isinstance(block, Section):
        return {"type": "section", **_section(block)}
    if isinstance(block, Text):
        return {"type": "text", "words": block.words}
    if isinstance(block, Items):
        return {
            "type": "list",
            "items": [{"title": one.title, "words": one.words, "hint": one.hint} for one in block.entries],
        }
    if isinstance(block, Code):
        return {"type": "code", "words": block.words}
    if isinstance(block, Table):
        rows = [[_plain(cell) for cell in row] for row in block.rows]
        return {"type": "table", "name": block.name, "head": list(block.head), "rows": rows}
    return {"type": "plot", "name": block.name, "words": block.alt}


def _plain(cell: str | Cell) -> Any:
    if isinstance(cell, str) or cell.value is None:
        return _words(cell)
    return {"text": cell.text, "value": cell.value}

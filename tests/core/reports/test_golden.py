"""Each kind in each language, word for word, and all of its words in the PDF.

The texts lie in tests/data/reports. Where they are meant to be new, `WRITE_GOLDEN=1 .venv/bin/python -m pytest
tests/core/reports/test_golden.py` writes them; read the difference before you commit it.
"""

import dataclasses
import io
import os
import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pypdf import PdfReader

from core.language import languages
from core.reports.kinds.storage import StorageReport
from core.reports.make import Format, Kind, content
from core.reports.model import Cell, Code, Document, Items, Table, Text, blocks_of
from core.reports.options import Options
from core.reports.report import Report
from tests.core.reports.documents import document_of, repeated

GOLDEN = Path(__file__).resolve().parents[2] / "data" / "reports"
AT = datetime(2026, 3, 16, 9, 0, tzinfo=UTC)

each_kind = pytest.mark.parametrize("kind", list(Kind))
each_language = pytest.mark.parametrize("language", languages())


def _document(kind: Kind, full: Report, storages: StorageReport, options: Options) -> Document:
    # what the history has dated by its own clock
    ended = tuple(dataclasses.replace(one, ended_at=AT) for one in full.executions)
    dated = dataclasses.replace(full, made_at=AT, checks_taken_at=AT, executions=ended, program_version="1.0")
    return document_of(kind, dated, dataclasses.replace(storages, made_at=AT, program_version="1.0"), options)


@each_kind
@each_language
def test_it_says_what_it_said(full: Report, storages: StorageReport, kind: Kind, language: str) -> None:
    options = Options(language=language)
    said = content(_document(kind, full, storages, options), options, Format.MARKDOWN)[""].decode()
    if kind is Kind.CAPACITY:
        # its times are reckoned anew, and change with each formula
        said = re.sub(r"\d+ (min \d+ s|h \d+ min|min|s|h|%)", "#", said)
        said = re.sub(r"# \(# (to|bis) #\)", "#", said)
    path = GOLDEN / f"{kind.value}-{language}.md"
    if "WRITE_GOLDEN" in os.environ:
        path.write_text(said, encoding="utf-8")
    assert said == path.read_text(encoding="utf-8")


@each_language
def test_storage_over_time_says_what_it_said(full: Report, storages: StorageReport, language: str) -> None:
    options = Options(language=language)
    document = _document(Kind.STORAGE, full, repeated(storages), options)
    said = content(document, options, Format.MARKDOWN)[""].decode()
    path = GOLDEN / f"storage-over-time-{language}.md"
    if "WRITE_GOLDEN" in os.environ:
        path.write_text(said, encoding="utf-8")
    assert said == path.read_text(encoding="utf-8")


def _texts(document: Document) -> Iterator[str]:
    """What people read outside of plots."""
    for answer in document.answers:
        yield from (answer.question, answer.words, *answer.details)
    for section in document.all_sections:
        yield section.title
    for block in blocks_of(document.all_sections):
        if isinstance(block, Text | Code):
            yield block.words
        elif isinstance(block, Items):
            yield from (text for one in block.entries for text in (one.title, one.words, one.hint))
        elif isinstance(block, Table):
            yield from block.head
            yield from (cell.text if isinstance(cell, Cell) else cell for row in block.rows for cell in row)


def _bare(text: str) -> str:
    """Without what a line's end takes away, and with letters that a font joins taken apart."""
    return re.sub(r"[\s\u00ad\u00a0\u202f-]+", "", unicodedata.normalize("NFKC", text))


@pytest.mark.slow
@each_kind
@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.long), "de"])
def test_nothing_is_lost_in_the_pdf(full: Report, storages: StorageReport, kind: Kind, language: str) -> None:
    options = Options(language=language, raw=True, functions=True)
    document = _document(kind, full, storages, options)
    reader = PdfReader(io.BytesIO(content(document, options, Format.PDF)[""]))
    # what a page break parts is parted by the foot of the page
    foot = re.compile(r"\n[^\n]*pghaul 1\.0[^\n]*\n?[^\n]*(Page|Seite) \d+ (of|von) \d+")
    shown = _bare("".join(foot.sub("", page.extract_text()) for page in reader.pages))
    lost = [text for text in _texts(document) for line in text.splitlines() if _bare(line) not in shown]
    assert lost == []

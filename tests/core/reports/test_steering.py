"""No text of others steers who reads a report: a terminal, a browser, a spreadsheet, a renderer of Markdown."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from core.reports.kinds.storage import StorageReport
from core.reports.make import Format, Kind, content
from core.reports.model import Document, Section, Text, reworded, tables
from core.reports.options import Options
from core.reports.report import Report
from core.text import no_formula
from tests.core.reports.documents import document_of

STEERING = (
    "\x1b]0;title\x07 \x9b31m red \u202e turned \u2067 \u200f \u061c \x7f \uffff \ufffe \udcff \x0b\x0c\x85\u2028\r"
    "\n=cmd()\t=cmd();=cmd()|<script>"
)
TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.fixture(params=list(Kind))
def steering(request: pytest.FixtureRequest, full: Report, storages: StorageReport) -> Document:
    """A report of each kind in which every text is the same bad one."""
    return reworded(document_of(request.param, full, storages, Options(raw=True, functions=True)), lambda _: STEERING)


@pytest.mark.parametrize("shape", sorted(set(Format) - {Format.PDF}))
def test_no_file_holds_what_steers_a_terminal_or_turns_text(steering: Document, shape: Format) -> None:
    for made in content(steering, Options(), shape).values():
        text = made.decode()
        assert CONTROL.search(text.replace("\r\n", "\n") if shape is Format.CSV else text) is None
        assert not set(TURNS) & set(text)


def test_plots_are_xml_whatever_is_in_them(steering: Document) -> None:
    for made in content(steering, Options(), Format.SVG).values():
        assert ET.fromstring(made.decode()).tag.endswith("svg")  # noqa: S314  made here


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_cell_is_a_formula_however_a_spreadsheet_divides(steering: Document, delimiter: str) -> None:
    for made in content(steering, Options(), Format.CSV).values():
        for row in csv.reader(io.StringIO(made.decode(), newline=""), delimiter=delimiter):
            assert [cell for cell in row if re.match(r"[=+@＝＋－＠]", cell.strip())] == []


@pytest.mark.parametrize("text", ["-", "–", "a - b", "a-b; c", "x=1", "1.5 GB", "old: -1"])
def test_a_text_that_is_no_formula_stays(text: str) -> None:
    assert no_formula(text) == text


@pytest.mark.parametrize(
    "text", ["---", "===", "- - -", "--", "=", "+", "1.", "***", "___", "> a", "# a", "~~~", "```"]
)
def test_a_paragraph_of_markdown_stays_one(steering: Document, text: str) -> None:
    made = replace(
        steering, sections=(Section("S", (Text("before"), Text(text), Text("after"))),), charts=(), answers=()
    )
    lines = content(made, Options(), Format.MARKDOWN)[""].decode().splitlines()
    shown = lines[lines.index("before") + 2]
    assert re.match(r"\\|\d+\\", shown)
    assert re.sub(r"\\(?=[^\w\s]|_)", "", shown) == text


def test_every_table_of_markdown_has_its_rows(steering: Document) -> None:
    lines = content(steering, Options(), Format.MARKDOWN)[""].decode().splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) == sum(2 + len(table.rows) for table in tables(steering))

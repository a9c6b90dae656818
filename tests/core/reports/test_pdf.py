"""The PDF: what its standard asks for, text that is never markup, files written whole or not at all."""

import dataclasses
import json
import os
import re
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.migration.execution.record import Held
from core.migration.model.estimate import Span
from core.migration.model.execution import Kind
from core.reports.pdf import compiler, render, write_pdf
from core.reports.report import Report, build
from tests.core.history import samples
from tests.histories import Histories

HOSTILE = (
    '#panic("x") #pagebreak() *a* _b_ $x$ [c "d" \\ `e <f> @g // h /* ~ = it\'s $(touch x) ö 数据库移动 한국어 '
    "قاعدة البيانات שלום \U0001f418 क \u202egnp \x07 " + "w" * 300
)


def _inside(pdf: bytes) -> bytes:
    """The file with its compressed streams unpacked behind it."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    unpacked = []
    for stream in streams:
        try:
            unpacked.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return pdf + b"\n".join(unpacked)


def _pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", _inside(pdf)))


def _query(report: Report, selector: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(compiler(report).query(selector))
    return found


def _text(content: Any) -> str:
    if isinstance(content, dict):
        # a space is an element of its own, without a text
        return str(content["text"]) if "text" in content else "".join(_text(item) for item in content.values())
    return "".join(_text(item) for item in content) if isinstance(content, list) else ""


def test_it_is_a_tagged_archive_file(full: Report) -> None:
    pdf = render(full)
    assert pdf.startswith(b"%PDF-1.7")
    assert b"<pdfaid:part>2</pdfaid:part>" in pdf
    assert b"<pdfaid:conformance>A</pdfaid:conformance>" in pdf
    assert b"<pdfuaid:part>1</pdfuaid:part>" in pdf
    assert b"gannon to the new storage: move report" in pdf
    inside = _inside(pdf)
    for entry in (rb"/MarkInfo", rb"/Marked true", rb"/StructTreeRoot", rb"/Lang\s*\(en-GB\)", rb"/OutputIntents"):
        assert re.search(entry, inside), entry
    assert len(re.findall(rb"/S\s*/Figure\b", inside)) == 5
    assert inside.count(b"/Alt") >= 5
    assert re.search(rb"/S\s*/TH\b", inside)
    assert re.search(rb"/S\s*/H1\b", inside)


def test_only_the_fonts_that_ship_are_in_it(full: Report) -> None:
    names = set(re.findall(rb"/FontName\s*/[A-Z]{6}\+([\w-]+)", _inside(render(full))))
    assert {b"IBMPlexSans", b"IBMPlexSans-SmBld", b"IBMPlexMono"} <= names | {
        name.replace(b"-Regular", b"").replace(b"SemiBold", b"SmBld") for name in names
    }
    assert all(name.startswith((b"IBMPlex", b"DejaVuSans", b"DroidSans")) for name in names)


def test_without_its_fonts_there_is_no_report(full: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typst would write a report without a single word."""
    monkeypatch.setattr("core.reports.pdf.settings.resource", tmp_path.joinpath)
    with pytest.raises(FileNotFoundError, match="no fonts in"):
        compiler(full)


def test_the_same_report_is_the_same_file(full: Report) -> None:
    assert render(full) == render(full)
    other = dataclasses.replace(full, made_at=full.made_at.replace(year=2001))
    assert render(other) != render(full)


def test_sections_come_in_order(full: Report) -> None:
    headings = [_text(item["body"]) for item in _query(full, "heading.where(level: 1)")]
    page_one = ["Storage, old against new", "What stands in the way", "How long each way takes"]
    rest = ["What was carried out", "Servers", "Storage", "Checks", "How long", "Plan", "Appendix:what was run"]
    assert headings == [*page_one, *rest]
    charts = [item["alt"] for item in _query(full, "figure")]
    assert len(charts) == 5
    assert all(len(alt) > 40 for alt in charts)


def test_a_move_without_anything_is_a_report(empty: Report, tmp_path: Path) -> None:
    write_pdf(empty, tmp_path / "empty.pdf")
    assert 2 <= _pages((tmp_path / "empty.pdf").read_bytes()) <= 4


def _hostile(full: Report) -> Report:
    """Every text that somebody else wrote, replaced."""
    assert full.plan is not None
    assert full.estimate is not None
    assert full.comparison is not None
    assert full.old_facts is not None
    replace = dataclasses.replace
    return replace(
        full,
        move=replace(full.move, name=HOSTILE, cluster=HOSTILE, target=HOSTILE, tablespace_targets={HOSTILE: HOSTILE}),
        old=replace(full.old, name=HOSTILE, address=HOSTILE),
        old_facts=replace(
            full.old_facts,
            clusters=tuple(replace(one, data_directory=HOSTILE) for one in full.old_facts.clusters) * 60,
        ),
        comparison=replace(
            full.comparison,
            rows=tuple(replace(row, workload=replace(row.workload, title=HOSTILE)) for row in full.comparison.rows),
        ),
        checks=tuple(
            replace(check, title=HOSTILE, old=HOSTILE, message=HOSTILE, hint=HOSTILE) for check in full.checks or ()
        ),
        probes=tuple(replace(probe, method=HOSTILE) for probe in full.probes),
        estimate=replace(
            full.estimate,
            methods=tuple(
                replace(one, assumptions=(HOSTILE,), warnings=(HOSTILE,), ruled_out=HOSTILE)
                for one in full.estimate.methods
            ),
        ),
        record=(Held(1, HOSTILE, Kind.REAL, full.made_at, HOSTILE, Span(1, 2, 3), 2),),
        plan=replace(
            full.plan,
            steps=tuple(
                replace(step, title=HOSTILE, call=f"{HOSTILE}\n\t{HOSTILE}", undo=HOSTILE, reason=HOSTILE)
                for step in full.plan.steps
            ),
            transport=HOSTILE,
            why=HOSTILE,
        ),
    )


def test_text_is_never_markup(full: Report, tmp_path: Path) -> None:
    report = _hostile(full)
    write_pdf(report, tmp_path / "hostile.pdf")
    shown = HOSTILE.replace("\U0001f418", "<U+1F418>").replace("क", "<U+0915>")
    shown = shown.replace("\u202e", "<U+202E>").replace("\x07", "<U+0007>")
    steps = [_text(item["body"]) for item in _query(report, "heading.where(level: 3)") if shown in _text(item["body"])]
    assert len(steps) == 4
    assert steps[0].startswith('1.#panic("x") #pagebreak() *a* _b_ $x$ [c')


def test_letters_between_accents_of_other_fonts(full: Report, tmp_path: Path) -> None:
    """Found by trying: typst gives up on this one although each character has a glyph in some font."""
    odd = dataclasses.replace(full, move=dataclasses.replace(full.move, name="\u05b0\ufe50\u031d ö"))
    write_pdf(odd, tmp_path / "odd.pdf")
    assert b"&lt;U+05B0>&lt;U+FE50>" in (tmp_path / "odd.pdf").read_bytes().replace(b"&gt;", b">")


def test_it_replaces_a_file_in_one_go(full: Report, tmp_path: Path) -> None:
    path = tmp_path / "it's $(touch x) ö.pdf"
    path.write_text("the report of last week")
    write_pdf(full, path)
    assert path.read_bytes().startswith(b"%PDF")
    assert [found.name for found in tmp_path.iterdir() if found.is_file()] == [path.name]


@pytest.mark.parametrize(
    ("path", "said"),
    [("missing/report.pdf", "there is no folder"), ("file/report.pdf", "there is no folder"), (".", "is a folder")],
)
def test_a_target_that_cannot_be(full: Report, tmp_path: Path, path: str, said: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=said):
        write_pdf(full, tmp_path / path)
    assert sorted(found.name for found in tmp_path.iterdir()) == ["file"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, a folder that takes no file even from root")
def test_a_folder_that_takes_no_file(full: Report) -> None:
    with pytest.raises(InputError, match="cannot be written") as refused:
        write_pdf(full, Path("/proc/report.pdf"))
    assert "choose a folder" in refused.value.hint


def test_a_disk_that_fills_up_keeps_the_old_file(full: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "report.pdf").write_text("the report of last week")

    def full_disk(descriptor: int) -> None:  # noqa: ARG001
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InputError, match="cannot be written: no space left on device"):
        write_pdf(full, folder / "report.pdf")
    assert (folder / "report.pdf").read_text() == "the report of last week"
    assert len(list(folder.iterdir())) == 1


def test_a_long_table_goes_over_pages(full: Report) -> None:
    assert full.old_facts is not None
    many = dataclasses.replace(
        full, old_facts=dataclasses.replace(full.old_facts, clusters=full.old_facts.clusters * 300)
    )
    assert _pages(render(many)) >= _pages(render(full)) + 5


def test_a_renamed_move_is_reported_under_its_new_name(histories: Histories, tmp_path: Path) -> None:
    with histories.open(tmp_path, samples.fill) as store:
        store.update_move(dataclasses.replace(samples.MOVE, name="done"), name=samples.MOVE.name)
        report = build(store, "done")
    assert report.plan is not None
    assert b"done: move report" in render(report)

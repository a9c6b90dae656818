"""Each kind in each language is PDF/A-2a and PDF/UA-1, as veraPDF says: `make test-pdf` fetches it.

What else may be in a report does not change that: texts of others, nothing at all, a logo, names that are masked.
"""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfWriter

from core.language import ENGLISH, languages
from core.reports.kinds.storage import StorageReport
from core.reports.make import Format, Kind, of_fleet, of_move, of_storage, write
from core.reports.model import Document, Paper
from core.reports.options import Logo, Options
from core.reports.report import Report
from tests.core.reports.documents import document_of, fleet_of_many, hostile_fleet
from tests.core.reports.hostile import NAME, hostile
from tests.core.reports.shapes.pictures import PNG

TOP = Path(__file__).resolve().parents[4]
FETCHED = TOP / "build" / "verapdf"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(280),
    pytest.mark.skipif(
        shutil.which("java") is None or not (FETCHED / "classes" / "Check.class").exists(),
        reason="veraPDF is not here: make test-pdf fetches it",
    ),
]


def _failures(*files: Path) -> tuple[int, str]:
    """What veraPDF finds in all of them; its Java starts once."""
    found = subprocess.run(
        ["java", "-XX:+UseSerialGC", "-cp", f"{FETCHED / 'classes'}:{FETCHED / 'jars'}/*", "Check", *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
        timeout=270,
    )
    return found.returncode, found.stdout + found.stderr


def _of(kind: Kind, report: Report, storages: StorageReport, options: Options) -> Document:
    return document_of(kind, report, storages, options)


def test_every_kind_in_every_language(full: Report, storages: StorageReport, tmp_path: Path) -> None:
    files = []
    for kind in Kind:
        for language in languages():
            whole = language == ENGLISH  # appendices hold nothing of a language
            options = Options(language=language, company="Example & Söhne", raw=whole, functions=whole)
            files.append(tmp_path / f"{kind.value}-{language}.pdf")
            write(_of(kind, full, storages, options), options, Format.PDF, files[-1])
    assert _failures(*files) == (0, "")


def test_whatever_is_in_it(full: Report, empty: Report, storages: StorageReport, tmp_path: Path) -> None:
    named = replace(storages, compared=replace(storages.compared, old=f"{NAME}:/{'数' * 300}"))
    letter = Options(paper=Paper.LETTER, masked=True, logo=Logo(PNG, "png"))
    cases = {
        "hostile": (of_move(Kind.PLAN, hostile(full, checks=24), Options()), Options(functions=True)),
        "storage": (of_storage(named, letter), letter),
        "fleet": (of_fleet(hostile_fleet(full), letter), letter),
        "many": (of_fleet(fleet_of_many(full), Options()), Options()),
        "none": (of_fleet(replace(fleet_of_many(full), moves=(), servers=()), Options()), Options()),
        **{f"empty-{kind.value}": (document_of(kind, empty, storages, letter), letter) for kind in Kind},
    }
    files = []
    for name, (document, options) in cases.items():
        files.append(tmp_path / f"{name}.pdf")
        write(document, options, Format.PDF, files[-1])
    assert _failures(*files) == (0, "")


def test_a_file_that_is_neither_is_found(tmp_path: Path) -> None:
    path = tmp_path / "bare.pdf"
    with PdfWriter() as bare:
        bare.add_blank_page(200, 200)
        bare.write(path)
    status, said = _failures(path)
    assert status == 1
    assert "bare.pdf: 2a: " in said
    assert "bare.pdf: ua1: " in said

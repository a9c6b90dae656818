"""Reports in other languages than English: they lack no text, figures and dates are theirs."""

import gettext
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from core import language
from core.language import catalogue
from core.migration.model.estimate import stage_heading
from core.reports.kinds.storage import StorageReport
from core.reports.make import Kind, of_move, of_storage, written_as
from core.reports.model import Document
from core.reports.options import Options
from core.reports.report import Report
from core.reports.words import day, day_of_month, instant
from tests.core.reports.documents import document_of
from tests.core.reports.reading import rows, words


class Heard(gettext.NullTranslations):
    """Is asked for what a catalogue lacks, and keeps it."""

    def __init__(self) -> None:
        super().__init__()
        self.lacking: set[str] = set()

    def gettext(self, message: str) -> str:
        self.lacking.add(message)
        return message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        self.lacking.add(msgid2)
        return super().ngettext(msgid1, msgid2, n)


@pytest.fixture
def heard() -> Iterator[Heard]:
    """What German lacks while reports are made."""
    listening = Heard()
    catalogue("de").add_fallback(listening)
    yield listening
    catalogue.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("state", ["full", "empty"])
def test_a_german_report_asks_for_nothing_else(
    request: pytest.FixtureRequest, storages: StorageReport, heard: Heard, kind: Kind, state: str
) -> None:
    options = Options(language="de", raw=True, functions=True, masked=True)
    report: Report = request.getfixturevalue(state)
    made = document_of(kind, report, storages, options)
    assert language.current() == "en"
    assert made.language == "de"
    # what a suite of the DBA's own, or a pghaul of last year, has named
    stages = () if report.estimate is None else [each for one in report.estimate.methods for each in one.stages]
    own = {run.workload.title for run in storages.runs} | {stage_heading(stage.name) for stage in stages}
    own |= {check.title for check in report.checks or ()}
    assert heard.lacking <= own


def _german(report: Report) -> Document:
    return of_move(Kind.PLAN, report, Options(language="de", at=report.made_at))


def test_figures_and_dates_are_german(storages: StorageReport) -> None:
    made = of_storage(storages, Options(language="de"))
    assert rows(made, "storage")[2][2:4] == ["84,3 MB/s", "414 MB/s"]
    assert rows(made, "storage")[2][4:] == ["4,91 ×", "4,65 bis 5,19 ×", "schneller"]
    assert "4.91" not in words(made.all_sections)
    with written_as(Options(language="de")):
        at = datetime(2026, 3, 4, 20, 5, tzinfo=UTC)
        assert (instant(at), day(at), day_of_month(at)) == ("4. März 2026, 20:05 UTC", "04.03.2026", "04.03.")
    assert instant(at) == "4 March 2026, 20:05 UTC"


def test_its_first_page_is_german(full: Report) -> None:
    made = _german(full)
    assert [one.question for one in made.answers] == [
        "Go oder No-Go?",
        "Wie lang ist die Ausfallzeit?",
        "Was ist der Engpass, und was würde helfen?",
        "Ist das neue Storage schneller?",
        "Welche Warnungen gibt es?",
    ]
    assert made.answers[0].words == "No-Go. Noch nicht: 1 Hindernis und 1 unbekannt"

"""Reports of the example that ships, a real move between two small servers: short enough, and nothing cut off."""

import io
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pypdf import PdfReader

from core.api.reports import make_storage_report
from core.api.session import Session
from core.history import example
from core.history.store import Store
from core.language import languages
from core.migration.estimate.planning import answered
from core.migration.model.asked import Asked, window_of
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Kind as ExecutionKind
from core.reports.drawing import Words
from core.reports.make import Format, Kind, content, of_move, of_storage
from core.reports.model import Document, drawings
from core.reports.options import Options
from core.reports.report import Report, build, spec
from core.servers.profiles import Nobody

MOST_PAGES = 8
"""Of a plan with its rollback, its stages and its record, in the longer of both languages."""


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("shipped")
    example.lay(folder)
    with Store.open(folder) as store, Session(store, Nobody()) as session:
        yield session


def _document(session: Session, kind: Kind, options: Options) -> Document:
    report = build(session.store, example.MOVE)
    if kind is Kind.STORAGE:
        return of_storage(make_storage_report(session, [example.MOVE], report.made_at), options)
    return of_move(kind, report, options)


def _answered(report: Report) -> Estimate:
    """The estimate of the report, asked about a window and a downtime."""
    known = spec(report)
    assert known is not None
    assert report.estimate is not None
    return answered(known, report.estimate, Asked(window_of("22:00-02:00"), 600.0))


@pytest.mark.slow
@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("when", ["eve", "eve, asked", "afterwards"])
def test_a_small_plan_is_short_and_its_page_one_holds_both_charts(shipped: Session, language: str, when: str) -> None:
    """On the eve as well as afterwards, when the record of what was carried out comes on top."""
    options = Options(language=language)
    report = build(shipped.store, example.MOVE)
    if when == "eve, asked":
        report = replace(report, estimate=_answered(report))
    if when != "afterwards":
        rehearsed = tuple(each for each in report.executions if each.kind is ExecutionKind.REHEARSAL)
        report = replace(report, executions=rehearsed, record=(), record_of_all=())
    document = of_move(Kind.PLAN, report, options)
    pages = PdfReader(io.BytesIO(content(document, options, Format.PDF)[""])).pages
    assert len(pages) <= MOST_PAGES + (when != "eve")  # whether it fits into a window, and the record, come on top
    first = "".join(pages[0].extract_text().split())
    assert len(document.charts) == 2
    assert all("".join(section.title.split()) in first for section in document.charts)


@pytest.mark.slow
@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("kind", [Kind.STORAGE, Kind.PLAN, Kind.EXECUTION, Kind.CAPACITY])
def test_no_report_ends_on_a_page_that_is_nearly_empty(shipped: Session, kind: Kind, language: str) -> None:
    options = Options(language=language)
    last = PdfReader(io.BytesIO(content(_document(shipped, kind, options), options, Format.PDF)[""])).pages[-1]
    assert len(last.extract_text().splitlines()) > 15


@pytest.mark.slow
@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("kind", [Kind.STORAGE, Kind.CAPACITY])
def test_no_name_in_a_plot_is_cut_off(shipped: Session, kind: Kind, language: str) -> None:
    plots = drawings(_document(shipped, kind, Options(language=language)))
    assert plots
    assert [mark.text for plot in plots for mark in plot.marks if isinstance(mark, Words) and "…" in mark.text] == []


def test_a_figure_s_unit_stands_beside_it_alone(shipped: Session) -> None:
    made = content(_document(shipped, Kind.STORAGE, Options()), Options(), Format.MARKDOWN)[""].decode()
    assert "block 1.0 MiB" in made
    assert "\\_bytes" not in made


def test_estimate_plan_and_record_have_one_division_with_one_value_each(shipped: Session) -> None:
    report = build(shipped.store, example.MOVE)
    assert report.plan is not None
    assert report.estimate is not None
    method = report.estimate.method(report.plan.method)
    assert method is not None
    planned: dict[str, float] = {}
    for step in report.plan.steps:
        if step.expected_seconds is not None:
            planned[step.phase] = planned.get(step.phase, 0.0) + step.expected_seconds
    assert planned == pytest.approx({stage.name: stage.seconds.likely for stage in method.stages})
    assert report.plan.downtime_seconds == pytest.approx(method.downtime_seconds.likely)
    real = [row for row in report.record if row.kind is ExecutionKind.REAL]
    assert [row.stage for row in real] == [*(stage.name for stage in method.stages), "downtime", "whole"]

"""Many moves: what possible and when, what stops the others, whatever there is of them."""

import dataclasses
from collections.abc import Callable

import pytest

from core.migration.model.estimate import Span
from core.reports.kinds.fleet import FleetReport
from core.reports.make import of_fleet
from core.reports.model import Tone, drawings, tables
from core.reports.options import Options
from core.reports.report import Report
from tests.core.reports.documents import TAKEN, fleet, fleet_of_many, hostile_fleet, ready
from tests.core.reports.hostile import MARKUP, NAME
from tests.core.reports.reading import answers, names, rows, titles, words

GERMAN = Options(language="de")


def test_what_can_be_made_and_in_which_windows(full: Report) -> None:
    made = of_fleet(fleet(full), Options())
    assert answers(made) == ["2 of 5", "1 × 15 min; 1 × 4 h", "1 of 5", "1 of 5 not checked", "1 of 5"]
    assert made.answers[0].details == ("2.2 TiB in total: summer and autumn.",)
    (fit,) = made.answers[1].details
    assert (
        fit == "One after another, the moves that need up to 8 h fit into 1 window, each including time for a rollback."
    )
    assert [(row[0], row[4:7]) for row in rows(made, "ready")] == [
        ("summer", ["5 min", "6 min 40 s", "15 min"]),
        ("autumn", ["1 h 40 min", "1 h 57 min", "4 h"]),
    ]
    assert [row[0] for row in rows(made, "over")] == ["last year"]
    assert [one.name for one in drawings(made)] == ["windows"]


@pytest.mark.parametrize(("options", "title"), [(Options(), "Recorded by"), (GERMAN, "Aufgezeichnet von")])
def test_a_move_that_somebody_else_has_recorded_as_done_names_them(full: Report, options: Options, title: str) -> None:
    """Only the user's own records are signed; a list without the name would vouch for all."""
    report = fleet(full)
    moves = tuple(dataclasses.replace(one, moved_by="eve@elsewhere" * bool(one.moved_at)) for one in report.moves)
    mine, others = (
        next(table for table in tables(of_fleet(one, options)) if table.name == "over")
        for one in (report, dataclasses.replace(report, moves=moves))
    )
    assert (others.head[-1], [row[-1] for row in others.rows]) == (title, ["eve@elsewhere"])
    assert (len(others.widths), others.head[:-1]) == (len(others.head), mine.head)


def test_reasons_are_german_in_german(full: Report) -> None:
    report = fleet(full)
    under_way = "Under way: execution 7 is interrupted. The old cluster is as before."
    moves = tuple(dataclasses.replace(one, unknown=under_way) if one.unknown else one for one in report.moves)
    made = of_fleet(dataclasses.replace(report, moves=moves), GERMAN)
    assert [row[3] for row in rows(made, "unknown")] == [
        "Im Gang: Ausführung 7, unterbrochen. Der alte Cluster ist wie zuvor."
    ]
    assert [row[2] for row in rows(made, "unread")] == [
        "gannon-3: 10.0.0.37 Port 22 antwortet nicht innerhalb von 15 s"
    ]
    assert "steht" not in words(made.charts)  # what a cluster does is no word for a move
    assert "blockiert" in words(made.charts)


def test_a_hundred_servers(full: Report) -> None:
    made = of_fleet(fleet_of_many(full), GERMAN)
    assert made.subtitle == "Umzüge: 100, Server: 101"
    assert answers(made)[0] == "40 von 100"
    assert len(rows(made, "ready")) == len(rows(made, "stopped")) == 40
    assert len(rows(made, "unknown")) == len(rows(made, "unread")) == 20
    assert len(rows(made, "servers")) == 101
    # the moves whose target is taken are one row, whoever has it
    assert rows(made, "stops")[0] == ["Ein anderer Umzug hat dasselbe Ziel", "20"]
    assert "✕ der Umzug spring hat dasselbe Ziel und wurde ausgeführt" in [row[4] for row in rows(made, "stopped")]
    assert made.answers[0].details[0].endswith(" und 37 weitere.")


@pytest.mark.parametrize("options", [Options(), GERMAN], ids=["en", "de"])
def test_no_moves_are_no_good_news(full: Report, options: Options) -> None:
    report = dataclasses.replace(fleet(full), moves=())
    made = of_fleet(report, options)
    assert [one.tone for one in made.answers] == [Tone.MUTED, Tone.MIXED]
    assert names(made) == ["unread", "servers"]
    assert drawings(made) == ()
    nothing = of_fleet(dataclasses.replace(report, servers=()), options)
    assert [one.tone for one in nothing.answers] == [Tone.MUTED]
    assert names(nothing) == []
    assert len(titles(nothing)) == 1  # the method


def _only(report: FleetReport, wanted: Callable[[str], bool]) -> FleetReport:
    moves = tuple(one for one in report.moves if wanted(one.move.name))
    return dataclasses.replace(report, moves=moves, servers=report.servers[:2])


def test_every_move_was_checked_is_said_of_moves_alone(full: Report) -> None:
    over = of_fleet(_only(fleet(full), lambda name: name == "last year"), Options())
    assert over.answers[1].words == "No move is possible at present"  # and not that the moves are too long for all
    assert over.answers[3].words == "Nothing"
    assert over.answers[3].tone is Tone.MUTED
    checked = of_fleet(_only(fleet(full), lambda name: name != "winter"), Options())
    assert (checked.answers[3].words, checked.answers[3].tone) == ("Every move was checked", Tone.GOOD)


def test_a_size_that_is_not_known_is_not_added_up(full: Report) -> None:
    report = fleet(full)
    assert of_fleet(report, Options()).answers[0].details == ("2.2 TiB in total: summer and autumn.",)
    for unknown in ({"autumn"}, {"summer", "autumn"}):
        moves = [dataclasses.replace(one, size_bytes=None) if one.move.name in unknown else one for one in report.moves]
        made = of_fleet(dataclasses.replace(report, moves=tuple(moves)), Options())
        assert made.answers[0].details == ("summer and autumn.",)


def test_what_fits_into_no_window_is_counted_apart(full: Report) -> None:
    report = fleet(full)
    long = ready(report.moves[0], "endless", Span(90_000.0, 100_000.0, 110_000.0))
    made = of_fleet(dataclasses.replace(report, moves=(*report.moves, long)), Options())
    assert made.answers[1].details[-1] == "Longer than a day, or without an estimate: 1."
    assert rows(made, "ready")[-1][6] == "–"
    alone = of_fleet(dataclasses.replace(report, moves=(long,)), Options())
    assert alone.answers[1].words == "Not known"


def test_texts_of_others_are_texts(full: Report) -> None:
    made = of_fleet(hostile_fleet(full), Options())
    assert {row[0] for row in rows(made, "servers")} == {NAME}
    assert {row[0] for row in rows(made, "ready")} == {MARKUP}
    (stopped,) = rows(made, "stopped")
    assert f"✕ {MARKUP}\n" in stopped[4]
    assert stopped[4].endswith(f"✕ {TAKEN}")


@pytest.mark.parametrize("options", [Options(), GERMAN], ids=["en", "de"])
def test_moves_to_be_checked_first_are_counted_and_marked(full: Report, options: Options) -> None:
    report = fleet(full)
    moves = tuple(
        dataclasses.replace(one, pending=("Locales", "Settings")) if one.move.name == "autumn" else one
        for one in report.moves
    )
    made = of_fleet(dataclasses.replace(report, moves=moves), options)
    assert made.answers[0].details[-1].startswith("1 ")
    assert [(row[0], row[-1]) for row in rows(made, "ready")] == [("summer", "0"), ("autumn", "2")]
    assert len(rows(of_fleet(report, options), "ready")[0]) == len(rows(made, "ready")[0]) - 1

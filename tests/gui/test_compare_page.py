"""Compare: anything against anything, in pictures, and outputs of others."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.api.session import Session
from core.benchmarks.model import Outcome
from core.history.store import Store
from core.sides import Side
from gui.destinations import PageId
from gui.dialogs.outputs import OutputsDialog
from gui.models.chart import Dot
from gui.models.comparison import METRIC, choose_scale
from gui.pages.compare import NOT_MEASURED, ComparePage
from gui.pages.start import StartPage
from gui.widgets.what_if import NO_NUMBER, SOURCES, STATE_IT
from gui.window import MainWindow
from tests.figures import figures
from tests.gui import samples, scenes
from tests.gui.conftest import at_rest, page

DATA = Path(__file__).parents[1] / "data"
PGBENCH = """transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
number of clients: 4
number of threads: 2
duration: 10 s
number of transactions actually processed: {done}
latency average = {latency} ms
tps = {tps} (without initial connection time)
"""


def shown_page(window: MainWindow, qtbot: QtBot) -> ComparePage:
    shown = page(qtbot, window, PageId.COMPARE)
    assert isinstance(shown, ComparePage)
    return shown


def cells(shown: ComparePage, column: str) -> list[str]:
    (found,) = (one for one in shown.table.rows.columns if one.title == column)
    return [found.text(row) for row in shown.table.rows.rows]


def _sets(shown: ComparePage) -> str:
    return "\n".join(label.text() for label in shown.sets)


def earlier(store: Store) -> None:
    """The old side as it was measured a week before, a tenth slower, by a start of its own."""
    for run in store.runs("spring"):
        if run.volume.source == "old":
            at = run.started_at - timedelta(days=7)
            volume = replace(run.volume, folder="/srv/pg/pghaul-bench-000000000001")
            number = store.run_started(
                replace(run, started_at=at, volume=volume, repetitions=(), outcome=None, ended_at=None)
            )
            for one in run.repetitions:
                figures = {name: value * 0.9 for name, value in one.metrics.items()}
                store.repetition_ended(number, replace(one, metrics=figures, started_at=at))
            store.run_ended(number, Outcome.DONE, at, "3.33")


def test_a_ratio_says_which_is_better(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = shown_page(full_window, qtbot)
    assert cells(shown, "Ratio") == ["8.87 ×", "5.31 ×", "3.72 ×", "3.42 ×"]
    assert all(verdict.startswith("db-new ") for verdict in cells(shown, "Verdict"))
    assert shown.said.text().startswith("db-new ")
    assert figures(shown.said.text())[-2:] == ["3.42", "8.87"]
    shown.left.setCurrentIndex(1)
    shown.right.setCurrentIndex(0)
    shown.right.activated.emit(0)
    at_rest(qtbot, full_window)
    assert cells(shown, "Ratio") == ["8.87 ×", "5.31 ×", "3.72 ×", "3.42 ×"]
    assert all(verdict.startswith("left ") for verdict in cells(shown, "Verdict"))
    assert cells(shown, "95 % interval")[0] == "8.84 × – 8.91 ×"
    assert cells(shown, "Verdict")[0] == "left is faster"
    assert not shown.said.text().startswith("db-")


def test_the_table_is_as_high_as_its_rows(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = shown_page(full_window, qtbot)
    rows = sum(shown.table.rowHeight(number) for number in range(4))
    assert rows <= shown.table.viewport().height() < rows + shown.table.rowHeight(0)
    assert shown.table.isColumnHidden(METRIC)
    shown.everything.setChecked(True)
    assert not shown.table.isColumnHidden(METRIC)


@pytest.mark.slow
def test_what_was_measured_earlier_stands_beside_what_is_measured_now(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    earlier(full_store)
    shown = shown_page(full_window, qtbot)
    assert shown.left.count() == 2 + 3  # each side's latest, then every start on a volume
    shown.left.setCurrentIndex(shown.left.count() - 1)
    shown.right.setCurrentIndex(0)
    shown.left.activated.emit(0)
    at_rest(qtbot, full_window)
    assert (cells(shown, "Ratio")[0], cells(shown, "Verdict")[0].split()[0]) == ("1.11 ×", "right")
    assert "2026-03-07" in _sets(shown)
    assert [one.title for one in shown.table.rows.columns[2:4]] == ["Left, mean", "Right, mean"]


def test_a_removed_server_is_called_so_where_it_is_picked_and_compared(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    run = next(run for run in full_store.runs("spring") if run.volume.side is Side.OLD)
    volume = replace(run.volume, side=None, server="db9", folder="/srv/pg/pghaul-bench-000000000009")
    full_store.add_runs((replace(run, move=None, volume=volume),))
    shown = shown_page(full_window, qtbot)
    (number,) = (at for at in range(shown.left.count()) if "db9" in shown.left.itemText(at))
    assert shown.left.itemText(number).endswith(" db9:/srv/pg (removed)")
    shown.left.setCurrentIndex(number)
    shown.left.activated.emit(number)
    at_rest(qtbot, full_window)
    assert "db9:/srv/pg (removed)" in _sets(shown)
    assert _sets(shown).count("(removed)") == 1


def test_which_of_several_machines_is_compared_is_said(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    known = full_store.facts("db-old")
    assert known is not None
    assert known.system is not None
    run = full_store.runs("spring", side=Side.OLD, latest_only=True)[0]
    at = run.started_at + timedelta(days=1)
    for taken_at, machine in ((run.started_at - timedelta(days=1), "a"), (at, "b")):
        full_store.save_facts(replace(known, taken_at=taken_at, system=replace(known.system, machine_id=machine)))
    full_store.add_runs((replace(run, started_at=at, ended_at=at),))
    shown = shown_page(full_window, qtbot)
    assert f"(machine since {at:%Y-%m-%d %H:%M})" in _sets(shown)
    assert "Several machines had the same name" in shown.what.text()


@pytest.mark.slow
@pytest.mark.parametrize("lay", [scenes.lay_example, scenes.lay_long_names], ids=["finished move", "longest names"])
def test_rows_stay_in_sight_on_a_small_screen(
    tmp_path: Path, window: MainWindow, qtbot: QtBot, lay: Callable[[Path], str]
) -> None:
    move = lay(tmp_path / "laid")
    window.resize(1024, 700)
    with Store.open(tmp_path / "laid") as store:
        window.work.use(Session(store, window.work.asker))
        window.work.pick_when_known(move)
        window.work.changed.emit()
        at_rest(qtbot, window)
        shown = shown_page(window, qtbot)
        for number in range(shown.tabs.count()):
            shown.tabs.setCurrentIndex(number)
            at_rest(qtbot, window)
            rows = shown.table.viewport().height() // shown.table.verticalHeader().defaultSectionSize()
            assert rows >= min(4, shown.table.rows.rowCount()) > 0, shown.tabs.tabText(number)
        window.work.close()


@pytest.mark.slow
def test_the_bars_are_called_as_the_columns_are(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = shown_page(full_window, qtbot)
    for left, names in ((0, ["db-old (old)", "db-new (new)"]), (1, ["left", "right"])):
        shown.left.setCurrentIndex(left)
        shown.left.activated.emit(left)
        at_rest(qtbot, full_window)
        charts = [view.chart for view in shown.bars.views if view.chart]
        assert [[name for _, name in chart.legend] for chart in charts] == [names, names]


@pytest.mark.slow
def test_what_was_never_measured_can_be_picked_and_left_again(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    """Of this move old alone was measured: new beside new would be two empty sets."""
    full_store.add_move(replace(samples.MOVE, name="autumn"))
    run = next(run for run in full_store.runs("spring") if run.volume.side is Side.OLD)
    number = full_store.run_started(replace(run, move="autumn", repetitions=(), outcome=None, ended_at=None))
    for one in run.repetitions:
        full_store.repetition_ended(number, one)
    full_store.run_ended(number, Outcome.DONE, run.started_at, "3.33")
    full_window.work.pick_when_known("autumn")
    full_window.work.changed.emit()
    at_rest(qtbot, full_window)
    shown = shown_page(full_window, qtbot)
    shown.left.setCurrentIndex(1)
    shown.left.activated.emit(1)
    at_rest(qtbot, full_window)
    assert shown.left.isVisible()
    assert shown.picked == (Side.OLD, Side.NEW)
    assert shown.what.text().endswith(NOT_MEASURED)
    assert _sets(shown).startswith("Old: db-old:/srv/pg")
    shown.right.setCurrentIndex(0)
    shown.right.activated.emit(0)
    at_rest(qtbot, full_window)
    assert NOT_MEASURED not in shown.what.text()


@pytest.mark.slow
def test_over_time_shows_the_metric_that_is_chosen(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = shown_page(full_window, qtbot)
    shown.tabs.setCurrentWidget(shown.over_time)
    at_rest(qtbot, full_window)
    assert not [view for view in shown.over_time.views if view.chart]  # once on either side
    assert shown.over_time.empty.isVisible()
    earlier(full_store)
    shown.everything.setChecked(True)
    found = shown.table.rows.rows
    number = next(n for n, row in enumerate(found) if row.row.old and not row.row.headline)
    shown.table.choose(number)
    shown.tabs.setCurrentWidget(shown.over_time)
    at_rest(qtbot, full_window)
    (chart,) = (view.chart for view in shown.over_time.views if view.chart)
    row, unit = found[number].row, choose_scale(found[number])
    assert row.old is not None
    heights = [mark.y for mark in chart.marks if isinstance(mark, Dot)]
    assert heights[1] == pytest.approx(row.old.mean / unit.divisor)  # the second of the old server


@pytest.mark.slow
def test_each_picture_is_drawn(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    earlier(full_store)
    shown = shown_page(full_window, qtbot)
    for number in range(shown.tabs.count()):
        shown.tabs.setCurrentIndex(number)
        at_rest(qtbot, full_window)
    assert [view.chart.title.rpartition(", ")[2] for view in shown.bars.views if view.chart] == ["MB/s", "IOPS"]
    pictures = [
        [view.chart for view in row.views if view.chart] for row in (shown.ratios, shown.workload, shown.over_time)
    ]
    assert [len(each) for each in pictures] == [1, 1, 1]
    assert len({chart.title for (chart,) in pictures}) == 3
    assert shown.what_if.table.rows.rowCount() > 5
    shown.table.choose(1)
    at_rest(qtbot, full_window)


@pytest.mark.slow
def test_what_one_drive_does_can_be_stated(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = shown_page(full_window, qtbot)
    shown.tabs.setCurrentWidget(shown.what_if)
    view = shown.what_if
    view.source.setCurrentIndex([side for side, _ in SOURCES].index(None))
    assert view.message.text() == STATE_IT
    view.fields["write_iops"].setText("many")
    view.ask()
    assert view.message.text() == NO_NUMBER
    view.fields["write_iops"].setText("-3")
    view.ask()
    at_rest(qtbot, full_window)
    assert view.message.text() not in {STATE_IT, NO_NUMBER}  # it is core that refuses it
    assert view.table.rows.rowCount() == 0
    view.fields["write_iops"].setText("200")
    view.ask()
    at_rest(qtbot, full_window)
    raid10 = next(row for row in view.table.rows.rows if row.title == "RAID 10 of 8")
    assert raid10.figures.write_iops == 800


def open_outputs(window: MainWindow, qtbot: QtBot) -> OutputsDialog:
    """From the first page, as who has no move yet would."""
    start = page(qtbot, window, PageId.MOVES)
    assert isinstance(start, StartPage)
    start.read.click()
    qtbot.waitUntil(lambda: window.findChild(OutputsDialog) is not None)
    dialog = window.findChild(OutputsDialog)
    assert isinstance(dialog, OutputsDialog)
    return dialog


@pytest.mark.slow
def test_outputs_of_others_lead_to_a_comparison(full_window: MainWindow, qtbot: QtBot) -> None:
    dialog = open_outputs(full_window, qtbot)
    dialog.submit()
    qtbot.waitUntil(dialog.trouble.isVisible)
    assert "left" not in dialog.trouble.text()
    dialog.left.text.setPlainText("no output of anything")
    dialog.submit()
    qtbot.waitUntil(lambda: "left" in dialog.trouble.text())
    for field, tps in ((dialog.left, 100.0), (dialog.right, 400.0)):
        field.text.setPlainText(PGBENCH.format(done=int(tps * 10), latency=4000 / tps, tps=tps))
    dialog.submit()
    shown = shown_page(full_window, qtbot)
    qtbot.waitUntil(lambda: _sets(shown).startswith("Left: left"))
    rates = dict(
        zip(cells(shown, "Metric"), zip(cells(shown, "Ratio"), cells(shown, "Verdict"), strict=True), strict=True)
    )
    ratio, verdict = rates["transactions rate"]
    assert (ratio, verdict.split()[0]) == ("4.00 ×", "right")
    shown.right.activated.emit(1)
    at_rest(qtbot, full_window)
    assert _sets(shown).startswith("Old: db-old:/srv/pg")


@pytest.mark.slow
@pytest.mark.parametrize("text", [PGBENCH.format(done=1000, latency=40, tps=100), "no output of anything"])
def test_who_cancels_while_outputs_are_read_gets_nothing_of_them(
    full_window: MainWindow, qtbot: QtBot, text: str
) -> None:
    dialog = open_outputs(full_window, qtbot)
    at_rest(qtbot, full_window)
    before = _sets(shown_page(full_window, qtbot))
    dialog.left.text.setPlainText(text)
    dialog.submit()
    dialog.reject()
    with qtbot.capture_exceptions() as caught:
        at_rest(qtbot, full_window)
    assert caught == []
    shown = shown_page(full_window, qtbot)
    assert _sets(shown) == before
    assert before.startswith("Old: db-old:/srv/pg")


def test_a_file_that_cannot_be_read_is_said(full_window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = open_outputs(full_window, qtbot)
    dialog.left.open(tmp_path / "none.txt")
    assert "none.txt" in dialog.trouble.text()
    assert "(ENOENT)" in dialog.trouble.text()
    large = tmp_path / "large.txt"
    large.write_bytes(b"x" * 3_000_000)
    dialog.left.open(large)
    assert "large.txt" in dialog.trouble.text()
    assert dialog.left.answer == ("left", "")
    output = next((DATA / "pgbench").rglob("*.txt"))
    dialog.left.open(output)
    assert dialog.left.answer == (output.stem, output.read_text())
    dialog.reject()

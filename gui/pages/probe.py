"""Probe: how fast each link of the copy chain is, seen as it is measured."""

from typing import Any

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QWidget

from core.language import marked, tr
from core.migration.model.probe import Probe
from core.migration.model.standing import Milestone
from gui import actions
from gui.models import migration as rows
from gui.pages.part import PartPage, fill_table
from gui.widgets.filter_box import FilterBox
from gui.widgets.table import Table
from gui.widgets.text import TextView
from gui.work import Work

LIVE_MS = 1000
MEASURING = marked("Measuring: each link takes some seconds, and stands here when it is done.")


class ProbePage(PartPage):
    """The probes of the picked move, in the order of the copy chain."""

    title, milestone = marked("Probe"), Milestone.PROBE
    help = marked(
        "How fast each link of the copy chain is: read, wire, cipher, write, and samples end to end. The plan "
        "takes the transport that was fastest. Probes take a tenth of the move, 15 s at least, and clean up."
    )
    doing, button_text = marked("Probing"), marked("Ta&ke the probes")
    nothing = marked("Not probed yet. Probes measure each link between the two clusters for some seconds and clean up.")

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.table = Table[Probe](tr("Probes"), rows.PROBE_COLUMNS, self)
        self.raw = TextView(tr("Command and raw output"), self)
        self.table.chosen.connect(self._show)
        self.split(self.table, self.raw, (260, 240))
        self.head.insertWidget(2, FilterBox(self.table, self))
        self._probed = ""
        """The move whose links are measured at this moment; empty: nobody's."""
        self._live = QTimer(self, interval=LIVE_MS)
        self._live.timeout.connect(self.refresh)
        work.ended.connect(self._end)

    def read(self, move: str, session: Any) -> Any:
        return actions.probes(move, session)

    def act(self, move: str, session: Any, job: Any) -> Any:
        return actions.probe(move, session, job)

    @Slot()
    def begin(self) -> None:
        move, ready = self.work.move, self.work.ready
        super().begin()
        if ready and move is not None:
            self._probed = move.name
            self._live.start()

    @Slot()
    def _end(self) -> None:
        self._live.stop()
        self._probed = ""

    def show_part(self, part: tuple[Probe, ...]) -> None:
        here = self.work.move is not None and self.work.move.name == self._probed
        self.summary.setText(tr(MEASURING) if here else rows.probes_summary(part) or tr(self.nothing))
        fill_table(self.table, part)

    @Slot(object)
    def _show(self, probe: Probe | None) -> None:
        self.raw.set_text("" if probe is None else rows.probe_text(probe))

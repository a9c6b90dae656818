"""The page Transfer test: the rate of each link between the servers, while it is measured."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QWidget

from core import api
from core.language import marked, tr
from core.migration.model.probe import Probe
from core.migration.model.standing import Milestone
from gui.destinations import TITLES, PageId
from gui.models import migration as rows
from gui.pages.page import PartPage, fill_table
from gui.widgets.table import FilterBox, Table
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session
    from core.jobs import Job

LIVE_MS = 1000
MEASURING = marked("The probes are running. Each takes some seconds, and is listed here when it has ended.")


class ProbePage(PartPage[tuple[Probe, ...]]):
    """The probes of the selected move, in the order of the links."""

    id, title, milestone = PageId.PROBE, TITLES[PageId.PROBE], Milestone.PROBE
    help = marked(
        "A transfer test measures each link between the servers: reading, network, encryption, writing, and "
        "samples of the whole transfer. The plan uses the fastest transport. The probes take a tenth of the "
        "expected duration of the move, and at least 15 s. They remove their files."
    )
    doing, button_text = marked("Transfer test of {move}"), marked("Run the t&ransfer test")
    nothing = marked(
        "The transfer test has not been run yet. It sends samples of the cluster from {old} to {new} for a tenth of "
        "the expected duration of the move, at least 15 s, and removes its files."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.table = Table[Probe]("probes", tr("Probes"), rows.PROBE_COLUMNS, self)
        self.raw = TextView(tr("Command and raw output"), self)
        self.table.chosen.connect(self._show)
        self.split(self.table, self.raw, (260, 240))
        self.head.insertWidget(2, FilterBox(self.table, self))
        self._probed = ""
        """The move whose transfer test is running; empty: none."""
        self._live = QTimer(self, interval=LIVE_MS)
        self._live.timeout.connect(self.refresh)
        work.ended.connect(self._end)

    def read(self, move: str, session: "Session") -> "tuple[Probe, ...]":
        return session.store.probes(move)

    def act(self, move: str, session: "Session", job: "Job") -> object:
        return api.migration.run_probes(session, move, job)

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
        self.summary.setText(tr(MEASURING) if here else rows.probes_summary(part) or self.describe_nothing())
        fill_table(self.table, part)

    @Slot(object)
    def _show(self, probe: Probe | None) -> None:
        self.raw.set_text("" if probe is None else rows.probe_text(probe))

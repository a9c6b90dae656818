"""The page Transfer test: the path between the servers with the rate of each link, also while it is measured."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QToolButton, QWidget

from core import api, units
from core.language import marked, tr
from core.migration.model.probe import Probe
from core.migration.model.standing import Milestone
from core.tones import Tone
from gui.design.measures import GAP, Type, set_type
from gui.destinations import TITLES, PageId, icon_of
from gui.models import transfer as rows
from gui.models.migration import probe_text
from gui.pages.page import PartPage, fill_table
from gui.widgets.empty import Empty
from gui.widgets.label import Label, ToneLabel
from gui.widgets.path_view import PathView
from gui.widgets.table import FilterBox, Table
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session
    from core.jobs import Job

LIVE_MS = 1000
MEASURING = marked("The probes are running. Each takes some seconds, and is listed here when it has ended.")


class ProbePage(PartPage[rows.Transfer]):
    """The probes of the selected move, in the order of the links, and what the next ones will take."""

    id, title, milestone = PageId.PROBE, TITLES[PageId.PROBE], Milestone.PROBE
    help = marked(
        "A transfer test measures each link between the servers: reading, network, encryption, writing, and "
        "samples of the whole transfer. The plan uses the fastest transport. The probes take a tenth of the "
        "expected duration of the move, and at least 15 s. They remove their files. Results of the last hour are "
        "used again, except in a thorough test, which also compares the transports for longer."
    )
    doing, button_text = marked("Transfer test of {move}"), marked("Run the t&ransfer test")
    nothing = marked(
        "The transfer test has not been run yet. It sends samples of the cluster from {old} to {new} for a tenth of "
        "the expected duration of the move, at least 15 s, and removes its files."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.coming = ToneLabel("", Tone.MUTED, self)
        self.coming.setWordWrap(True)
        self.column.addWidget(self.coming)
        self.figure, self.by = Label(parent=self), ToneLabel("", Tone.MUTED, self)
        set_type(self.figure, Type.FIGURE, bold=True)
        line = QHBoxLayout()
        line.addWidget(self.figure)
        line.addWidget(self.by, 1, Qt.AlignmentFlag.AlignVCenter)
        self.column.insertLayout(1, line)
        self.path = PathView(self)
        self.column.addSpacing(GAP)
        self.column.addWidget(self.path)
        self.table = Table[Probe]("probes", tr("Probes"), rows.PROBE_COLUMNS, self)
        for told in rows.TOLD_COLUMNS:
            self.table.setColumnHidden(told, True)  # in the tip, and saved as CSV
        self.column.addWidget(self.table, 2)
        self.fold = QToolButton(self)
        self.fold.setCheckable(True)
        self.fold.setAutoRaise(True)
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.fold.toggled.connect(self._unfold)
        self.column.addWidget(self.fold, 0, Qt.AlignmentFlag.AlignLeft)
        self.raw = TextView(tr("Command and raw output"), self)
        self.table.chosen.connect(self._show)
        self.column.addWidget(self.raw, 1)
        self.before = Empty(icon_of(self.id), tr("Not measured yet"), "", parent=self)
        self.column.addWidget(self.before, 1)
        self.head.insertWidget(2, FilterBox(self.table, self))
        self.thorough = QCheckBox(tr("Thor&ough"), self)
        self.thorough.setToolTip(
            tr("Measure every link again, and compare the transports for longer than a tenth of the move's duration")
        )
        self.head.insertWidget(self.head.count() - 1, self.thorough)
        self._thorough = False
        """Whether the transfer test that runs is a thorough one."""
        self._unfold(shown=False)
        self._probed = ""
        """The move whose transfer test is running; empty: none."""
        self._live = QTimer(self, interval=LIVE_MS)
        self._live.timeout.connect(self.refresh)
        work.ended.connect(self._end)

    def read(self, move: str, session: "Session") -> rows.Transfer:
        usual, thorough = (api.migration.forecast_probes(session, move, thorough=each) for each in (False, True))
        return rows.Transfer(session.store.probes(move), usual, thorough)

    def act(self, move: str, session: "Session", job: "Job") -> object:
        return api.migration.run_probes(session, move, job, thorough=self._thorough)

    @Slot()
    def begin(self) -> None:
        move, ready = self.work.move, self.work.ready
        if ready:
            self._thorough = self.thorough.isChecked()
        super().begin()
        if ready and move is not None:
            self._probed = move.name
            self._live.start()

    @Slot()
    def _end(self) -> None:
        self._live.stop()
        self._probed = ""

    def show_part(self, part: rows.Transfer) -> None:
        self.coming.setText(rows.coming_words(part.coming, part.thorough))
        self._show_probes(part.probes)

    def _show_probes(self, part: tuple[Probe, ...]) -> None:
        move = self.work.move
        here = move is not None and move.name == self._probed
        nothing = not here and not part
        self.before.sentence.setText(self.describe_nothing())
        self.before.setVisible(nothing)
        self.summary.setText(tr(MEASURING) if here else rows.slowest_link(part))
        self.summary.setVisible(not nothing)
        self.coming.setVisible(not here)
        whole = rows.whole_transfer(part)
        if whole is not None:
            self.figure.setText(units.rate(whole.bytes_per_second))
            self.by.setText(rows.whole_words(whole))
        for shown in (self.figure, self.by):
            shown.setVisible(whole is not None)
        links = rows.links(part)
        servers = ("", "") if move is None else (move.old, move.new)
        self.path.show_links(links, servers, rows.probes_summary(part))
        self.path.setVisible(bool(links))
        self.table.setVisible(bool(part))
        self.fold.setVisible(bool(part))
        self._unfold(shown=self.fold.isChecked())
        fill_table(self.table, part)

    @Slot(bool)
    def _unfold(self, shown: bool) -> None:
        """Show the command and the output of the selected probe, or hide them."""
        self.fold.setText(tr("H&ide command and output") if shown else tr("&Show command and output"))
        self.fold.setArrowType(Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow)
        self.raw.setVisible(shown and not self.fold.isHidden())

    @Slot(object)
    def _show(self, probe: Probe | None) -> None:
        self.raw.set_text("" if probe is None else probe_text(probe))

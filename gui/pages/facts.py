"""The page Facts: the facts of the old and the new server, side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QWidget,
)

from core import api
from core.facts.model import Facts
from core.jobs import Job
from core.language import marked, tr
from core.migration.model.standing import Milestone
from core.sides import Side as MoveSide
from gui.design.icons import Icon
from gui.design.measures import GAP, keep_narrow
from gui.design.parts import ButtonKind
from gui.destinations import TITLES, PageId, icon_of
from gui.models import facts as rows
from gui.models.facts import ClusterRow, Detail, FactRow, GapRow
from gui.models.words import listed, minute, moment, side_head
from gui.pages.page import Page
from gui.widgets.empty import Empty
from gui.widgets.label import Label
from gui.widgets.table import FilterBox, Table
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session


@dataclass(frozen=True, slots=True)
class Side:
    """A server and its latest facts."""

    name: str
    facts: Facts | None


@dataclass(frozen=True, slots=True)
class Pair:
    """The names of all servers, and the two selected ones."""

    names: tuple[str, ...]
    old: Side
    new: Side


class FactsPage(Page[Pair]):
    """The facts of two servers: those of the move, unless others are selected."""

    id, title, milestone = PageId.FACTS, TITLES[PageId.FACTS], Milestone.FACTS
    help = marked(
        "This page compares the facts of both servers: system, storage, network, settings and clusters. "
        "Reading the facts changes nothing on the servers. Facts that could not be read are listed under Gaps, "
        "with the reason. Differences only hides the facts that are equal on both servers."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._chosen: tuple[str | None, str, str] | None = None
        self.old, self.new = QComboBox(self), QComboBox(self)
        self.read = self.button(
            tr("&Read facts"),
            self.read_facts,
            tr("Read the facts of both servers. Nothing is written there."),
            ButtonKind.PRIMARY,
        )
        labels = []
        for text, box, spoken in (
            (tr("&Old server:"), self.old, tr("Old server")),
            (tr("Ne&w server:"), self.new, tr("New server")),
        ):
            label = Label(text, self)
            label.setBuddy(box)
            box.setAccessibleName(spoken)
            box.setMaximumWidth(self.fontMetrics().averageCharWidth() * 34)
            keep_narrow(box, 10)
            box.currentTextChanged.connect(box.setToolTip)  # a long name may be cut
            box.textActivated.connect(self._choose)
            labels.append(label)
        self._rows: tuple[FactRow, ...] = ()
        self.differing = QCheckBox(tr("&Differences only"), self)
        self.differing.setChecked(True)
        self.differing.toggled.connect(self._show_rows)
        head = self.heading(self.read)
        self.taken = Label(parent=self)
        line = QHBoxLayout()
        for label, box in zip(labels, (self.old, self.new), strict=True):
            line.addWidget(label)
            line.addWidget(box)
        self.taken.setWordWrap(True)
        line.addStretch()
        line.addWidget(self.differing)
        self.column.addLayout(line)
        self.column.addWidget(self.taken)
        self.table = Table[FactRow]("facts", tr("Facts side by side"), rows.FACT_COLUMNS, self, strong=rows.is_head)
        self.filter = FilterBox(self.table, self)
        self.filter.textChanged.connect(self._show_rows)
        head.insertWidget(2, self.filter)
        self.equal = Empty(
            Icon.DONE,
            tr("No differences"),
            tr("All facts that were read are equal on both servers."),
            tr("Show all facts"),
            self,
        )
        self.equal.wanted.connect(lambda: self.differing.setChecked(False))
        self.clusters = Table[ClusterRow]("clusters", tr("Clusters"), rows.CLUSTER_COLUMNS, self)
        self.details = Table[Detail]("cluster-details", tr("Details of the cluster"), rows.DETAIL_COLUMNS, self)
        self.clusters.chosen.connect(self._show_cluster)
        self.gaps = Table[GapRow]("gaps", tr("Facts that could not be read"), rows.GAP_COLUMNS, self)
        self.no_gaps = Empty(
            Icon.DONE, tr("Everything could be read"), tr("The facts of both servers are complete."), parent=self
        )
        self.raw = TextView(tr("Raw output of the servers"), self)
        self.raw.setContentsMargins(0, GAP, 0, 0)
        self.tabs = QTabWidget(self, documentMode=True)
        self.tabs.setAccessibleName(tr("Facts"))
        self.fact_tab = _either(self, self.table, self.equal)
        self.gap_tab = _either(self, self.gaps, self.no_gaps)
        self.tabs.addTab(self.fact_tab, tr("&Side by side"))
        self.tabs.addTab(self._clusters_tab(), tr("&Clusters"))
        self.tabs.addTab(self.gap_tab, tr("&Gaps"))
        self.tabs.addTab(self.raw, tr("Raw te&xt"))
        self.tabs.currentChanged.connect(self._show_choices)
        self.column.addWidget(self.tabs)
        self.before = Empty(icon_of(self.id), tr("Not read yet"), "", parent=self)
        self.column.addWidget(self.before, 1)

    @Slot()
    def _show_choices(self) -> None:
        """Show what chooses among the facts while they are in front; it changes nothing in another tab."""
        of_use = not self.tabs.isHidden() and self.tabs.currentWidget() is self.fact_tab
        for widget in (self.filter, self.differing):
            widget.setVisible(of_use)

    @property
    def primary(self) -> QPushButton | None:
        return self.read

    def question(self) -> "Callable[[Session], Pair] | None":
        move = self.work.move
        if self._chosen is not None and self._chosen[0] == (move and move.name):
            return partial(_pair, self._chosen[1:])
        return partial(_pair, None if move is None else (move.old, move.new))

    def show_answer(self, answer: Pair) -> None:
        if not answer.names:
            self.explain(
                tr("No servers yet"),
                tr("Add the old and the new server first."),
                tr("Go to the servers"),
                PageId.SERVERS,
            )
            return
        self.fill()
        old, new = answer.old, answer.new
        for box, side in ((self.old, old), (self.new, new)):
            _fill(box, answer.names, side.name)
        self.table.rename(rows.OLD_COLUMN, side_head(MoveSide.OLD, old.name))
        self.table.rename(rows.NEW_COLUMN, side_head(MoveSide.NEW, new.name))
        sides = (old,) if old.name == new.name else (old, new)
        self.taken.setText("      ".join(_taken(side) for side in sides))
        self.taken.setToolTip("\n".join(_moment(side) for side in sides if side.facts is not None))
        known = old.facts is not None or new.facts is not None
        self.before.sentence.setText(
            tr(
                "The facts of {old} and {new} have not been read yet. This takes seconds, and nothing is written "
                "on the servers."
            ).format(old=old.name, new=new.name)
        )
        self.before.setVisible(not known)
        for shown in (self.taken, self.tabs):
            shown.setVisible(known)
        self._show_choices()
        self._rows = rows.side_by_side(old.facts, new.facts) if known else ()
        self._show_rows()
        self.clusters.set_rows(rows.clusters(old.facts, new.facts))
        if self.clusters.current() is None:
            self.clusters.choose(0)
        move = self.work.move
        gaps = rows.gaps(old.facts, new.facts, target="" if move is None else move.target)
        self.gaps.set_rows(gaps)
        complete = not gaps and old.facts is not None and new.facts is not None
        self.gap_tab.setCurrentWidget(self.no_gaps if complete else self.gaps)
        self.tabs.setTabText(2, tr("&Gaps ({gaps})").format(gaps=len(gaps)))
        self.raw.set_text("\n\n".join(_raw(side.facts) for side in (old, new) if side.facts is not None))

    @Slot()
    def _show_rows(self) -> None:
        """Show all facts, or only those that differ."""
        alone, filtered = self.differing.isChecked(), bool(self.filter.text().strip())
        shown = [row for row in self._rows if not alone or row.old != row.new]
        self.table.setColumnHidden(rows.SUBJECT_COLUMN, not filtered)
        self.table.set_rows(shown if filtered else rows.with_heads(shown))
        self.fact_tab.setCurrentWidget(self.table if shown or not self._rows else self.equal)

    @Slot()
    def update_buttons(self) -> None:
        self.read.setEnabled(self.work.ready and self.old.count() > 0)

    @Slot()
    def read_facts(self) -> None:
        """Read the facts of both servers, including the data directories of the move."""
        move = self.work.move
        folders = {} if move is None else {move.old: (move.cluster,), move.new: (move.target,)}
        names = tuple(dict.fromkeys(name for name in (self.old.currentText(), self.new.currentText()) if name))
        wanted = [(name, folders.get(name, ())) for name in names]
        self.run(tr("Reading the facts of {names}").format(names=listed(names)), partial(_read, wanted))

    def _clusters_tab(self) -> QWidget:
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(self.clusters)
        split.addWidget(self.details)
        split.setSizes([160, 320])
        split.setChildrenCollapsible(False)
        return split

    @Slot()
    def _choose(self) -> None:
        move = self.work.move
        self._chosen = (None if move is None else move.name, self.old.currentText(), self.new.currentText())
        self.refresh()

    @Slot(object)
    def _show_cluster(self, row: ClusterRow | None) -> None:
        self.details.set_rows(() if row is None else rows.cluster_details(row.cluster))


def _read(wanted: Sequence[tuple[str, tuple[str, ...]]], session: "Session", job: Job) -> None:
    """Read the facts of each server, including the data directories that the move names there."""
    for server, folders in wanted:
        api.facts.read_facts(session, server, job, folders)


def _pair(chosen: tuple[str, str] | None, session: "Session") -> Pair:
    names = tuple(profile.name for profile in session.store.profiles())
    if chosen is None or not set(chosen) <= set(names):
        chosen = (names[0], names[-1]) if names else ("", "")
    old, new = (Side(name, session.store.facts(name) if name else None) for name in chosen)
    return Pair(names, old, new)


def _fill(box: QComboBox, names: tuple[str, ...], current: str) -> None:
    if [box.itemText(number) for number in range(box.count())] != [*names]:
        box.clear()
        box.addItems(names)
    box.setCurrentText(current)


def _either(parent: QWidget, table: QWidget, instead: QWidget) -> QStackedWidget:
    """Return a tab that shows the table, or what is said instead."""
    made = QStackedWidget(parent)
    made.addWidget(table)
    made.addWidget(instead)
    return made


def _taken(side: Side) -> str:
    if side.facts is None:
        return tr("{name}: the facts have not been read yet. Press Read facts.").format(name=side.name)
    return tr("{name}: read {time}").format(name=side.name, time=minute(side.facts.taken_at))


def _moment(side: Side) -> str:
    return f"{side.name}: {moment(None if side.facts is None else side.facts.taken_at)}"


def _raw(facts: Facts) -> str:
    return "\n\n".join(f"=== {facts.server}: {subject}\n{text.rstrip()}" for subject, text in facts.raw.items())

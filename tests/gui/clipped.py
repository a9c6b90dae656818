"""Which texts of the window are cut, overlap, or can only be seen by scrolling: `python tests/gui/clipped.py HISTORY`.

Further arguments: the language, and a size as WIDTHxHEIGHT.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QScrollArea,
    QTabBar,
    QTabWidget,
    QWidget,
)

from core.api.model import ServerRow
from core.api.servers import list_servers
from core.api.session import Session
from core.history.store import Store
from core.language import ENGLISH, spoken
from core.servers.profiles import Nobody
from core.user_settings.declaration import Settings
from gui import appearance
from gui.asker import HostKeyQuestion, SecretQuestion
from gui.design.measures import GAP, ICON
from gui.dialogs.hooks import HooksDialog
from gui.dialogs.move import MoveDialog
from gui.dialogs.questions import dialog_for
from gui.dialogs.report import ReportDialog
from gui.dialogs.server import ServerDialog
from gui.dialogs.settings import TABS, SettingsDialog
from gui.dialogs.storage import StorageDialog
from gui.dialogs.survey import SurveyDialog
from gui.language import speak
from gui.models.checks import counters
from gui.models.table import Width
from gui.pages.check import CheckPage
from gui.pages.kinds import PAGES
from gui.screenshots import settle
from gui.widgets.chart import ChartView
from gui.widgets.chip import ChipRow
from gui.widgets.label import ElidedLabel
from gui.widgets.phase_strip import PhaseStrip
from gui.widgets.rail import EDGE, Rail
from gui.widgets.table import LONGEST_HEAD, TIGHTEST, Table
from gui.window import MainWindow
from gui.work import Work
from tests.gui import samples

SIZE = (1280, 800)
FIGURE = re.compile(r"\d+")
POINT_IN_TIME = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?|\d\d:\d\d:\d\d")


def _clipped(window: QWidget) -> list[str]:
    found = [*_overlapping(window), *_cut_in_views(window), *_cut_chips(window), *_wider_than_their_place(window)]
    found += [
        *_cut_figures(window),
        *_cut_heads(window),
        *_unreadable_columns(window),
        *_last_columns_out_of_sight(window),
    ]
    if window.window().width() >= SIZE[0] or (window.isWindow() and not isinstance(window, MainWindow)):
        found += [*_elided(window), *_cut_titles(window)]  # on a small screen there is no room for them
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, QAbstractButton | QLabel | QComboBox | QLineEdit):
            continue
        if isinstance(widget, ElidedLabel) or isinstance(widget.parent(), QComboBox | QAbstractSpinBox | QLineEdit):
            continue
        needed = widget.minimumSizeHint()
        if isinstance(widget, QLabel) and widget.wordWrap():
            short = widget.height() < widget.heightForWidth(widget.width())
        else:
            short = widget.width() < needed.width() or widget.height() < needed.height()
        if short:
            text = widget.text() if isinstance(widget, QAbstractButton | QLabel | QLineEdit) else widget.currentText()
            found.append(f"{type(widget).__name__} {text!r}: {widget.size().toTuple()} of {needed.toTuple()}")
    return found


def _elided(window: QWidget) -> list[str]:
    labels = [each for each in window.findChildren(ElidedLabel) if each.isVisible()]
    return [
        f"ElidedLabel {each.text()!r}: {each.contentsRect().width()}"
        for each in labels
        if each.fontMetrics().horizontalAdvance(each.text()) > each.contentsRect().width()
    ]


def _cut_titles(window: QWidget) -> list[str]:
    """Of charts."""
    views = [view for view in window.findChildren(ChartView) if view.isVisible() and view.chart is not None]
    return [f"title {view.shown_title()!r}" for view in views if view.chart and view.shown_title() != view.chart.title]


def _overlapping(window: QWidget) -> list[str]:
    """Texts and buttons beside each other in one widget."""
    kinds = (QAbstractButton, QLabel, QComboBox, QLineEdit)
    shown = [each for each in window.findChildren(QWidget) if isinstance(each, kinds) and each.isVisible()]
    places: dict[int, list[QWidget]] = {}
    for each in shown:
        if isinstance(each.parent(), QWidget) and not isinstance(each.parent(), QComboBox | QLineEdit):
            places.setdefault(id(each.parent()), []).append(each)
    return [
        f"{type(one).__name__} {one.geometry().getRect()} over {type(other).__name__} {other.geometry().getRect()}"
        for beside in places.values()
        for one, other in combinations(beside, 2)
        if one.geometry().intersects(other.geometry())
    ]


def _cut_in_views(window: QWidget) -> list[str]:
    """The titles of the rail, the parts of an execution, and the tabs."""
    found = []
    for rail in window.findChildren(Rail):
        for row in range(rail.rows.rowCount()):
            title = str(rail.rows.index(row).data())
            needed = rail.fontMetrics().horizontalAdvance(title) + 2 * EDGE + ICON + GAP
            if rail.isVisible() and needed > rail.viewport().width():
                found.append(f"rail {title!r}: {rail.viewport().width()} of {needed}")
    for strip in window.findChildren(PhaseStrip):
        found += [f"part {text!r}" for text in strip.cut_texts()] if strip.isVisible() else []
    for bar in window.findChildren(QTabBar):
        needed = bar.sizeHint().width()
        if bar.isVisible() and bar.width() < needed:
            found.append(f"tabs {bar.tabText(0)!r}…: {bar.width()} of {needed}")
    return found


def _wider_than_their_place(window: QWidget) -> list[str]:
    """Pages and cards of which a part can only be seen by scrolling to the right."""
    return [
        f"{area.accessibleName()!r} is {area.horizontalScrollBar().maximum()} wider than its {area.viewport().width()}"
        for area in window.findChildren(QScrollArea)
        if area.isVisible() and area.horizontalScrollBar().maximum() > 0
    ]


def _cut_figures(window: QWidget) -> list[str]:
    """Of charts: figures at the right that are cut or left out; a name beside them may be cut."""
    found = []
    for view in window.findChildren(ChartView):
        if view.isVisible() and view.chart is not None:
            written = [FIGURE.findall(text) for text in view.texts_beside()]
            missing = [text for _, text in view.chart.beside if FIGURE.findall(text) not in written]
            found += [f"{view.chart.title!r}: {text!r} is not among {view.texts_beside()}" for text in missing]
    return found


def _cut_heads(window: QWidget) -> list[str]:
    found = []
    for head in window.findChildren(QHeaderView):
        if head.isVisible() and head.orientation() is Qt.Orientation.Horizontal:
            for section in range(head.count()):
                table, needed = head.parent(), head.sectionSizeFromContents(section).width()
                if isinstance(table, Table) and needed > LONGEST_HEAD:
                    needed = TIGHTEST
                if not head.isSectionHidden(section) and head.sectionSize(section) < needed:
                    text = head.model().headerData(section, Qt.Orientation.Horizontal)
                    found.append(f"head {text!r}: {head.sectionSize(section)} of {needed}")
    return found


def _unreadable_columns(window: QWidget) -> list[str]:
    """Of tables: points in time and figures that are cut, and texts of which less than a word is left."""
    found = []
    for table in window.findChildren(Table):
        for number, column in enumerate(table.rows.columns):
            asked, wide = table.sizeHintForColumn(number), table.columnWidth(number)
            first = table.rows.text(column, table.rows.rows[0]) if table.rows.rows else ""
            whole = column.right or column.width is Width.WHOLE or POINT_IN_TIME.fullmatch(first) is not None
            least = asked if whole else min(asked, TIGHTEST)
            if table.isVisible() and not table.isColumnHidden(number) and wide < least:
                found.append(f"column {column.title!r} of {table.objectName()}: {wide} of {asked}")
    return found


def _last_columns_out_of_sight(window: QWidget) -> list[str]:
    """Tables of whose last column, if it is of texts, less than a word is seen without scrolling: often the result."""
    found = []
    for table in window.findChildren(Table):
        shown = [number for number in range(len(table.rows.columns)) if not table.isColumnHidden(number)]
        last = shown[-1]
        seen = table.viewport().width() - table.columnViewportPosition(last)
        least = min(table.columnWidth(last), TIGHTEST)
        if table.isVisible() and not table.rows.columns[last].right and seen < least:
            found.append(f"last column {table.rows.columns[last].title!r} of {table.objectName()}: {seen} of {least}")
    return found


def _settle(application: QApplication, work: Work) -> None:
    """Until the boxes that adjust to their contents have done so too: Qt lets them wait for 20 ms."""
    settle(application, work)
    QTest.qWait(50)


def main() -> int:
    """Look at every page, then at the dialogs."""
    history, *further = sys.argv[1:]
    language = further[0] if further else ENGLISH
    width, height = (int(each) for each in further[1].split("x")) if further[1:] else SIZE
    application = QApplication(["pghaul"])
    appearance.prepare(application)
    print(f"scale {application.devicePixelRatio()}")  # noqa: T201
    with spoken(language):
        speak(application)
        _look(application, Path(history), width, height)
    return 0


def _look(application: QApplication, history: Path, width: int, height: int) -> None:
    work = Work()
    window = MainWindow(work)
    window.resize(width, height)
    window.show()
    with Store.open(history) as store:
        session = Session(store, Nobody())
        work.use(session)
        _settle(application, work)
        for kind in PAGES:
            for line in _on_page(application, window, kind.id):
                print(kind.id, line)  # noqa: T201
        for dialog in _dialogs(list_servers(session), window):
            dialog.show()
            _settle(application, work)
            for line in _clipped(dialog):
                print(type(dialog).__name__, line)  # noqa: T201
            dialog.close()
        if window.size().toTuple() != (width, height):
            print(f"the window needs {window.size().toTuple()}")  # noqa: T201
        work.close()


def _on_page(application: QApplication, window: MainWindow, page_id: str) -> list[str]:
    """Return what is cut on the page, on each of its tabs."""
    page = window.show_page(page_id)
    _settle(application, window.work)
    _fill_chips(page)
    _settle(application, window.work)
    found = dict.fromkeys(_clipped(window))
    tabs = page.findChild(QTabWidget)
    for number in range(0 if tabs is None else tabs.count()):
        if tabs is not None and tabs.isTabVisible(number):
            tabs.setCurrentIndex(number)
            _settle(application, window.work)
            found |= dict.fromkeys(_clipped(window))
    return [*found]


def _fill_chips(page: QWidget) -> None:
    """Show every counter that the page may have, with numbers as long as they get."""
    for row in page.findChildren(ChipRow):
        shown = [chip.counter for chip in row.chips.values()]
        every = counters(samples.EVERY_CHECK) if isinstance(page, CheckPage) else shown
        row.show_counters([replace(one, number=1000) for one in every])


def _cut_chips(window: QWidget) -> list[str]:
    """Chips whose word is cut, or that stand outside of their row."""
    return [
        f"chip {chip.text()!r}: {chip.geometry().getRect()} of {chip.sizeHint().toTuple()} in {row.size().toTuple()}"
        for row in window.findChildren(ChipRow)
        if row.isVisible()
        for chip in row.chips.values()
        if chip.width() < chip.sizeHint().width() or not row.rect().contains(chip.geometry())
    ]


def _dialogs(rows: tuple[ServerRow, ...], window: MainWindow) -> Iterator[QDialog]:
    yield ServerDialog(None, window)
    yield ServerDialog(samples.OLD, window)
    yield MoveDialog(rows, samples.MOVE, window)
    yield HooksDialog(samples.MOVE, (), window)
    yield ReportDialog(samples.MOVE.name, "plan", Path(), window)
    yield ReportDialog(None, "fleet", Path(), window)
    yield SurveyDialog(len(rows), 8, "/srv/fleet.csv", window)
    for number in range(len(TABS)):
        settings = SettingsDialog(Settings(), window)
        settings.tabs.setCurrentIndex(number)
        yield settings
    yield StorageDialog(window.work, [row.profile.name for row in rows], ("quick", "standard"), window)
    yield dialog_for(HostKeyQuestion("db", "192.0.2.1", "ssh-ed25519", "SHA256:abc"), window)
    yield dialog_for(SecretQuestion("db", "Password of dba on db", "password"), window)


if __name__ == "__main__":
    sys.exit(main())

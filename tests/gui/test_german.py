"""The window in German: what stands on its pages is, but for names, figures and what servers said."""

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QTableView,
    QTabWidget,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from core import settings
from core.api.session import Session
from core.history.store import Store
from core.language import entries, spoken
from gui.models.chart import Above, Bar, Chart, Dot, Labels
from gui.widgets.chart import ChartView
from gui.window import MainWindow
from gui.work import Work
from tests.gui.conftest import at_rest, page


def _columns(model: QAbstractItemModel) -> int:
    return 1 if isinstance(model, QAbstractListModel) else model.columnCount()


def _cells(model: QAbstractItemModel) -> Iterator[str]:
    for row in range(model.rowCount()):
        for column in range(_columns(model)):
            for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                yield str(model.index(row, column).data(role) or "")
    for column in range(_columns(model)):
        yield str(model.headerData(column, Qt.Orientation.Horizontal) or "")


def _texts(widget: QWidget) -> Iterator[str]:
    yield from (widget.toolTip(), widget.accessibleName())
    if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
        yield widget.text()
    if isinstance(widget, QLineEdit):
        yield widget.placeholderText()
    if isinstance(widget, QPlainTextEdit | QTextEdit):
        yield widget.toPlainText()
    if isinstance(widget, QTabWidget):
        yield from (widget.tabText(number) for number in range(widget.count()))
    if isinstance(widget, QComboBox):
        yield from (widget.itemText(number) for number in range(widget.count()))
    if isinstance(widget, QTableView | QListView) and widget.model() is not None:
        yield from _cells(widget.model())
    if isinstance(widget, ChartView) and widget.chart is not None:
        yield from _words(widget.chart)


def _words(chart: Chart) -> Iterator[str]:
    yield from (chart.title, chart.name, chart.description)
    yield from (name for axis in (chart.across, chart.up) for _, name in axis.ticks)
    yield from (name for _, name in (*chart.beside, *chart.legend))
    for mark in chart.marks:
        if isinstance(mark, Bar | Dot):
            yield mark.tip
        if isinstance(mark, Above):
            yield mark.text
        if isinstance(mark, Labels):
            yield from (text for _, text in mark.texts)


def _shown(work: Work, store: Store, qtbot: QtBot) -> set[str]:
    window = MainWindow(work)
    window.show()
    work.use(Session(store, work.asker))
    at_rest(qtbot, window)
    for kind in window.kinds:
        shown = page(qtbot, window, kind.id)
        for table in shown.findChildren(QTableView):
            if table.model() is not None and table.model().rowCount():
                table.selectRow(0)
        at_rest(qtbot, window)
    found = {text for widget in [window, *window.findChildren(QWidget)] for text in _texts(widget)}
    found |= {action.text() for action in window.findChildren(QAction)}
    window.close()
    window.deleteLater()
    return {line.strip() for text in found for line in re.sub(r"<[^>]*>", "", text).splitlines()}


@pytest.mark.slow
def test_no_page_shows_a_text_that_has_a_german_one(full_store: Store, qtbot: QtBot) -> None:
    work = Work()
    with spoken("de"):
        shown = _shown(work, full_store, qtbot)
    work.close()
    work.deleteLater()
    texts = entries(settings.resource("languages", "de.po"))
    assert {text for text in shown if texts.get(text, text) != text} <= {"", "not installed"}, (
        "the latter is a sample's"
    )


_WITH_A_POINT = re.compile(r"(?<![\w.:/-])\d+\.\d+(?![\w.:/])")
_OF_OTHERS = re.compile(
    r"^15\.\d+$|p99\.9|Linux|x86|rsync|fio|PostgreSQL|OpenSSH|Debian|Ubuntu|kernel|glibc", re.IGNORECASE
)
"""A percentile's name, and versions."""


@pytest.mark.slow
def test_every_figure_has_a_comma(full_store: Store, qtbot: QtBot) -> None:
    """On each page, in tables, sentences, tiles and charts, with their axes and tips."""
    work = Work()
    with spoken("de"):
        shown = _shown(work, full_store, qtbot)
    work.close()
    work.deleteLater()
    assert sum(bool(re.search(r"\d,\d", text)) for text in shown) > 50
    left = sorted(text for text in shown if _WITH_A_POINT.search(text) and not _OF_OTHERS.search(text))
    assert not left, "\n".join(left)


@pytest.mark.slow
def test_no_two_of_a_page_have_one_mnemonic(full_store: Store, qtbot: QtBot) -> None:
    work = Work()
    with spoken("de"):
        window = MainWindow(work)
        window.show()
        work.use(Session(full_store, work.asker))
        at_rest(qtbot, window)
        menus = {_mnemonic(action.text()) for action in window.menuBar().actions()}
        found = {kind.title: [*menus, *_keys(page(qtbot, window, kind.id))] for kind in window.kinds}
    window.close()
    window.deleteLater()
    work.close()
    work.deleteLater()
    twice = {title: sorted({key for key in keys if keys.count(key) > 1}) for title, keys in found.items()}
    assert not any(twice.values()), twice


def _keys(shown: QWidget) -> Iterator[str]:
    for button in shown.findChildren(QAbstractButton):
        if button.isVisible() and "&" in button.text() and "K&opieren" not in button.text():
            yield _mnemonic(button.text())
    for label in shown.findChildren(QLabel):
        if label.buddy() is not None and label.isVisible():
            yield _mnemonic(label.text())
    for tabs in shown.findChildren(QTabWidget):
        yield from (_mnemonic(tabs.tabText(number)) for number in range(tabs.count()))


def _mnemonic(text: str) -> str:
    return text.replace("&&", "").partition("&")[2][:1].lower()

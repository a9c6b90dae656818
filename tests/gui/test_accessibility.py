"""Everything by keyboard, everything with a name, everything readable at 200 %, in light and in dark."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QColor, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QTabWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from core.history.store import Store
from core.tones import Tone
from core.user_settings.declaration import Settings
from gui import appearance
from gui.asker import HostKeyQuestion, SecretQuestion
from gui.design.palette import colour, is_dark
from gui.destinations import PageId
from gui.dialogs.crash import CrashDialog, LastTimeDialog
from gui.dialogs.hooks import HooksDialog
from gui.dialogs.move import MoveDialog
from gui.dialogs.questions import dialog_for
from gui.dialogs.report import ReportDialog
from gui.dialogs.server import ServerDialog
from gui.dialogs.settings import SettingsDialog
from gui.dialogs.storage import StorageDialog
from gui.dialogs.survey import SurveyDialog
from gui.pages.kinds import PAGES, PageKind
from gui.pages.page import ROW
from gui.widgets.label import ToneLabel
from gui.window import MainWindow
from gui.work import Work
from tests.gui import samples, scenes
from tests.gui.conftest import page
from tests.histories import Histories

CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QTabWidget,
)
PRIVATE = (
    "qt_spinbox_lineedit",
    "qt_dockwidget_floatbutton",
    "ScrollLeftButton",
    "ScrollRightButton",
    "qt_toolbar_ext_button",
    "qt_menubar_ext_button",
)


def _controls(window: QWidget) -> list[QWidget]:
    return [
        widget
        for widget in window.findChildren(QWidget)
        if isinstance(widget, CONTROLS)
        and widget.objectName() not in PRIVATE
        and not isinstance(widget.parent(), QComboBox)
        and not (widget.parent() and "QComboBoxPrivateContainer" in type(widget.parent()).__name__)
        and not _inside_list(widget)
    ]


def _inside_list(widget: QWidget) -> bool:
    """A combo box's own list and a table's own head and corner: Qt names them by their owner."""
    parent = widget.parent()
    while parent is not None:
        if isinstance(parent, QComboBox) or (isinstance(parent, QAbstractItemView) and parent is not widget):
            return True
        parent = parent.parent()
    return False


def _nameless(window: QWidget) -> list[str]:
    return [
        f"{type(widget).__name__} {widget.objectName()} in {type(widget.parent()).__name__}"
        for widget in _controls(window)
        if not QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name).strip()
    ]


@pytest.mark.slow
def test_every_control_of_every_page_has_a_name(full_window: MainWindow, qtbot: QtBot) -> None:
    for kind in PAGES:
        page(qtbot, full_window, kind.id)
    assert len(_controls(full_window)) > 50
    assert _nameless(full_window) == []


@pytest.fixture
def dialogs(work: Work, full_store: Store) -> Iterator[list[QDialog]]:
    from core.api.servers import list_servers
    from core.api.session import Session
    from core.servers.profiles import Nobody

    rows = list_servers(Session(full_store, Nobody()))
    parent = QWidget()
    yield [
        ServerDialog(None, parent),
        ServerDialog(samples.OLD, parent),
        MoveDialog(rows, samples.MOVE, parent),
        ReportDialog(samples.MOVE.name, "plan", Path(), parent),
        ReportDialog(None, "fleet", Path(), parent),
        SurveyDialog(len(rows), 8, "/srv/fleet.csv", parent),
        SettingsDialog(Settings(), parent),
        CrashDialog(ValueError("x"), parent),
        LastTimeDialog("the log", parent),
        HooksDialog(samples.MOVE, (), parent),
        StorageDialog(work, [row.profile.name for row in rows], ("quick", "standard"), parent),
        dialog_for(SecretQuestion("db", "Password of dba on db", "password"), parent),
        dialog_for(HostKeyQuestion("db", "192.0.2.1", "ssh-ed25519", "SHA256:abc"), parent),
    ]
    parent.deleteLater()


def test_every_control_of_every_dialog_has_a_name(dialogs: list[QDialog]) -> None:
    for dialog in dialogs:
        assert _controls(dialog)
        assert _nameless(dialog) == []


def test_every_field_of_a_form_is_reached_by_a_mnemonic_of_its_own(dialogs: list[QDialog]) -> None:
    for dialog in dialogs[:3]:
        keys = [_mnemonic(label.text()) for label in dialog.findChildren(QLabel) if label.buddy() is not None]
        named = [key for key in keys if key]
        assert len(named) >= 7
        assert len(set(named)) == len(named), named


def test_whatever_the_report_dialog_asks_has_a_mnemonic_of_its_own(dialogs: list[QDialog]) -> None:
    report = next(dialog for dialog in dialogs if isinstance(dialog, ReportDialog))
    asked = [label.text() for label in report.findChildren(QLabel) if label.buddy() is not None]
    asked += [button.text() for button in report.findChildren(QAbstractButton) if "Cancel" not in button.text()]
    keys = [_mnemonic(text) for text in asked]
    assert len(keys) == 9
    assert "" not in keys
    assert len(set(keys)) == len(keys)


@pytest.mark.slow
def test_the_buttons_of_a_page_have_mnemonics_of_their_own(full_window: MainWindow, qtbot: QtBot) -> None:
    menus = {_mnemonic(action.text()) for action in full_window.menuBar().actions()}
    for kind in PAGES:
        shown = page(qtbot, full_window, kind.id)
        visible = [one for one in shown.findChildren(QAbstractButton) if one.isVisible() and "&" in one.text()]
        keys = [_mnemonic(button.text()) for button in visible if "Cop&y" not in button.text()]
        keys += [
            _mnemonic(label.text())
            for label in shown.findChildren(QLabel)
            if label.buddy() is not None and label.isVisible()
        ]
        for tabs in shown.findChildren(QTabWidget):
            keys += [_mnemonic(tabs.tabText(number)) for number in range(tabs.count())]
        assert len(set(keys)) == len(keys), (kind.title, keys)
        assert not menus & set(keys), (kind.title, menus & set(keys))


def _mnemonic(text: str) -> str:
    return text.replace("&&", "").partition("&")[2][:1].lower()


def test_tab_goes_through_a_page_and_comes_back(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.MEASURE)
    full_window.activateWindow()
    full_window.rail.setFocus()
    seen: list[QWidget] = []
    for _ in range(200):
        full_window.focusNextChild()
        focused = QApplication.focusWidget()
        if focused is full_window.rail:
            break
        if focused is not None:
            seen.append(focused)
    else:
        pytest.fail("Tab is caught somewhere")
    on_page = {widget for widget in seen if shown.isAncestorOf(widget)}
    reachable = [widget for widget in _controls(shown) if widget.isVisible() and widget.isEnabled()]
    missed = [
        widget
        for widget in reachable
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and not {widget, widget.focusProxy()} & on_page
    ]
    assert not missed


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
def test_every_tone_can_be_read(qapp: QApplication, scheme: Qt.ColorScheme) -> None:
    try:
        appearance.force(qapp, scheme)
        assert is_dark() is (scheme is Qt.ColorScheme.Dark)
        for role in (QPalette.ColorRole.Base, QPalette.ColorRole.AlternateBase):
            base = qapp.palette().color(role)
            for tone in Tone:
                assert _contrast(colour(tone), base) >= 4.5, (tone, role)
    finally:
        appearance.force(qapp, Qt.ColorScheme.Light)


def _contrast(one: QColor, other: QColor) -> float:
    """WCAG 2.2, contrast ratio of two sRGB colours."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: QColor) -> float:
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("factor", [pytest.param("1", marks=pytest.mark.long), "2"])
def test_no_text_is_clipped(histories: Histories, tmp_path: Path, factor: str) -> None:
    """In a process of its own: the scale is set before Qt starts."""
    history = histories.copy(tmp_path / "history", samples.fill)
    ended = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("clipped.py")), str(history)],
        env={**os.environ, "QT_SCALE_FACTOR": factor, "QT_QPA_PLATFORM": "offscreen"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == f"scale {float(factor)}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "size"),
    [
        ("de", "1280x800"),
        ("de", "1024x700"),
        ("en", "1024x700"),
        pytest.param("en", "1280x800", marks=pytest.mark.long),
    ],
)
def test_no_text_is_cut_where_there_is_room(histories: Histories, tmp_path: Path, language: str, size: str) -> None:
    _assert_nothing_is_cut(histories.copy(tmp_path / "history", samples.fill), language, size)


@pytest.mark.slow
@pytest.mark.parametrize(
    "lay",
    [scenes.lay_example, scenes.lay_long_names, scenes.lay_small_fleet],
    ids=["finished move", "longest names", "moves of many hours"],
)
def test_no_page_is_wider_than_a_small_screen(tmp_path: Path, lay: Callable[[Path], str]) -> None:
    lay(tmp_path)
    _assert_nothing_is_cut(tmp_path, "de", "1024x700")


def _assert_nothing_is_cut(history: Path, language: str, size: str) -> None:
    ended = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("clipped.py")), str(history), language, size],
        env={**os.environ, "QT_SCALE_FACTOR": "1", "QT_QPA_PLATFORM": "offscreen"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "scale 1.0\n"


def test_a_tone_follows_into_the_dark(qapp: QApplication) -> None:
    label = ToneLabel("wrong", Tone.BAD)
    try:
        appearance.force(qapp, Qt.ColorScheme.Dark)
        qapp.processEvents()
        for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text):
            assert label.palette().color(role) == QColor(Tone.BAD.value[True])
        appearance.force(qapp, Qt.ColorScheme.Light)
        qapp.processEvents()
        assert label.palette().color(QPalette.ColorRole.WindowText) == QColor(Tone.BAD.value[False])
    finally:
        appearance.force(qapp, Qt.ColorScheme.Light)
        label.deleteLater()


def _chain(page: QWidget) -> Iterator[QWidget]:
    """The widgets of the window in the order of Tab, from this one on."""
    widget = page.nextInFocusChain()
    while widget is not None and widget is not page:
        yield widget
        widget = widget.nextInFocusChain()


def _takes_focus(widget: QWidget, page: QWidget) -> bool:
    takes = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.focusProxy() is None
    return takes and page.isAncestorOf(widget) and widget.isVisible()


@pytest.mark.parametrize("kind", PAGES, ids=lambda kind: kind.id)
def test_tab_goes_as_one_reads(full_window: MainWindow, qtbot: QtBot, kind: PageKind) -> None:
    shown = page(qtbot, full_window, kind.id)
    full_window.activateWindow()
    places = [widget.mapTo(shown, QPoint()) for widget in _chain(shown) if _takes_focus(widget, shown)]
    tops = [(place.y(), place.x()) for place in places]
    if kind.id == PageId.OVERVIEW:  # one move is no overview
        return
    highest = min(tops)[0]
    first = tops.index(min((top for top in tops if top[0] < highest + ROW), key=lambda top: top[1]))
    tops = [*tops[first:], *tops[:first]]  # the chain is a circle
    for before, behind in pairwise(tops):
        same_row = abs(before[0] - behind[0]) < ROW
        assert before[1] < behind[1] if same_row else before[0] < behind[0], (before, behind)

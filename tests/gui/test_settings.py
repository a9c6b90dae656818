"""The settings in the window: the dialog over their file, the menus, and what begins as they say."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QSpinBox,
)
from pytestqt.qtbot import QtBot

from core import api, units
from core.errors import Cancelled
from core.language import spoken
from core.migration.model.move import Verify
from core.servers.profiles import Rights
from core.user_settings import file
from core.user_settings.declaration import SECTIONS, Settings, declared
from core.user_settings.kinds import Choice, Number, Switch
from gui import appearance
from gui.appearance import Sizes, Theme
from gui.controllers.executions import ExecutionController
from gui.design.palette import is_dark
from gui.destinations import PageId
from gui.dialogs.move import MoveDialog
from gui.dialogs.report import ReportDialog
from gui.dialogs.server import ServerDialog
from gui.dialogs.settings import TABS, SettingsDialog
from gui.models.benchmarks import NO_SUITE
from gui.models.execution import Doing
from gui.models.report import ReportRequest
from gui.pages.measure import MeasurePage
from gui.window import MainWindow
from tests.core.history import samples
from tests.gui.conftest import at_rest, page, press


def opened(window: MainWindow) -> SettingsDialog:
    window.preferences.edit()
    (dialog,) = (each for each in window.findChildren(SettingsDialog) if each.isVisible())
    return dialog


def line(dialog: SettingsDialog, key: str) -> QLineEdit:
    widget = dialog.editors[key].widget
    assert isinstance(widget, QLineEdit)
    return widget


@pytest.fixture
def dialog(qapp: QApplication) -> SettingsDialog:  # noqa: ARG001
    return SettingsDialog(Settings())


def test_every_setting_has_a_widget_of_its_kind(dialog: SettingsDialog) -> None:
    assert list(dialog.editors) == [
        key for _, sections in TABS for key, each in declared().items() if each.section in sections
    ]
    assert sorted(section for _, sections in TABS for section in sections) == sorted(SECTIONS)
    kinds = {Choice: QComboBox, Switch: QCheckBox, Number: QSpinBox}
    for editor in dialog.editors.values():
        assert isinstance(editor.widget, kinds.get(type(editor.setting.kind), QLineEdit))
        assert editor.widget.toolTip()
        assert editor.read() == editor.setting.default
        assert not editor.restore.isEnabled()
    dialog.deleteLater()


def test_every_default_can_be_restored_alone(dialog: SettingsDialog) -> None:
    for editor in dialog.editors.values():
        kind, default = editor.setting.kind, editor.setting.default
        other: str | int | bool = "/srv/x"
        if isinstance(kind, Choice):
            other = next(word for word in kind.titles() if word != default)
        elif isinstance(kind, Switch):
            other = not default
        elif isinstance(kind, Number):
            other = kind.most
        editor.show(other)
        assert editor.read() == other
        assert editor.restore.isEnabled()
    for editor in dialog.editors.values():
        editor.restore.click()
        assert editor.read() == editor.setting.default
        assert not editor.restore.isEnabled()
    dialog.deleteLater()


def test_it_is_opened_by_the_menu_and_its_key(window: MainWindow, qtbot: QtBot) -> None:
    (action,) = (each for each in window.findChildren(QAction) if each.shortcut() == QKeySequence("Ctrl+,"))
    assert action.text() == "Settin&gs…"
    action.trigger()
    qtbot.waitUntil(lambda: window.findChild(SettingsDialog) is not None)
    shown = window.findChild(SettingsDialog)
    assert shown is not None
    shown.reject()
    at_rest(qtbot, window)


def test_what_is_accepted_is_written_and_applied_at_once(window: MainWindow, qtbot: QtBot, qapp: QApplication) -> None:
    dialog = opened(window)
    dialog.editors["window.theme"].show("dark")
    dialog.editors["display.units"].show("decimal")
    line(dialog, "report.company").setText("Acme & Söhne")
    dialog.submit()
    assert not dialog.isVisible()
    loaded = file.load()
    assert loaded.given == {"window.theme", "display.units", "report.company"}
    assert loaded.settings.report.company == "Acme & Söhne"
    assert window.work.settings == loaded.settings
    assert is_dark()
    assert units.size(10**9) == "1.00 GB"
    checked = [each.data() for group in (window.menus.themes, window.menus.sizes) for each in group.actions()]
    on = [each.isChecked() for group in (window.menus.themes, window.menus.sizes) for each in group.actions()]
    assert [data for data, is_on in zip(checked, on, strict=True) if is_on] == ["dark", "decimal"]
    again = opened(window)
    again.editors["window.theme"].restore.click()
    again.submit()
    assert file.load().given == {"display.units", "report.company"}
    appearance.force(qapp, Qt.ColorScheme.Light)
    at_rest(qtbot, window)


def test_cancel_changes_nothing(window: MainWindow, qtbot: QtBot) -> None:
    dialog = opened(window)
    dialog.editors["window.theme"].show("dark")
    line(dialog, "report.company").setText("Acme")
    dialog.buttons.button(QDialogButtonBox.StandardButton.Cancel).click()
    assert window.work.settings == Settings()
    assert not is_dark()
    assert not file.path().exists()
    at_rest(qtbot, window)


def test_a_value_that_is_not_allowed_keeps_it_open(window: MainWindow, qtbot: QtBot) -> None:
    dialog = opened(window)
    line(dialog, "report.logo").setText("logo.png")
    dialog.submit()
    assert dialog.isVisible()
    assert dialog.trouble.text() == "The value of “Logo” is not allowed.\nHint: Choose a file, or type its full path."
    line(dialog, "report.logo").setText("/srv/logo.png")
    dialog.submit()
    assert file.load().settings.report.logo == "/srv/logo.png"
    at_rest(qtbot, window)


def test_what_another_program_wrote_meanwhile_is_not_overwritten(window: MainWindow, qtbot: QtBot) -> None:
    dialog = opened(window)
    file.change({"report.company": "theirs"})
    line(dialog, "report.company").setText("mine")
    dialog.submit()
    assert dialog.isVisible()
    assert "was changed by another program meanwhile" in dialog.trouble.text()
    assert file.load().settings.report.company == "theirs"
    dialog.reject()
    again = opened(window)
    assert line(again, "report.company").text() == "theirs"
    again.reject()
    at_rest(qtbot, window)


def broken() -> None:
    file.path().parent.mkdir(parents=True, exist_ok=True)
    file.path().write_text("[report]\npapr = 'a4'\n")


def test_a_broken_file_is_told_in_a_banner_and_left_alone(window: MainWindow, qtbot: QtBot, qapp: QApplication) -> None:
    broken()
    window.preferences.edit()
    assert window.findChild(SettingsDialog) is None
    assert "line 2: there is no setting report.papr" in window.banner.text
    window.banner.hide()
    window.use_theme(Theme.DARK)  # it holds as long as the window is open
    assert is_dark()
    assert window.banner.isVisible()
    assert file.path().read_text() == "[report]\npapr = 'a4'\n"
    appearance.force(qapp, Qt.ColorScheme.Light)
    at_rest(qtbot, window)


def test_it_is_told_in_german(window: MainWindow, qtbot: QtBot) -> None:
    broken()
    with spoken("de"):
        window.preferences.edit()
    text = window.banner.text
    assert "Zeile 2: es gibt keine Einstellung report.papr" in text
    assert "Meinten Sie report.paper?" in text
    at_rest(qtbot, window)


def test_a_menu_writes_its_setting_and_a_default_removes_it(window: MainWindow, qtbot: QtBot) -> None:
    window.use_sizes(Sizes.DECIMAL)
    assert file.load().given == {"display.units"}
    window.use_sizes(Sizes.BINARY)
    assert file.load().given == frozenset()
    at_rest(qtbot, window)


START = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from gui import app, window


def look():
    (shown,) = (each for each in QApplication.topLevelWidgets() if isinstance(each, window.MainWindow))
    if not shown.banner.isVisible() or shown.work.session is None:
        QTimer.singleShot(50, look)
        return
    print(shown.banner.text)
    print(shown.work.settings.report.paper)
    shown.close()


class Begun(window.MainWindow):
    def __init__(self, *words):
        super().__init__(*words)
        QTimer.singleShot(0, look)


app.MainWindow = Begun
sys.exit(app.main())
"""


def test_the_window_starts_with_the_defaults_and_says_why() -> None:
    broken()
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "cannot be used, line 2: there is no setting report.papr" in done.stdout
    assert done.stdout.endswith("a4\n")


def test_the_report_dialog_begins_as_the_settings_say(qapp: QApplication, tmp_path: Path) -> None:  # noqa: ARG001
    settings = Settings().report
    with spoken("de"):
        usual = ReportDialog("spring", "plan", tmp_path)
    assert (usual.language.currentData(), usual.paper.currentData(), usual.masked.isChecked()) == ("de", "a4", False)
    settings = replace(settings, language="en", paper="letter", mask=True, company="Acme")
    with spoken("de"):
        chosen = ReportDialog("spring", "plan", tmp_path, settings=settings)
    shown = (chosen.language.currentData(), chosen.paper.currentData(), chosen.masked.isChecked())
    assert shown == ("en", "us-letter", True)
    asked: list[ReportRequest] = []
    chosen.submitted.connect(lambda request, _path: asked.append(request))
    chosen.submit()
    assert (asked[0].company, asked[0].paper, asked[0].masked) == ("Acme", "us-letter", True)
    for each in (usual, chosen):
        each.deleteLater()


def test_a_report_of_the_window_has_the_company_of_the_settings(
    full_window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    full_window.work.use_settings(Settings().having("report.company", "Acme & Söhne").having("report.language", "de"))
    full_window.save_report()
    dialog = full_window.findChild(ReportDialog)
    assert dialog is not None
    dialog.path.setText(str(tmp_path / "a.html"))
    dialog.submit()
    qtbot.waitUntil(full_window.banner.open.isVisible, timeout=20_000)
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Acme &amp; Söhne" in text
    assert '<html lang="de"' in text
    at_rest(qtbot, full_window)


def test_a_new_server_and_a_new_move_begin_as_the_settings_say(qapp: QApplication) -> None:  # noqa: ARG001
    settings = Settings().having("server.user", "dba").having("server.rights", "sudo-postgres").server
    server, old = ServerDialog(None, settings=settings), ServerDialog(samples.OLD, settings=settings)
    assert (server.profile().user, server.profile().rights) == ("dba", Rights.SUDO_POSTGRES)
    assert old.profile() == samples.OLD
    new, known = MoveDialog((), None, precopy_limit=50), MoveDialog((), samples.MOVE, precopy_limit=50)
    assert new.move_made().precopy_limit == 50_000_000
    assert known.move_made().precopy_limit == samples.MOVE.precopy_limit
    for each in (server, old, new, known):
        each.deleteLater()


@pytest.mark.parametrize("verify", Verify)
def test_a_plan_and_an_execution_verify_as_the_settings_say(
    verify: Verify, full_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No server is there to be reached: what the window asks core for is what counts."""
    asked: list[object] = []

    def refuse(*_words: object, verify: object, **_more: object) -> None:
        asked.append(verify)
        raise Cancelled

    monkeypatch.setattr(api.migration, "plan_move", refuse)
    monkeypatch.setattr(api.execution, "execute", refuse)
    full_window.work.use_settings(Settings().having("move.verify", verify.value))
    plan = page(qtbot, full_window, PageId.PLAN)
    assert plan.primary is not None
    plan.primary.click()
    at_rest(qtbot, full_window)
    executions = ExecutionController(full_window.work, full_window)
    executions.ask(Doing.REHEARSE, "spring")
    at_rest(qtbot, full_window)
    press(QApplication.activeModalWidget(), QMessageBox.ButtonRole.AcceptRole)
    at_rest(qtbot, full_window)
    assert asked == [verify, verify]


def with_suite(settings: Settings, name: str) -> Settings:
    return settings.having("benchmark.suite", name)


def test_the_suite_of_the_settings_is_selected_for_benchmarks(full_window: MainWindow, qtbot: QtBot) -> None:
    work = full_window.work
    work.use_settings(with_suite(work.settings, "raid"))
    shown = page(qtbot, full_window, PageId.MEASURE)
    assert isinstance(shown, MeasurePage)
    assert shown.suite.currentText() == "raid"
    chosen = shown.suites.current()
    assert chosen is not None
    assert chosen.name == "raid"
    work.use_settings(with_suite(work.settings, "depths"))
    assert shown.suite.currentText() == "depths"
    shown.suite.setCurrentText("quick")
    work.use_settings(work.settings.having("display.units", Sizes.BINARY.value))  # another one: the choice stays
    assert shown.suite.currentText() == "quick"


@pytest.mark.parametrize("name", ["of-mine", "Raid", "/srv/suites/own.toml"])
def test_a_suite_of_the_settings_that_is_not_listed_is_said(full_window: MainWindow, qtbot: QtBot, name: str) -> None:
    work = full_window.work
    work.use_settings(with_suite(work.settings, name))
    shown = page(qtbot, full_window, PageId.MEASURE)
    assert isinstance(shown, MeasurePage)
    assert not full_window.banner.isVisible()
    selected = shown.suite.currentText()
    assert selected in {each.name for each in api.benchmarks.list_suites()}
    assert shown.hint.text().startswith(NO_SUITE.format(suite=name))
    shown.suite.setCurrentText("drift")
    assert name not in shown.hint.text()
    work.use_settings(with_suite(work.settings, "quick"))
    assert (shown.suite.currentText(), name in shown.hint.text()) == ("quick", False)


@pytest.mark.parametrize("tab", range(len(TABS)))
def test_all_fields_of_a_tab_begin_at_one_place(dialog: SettingsDialog, qtbot: QtBot, tab: int) -> None:
    qtbot.addWidget(dialog)
    dialog.tabs.setCurrentIndex(tab)
    dialog.show()
    shown = [each.widget for each in dialog.editors.values() if each.widget.isVisible()]
    fields = [widget for widget in shown if not isinstance(widget, QCheckBox)]
    assert len({widget.mapTo(dialog, widget.rect().topLeft()).x() for widget in fields}) == 1


def test_the_settings_begin_with_the_first_field(dialog: SettingsDialog, qtbot: QtBot) -> None:
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.focusWidget() is next(iter(dialog.editors.values())).widget
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    assert [each for each in dialog.findChildren(QPushButton) if each.isDefault()] == [ok]


def test_a_value_that_is_refused_is_shown(dialog: SettingsDialog, qtbot: QtBot) -> None:
    """It may be on another tab than the one that is shown."""
    qtbot.addWidget(dialog)
    dialog.show()
    refused = line(dialog, "report.logo")
    dialog.editors["report.logo"].show("nowhere.png")
    dialog.tabs.setCurrentIndex(0)
    dialog.submit()
    assert refused.isVisible()
    assert dialog.focusWidget() is refused
    assert dialog.trouble.isVisible()

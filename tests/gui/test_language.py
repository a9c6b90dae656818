"""Which language the window speaks, and that Qt's own words follow."""

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.language import spoken
from core.user_settings import file
from gui.language import chosen, speak
from gui.window import MainWindow
from tests.gui.conftest import at_rest


@pytest.mark.parametrize(
    ("system", "kept", "wanted"),
    [
        ("de_AT", "system", "de"),
        ("de_DE", "en", "en"),
        ("fr_FR", "system", "en"),
        ("en_US", "de", "de"),
        ("de_DE", "xx", "de"),
    ],
)
def test_the_systems_language_is_spoken_unless_one_is_chosen(system: str, kept: str, wanted: str) -> None:
    assert chosen(kept, QLocale(system)) == wanted


def test_qts_own_words_are_of_the_same_language(qapp: QApplication) -> None:
    with spoken("de"):
        speak(qapp)
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "Abbrechen"
    for translator in qapp.findChildren(QTranslator):
        qapp.removeTranslator(translator)
        translator.deleteLater()
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "Cancel"


def test_a_language_is_chosen_for_the_next_start(full_window: MainWindow, qtbot: QtBot) -> None:
    next(action for action in full_window.findChildren(QAction) if action.text() == "Deutsch").trigger()
    at_rest(qtbot, full_window)
    assert file.load().settings.window.language == "de"
    assert full_window.banner.isVisible()
    assert full_window.windowTitle().endswith("pghaul")

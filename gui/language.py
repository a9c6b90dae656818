"""Which language the window speaks: the system's, or the chosen one. Its texts are those of `core/language.py`."""

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from core.language import ENGLISH, current, languages

NAMES = {ENGLISH: "English", "de": "Deutsch"}
"""Each in itself: who does not read the window finds theirs."""


def chosen(kept: str, system: QLocale) -> str:
    """What was chosen where there are texts of it; else the system's language, or English."""
    return next((one for one in (kept, system.name().partition("_")[0]) if one in languages()), ENGLISH)


def speak(application: QCoreApplication) -> None:
    """Let what Qt itself writes, on buttons of dialogs and in menus of fields, be of the language spoken now."""
    found, folder = QTranslator(application), QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if current() != ENGLISH and found.load(f"qtbase_{current()}", folder):
        application.installTranslator(found)

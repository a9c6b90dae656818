"""The language of the window: that of the system, or the selected one."""

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from core.language import ENGLISH, current, languages


def chosen(kept: str, system: QLocale) -> str:
    """Return the language of the setting, else that of the system, else English, as far as there are texts."""
    return next((one for one in (kept, system.name().partition("_")[0]) if one in languages()), ENGLISH)


def speak(application: QCoreApplication) -> None:
    """Load Qt's own texts in the current language, and let Qt write its dates and sizes as this language does."""
    if QLocale.system().name().partition("_")[0] != current():
        QLocale.setDefault(QLocale(current()))
    found, folder = QTranslator(application), QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if current() != ENGLISH and found.load(f"qtbase_{current()}", folder):
        application.installTranslator(found)

"""Pictures of every page of the real window, with what a history really holds: for the README and for `make demo`."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, Qt
from PySide6.QtWidgets import QApplication, QTabWidget

from core.api.loading import load_packages
from core.errors import PghaulError
from gui import appearance
from gui.pages.kinds import PAGES
from gui.pages.page import AnyPage
from gui.window import MainWindow
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session

WIDTH, HEIGHT = 1280, 800
PATIENCE_SECONDS = 30.0
SCHEMES = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}


def save_screenshots(
    session: "Session",
    move: str,
    folder: Path,
    schemes: Iterable[str] = ("light", "dark"),
    size: tuple[int, int] | None = (WIDTH, HEIGHT),
) -> tuple[Path, ...]:
    """A PNG of that width and height of each page and tab, in light and dark; the paths.

    Without a size the window fills the screen, and the picture is all that is on it. Needs no QApplication, and no
    display with QT_QPA_PLATFORM=offscreen. The session is used, not closed.

    Raises:
        PghaulError: a page could not read the history, or did not come to rest.
    """
    found = QApplication.instance()
    application = found if isinstance(found, QApplication) else QApplication(["pghaul"])
    appearance.prepare(application)
    folder.mkdir(parents=True, exist_ok=True)
    load_packages()
    work = Work()
    problems: list[Exception] = []
    work.troubled.connect(problems.append)
    window = MainWindow(work)
    if size is not None:
        window.resize(*size)
    work.use(session)
    saved: list[Path] = []
    try:
        for scheme in schemes:
            appearance.force(application, SCHEMES[scheme])
            window.show() if size is not None else _fill_screen(application, window)
            settle(application, work)
            work.pick(move)
            saved += _pages(application, window, folder, scheme, whole_screen=size is None)
    finally:
        window.close()
        work.session = None  # it is the caller's
        work.close()
        window.deleteLater()
        settle(application, work)
    if problems:
        raise problems[0]
    return tuple(saved)


def _fill_screen(application: QApplication, window: MainWindow) -> None:
    """Show the window as large as the screen, and wait until its manager has made it so."""
    window.showMaximized()
    limit = time.monotonic() + PATIENCE_SECONDS
    while window.frameGeometry().width() < window.screen().availableGeometry().width():
        application.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)
        if time.monotonic() > limit:
            raise PghaulError("the window does not fill the screen", "does a window manager run there?")


def _pages(
    application: QApplication, window: MainWindow, folder: Path, scheme: str, *, whole_screen: bool
) -> Iterator[Path]:
    for kind in PAGES:
        page = window.show_page(kind.id)
        settle(application, window.work)
        for name, tabs, number in _tabs(page):
            if tabs is not None:
                tabs.setCurrentIndex(number)
            settle(application, window.work)
            path = folder / f"{kind.id}{name}-{scheme}.png"
            seen = window.screen().grabWindow(0) if whole_screen else window.grab()
            if not seen.save(str(path)):
                raise PghaulError(f"the picture {path} could not be written", "is there space and the right to write?")
            yield path


def _tabs(page: AnyPage) -> list[tuple[str, QTabWidget | None, int]]:
    """What is to be seen of a page: each tab, or the page alone."""
    tabs = page.findChild(QTabWidget)
    if tabs is None:
        return [("", None, 0)]
    visible = [number for number in range(tabs.count()) if tabs.isTabVisible(number)]
    return [(f"-{_plain(tabs.tabText(number))}", tabs, number) for number in visible]


def _plain(text: str) -> str:
    return text.replace("&", "").split(" (")[0].strip().lower().replace(" ", "-")


def settle(application: QApplication, work: Work) -> None:
    """Let the window work until nothing is on its way. This drives the one event loop: none is nested."""
    limit = time.monotonic() + PATIENCE_SECONDS
    application.processEvents()
    while not work.runner.idle:
        application.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)
        if time.monotonic() > limit:
            raise PghaulError("the window did not come to rest for its picture")
    application.sendPostedEvents()
    application.processEvents()

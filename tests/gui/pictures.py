"""Every page of the window on screens of several sizes and scales, in light and dark, over the example that ships.

`python tests/gui/pictures.py FOLDER` draws them as a person would see them: each screen is an Xvfb with a window
manager, the window fills it, and the picture is the whole screen. `… FOLDER WIDTHxHEIGHT` draws one size without any.
Folders beside the pages show an empty history, the longest names, German, executions under way, and the dialogs.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.api.servers import list_servers
from core.api.session import Session
from core.history import example
from core.history.store import Store
from core.language import spoken
from core.servers.profiles import Nobody
from core.user_settings.declaration import Settings
from gui import appearance
from gui.asker import HostKeyQuestion, Question, SecretQuestion
from gui.destinations import PageId
from gui.dialogs.hooks import HooksDialog
from gui.dialogs.move import MoveDialog
from gui.dialogs.questions import dialog_for
from gui.dialogs.report import ReportDialog
from gui.dialogs.server import ServerDialog
from gui.dialogs.settings import SettingsDialog
from gui.dialogs.storage import StorageDialog
from gui.dialogs.survey import SurveyDialog
from gui.pages.execution import ExecutionPage
from gui.screenshots import SCHEMES, save_screenshots, settle
from gui.window import MainWindow
from gui.work import Work
from tests.gui import scenes

SCREENS = ((1024, 700, 1), (1440, 900, 1), (2560, 1440, 1), (2560, 1440, 2), (2048, 1400, 2))
"""Width and height in pixels, and how many of these one of the window's own takes at its edge."""
MANAGER = "openbox"
SMALL = (1280, 800)
READ_MS = 1500
"""Until the page has read the execution again."""


def main() -> int:
    """Draw on every screen; or in the size that was named; or, called by itself, on the screen that there is."""
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    if words == ["screen"]:
        return _draw(folder, None)
    if words:
        width, height = (int(number) for number in words[0].split("x"))
        return _draw(folder, (width, height))
    if shutil.which("Xvfb") is None or shutil.which(MANAGER) is None:
        print(f"Xvfb and {MANAGER} are needed: make setup-lab installs them", file=sys.stderr)  # noqa: T201  a program, run by make
        return 1
    for width, height, scale in SCREENS:
        here = folder / f"{width}x{height}-{scale}00"
        with screen(width, height) as display:
            subprocess.run(
                [sys.executable, __file__, str(here), "screen"],
                env={**os.environ, "DISPLAY": display, "QT_SCALE_FACTOR": str(scale), "QT_QPA_PLATFORM": "xcb"},
                check=True,
            )
        print(here)  # noqa: T201  a program, run by make
    return 0


@contextmanager
def screen(width: int, height: int) -> Iterator[str]:
    """A screen of that many pixels with a window manager on it; the display's name."""
    words = ["Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-screen", "0", f"{width}x{height}x24"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            display = ":" + (server.stdout.readline().strip() if server.stdout is not None else "")
            unheard = subprocess.DEVNULL
            with subprocess.Popen(
                [MANAGER], env={**os.environ, "DISPLAY": display}, stdout=unheard, stderr=unheard
            ) as manager:
                try:
                    yield display
                finally:
                    manager.terminate()
        finally:
            server.terminate()


def _draw(folder: Path, size: tuple[int, int] | None) -> int:
    with tempfile.TemporaryDirectory() as history:
        example.lay(Path(history))
        with Store.open(Path(history)) as store:
            save_screenshots(Session(store, Nobody()), example.MOVE, folder, size=size)
    for name, lay in scenes.HISTORIES.items():
        _draw_pages(folder / name, lay, size)
    with spoken("de"):
        _draw_pages(folder / "german", scenes.lay_example, size)
    for name, step in scenes.UNDER_WAY.items():
        with _window(size or SMALL) as (window, store):
            execution = scenes.begin(store, step)
            question = scenes.question_of(execution, step) if name in scenes.ASKED else None
            _draw_under_way(window, store, question, folder / "under-way" / f"{name}.png")
    with _window(size or SMALL) as (window, store):
        scenes.wait_to_start(store)
        _draw_under_way(window, store, None, folder / "under-way" / "waiting-to-start.png")
    with _window(size or SMALL) as (window, store):
        _draw_dialogs(window, store, folder / "dialogs")
    return 0


def _draw_pages(folder: Path, lay: Callable[[Path], str], size: tuple[int, int] | None) -> None:
    with tempfile.TemporaryDirectory() as history:
        move = lay(Path(history))
        with Store.open(Path(history)) as store:
            save_screenshots(Session(store, Nobody()), move, folder, ("light",), size=size)


@contextmanager
def _window(size: tuple[int, int]) -> Iterator[tuple[MainWindow, Store]]:
    """The window over the example, before it has read anything."""
    with tempfile.TemporaryDirectory() as history:
        scenes.lay_example(Path(history))
        with Store.open(Path(history)) as store:
            work = Work()
            window = MainWindow(work)
            window.resize(*size)
            try:
                yield window, store
            finally:
                window.hide()
                work.close()
                window.deleteLater()
                QApplication.processEvents()


def _show(window: MainWindow, store: Store) -> None:
    window.work.use(Session(store, Nobody()))
    window.show()
    _settle(window)


def _settle(window: MainWindow) -> None:
    application = QApplication.instance()
    if isinstance(application, QApplication):
        appearance.force(application, SCHEMES["light"])
        settle(application, window.work)


def _draw_under_way(window: MainWindow, store: Store, question: Question | None, path: Path) -> None:
    """Draw the page of the move, with the question that it asks."""
    _show(window, store)
    page = window.show_page(PageId.MOVE)
    _settle(window)
    if question is not None:
        window.work.asker.move = example.MOVE
        window.work.asker.asked.emit(question)
    QTest.qWait(READ_MS)
    _settle(window)
    path.parent.mkdir(parents=True, exist_ok=True)
    window.grab().save(str(path))
    if question is not None and isinstance(page, ExecutionPage):
        question.answer(None)
        page.prompt.withdraw(question)


def _draw_dialogs(window: MainWindow, store: Store, folder: Path) -> None:
    _show(window, store)
    folder.mkdir(parents=True, exist_ok=True)
    rows, move = list_servers(Session(store, Nobody())), store.move(example.MOVE)
    dialogs = {
        "server-new": ServerDialog(None, window),
        "server": ServerDialog(rows[0].profile, window),
        "move": MoveDialog(rows, move, window),
        "hooks": HooksDialog(move, (), window),
        "report": ReportDialog(move.name, "plan", Path("/home/dba/Documents"), window),
        "report-on-all-moves": ReportDialog(None, "fleet", Path("/home/dba/Documents"), window),
        "survey": SurveyDialog(len(rows), 8, "/home/dba/fleet.csv", window),
        "settings": SettingsDialog(Settings(), window),
        "storage": StorageDialog(window.work, [row.profile.name for row in rows], ("quick", "standard"), window),
        "host-key": dialog_for(HostKeyQuestion("db1", "192.0.2.11", "ssh-ed25519", "SHA256:abc"), window),
        "password": dialog_for(SecretQuestion("db1", "Password of dba on db1", "password"), window),
    }
    for name, dialog in dialogs.items():
        dialog.show()
        _settle(window)
        dialog.grab().save(str(folder / f"{name}.png"))
        dialog.close()


if __name__ == "__main__":
    sys.exit(main())

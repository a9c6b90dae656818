import re
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.api.session import Session
from core.history.store import Store
from core.servers.profiles import Nobody
from gui.pages.kinds import PAGES
from gui.screenshots import HEIGHT, WIDTH, save_screenshots
from gui.window import MainWindow
from tests.gui.conftest import page

TOP = Path(__file__).parents[2]


@pytest.mark.long
def test_a_picture_of_every_page(qapp: QApplication, full_store: Store, tmp_path: Path) -> None:  # noqa: ARG001
    saved = save_screenshots(Session(full_store, Nobody()), "spring", tmp_path / "pictures", schemes=("light",))
    names = [path.name for path in saved]
    assert len(names) == len(set(names)) == 30
    assert {name.partition("-")[0] for name in names} == {kind.id for kind in PAGES}
    shown = "".join(path.read_text(encoding="utf-8") for path in (TOP / "docs").rglob("*.md"))
    assert set(re.findall(r"pictures/([\w-]+-light\.png)", shown)) <= set(names)
    for path in saved:
        picture = QImage(str(path))
        assert (picture.width(), picture.height()) == (WIDTH, HEIGHT)
        pixels = memoryview(picture.convertToFormat(QImage.Format.Format_RGB32).constBits()).cast("I")
        assert len(set(pixels[::49])) > 5
    assert full_store.moves()  # the session is still open


@pytest.mark.slow
def test_the_window_fits_a_screen_of_1024_by_700(full_window: MainWindow, qtbot: QtBot) -> None:
    """Once each page was seen, as a page that is wider makes the window so for all of them."""
    for kind in PAGES:
        page(qtbot, full_window, kind.id)
        needed = full_window.minimumSizeHint()
        assert (needed.width() <= 1024, needed.height() <= 640) == (True, True), (kind.title, needed.toTuple())

from pathlib import Path

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from core.actions import Session
from core.history.store import Store
from core.servers.profiles import Nobody
from gui.screenshots import HEIGHT, WIDTH, save_screenshots


def test_a_picture_of_every_page(qapp: QApplication, full_store: Store, tmp_path: Path) -> None:  # noqa: ARG001
    saved = save_screenshots(Session(full_store, Nobody()), "spring", tmp_path / "pictures", schemes=("light",))
    names = [path.name for path in saved]
    assert len(names) == len(set(names)) == 22
    assert {"moves-light.png", "compare-light.png", "plan-light.png"} <= set(names)
    for path in saved:
        picture = QImage(str(path))
        assert (picture.width(), picture.height()) == (WIDTH, HEIGHT)
        assert len({picture.pixel(x, y) for x in range(0, WIDTH, 7) for y in range(0, HEIGHT, 7)}) > 5
    assert full_store.moves()  # the session is still open

"""Which buttons, labels and fields are smaller than their text: `python tests/gui/clipped.py HISTORY` prints them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QApplication, QComboBox, QLabel, QLineEdit, QWidget

from core.api.servers import list_servers
from core.api.session import Session
from core.history.store import Store
from core.servers.profiles import Nobody
from gui import appearance
from gui.dialogs.move import MoveDialog
from gui.dialogs.server import ServerDialog
from gui.pages.kinds import PAGES
from gui.screenshots import settle
from gui.widgets.label import ElidedLabel
from gui.window import MainWindow
from gui.work import Work
from tests.gui import samples

WIDTH, HEIGHT = 1280, 800


def _clipped(window: QWidget) -> list[str]:
    found = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, QAbstractButton | QLabel | QComboBox | QLineEdit):
            continue
        if isinstance(widget, ElidedLabel) or isinstance(widget.parent(), QComboBox | QAbstractSpinBox):
            continue
        needed = widget.minimumSizeHint()
        if isinstance(widget, QLabel) and widget.wordWrap():
            short = widget.height() < widget.heightForWidth(widget.width())
        else:
            short = widget.width() < needed.width() or widget.height() < needed.height()
        if short:
            text = widget.text() if isinstance(widget, QAbstractButton | QLabel | QLineEdit) else widget.currentText()
            found.append(f"{type(widget).__name__} {text!r}: {widget.size().toTuple()} of {needed.toTuple()}")
    return found


def _settle(application: QApplication, work: Work) -> None:
    """Until the boxes that adjust to their contents have done so too: Qt lets them wait for 20 ms."""
    settle(application, work)
    QTest.qWait(50)


def main() -> int:
    """Look at every page, then at the dialogs."""
    application = QApplication(["pghaul"])
    appearance.prepare(application)
    print(f"scale {application.devicePixelRatio()}")  # noqa: T201
    work = Work()
    window = MainWindow(work)
    window.resize(WIDTH, HEIGHT)
    window.show()
    with Store.open(Path(sys.argv[1])) as store:
        session = Session(store, Nobody())
        work.use(session)
        _settle(application, work)
        for kind in PAGES:
            window.show_page(kind.id)
            _settle(application, work)
            for line in _clipped(window):
                print(kind.title, line)  # noqa: T201
        rows = list_servers(session)
        for dialog in (ServerDialog(samples.OLD, window), MoveDialog(rows, samples.MOVE, window)):
            dialog.show()
            _settle(application, work)
            for line in _clipped(dialog):
                print(type(dialog).__name__, line)  # noqa: T201
        if window.size().toTuple() != (WIDTH, HEIGHT):
            print(f"the window needs {window.size().toTuple()}")  # noqa: T201
        work.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The window as a program of its own, which begins the one move of a history and does there what its parent says.

It prints what it is asked, a line each: the titles of the panel in the page. Whatever line comes in, it answers the
panel that is shown with what the panel wants typed. It ends by itself with its parent, at any trouble, and in the end
after LIFE_MS. Not with itself: a signal ends it where it stands.
"""

import os
import sys
from pathlib import Path

from PySide6.QtCore import QSocketNotifier, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gui import appearance
from gui.pages.execution import MovePage
from gui.remembered import Remembered
from gui.widgets.message_box import MessageBox
from gui.window import MainWindow
from gui.work import Work

LIFE_MS = 560_000
LOOK_MS = 200


class DrivenWindow(MainWindow):
    """Presses Move when it can be pressed, then says what it is asked."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self._begun, self._said = False, ""
        self._look = QTimer(self, interval=LOOK_MS)
        self._look.timeout.connect(self._drive)
        self._look.start()
        self._told = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, self)
        self._told.activated.connect(self._answer)
        work.troubled.connect(self._end)

    def _drive(self) -> None:
        page = self._move_page()
        if not self._begun and self.work.move is not None and page.start.isEnabled():
            self._begun = True
            QTest.mouseClick(page.start, Qt.MouseButton.LeftButton)
        box = self.findChild(MessageBox)
        if box is not None and box.isVisible():
            begin = next(one for one in box.buttons() if box.buttonRole(one) is MessageBox.ButtonRole.AcceptRole)
            QTest.mouseClick(begin, Qt.MouseButton.LeftButton)
        title = page.prompt.title.text() if page.prompt.isVisible() else ""
        if title != self._said and (not title or page.prompt.decline.isEnabled()):
            self._said = title
            if title:
                print(title, flush=True)  # noqa: T201  the parent reads it

    def _answer(self) -> None:
        if not os.read(sys.stdin.fileno(), 100):
            QApplication.exit(1)  # nobody is there to say anything any more
            return
        panel = self._move_page().prompt
        if panel.field.isVisible():
            QTest.keyClicks(panel.field, panel.field.placeholderText())
        QTest.mouseClick(panel.accept, Qt.MouseButton.LeftButton)

    def _end(self, error: Exception) -> None:
        print(f"trouble: {type(error).__name__}: {error}", file=sys.stderr, flush=True)  # noqa: T201  the parent reads it
        QApplication.exit(1)

    def _move_page(self) -> MovePage:
        page = self.show_page(MovePage.id)
        if not isinstance(page, MovePage):
            raise TypeError(type(page))
        return page


def main(folder: Path) -> int:
    """Open the window on that history."""
    application = QApplication(sys.argv[:1])
    appearance.prepare(application)
    work = Work(remembered=Remembered(folder))
    window = DrivenWindow(work)
    QTimer.singleShot(LIFE_MS, window, lambda: QApplication.exit(1))
    window.show()
    work.open(folder)
    code = application.exec()
    work.close()
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

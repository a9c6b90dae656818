import sys

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot


def test_updates_do_not_eat_references_to_none(qtbot: QtBot) -> None:
    """PySide6 6.12.0 drops a reference to None at each call on CPython 3.11; the program then aborts after a while."""
    widget = QWidget()
    qtbot.addWidget(widget)
    before = sys.getrefcount(None), sys.getrefcount(True)
    for _ in range(1000):
        widget.update()
        widget.setEnabled(True)
    after = sys.getrefcount(None), sys.getrefcount(True)
    assert after[0] > before[0] - 500
    assert after[1] > before[1] - 500

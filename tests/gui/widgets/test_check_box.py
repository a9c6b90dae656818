"""The boxes of a list can be seen in the dark."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QListWidget, QListWidgetItem
from pytestqt.qtbot import QtBot

from gui import appearance
from gui.widgets.check_box import FILLING, CheckedItems


@pytest.fixture(params=[Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
def scheme(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[Qt.ColorScheme]:
    """In force for the test, however it ends."""
    appearance.force(qapp, request.param)
    yield request.param
    appearance.force(qapp, Qt.ColorScheme.Unknown)


def test_a_box_stands_out_from_its_list(qtbot: QtBot, scheme: Qt.ColorScheme) -> None:
    items = QListWidget()
    qtbot.addWidget(items)
    items.setItemDelegate(CheckedItems(items))
    for _ in range(2):
        QListWidgetItem("Take a backup of new.", items).setCheckState(Qt.CheckState.Unchecked)
    items.show()
    box = items.visualItemRect(items.item(1))  # the first one has the focus
    picture = items.viewport().grab(box).toImage()
    seen = {QColor(picture.pixel(x, y)).name() for x in range(24) for y in range(picture.height())}
    assert (FILLING in seen) is (scheme is Qt.ColorScheme.Dark)

"""No widget takes what a server says for markup, and none shows what turns the direction of writing."""

import ast
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gui.appearance import tip
from gui.models.table import Column, TableModel
from gui.widgets.banner import Banner
from gui.widgets.label import ElidedLabel, Label
from gui.widgets.message_box import MessageBox
from gui.widgets.text import TextView

HOSTILE = "<b>x</b>\u202e<img src='//host/x'>\x1b[31m"
SHOWN = "<b>x</b>\\u202e<img src='//host/x'>\\x1b[31m"
_WHAT: Column[str] = Column("what", str)
GUI = Path(__file__).parents[2] / "gui"


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def test_labels_are_plain_text(window: QWidget) -> None:
    for label in (Label(HOSTILE, window), Label(parent=window), ElidedLabel(window)):
        label.setText(HOSTILE)
        assert (label.text(), label.textFormat()) == (SHOWN, Qt.TextFormat.PlainText)


def test_message_boxes_are_plain_text(window: QWidget) -> None:
    box = MessageBox(window)
    box.setText(HOSTILE)
    box.setInformativeText(HOSTILE)
    assert (box.text(), box.informativeText(), box.textFormat()) == (SHOWN, SHOWN, Qt.TextFormat.PlainText)


def test_tips_tables_texts_and_banners_show_it_as_it_is(window: QWidget) -> None:
    assert "<b>" not in tip(HOSTILE)
    assert "\u202e" not in tip(HOSTILE)
    model = TableModel([_WHAT])
    model.set_rows([HOSTILE])
    assert model.data(model.index(0, 0)) == SHOWN
    assert model.data(model.index(0, 0), Qt.ItemDataRole.ToolTipRole) == tip(HOSTILE)
    view = TextView("what", window)
    view.set_text(HOSTILE)
    assert view.edit.toPlainText() == SHOWN
    banner = Banner(window)
    banner.show_message(HOSTILE)
    assert banner.text == SHOWN
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in banner.findChildren(QLabel))


def test_nothing_else_makes_labels_and_message_boxes() -> None:
    made = [
        f"{path.relative_to(GUI)}:{node.lineno}"
        for path in sorted(GUI.rglob("*.py"))
        if path.name not in ("label.py", "message_box.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("QLabel", "QMessageBox")
    ]
    assert made == []

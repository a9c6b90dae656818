"""The chosen row in full, beside its list."""

import pytest
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from core.tones import Tone
from gui.design.parts import ButtonKind, kind_of
from gui.models.explained import Explained, Paragraph, commands_in, told
from gui.models.table import Column, Width
from gui.widgets.command_box import CommandBox
from gui.widgets.explained import ExplainedView
from gui.widgets.table import Table
from gui.widgets.two_lines import use_two_lines

ROW = Explained(
    "Disk", "Warning", Tone.WARNING, "It fills.", (Paragraph("What to do", "Look.", ("df -h",)),), "https://x/y"
)


@pytest.fixture
def view(qtbot: QtBot) -> ExplainedView:
    made = ExplainedView("The selected check")
    qtbot.addWidget(made)
    return made


def test_what_says_nothing_is_left_out() -> None:
    assert [one.title for one in told(Paragraph("a", ""), Paragraph("b", "–"), Paragraph("c", "told"))] == ["c"]
    assert commands_in("Look with `df -h`, or `lsblk`.") == ("df -h", "lsblk")


def test_the_texts_of_a_row_are_shown_one_by_one(view: ExplainedView) -> None:
    view.show_explained(ROW)
    assert [label.text() for label in view.findChildren(QLabel) if not label.isHidden()] == [
        "Warning",
        "Disk",
        "It fills.",
        "What to do",
        "Look.",
        "df -h",
    ]
    view.show_explained(None)
    assert view.findChildren(QLabel) == []


def test_a_command_is_copied(view: ExplainedView) -> None:
    view.show_explained(ROW)
    box = view.findChild(CommandBox)
    assert box is not None
    box.button.click()
    assert QGuiApplication.clipboard().text() == "df -h"


def test_the_link_opens_the_documentation(view: ExplainedView, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    view.show_explained(ROW)
    (link,) = (one for one in view.findChildren(QPushButton) if kind_of(one) is ButtonKind.LINK)
    assert ROW.link in link.toolTip()
    link.click()
    assert opened == [ROW.link]


@pytest.mark.parametrize("text", ["", "x" * 5000, "\u202eback", "two\nlines"])
def test_rows_of_two_lines_are_painted_whatever_they_say(text: str, qtbot: QtBot) -> None:
    table = Table[str]("things", "Things", (Column("Thing", str, width=Width.REST),))
    qtbot.addWidget(table)
    use_two_lines(table, 0, lambda row: row)
    table.set_rows([text])
    table.show()
    assert table.rowHeight(0) >= 2 * table.fontMetrics().height()
    assert not table.grab().isNull()

"""The dialog that begins a survey: nothing starts before its list was read and shown."""

from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QLabel
from pytestqt.qtbot import QtBot

from core.api.survey import load_list
from core.errors import InputError
from core.language import languages, spoken
from core.servers.lists.formats import read_list
from gui.dialogs.survey import CONFIG, FILE, KNOWN, SurveyDialog
from gui.models.survey import SurveyRequest

LIST = read_list("fleet", "name,address,new,cluster\na,192.0.2.1,b,/srv/pg\nb,192.0.2.2,,\nc,$(x),,\n")


class Asked:
    """What a dialog has asked for."""

    def __init__(self, dialog: SurveyDialog) -> None:
        self.lists: list[Path | None] = []
        self.requests: list[SurveyRequest] = []
        dialog.list_wanted.connect(self.lists.append)
        dialog.submitted.connect(self.requests.append)


def made(qtbot: QtBot, known: int, file: str = "") -> tuple[SurveyDialog, Asked]:
    dialog = SurveyDialog(known, 8, file)
    qtbot.addWidget(dialog)
    asked = Asked(dialog)
    dialog.begin()
    return dialog, asked


def starts(dialog: SurveyDialog) -> bool:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()


def turn(dialog: SurveyDialog, source: str) -> None:
    dialog.source.setCurrentIndex(dialog.source.findData(source))


def test_known_servers_are_surveyed_without_a_list(qtbot: QtBot) -> None:
    dialog, asked = made(qtbot, 12)
    assert dialog.source.currentData() == KNOWN
    assert not dialog.path.isVisible()
    assert not dialog.replacing.isVisible()
    dialog.refresh.setChecked(True)
    dialog.at_once.setValue(3)
    dialog.submit()
    assert asked.requests == [SurveyRequest(None, 3, refresh=True)]
    assert asked.lists == []


def test_a_list_is_shown_before_the_survey_can_start(qtbot: QtBot) -> None:
    dialog, asked = made(qtbot, 0)
    assert dialog.source.currentData() == FILE
    assert dialog.source.findData(KNOWN) < 0
    assert not starts(dialog)
    dialog.submit()
    QTest.keyClicks(dialog.path, "/srv/fleet.csv")
    assert not starts(dialog)
    dialog.path.editingFinished.emit()
    assert asked.lists == [Path("/srv/fleet.csv")]
    dialog.show_list(Path("/srv/fleet.csv"), LIST)
    assert starts(dialog)
    assert [row.name for row in dialog.refused.rows.rows] == ["c"]
    assert dialog.refused.isVisible()
    dialog.replacing.setChecked(True)
    dialog.submit()
    assert asked.requests == [SurveyRequest(LIST, 8, replacing=True)]
    QTest.keyClicks(dialog.path, "2")
    assert not starts(dialog)  # what was shown is of another file


def test_the_answer_for_another_list_is_not_shown(qtbot: QtBot) -> None:
    dialog, asked = made(qtbot, 3, "/srv/fleet.csv")
    turn(dialog, FILE)
    turn(dialog, CONFIG)
    assert asked.lists == [Path("/srv/fleet.csv"), None]
    dialog.show_list(Path("/srv/fleet.csv"), LIST)
    assert not starts(dialog)
    dialog.show_list(None, LIST)
    assert starts(dialog)
    turn(dialog, KNOWN)
    dialog.show_list(None, LIST)
    dialog.submit()
    assert asked.requests == [SurveyRequest(None, 8)]


@pytest.mark.parametrize("text", ["", "---\nall:\n", "{", "Host a\n  User dba\n"])
def test_a_file_that_is_no_list_says_why(qtbot: QtBot, tmp_path: Path, text: str) -> None:
    path = tmp_path / "hosts"
    path.write_text(text)
    dialog, _ = made(qtbot, 0)
    dialog.path.setText(str(path))
    with pytest.raises(InputError) as caught:
        load_list(path)
    dialog.show_unread(path, caught.value)
    assert dialog.trouble.isVisible()
    assert str(path) in dialog.trouble.text() or "JSON" in dialog.trouble.text()
    assert not starts(dialog)


def test_a_path_in_the_home_folder_may_be_written_short(qtbot: QtBot) -> None:
    dialog, _ = made(qtbot, 0, "~/fleet.csv")
    assert dialog.file == Path.home() / "fleet.csv"


@pytest.mark.parametrize("language", languages())
def test_whatever_the_dialog_asks_has_a_key_of_its_own(qtbot: QtBot, language: str) -> None:
    with spoken(language):
        dialog, _ = made(qtbot, 3, "/srv/fleet.csv")
    turn(dialog, FILE)
    start = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    texts = [label.text() for label in dialog.findChildren(QLabel) if label.buddy() is not None]
    texts += [button.text() for button in (dialog.browse, dialog.refresh, dialog.replacing, start)]
    keys = [text.partition("&")[2][:1].lower() for text in texts]
    assert len(keys) == 7
    assert "" not in keys
    assert len(set(keys)) == len(keys), keys

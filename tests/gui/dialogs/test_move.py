"""The dialog of a move: what it does not ask about stays as it was."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from core.api.model import ServerRow
from core.facts.model import Tablespace
from gui.dialogs.move import MoveDialog
from gui.widgets.label import Label
from tests.gui import samples

MOVE = replace(samples.MOVE, tablespace_targets={"/srv/ts": "/fast"})


@pytest.mark.parametrize("facts", [True, False], ids=["with facts", "without facts"])
def test_tablespace_targets_stay_whatever_is_typed(qtbot: QtBot, *, facts: bool) -> None:
    old = samples.facts("db-old") if facts else None
    dialog = MoveDialog((ServerRow(samples.OLD, old, ()), ServerRow(samples.NEW, None, ())), MOVE)
    qtbot.addWidget(dialog)
    assert dialog.move_made() == MOVE
    dialog.cluster.setEditText("/srv/pg/dat")
    dialog.cluster.setEditText(MOVE.cluster)
    assert dialog.move_made() == MOVE


def test_the_path_of_a_tablespace_is_never_markup(qtbot: QtBot) -> None:
    path = "/srv/<b>x</b><img src='file:///x.png'>&co"
    facts = samples.facts("db-old")
    cluster = replace(facts.clusters[0], tablespaces=(Tablespace(16400, "pg_tblspc/16400", path, 1, 1),))
    rows = (ServerRow(samples.OLD, replace(facts, clusters=(cluster,)), ()), ServerRow(samples.NEW, None, ()))
    dialog = MoveDialog(rows, samples.MOVE)
    qtbot.addWidget(dialog)
    assert f"{path} →" in [label.text() for label in dialog.tablespaces.findChildren(Label)]


@pytest.mark.parametrize("limit", [None, 50_000_000])
def test_the_limit_of_the_pre_copy_is_typed_in_megabytes(qtbot: QtBot, limit: int | None) -> None:
    rows = (ServerRow(samples.OLD, samples.facts("db-old"), ()), ServerRow(samples.NEW, None, ()))
    dialog = MoveDialog(rows, replace(MOVE, precopy_limit=limit))
    qtbot.addWidget(dialog)
    assert dialog.move_made().precopy_limit == limit
    assert dialog.precopy_limit.text() == ("no limit" if limit is None else "50 MB/s")
    for typed, kept in ((0, None), (20, 20_000_000)):
        dialog.precopy_limit.setValue(typed)
        assert dialog.move_made().precopy_limit == kept


def test_no_row_is_blank(qtbot: QtBot) -> None:
    """A note is as high as its text, and takes no room without one."""
    rows = (ServerRow(samples.OLD, samples.facts("db-old"), ()), ServerRow(samples.NEW, None, ()))
    dialog = MoveDialog(rows, samples.MOVE)
    qtbot.addWidget(dialog)
    dialog.show()
    notes, layout = (dialog.cluster_facts, dialog.old_space, dialog.new_space), dialog.layout()
    assert all(note.text() and note.height() == note.heightForWidth(note.width()) for note in notes)
    assert layout is not None
    assert dialog.height() == layout.totalHeightForWidth(dialog.width())
    dialog.old_volume.setEditText("relative")
    assert not dialog.old_space.isVisible()
    dialog.old_volume.setEditText(samples.MOVE.old_volume)
    assert dialog.old_space.isVisible()

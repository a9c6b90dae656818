"""The path between the servers as a pipe."""

import pytest
from pytestqt.qtbot import QtBot

from core.migration.model.probe import Quantity
from gui.models.transfer import PATH, Link
from gui.widgets.path_view import THICK, THIN, PathView
from tests.gui.models.test_fuzzed import FLOATS, TEXTS


@pytest.fixture
def view(qtbot: QtBot) -> PathView:
    made = PathView()
    qtbot.addWidget(made)
    made.resize(775, made.sizeHint().height())
    made.show()
    return made


def test_a_link_is_as_thick_as_its_rate(view: PathView) -> None:
    found = (
        Link(Quantity.READ, 0.0, 0.0, slowest=True),
        Link(Quantity.WIRE, 50.0, 0.5),
        Link(Quantity.WRITE, 100.0, 1.0),
    )
    view.show_links(found, ("db1", "db2"), "told")
    pipes = view.pipes()
    assert [pipe.height() for pipe in pipes] == [THIN, (THIN + THICK) / 2, THICK]
    assert pipes[0].right() == pytest.approx(pipes[1].left())
    assert pipes[-1].right() < view.width()
    assert view.accessibleDescription() == "told"


@pytest.mark.parametrize("number", FLOATS)
def test_any_rate_is_painted(view: PathView, number: float) -> None:
    view.show_links(tuple(Link(each, number, number, slowest=True) for each in PATH), ("db1", "db2"), "")
    assert all(THIN <= pipe.height() <= THICK for pipe in view.pipes())
    assert not view.grab().isNull()


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("width", [1, 300, 4000])
def test_any_name_and_any_size_is_painted(view: PathView, name: str, width: int) -> None:
    view.resize(width, 10)
    view.show_links((Link(Quantity.READ, 1.0, 1.0),), (name, name), "")
    assert not view.grab().isNull()
    view.show_links((), (name, name), "")
    assert not view.grab().isNull()

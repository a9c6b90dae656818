"""What the window asks of core."""

from dataclasses import replace

from core.api.session import Session
from core.history.store import Store
from core.servers.profiles import Nobody
from gui import actions
from tests.gui import samples


def test_moves_stand_by_their_latest_entry_however_many_came_since(full_store: Store) -> None:
    for name in ("autumn", "winter"):
        full_store.add_move(replace(samples.MOVE, name=name))
    full_store.save_checks("winter", ())
    for _ in range(20):
        full_store.save_checks("spring", ())
    moves = actions.moves_newest_first(Session(full_store, Nobody()))
    assert [move.name for move in moves] == ["spring", "winter", "autumn"]

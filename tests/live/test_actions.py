"""The desk on real servers: which connection an action gets."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.actions import Desk
from core.history.store import Store
from core.jobs import Job
from core.servers.profiles import Profile
from core.servers.shell import command
from tests.lab.fixtures import LabAsker

pytestmark = pytest.mark.lab


@pytest.fixture
def desk(tmp_path: Path, asker: LabAsker, old_profile: Profile) -> Iterator[Desk]:
    with Store.open(tmp_path) as store, Desk(store, asker) as made:
        store.add_profile(old_profile)
        yield made


def test_a_connection_stays_open_for_the_next_action(desk: Desk) -> None:
    assert desk.server("old", Job()) is desk.server("old", Job())


def test_a_changed_profile_does_not_cut_off_who_still_works(desk: Desk, old_profile: Profile) -> None:
    working = desk.server("old", Job())
    desk.store.update_profile(replace(old_profile, database_user="somebody"))
    assert desk.server("old", Job()).profile.database_user == "somebody"
    assert working.run(command("echo", "on"), Job()).stdout == "on\n"
    desk.close()
    assert not working.connected


def test_a_lost_connection_is_made_anew(desk: Desk) -> None:
    lost = desk.server("old", Job())
    lost.close()
    again = desk.server("old", Job())
    assert again is not lost
    assert again.connected

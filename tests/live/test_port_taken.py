"""A program takes the port of the new cluster after the checks: it is named before anything depends on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import BlockedError
from core.migration.execution.status import MoveStatus, move_status
from core.migration.model import step_ids
from core.migration.model.execution import State
from core.servers.connection import Server
from core.servers.profiles import Profile
from tests.lab.lab import Lab
from tests.lab.machine import wait_until
from tests.live import moving as site
from tests.live.moving import DATA, PORT, Moving, Person, sql

pytestmark = pytest.mark.lab


@pytest.fixture
def move(
    lab: Lab, old_profile: Profile, new_profile: Profile, old_server: Server, new_server: Server, tmp_path: Path
) -> Iterator[Moving]:
    """Of a cluster that listens on an address."""
    site.create(lab.old)
    servers = {"old": old_server, "new": new_server}.__getitem__
    with site.nothing_left(lab):
        lab.old.exec("tee", "-a", f"{DATA}/postgresql.conf", input="listen_addresses = '127.0.0.1'\n")
        site.pg_ctl(lab.old, "-l", "/dev/null", "restart")
        made = site.moving(tmp_path, old_profile, new_profile, servers, site.read_facts(servers))
        yield made
        made.store.close()
    site.remove(lab)


@pytest.mark.parametrize(
    ("moment", "check", "stands"),
    [
        pytest.param(
            step_ids.STOP_APPLICATIONS, step_ids.CHECK_PORT_FREE, MoveStatus.UNTOUCHED, marks=pytest.mark.long
        ),
        (step_ids.DECIDE, step_ids.CHECK_PORT_FREE_BEFORE_CUTOVER, MoveStatus.LOCAL_ONLY),
    ],
    ids=["before the stop", "before the cutover"],
)
def test_who_has_the_port_is_named_and_the_move_goes_on_once_that_has_ended(
    lab: Lab, move: Moving, moment: str, check: str, stands: MoveStatus
) -> None:
    taken: list[str] = []

    def take() -> None:
        serve = f"setsid python3 -m http.server --bind 127.0.0.1 {PORT} >/dev/null 2>&1 </dev/null & echo $!"
        taken.append(lab.new.exec("sh", "-c", serve, user="nobody").stdout.strip())
        wait_until(lambda: f":{PORT:04X} " in lab.new.exec("cat", "/proc/net/tcp").stdout, "the port is taken")

    number = move.begin()
    try:
        with pytest.raises(BlockedError, match=move.about(number, check)) as caught:
            move.runner(number, Person(at={moment: take})).carry_out()
    finally:
        for process in taken:
            lab.new.exec("kill", process)
    assert f"127.0.0.1 port {PORT} (by python3" in caught.value.message
    assert f", process {taken[0]})" in caught.value.message
    assert "--resume" in caught.value.message
    assert move_status(move.store.execution(number)) is stands
    move.runner(number).carry_out()
    assert move.store.execution(number).state is State.DONE
    assert sql(lab.new, "show listen_addresses") == "127.0.0.1"

"""What a resume makes of the new cluster when something happened to it that nobody saw, up to the cutover and in it."""

from collections.abc import Callable

import pytest

from core.errors import PghaulError, UnreachableError
from core.jobs import CommandEnded, CommandStarted, Event
from core.migration.execution.rollback import roll_back
from core.migration.model import step_ids
from core.migration.model.execution import State
from tests.lab.lab import Lab
from tests.lab.machine import wait_until
from tests.live.moving import DATA, TARGET, Moving, Person, sql

pytestmark = pytest.mark.lab


def losing_sight_of(title: str) -> Callable[[Event], None]:
    """A listener that loses the connection when the command of that step has ended, so that nobody sees its end."""
    seen: list[str] = []

    def lose(event: Event) -> None:
        if isinstance(event, CommandStarted) and event.title == title:
            seen.append(event.command)
        if isinstance(event, CommandEnded) and seen == [event.command]:
            seen.append("lost")
            raise UnreachableError("new: the connection was lost")

    return lose


@pytest.mark.long
@pytest.mark.parametrize("name", [step_ids.LIFT_FENCE, step_ids.CUTOVER])
def test_a_resume_behind_the_fence_leaves_alone_what_clients_may_use(cluster: Lab, move: Moving, name: str) -> None:
    number = move.begin()
    with pytest.raises(UnreachableError):
        move.runner(number, listener=losing_sight_of(move.title(name))).carry_out()
    opened = name == step_ids.CUTOVER
    if opened:
        sql(cluster.new, "create table written_by_clients as select 1")
    move.runner(number).carry_out()
    assert move.store.execution(number).state is State.DONE
    settings = "select current_setting('default_transaction_read_only'), current_setting('unix_socket_directories')"
    assert sql(cluster.new, settings) == "off|/tmp"
    assert sql(cluster.new, "select to_regclass('written_by_clients') is not null") == ("t" if opened else "f")


@pytest.mark.long
def test_a_local_only_server_that_died_is_started_again(cluster: Lab, move: Moving) -> None:
    def die() -> None:
        process = cluster.new.exec("head", "-n", "1", f"{TARGET}/postmaster.pid").stdout.strip()
        cluster.new.exec("sh", "-c", f"pkill -KILL -P {process}; kill -9 {process}")
        wait_until(lambda: not cluster.new.exec("pgrep", "-f", TARGET, check=False).stdout, "the server is gone")

    number = move.begin()
    with pytest.raises(PghaulError, match=r"has ended by itself\. Read its log\. --resume starts it again"):
        move.runner(number, Person(at={step_ids.DECIDE: die})).carry_out()
    move.runner(number).carry_out()
    assert move.store.execution(number).state is State.DONE


@pytest.mark.long
def test_without_a_file_of_options_no_setting_of_the_local_only_start_is_left(cluster: Lab, move: Moving) -> None:
    cluster.old.exec("rm", "--", f"{DATA}/postmaster.opts")
    number = move.begin()
    move.runner(number).carry_out()
    assert move.store.execution(number).state is State.DONE
    assert "read_only" not in cluster.new.exec("cat", f"{TARGET}/postmaster.opts").stdout


@pytest.mark.long
def test_a_folder_that_another_account_has_made_keeps_nobody_from_the_rollback(cluster: Lab, move: Moving) -> None:
    number = move.begin()
    start = move.store.execution(number).plan.step(step_ids.START_LOCALLY)
    assert start is not None
    folder = start.call.split()[-1]
    cluster.new.exec("mkdir", folder, user="nobody")
    try:
        with pytest.raises(PghaulError, match=f"{folder} cannot be created"):
            move.runner(number).carry_out()
        roll_back(move.runner(number))
        assert move.store.execution(number).state is State.ROLLED_BACK
        assert sql(cluster.old, "select 1") == "1"
    finally:
        cluster.new.exec("rmdir", folder)

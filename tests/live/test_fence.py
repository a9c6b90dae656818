"""What keeps old from starting after its stop, and new until it is opened: tried by each way that somebody might."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import BlockedError, CommandError, PghaulError
from core.facts.model import Facts
from core.jobs import CommandStarted, Event, Job
from core.migration.checks import run_checks
from core.migration.checks.state import TARGET_IDENTITY
from core.migration.checks.waivers import apply_waivers, waive
from core.migration.execution import lock
from core.migration.execution.rollback import roll_back
from core.migration.model import step_ids
from core.migration.model.execution import Execution, State
from core.migration.model.move import Hook
from core.migration.model.plan import Step
from core.servers.connection import Server
from core.servers.profiles import Profile
from core.servers.shell import call
from core.sides import Side
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.moving import DATA, MOVE, NEW_BIN, ROOT, SERVER, TARGET, Moving, Person, sql

pytestmark = pytest.mark.lab

BRANCHES = "select count(*) from pgbench_branches"
FENCE = f"{TARGET}/pghaul-fence"


@pytest.fixture(scope="module")
def facts(cluster: Lab, old_server: Server, new_server: Server) -> dict[bool, tuple[Facts, Facts]]:
    """Of the stopped cluster, and of the running one."""
    servers = {"old": old_server, "new": new_server}
    site.clear(cluster)
    stopped = site.read_facts(servers.__getitem__)
    site.start(cluster.old)
    return {False: stopped, True: site.read_facts(servers.__getitem__)}


@pytest.fixture(params=[True], ids=[""])
def move(
    request: pytest.FixtureRequest,
    cluster: Lab,
    facts: dict[bool, tuple[Facts, Facts]],
    old_profile: Profile,
    new_profile: Profile,
    old_server: Server,
    new_server: Server,
    tmp_path: Path,
) -> Iterator[Moving]:
    servers = {"old": old_server, "new": new_server}
    profiles = old_profile, new_profile
    with site.undisturbed(cluster, tmp_path, profiles, servers.__getitem__, facts[request.param]) as made:
        if not request.param:
            site.pg_ctl(cluster.old, "-m", "fast", "stop")
        yield made


class Undecided(Person):
    """Does everything but the last thing."""

    def confirm_manual_step(self, step: Step) -> bool:
        return step.id != step_ids.DECIDE and super().confirm_manual_step(step)


def undecided(move: Moving, listener: Callable[[Event], None] | None = None) -> int:
    """An execution up to the decision: new runs for us alone."""
    number = move.begin()
    with pytest.raises(BlockedError, match=move.about(number, step_ids.DECIDE)):
        move.runner(number, Undecided(), listener).carry_out()
    return number


def refuses(host: Host, *words: str) -> str:
    """What is said by a start that must come to nothing."""
    done = host.exec(*words, user="postgres", check=False)
    assert done.returncode != 0, words
    return done.stdout + done.stderr


def at_start(title: str, action: Callable[[], object]) -> Callable[[Event], None]:
    """Does something as soon as a step of that title begins."""

    def hear(event: Event) -> None:
        if isinstance(event, CommandStarted) and event.title.startswith(title):
            action()

    return hear


@pytest.mark.parametrize(
    "move", [True, pytest.param(False, marks=pytest.mark.long)], indirect=True, ids=["running", "stopped"]
)
def test_nothing_starts_old_after_its_stop_and_the_way_back_leaves_it_byte_for_byte(cluster: Lab, move: Moving) -> None:
    """New has been started and asked; the person decides against it. If old ran, it runs again."""
    looks: list[str] = []
    refused: list[str] = []
    pg_ctl, old, new = f"{SERVER}/bin/pg_ctl", cluster.old, cluster.new

    def look() -> None:
        looks.append(site.hashes(old))

    def start_new() -> None:
        new.exec("chmod", "700", TARGET)
        refused.append(refuses(new, f"{NEW_BIN}/pg_ctl", "-D", TARGET, "-w", "-s", "start"))

    stopped_and_copied = (
        at_start(move.title(step_ids.FENCE_OLD), look),
        at_start(move.title(step_ids.COMPARE_CHECKSUMS), start_new),
    )

    def listen(event: Event) -> None:
        for each in stopped_and_copied:
            each(event)

    number = undecided(move, listener=listen)
    assert move.store.execution(number).state is State.PAUSED
    start_new()  # new runs for us alone: after a restart of its host nobody starts what is not decided
    half, whole = refused
    assert "could not find the database system" in half
    assert "not a database cluster directory" in whole
    assert sql(new, BRANCHES) == "1"
    refuses(old, pg_ctl, "-D", DATA, "-w", "-s", "start")
    refuses(old, pg_ctl, "-D", DATA, "-w", "-s", "restart")
    assert "could not find the database system" in refuses(old, f"{SERVER}/bin/postgres", "-D", DATA)
    old.exec("chmod", "-R", "u+rwX", DATA)
    refuses(old, pg_ctl, "-D", DATA, "-w", "-s", "start")
    refuses(old, f"{SERVER}/bin/initdb", "-D", DATA)  # as an entrypoint that takes the folder for none
    state = old.exec(f"{SERVER}/bin/pg_controldata", f"{DATA}/pghaul-fence").stdout
    assert "shut down" in state
    starts = [
        step.title for step in move.plan().way_back if step.id == step_ids.START_OLD_CLUSTER
    ]  # none, if it was stopped
    roll_back(move.runner(number, listener=at_start(starts[0], look) if starts else None))
    assert move.store.execution(number).state is State.ROLLED_BACK
    assert new.exec("test", "-e", f"{TARGET}/postmaster.pid", check=False).returncode == 1
    assert new.exec("test", "-e", f"{FENCE}/global/pg_control").returncode == 0  # new is kept
    start_new()
    ran = move.facts[0].cluster(DATA)
    if ran is None or not ran.running:
        look()
        site.start(old)
    stopped, given_back = looks
    assert given_back == stopped
    assert sql(old, BRANCHES) == "1"


@pytest.mark.long
def test_a_half_copy_is_started_by_nobody_and_after_a_rollback_neither(cluster: Lab, move: Moving) -> None:
    tried: list[str] = []

    def start_new() -> None:
        cluster.new.exec("chmod", "700", TARGET)
        tried.append(refuses(cluster.new, f"{NEW_BIN}/pg_ctl", "-D", TARGET, "-w", "-s", "start"))

    number = move.begin()
    person = Undecided(at={Hook.STOP_APPLICATIONS: start_new})
    with pytest.raises(BlockedError, match=move.about(number, step_ids.DECIDE)):
        move.runner(number, person, listener=at_start(move.title(step_ids.COMPARE_CHECKSUMS), start_new)).carry_out()
    assert len(tried) == 2
    # new runs for us alone: after a restart of the host nobody starts what is not decided
    cluster.new.exec("sh", "-c", f"kill -9 $(cat '{TARGET}/postmaster.pid' | head -n 1)")
    time.sleep(1)  # its children see that it is gone
    assert "not a database cluster directory" in refuses(cluster.new, f"{NEW_BIN}/pg_ctl", "-D", TARGET, "start")
    roll_back(move.runner(number))
    assert move.store.execution(number).state is State.ROLLED_BACK
    start_new()
    assert sql(cluster.old, BRANCHES) == "1"
    # and it is this copy that the next try goes on with
    assert move.execute().state is State.DONE
    assert cluster.new.exec("test", "-e", FENCE, check=False).returncode == 1
    assert sql(cluster.new, BRANCHES) == "1"


@pytest.mark.long
def test_new_is_opened_after_it_lost_its_power_undecided(cluster: Lab, move: Moving) -> None:
    number = undecided(move)
    cluster.new.exec("sh", "-c", f"kill -9 $(cat '{TARGET}/postmaster.pid' | head -n 1)")
    move.runner(number).carry_out()
    assert move.store.execution(number).state is State.DONE
    assert sql(cluster.new, BRANCHES) == "1"


@pytest.mark.long
def test_a_server_that_lives_in_the_target_stops_the_pass_the_proof_and_the_start(cluster: Lab, move: Moving) -> None:
    """One without its lock file, as of somebody who took the fence away."""
    number = move.begin()
    there: list[str] = []

    def live() -> None:
        stands_in = f"cp /bin/sleep {ROOT}/postgres; cd '{TARGET}'; ../postgres 900 >/dev/null 2>&1 & echo $!"
        there.append(cluster.new.exec("sh", "-c", stands_in, user="postgres").stdout.strip())

    for name in (
        step_ids.of_part(step_ids.FINAL_SYNC_CHANGED, "data"),
        step_ids.COMPARE_CHECKSUMS,
        step_ids.START_LOCALLY,
    ):
        with pytest.raises(PghaulError, match=r"a PostgreSQL server .*is running in"):
            move.runner(number, listener=once(move.title(name), live)).carry_out()
        cluster.new.exec("kill", there.pop())
    move.runner(number).carry_out()
    assert move.store.execution(number).state is State.DONE


def once(title: str, action: Callable[[], object]) -> Callable[[Event], None]:
    left = [action]
    return at_start(title, lambda: left.pop()() if left else None)


@pytest.mark.long
def test_only_our_own_server_is_opened(cluster: Lab, move: Moving) -> None:
    """Somebody stops the one that waits for the decision, and starts another that takes clients."""
    number = undecided(move)
    assert cluster.new.exec("test", "-e", f"{TARGET}/PG_VERSION", check=False).returncode == 1
    cluster.new.exec("mv", f"{FENCE}/PG_VERSION", TARGET, user="postgres")
    site.pg_ctl(cluster.new, "-m", "fast", "stop")
    site.pg_ctl(cluster.new, "-l", "/dev/null", "start")
    with pytest.raises(PghaulError, match="that this copy has not started"):
        move.runner(number).carry_out()
    assert cluster.new.exec("test", "-e", f"{FENCE}/mark").returncode == 0
    site.pg_ctl(cluster.new, "-m", "fast", "stop")
    move.runner(number).carry_out()
    assert move.store.execution(number).state is State.DONE


@pytest.mark.long
def test_what_has_old_s_identifier_but_no_mark_is_named_and_taken_only_when_given_up(
    cluster: Lab, move: Moving
) -> None:
    """An opened copy, then a standby: neither is an earlier copy of ours."""
    undecided(move)
    roll_back(move.runner(1))
    cluster.new.exec("mv", f"{FENCE}/global/pg_control", f"{TARGET}/global/", user="postgres")
    cluster.new.exec("rm", "-r", FENCE, user="postgres")
    with pytest.raises(
        BlockedError, match="contains a clone of this cluster, or a copy of it that was opened, and has no mark"
    ):
        move.execute()
    cluster.new.exec("touch", f"{TARGET}/standby.signal", user="postgres")
    with pytest.raises(BlockedError, match=r"contains a standby .*\(standby.signal\), and has no mark"):
        move.execute()
    move.facts = site.read_facts(move.connect, target=TARGET)
    results = run_checks(MOVE, *move.facts)
    named = next(each for each in results if each.id == TARGET_IDENTITY)
    assert "(standby.signal)" in named.message
    move.checks = apply_waivers(results, [waive(results, TARGET_IDENTITY, "the standby is not needed any more")])
    assert "not needed any more" in move.plan().steps[0].reason
    done = move.execute()
    assert done.state is State.DONE
    assert sql(cluster.new, f"select pg_is_in_recovery(); {BRANCHES}") == "f\n1"


@pytest.mark.long
def test_a_fenced_cluster_is_known_and_planned_again(move: Moving) -> None:
    number = undecided(move)
    here = site.read_facts(move.connect, target=TARGET)
    old, new = here[0].cluster(DATA), here[1].cluster(TARGET)
    assert old is not None
    assert new is not None
    assert (old.fenced, old.copy_of, old.control is not None and old.control.state) == (True, None, "shut down")
    assert (new.fenced, new.running, new.copy_of) == (True, True, old.control and old.control.system_identifier)
    assert replace(move, facts=here).plan().way_back[-1].id == step_ids.REMOVE_LISTS_NEW
    roll_back(move.runner(number))


def test_a_rollback_needs_the_lock_of_the_old_server_only(
    cluster: Lab, move: Moving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever cannot be locked: on the old server nothing may be changed beside another execution."""
    number, whole, broken = undecided(move), lock.take, Side.OLD

    def take(server: Server, side: Side, folder: str, execution: Execution, job: Job) -> None:
        if side == broken:
            server.run(call("fail", "no lock"), job)
        whole(server, side, folder, execution, job)

    monkeypatch.setattr(lock, "take", take)
    with pytest.raises(CommandError):
        roll_back(move.runner(number))
    assert not [run for run in move.store.execution(number).steps if run.back]
    assert cluster.old.exec("test", "-e", f"{DATA}/postmaster.pid", check=False).returncode == 1
    broken = Side.NEW
    roll_back(move.runner(number))
    assert move.store.execution(number).state is State.ROLLED_BACK
    assert sql(cluster.old, BRANCHES) == "1"

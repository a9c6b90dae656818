"""A move carried out for real: of 15.8, also with two tablespaces and WAL elsewhere, to 15.18; and taken back.

Where 15.8 is not to be had it is 15.5.
"""

import re
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.errors import BlockedError, Cancelled, CommandError, InputError, PghaulError, UnreachableError
from core.jobs import CommandStarted, Event, Progress
from core.migration.execution.outcome import outcome_of
from core.migration.execution.rollback import roll_back
from core.migration.execution.status import MoveStatus, move_status, suggest_next_commands
from core.migration.execution.timeline import account
from core.migration.model import step_ids
from core.migration.model.execution import Kind, State, StepRun
from core.migration.model.move import Hook, HookCommand, Verify
from core.migration.model.plan import Phase, Step
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from core.migration.transports.daemon import FIRST_PORT, LAST_PORT
from core.servers.connection import Server
from core.sides import Side
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import wait_until
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA, NEW_OTHER, PORT, SERVER, SPACE, TARGET, Moving, Person, sql

pytestmark = pytest.mark.lab

BALANCES = "select md5(string_agg(aid || ' ' || abalance, ',' order by aid)), sum(abalance) from pgbench_accounts"
VERSION_FOLDER = "select format('PG_15_%s', catalog_version_no) from pg_control_system()"
HISTORY = "select count(*) from pgbench_history"


in_four_places = pytest.mark.parametrize("cluster", ["in four places"], indirect=True)


def stays_stopped(move: Moving, execution: int) -> set[str]:
    """The titles of what proves the stop of old once more behind the passes."""
    return {
        step.title
        for step in move.store.execution(execution).plan.steps
        if step.verification.equals == step_ids.CHECK_STOPPED
    }


def runs_of_the_first_pass(move: Moving, execution: int) -> list[StepRun]:
    """Of the steps that copy in the first warm pass."""
    found = move.store.execution(execution)
    copying = {step.number for step in found.plan.steps if step.precopy_pass == 1 and step.root}
    return [run for run in found.steps if run.number in copying]


def begins(event: Event, titles: set[str]) -> bool:
    """Whether a command of one of these steps begins: an event knows its step by the title alone."""
    return isinstance(event, CommandStarted) and event.title in titles


def spoilt(new: Host) -> str:
    """A file of new in which a page was changed, its time as before."""
    file = f"{TARGET}/base/1/1259"
    rot = f"stamp=$(stat -c %y '{file}'); printf rot | dd of='{file}' bs=1 seek=77 conv=notrunc 2>/dev/null"
    new.exec("sh", "-c", f"{rot}; touch -d \"$stamp\" '{file}'")
    return file


@in_four_places
def test_a_cluster_under_load_is_moved_verified_and_started(cluster: Lab, move: Moving) -> None:
    """A page rots on new behind its passes: the comparison finds it, and a resume sends it again and nothing else."""
    seen: list[tuple[str, set[str]]] = []
    rotten: list[str] = []

    def look() -> None:
        seen.append((settings_of_the_first_start(cluster), site.processes(cluster.new)))

    def spoil(event: Event) -> None:
        move.events.append(event)
        if begins(event, stays_stopped(move, number)) and not rotten:
            rotten.append(spoilt(cluster.new))

    open_to_the_network(cluster.old)
    person, number = Person(at={step_ids.DECIDE: look}), move.begin()
    with (
        site.load(cluster.old),
        pytest.raises(BlockedError, match=r"base/1/1259 \(content\)\n"),
    ):
        move.runner(number, person, spoil).carry_out()
    before = len(move.store.execution(number).steps)
    move.runner(number, person).carry_out()
    done = move.store.execution(number)
    final = {step.number for step in done.plan.steps if step.phase is Phase.FINAL}
    again = [run for run in done.steps[before:] if run.number in final]
    size = int(cluster.new.exec("stat", "-c", "%s", rotten[0]).stdout)
    assert 0 < sum(run.bytes or 0 for run in again) <= size
    assert done.state is State.DONE
    assert person.asked == [f"stop {DATA}", Hook.STOP_APPLICATIONS, step_ids.DECIDE, step_ids.REPOINT_APPLICATIONS]
    assert seen == [("|off|0|0", {"background writer", "checkpointer", "walwriter"})]
    assert settings_of_the_first_start(cluster) == "*|off|8|4"  # its own configuration again
    launched = {"autovacuum launcher", "logical replication launcher"}
    wait_until(lambda: launched <= site.processes(cluster.new), "what works by itself")
    reach = next(step.number for step in done.plan.steps if step.reads == step_ids.CHECK_LISTENERS)
    (reached,) = [run.output for run in done.steps if run.number == reach]
    identifier = sql(cluster.new, "select system_identifier from pg_control_system()")
    answers = [line for line in reached.splitlines() if line.startswith(f"{cluster.new.address} port {PORT}: ")]
    assert [identifier in line for line in answers] == [True]
    assert sql(cluster.new, "select count(*) from pg_settings where source = 'command line'") == "0"
    with pytest.raises(BlockedError) as caught:
        roll_back(move.runner(done.id))
    assert "--status" in caught.value.hint
    typed = "\n".join(line for paragraph in outcome_of(done) for line in paragraph.sentences)
    assert f"mv -- {DATA}/pghaul-fence/global/pg_control {DATA}/global/" in typed
    new = sql(cluster.new, f"{BALANCES}; {HISTORY}")
    assert cluster.new.exec("readlink", f"{TARGET}/pg_wal").stdout.strip() == site.WAL
    links = cluster.new.exec("sh", "-c", f"readlink '{TARGET}'/pg_tblspc/* | sort").stdout.splitlines()
    assert links == sorted([SPACE, NEW_OTHER])
    with pytest.raises(Exception, match="could not find the database system"):
        cluster.old.exec(f"{SERVER}/bin/postgres", "-D", DATA, user="postgres")
    site.pg_ctl(cluster.new, "-m", "fast", "stop")
    site.unfence(cluster.old)
    site.start(cluster.old)
    assert sql(cluster.old, f"{BALANCES}; {HISTORY}") == new
    assert int(new.splitlines()[1]) > 0
    assert any(isinstance(event, Progress) and event.unit == "bytes" for event in move.events)
    first = {step.number for step in done.plan.steps if step.precopy_pass == 1}
    assert sum(run.bytes or 0 for run in done.steps if run.number in first) > 20_000_000


def by_daemon(move: Moving) -> Moving:
    return by(move, Transport(compression="lz4", streams=2, route=Route.DAEMON))


def by(move: Moving, transport: Transport) -> Moving:
    """The move with plain text allowed, and a sample by this transport as the only one."""
    now = datetime.now(UTC)
    move.probes = (Probe(Quantity.END_TO_END, 1e9, 10**9, 1.0, "by hand", "true", "", now, transport, began_at=now),)
    move.move = replace(move.move, plain_text=True)
    return move


@pytest.mark.long
def test_a_cluster_is_moved_by_an_rsync_daemon_also_when_a_pass_is_cancelled(cluster: Lab, move: Moving) -> None:
    ports = listening(cluster)
    heard: list[set[str]] = []

    def cancel(event: object) -> None:
        if isinstance(event, Progress) and step_ids.of_part(step_ids.PRE_COPY, 1, "data") in event.id.split("+"):
            heard.append(listening(cluster) - ports)
            cancelled.steps.job.cancel()

    number = by_daemon(move).begin()
    assert move.store.execution(number).plan.transport == "rsync daemon, lz4, 2 streams"
    cancelled = move.runner(number, listener=cancel)
    with site.load(cluster.old):
        with pytest.raises(Cancelled):
            cancelled.carry_out()
        assert len(heard[0]) == 1
        assert heard[0] < {f"{cluster.new.address}:{port}" for port in range(FIRST_PORT, LAST_PORT + 1)}
        assert listening(cluster) == ports
        move.runner(number).carry_out()
    done = move.store.execution(number)
    assert done.state is State.DONE
    assert listening(cluster) == ports
    new = sql(cluster.new, f"{BALANCES}; {HISTORY}")
    site.pg_ctl(cluster.new, "-m", "fast", "stop")
    site.unfence(cluster.old)
    site.start(cluster.old)
    assert sql(cluster.old, f"{BALANCES}; {HISTORY}") == new
    made = done.plan.step(step_ids.CREATE_PASSWORD)
    assert made is not None
    passwords = [run.output for run in done.steps if run.number == made.number]
    assert passwords == ["", ""]


LIMIT = 5_000_000
"""Bytes/s: the first pass of the small cluster then takes several seconds."""


@pytest.mark.long
@pytest.mark.parametrize(
    "transport", [Transport(), Transport(streams=2, route=Route.DAEMON)], ids=lambda each: each.name
)
def test_a_whole_move_keeps_to_its_rate_limit_while_old_runs(cluster: Lab, move: Moving, transport: Transport) -> None:
    limited = by(move, transport)
    limited.move = replace(limited.move, precopy_limit=LIMIT)
    with site.load(cluster.old):
        done = limited.execute()
    assert done.state is State.DONE
    first = runs_of_the_first_pass(move, done.id)[0]
    assert first.ended_at is not None
    assert first.bytes is not None
    assert first.bytes > 4 * LIMIT
    assert first.bytes / (first.ended_at - first.started_at).total_seconds() < 1.2 * LIMIT
    assert account(done).copy_rate is None  # without the limit the servers may be faster
    final = [line for step in done.plan.steps if step.phase is Phase.FINAL for line in step.native]
    assert any("rsync" in line for line in final)
    assert not any("--bwlimit" in line for line in final)
    new = sql(cluster.new, f"{BALANCES}; {HISTORY}")
    site.pg_ctl(cluster.new, "-m", "fast", "stop")
    site.unfence(cluster.old)
    site.start(cluster.old)
    assert sql(cluster.old, f"{BALANCES}; {HISTORY}") == new


def listening(lab: Lab) -> set[str]:
    """Where new takes connections: `address:port`."""
    return {line.split()[3] for line in lab.new.exec("ss", "-Hltn").stdout.splitlines()}


@pytest.mark.long
@in_four_places
def test_wal_that_nobody_needs_stays_on_old_and_what_compares_all_looks_for_corruption(
    cluster: Lab, move: Moving
) -> None:
    """Old keeps much WAL, in segments of a megabyte: from before the warm pass, and what its shutdown leaves."""
    sql(cluster.old, "alter system set min_wal_size = '40MB'")
    sql(cluster.old, "select pg_reload_conf()")
    switch = "select pg_logical_emit_message(true, 'more', 'wal'); select pg_switch_wal();"
    sql(cluster.old, f"{switch * 20} checkpoint; {switch} checkpoint")
    # within one tick of the clock nothing tells the segment in use from those that were renamed
    sql(cluster.old, "select pg_sleep(0.1); select pg_logical_emit_message(true, 'in', 'use')")

    def write_on() -> None:
        sql(cluster.old, switch * 8)

    number = move.begin(verify=Verify.ALL)
    move.runner(number, Person(at={Hook.STOP_APPLICATIONS: write_on})).carry_out()
    done = move.store.execution(number)
    assert done.state is State.DONE
    waiting = cluster.old.exec("sh", "-c", f"ls {site.WAL} | grep -cE '^[0-9A-F]{{24}}$'").stdout
    arrived = cluster.new.exec("sh", "-c", f"ls {site.WAL} | grep -cE '^[0-9A-F]{{24}}$'").stdout
    sent = [run.bytes for run in done.steps if site.WAL in run.title and run.bytes is not None]
    assert int(waiting) >= 20
    assert int(arrived) <= 3  # what it started with, and what it has made since
    assert len(sent) >= 3
    assert sum(sent) < 8 << 20, sent
    said = {done.plan.steps[run.number - 1].phase: run.output for run in done.steps if run.done}
    assert "Bad checksums:  0" in said[Phase.CHECKSUMS]
    assert said[Phase.AMCHECK].split() == ["database", "postgres", "database", "shop"]
    assert sql(cluster.new, "select count(*) from pg_extension where extname = 'amcheck'") == "0"


def open_to_the_network(old: Host) -> None:
    """The old server listens on every address of its host, and lets its neighbours in."""
    for file, line in (("postgresql.conf", "listen_addresses = '*'"), ("pg_hba.conf", "host all all samenet trust")):
        old.exec("tee", "-a", f"{DATA}/{file}", input=f"{line}\n")
    site.pg_ctl(old, "-l", "/dev/null", "restart")


def settings_of_the_first_start(cluster: Lab) -> str:
    names = ("listen_addresses", "archive_mode", "max_worker_processes", "max_logical_replication_workers")
    return sql(cluster.new, "select concat_ws('|', " + ", ".join(f"current_setting('{name}')" for name in names) + ")")


def _silent() -> Server:
    raise UnreachableError("new does not answer", "look at its power")


@pytest.mark.long
@pytest.mark.parametrize("back", [True, False], ids=["back to old", "mended and gone on with"])
def test_an_opening_that_let_nobody_in_can_be_taken_back_and_tried_again(
    cluster: Lab, move: Moving, back: bool
) -> None:
    """New's configuration is spoilt after its local start: it does not start for clients."""
    conf = f"{TARGET}/postgresql.conf"
    spoil = f"cp -p '{conf}' /var/tmp/conf; echo \"shared_preload_libraries = 'of nobody'\" >>'{conf}'"
    number = move.begin()

    def decide() -> None:
        cluster.new.exec("sh", "-c", spoil)

    with pytest.raises(PghaulError, match=r"\b69: .*FATAL: .*of nobody"):
        move.runner(number, Person(at={step_ids.DECIDE: decide})).carry_out()
    failed = move.store.execution(number)
    assert (failed.state, failed.past_return) == (State.STOPPED, False)
    assert move_status(failed) is MoveStatus.NOT_OPENED
    assert all(option in suggest_next_commands(failed) for option in ("--resume", "--rollback"))
    if back:
        cluster.new.exec("rm", "/var/tmp/conf")
        unheard = replace(move, connect=lambda side: _silent() if side == "new" else move.connect(side))
        with pytest.raises(UnreachableError):  # its host may have started it since
            roll_back(unheard.runner(number))
        assert cluster.old.exec("test", "-e", f"{DATA}/postmaster.pid", check=False).returncode == 1
        roll_back(move.runner(number))
        assert sql(cluster.old, HISTORY) == "0"
    else:
        cluster.new.exec("mv", "/var/tmp/conf", conf)
        move.runner(number).carry_out()
        assert move.store.execution(number).state is State.DONE
        assert sql(cluster.new, HISTORY) == "0"


@pytest.mark.long
def test_a_local_start_that_a_power_cut_ended_is_made_again(cluster: Lab, move: Moving) -> None:
    killed: list[Event] = []

    def kill(event: Event) -> None:
        if isinstance(event, CommandStarted) and event.title == move.title(step_ids.QUERY_NEW) and not killed:
            killed.append(event)
            cluster.new.exec("sh", "-c", f"kill -9 $(head -n 1 '{TARGET}/postmaster.pid')")

    number = move.begin()
    with pytest.raises(CommandError, match=move.about(number, step_ids.QUERY_NEW)):
        move.runner(number, listener=kill).carry_out()
    move.runner(number).carry_out()
    assert move.store.execution(number).state is State.DONE
    assert sql(cluster.new, HISTORY) == "0"


def killed(move: Moving, when: Callable[[Event], bool]) -> Callable[[Event], None]:
    """A listener with whom the program ends at the first such event, as by a kill: nothing is cleaned up."""

    def listen(event: Event) -> None:
        move.events.append(event)
        if threading.current_thread() is threading.main_thread() and when(event):
            raise KeyboardInterrupt

    return listen


def of_ours(cluster: Lab) -> set[str]:
    """The kinds of what lies on the servers of an execution: its locks, lists, jobs and keys."""
    look = "ls -d /tmp/pghaul* /var/tmp/pghaul*; grep -h pghaul /home/*/.ssh/authorized_keys"
    said = [host.exec("sh", "-c", look, check=False).stdout for host in (cluster.old, cluster.new)]
    return set(re.findall(r"pghaul-(\w+)", "".join(said)))


def test_a_rehearsal_stops_and_starts_nothing(
    cluster: Lab,
    move: Moving,
    asker: LabAsker,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Killed while it copies, it is gone on with; a real one is killed, cancelled, begun again and taken back."""
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path))
    command = CommandLine(cluster, asker, capsys)
    before = cluster.old.exec("head", "-n", "3", f"{DATA}/postmaster.pid").stdout

    rehearsal = move.begin(Kind.REHEARSAL)
    copies = killed(move, lambda event: isinstance(event, Progress) and runs_of_the_first_pass(move, rehearsal) != [])
    with pytest.raises(KeyboardInterrupt):
        move.runner(rehearsal, listener=copies).carry_out()
    assert move.store.execution(rehearsal).state is State.INTERRUPTED
    code, _, err = command.connecting("execute", move.move.name, "--resume")
    assert code == 0, err
    done = move.store.execution(rehearsal)
    assert done.state is State.DONE
    passes = runs_of_the_first_pass(move, rehearsal)
    assert [run.attempt for run in passes] == [1]  # the very same try, followed to its end
    assert (passes[0].bytes or 0) > 20_000_000
    assert sql(cluster.old, HISTORY) == "0"
    assert not any(
        step.downtime and not step.resume.closes_channel for step in done.plan.steps if done.done(step.number)
    )
    assert cluster.new.exec("test", "-e", f"{TARGET}/postmaster.pid", check=False).returncode == 1
    ran = [event.title for event in move.events if isinstance(event, CommandStarted)]
    ran += [run.title for run in done.steps]
    assert not set(ran) & {
        move.title(name)
        for name in (
            step_ids.STOP_OLD_CLUSTER,
            step_ids.START_LOCALLY,
            step_ids.START_OLD_CLUSTER,
            step_ids.CUTOVER,
        )
    }

    number = move.begin()  # it finds the rehearsal's copy
    copies = killed(move, lambda event: begins(event, {run.title for run in runs_of_the_first_pass(move, number)}))
    with pytest.raises(KeyboardInterrupt):
        move.runner(number, listener=copies).carry_out()
    assert {"copy", "lock"} <= of_ours(cluster)
    code, _, err = command.connecting("execute", move.move.name, "--cancel")
    assert code == 0, err
    assert move.store.execution(number).state is State.CANCELLED
    assert of_ours(cluster) == set()
    with pytest.raises(BlockedError, match="not confirmed"):  # its name is mistyped: it stops nothing
        move.runner(number, Person(name="another")).carry_out()
    code, _, err = command("execute", move.move.name, "--resume", "--confirm", "another", "--manual-steps-done")
    assert code == InputError.exit_code, err
    code, _, err = command.connecting("execute", move.move.name, "--rollback")
    assert code == 0, err
    assert move.store.execution(number).state is State.ROLLED_BACK
    assert cluster.old.exec("head", "-n", "3", f"{DATA}/postmaster.pid").stdout == before
    assert sql(cluster.old, HISTORY) == "0"
    declined = move.store.execution(number)
    stop = declined.plan.step(step_ids.STOP_OLD_CLUSTER)
    assert stop is not None
    assert not declined.done(stop.number)


@pytest.mark.long
def test_a_page_changed_within_the_second_of_the_warm_copy_arrives(cluster: Lab, move: Moving) -> None:
    """The same size, the same second: what rsync's own quick check passes over."""
    table = f"{DATA}/" + sql(cluster.old, "select pg_relation_filepath('pgbench_tellers')")
    changed: list[str] = []

    def change() -> None:
        look = cluster.old.exec("stat", "-c", "%y %s", table).stdout.rpartition(" ")
        page = f"printf 'changed in this very second' | dd of='{table}' bs=1 seek=8000 conv=notrunc 2>/dev/null"
        cluster.old.exec("sh", "-c", f"{page}; touch -d '{look[0]}' '{table}'")
        assert cluster.old.exec("stat", "-c", "%y %s", table).stdout.rpartition(" ") == look
        changed.append(cluster.old.exec("sha256sum", table).stdout.split()[0])

    number = move.begin()
    with pytest.raises(BlockedError, match=move.about(number, step_ids.DECIDE)):
        move.runner(number, Changing(at={Hook.STOP_APPLICATIONS: change})).carry_out()
    link = table.removeprefix(DATA)
    assert cluster.new.exec("sha256sum", f"{TARGET}{link}").stdout.split()[0] == changed[0]


class Changing(Person):
    """Does what comes, and does not decide: a changed page may not be read."""

    def confirm_manual_step(self, step: Step) -> bool:
        return super().confirm_manual_step(step) and step.id != step_ids.DECIDE


@pytest.mark.long
def test_all_contents_are_compared_if_asked_for_and_a_spoilt_copy_never_starts(cluster: Lab, move: Moving) -> None:
    """A page that rots on new after the copy, its time as before, is found by its sum."""

    def spoil(event: Event) -> None:
        if begins(event, stays_stopped(move, number)):
            spoilt(cluster.new)

    number = move.begin(verify=Verify.ALL)
    with pytest.raises(BlockedError, match=r"base/1/1259 \(content\)\n"):
        move.runner(number, listener=spoil).carry_out()
    stopped = move.store.execution(number)
    assert stopped.state is State.STOPPED
    assert cluster.new.exec("test", "-e", f"{TARGET}/pghaul-start.log", check=False).returncode == 1
    roll_back(move.runner(number))
    assert sql(cluster.old, HISTORY) == "0"


@pytest.mark.long
@in_four_places
def test_a_failing_step_stops_the_plan_where_it_is_and_hooks_do_what_people_would(
    cluster: Lab, move: Moving, tmp_path: Path
) -> None:
    note = tmp_path / "address moved"
    move.store.save_hook(
        site.MOVE.name, HookCommand(Hook.STOP_APPLICATIONS, Side.OLD, "touch /tmp/stopped", "postgres")
    )
    move.store.save_hook(site.MOVE.name, HookCommand(Hook.MOVE_ADDRESS, "workstation", f"touch '{note}'"))
    number = move.begin()
    ours = sql(cluster.old, VERSION_FOLDER)
    cluster.new.exec("install", "-d", f"{NEW_OTHER}/{ours}/not ours")
    with pytest.raises(BlockedError, match=f": .*{NEW_OTHER} "):
        move.runner(number).carry_out()
    assert move.store.execution(number).state is State.STOPPED
    cluster.new.exec("rm", "-r", NEW_OTHER)
    person = Person()
    move.runner(number, person).carry_out()
    done = move.store.execution(number)
    assert (done.state, [run.attempt for run in done.steps if run.number == 1]) == (State.DONE, [1, 2])
    assert person.asked == [f"stop {DATA}", step_ids.DECIDE, step_ids.REPOINT_APPLICATIONS]
    assert note.exists()
    cluster.old.exec("rm", "/tmp/stopped")

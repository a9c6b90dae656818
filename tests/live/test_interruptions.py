"""Interruptions of a move: each is noticed, loses nothing, and ends verified, or safely stopped with old as it was."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from core import documents
from core.errors import BlockedError, Cancelled, PghaulError, UnreachableError
from core.facts.model import Facts
from core.history.store import Store
from core.jobs import CommandStarted, Event, Job, Progress
from core.migration.execution.rollback import roll_back
from core.migration.execution.runner import new_execution
from core.migration.model import step_ids
from core.migration.model.execution import Kind, State
from core.migration.model.move import Hook
from core.migration.model.plan import Step
from core.servers.connection import Server, connect
from core.servers.profiles import Profile
from core.servers.remote_process import GRACE
from tests.earlier import as_earlier
from tests.lab import clusters
from tests.lab import lab as labs
from tests.lab.fixtures import LabAsker, forget_host_keys, profile
from tests.lab.footprint import differences, footprint
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import killed_at_the_end, lab_unavailable, wait_until
from tests.live import moving as site
from tests.live.moving import DATA, ROOT, SPREAD, TARGET, Moving, Person, sql

pytestmark = pytest.mark.lab

PROJECT = Path(__file__).resolve().parents[2]
SLOW = "60mbit"
"""The cable while a copy is to be disturbed: it then takes some seconds."""


@dataclass
class Lines:
    """Connections to both hosts, made anew when they are lost, as the session does it."""

    profiles: dict[str, Profile]
    asker: LabAsker
    open: dict[str, Server] = field(default_factory=dict)

    def __call__(self, side: str) -> Server:
        known = self.open.get(side)
        if known is None or not known.connected:
            self.close(side)
            self.open[side] = connect(self.profiles[side], self.asker, Job(), deadline=10)
        return self.open[side]

    def close(self, side: str) -> None:
        if side in self.open:
            self.open.pop(side).close()


# A lab of its own: what is cut and killed here would end the connections that other tests share.


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    reason = lab_unavailable()
    if reason is not None:
        pytest.skip(reason)
    forget_host_keys()
    with labs.lab("interrupted") as made:
        yield made


@pytest.fixture(scope="module")
def asker(lab: Lab) -> LabAsker:
    return LabAsker(lab.known_hosts)


@pytest.fixture(scope="module")
def old_profile(lab: Lab) -> Profile:
    return profile(lab, lab.old)


@pytest.fixture(scope="module")
def new_profile(lab: Lab) -> Profile:
    return profile(lab, lab.new)


@pytest.fixture(scope="module")
def cluster(lab: Lab) -> Iterator[Lab]:
    site.create(lab.old, spread=True)
    yield lab
    site.remove(lab)


@pytest.fixture(scope="module")
def facts(cluster: Lab, old_profile: Profile, new_profile: Profile, asker: LabAsker) -> dict[bool, tuple[Facts, Facts]]:
    """Of the stopped cluster and of the running one; every test begins with the same."""
    with connect(old_profile, asker, Job()) as old, connect(new_profile, asker, Job()) as new:
        servers = {"old": old, "new": new}
        site.clear(cluster)
        stopped = site.read_facts(servers.__getitem__)
        site.start(cluster.old)
        return {False: stopped, True: site.read_facts(servers.__getitem__)}


@pytest.fixture
def lines(old_profile: Profile, new_profile: Profile, asker: LabAsker) -> Iterator[Lines]:
    made = Lines({"old": old_profile, "new": new_profile}, asker)
    yield made
    for side in ("old", "new"):
        made.close(side)


@pytest.fixture
def stopped(cluster: Lab, facts: dict[bool, tuple[Facts, Facts]], lines: Lines, tmp_path: Path) -> Iterator[Moving]:
    """The move with old stopped; in the end nothing of ours may be left on the hosts."""
    site.clear(cluster)
    looks = {host.name: footprint(host) for host in (cluster.old, cluster.new)}
    made = site.moving(tmp_path, lines.profiles["old"], lines.profiles["new"], lines, facts[False])
    yield made
    made.store.close()
    cluster.restore()
    for host in (cluster.old, cluster.new):
        site.end(host)

        def as_before(host: Host = host) -> bool:
            return all(ROOT in line for line in differences(looks[host.name], footprint(host)))

        # who ends a cancelled command waits that long before it kills
        wait_until(as_before, f"{host.name} to be as before", seconds=GRACE + 3)


@pytest.fixture
def running(stopped: Moving, cluster: Lab, facts: dict[bool, tuple[Facts, Facts]]) -> Moving:
    """The move with old running."""
    site.start(cluster.old)
    return Moving(stopped.store, stopped.connect, facts[True], move=stopped.move)


def at_first_bytes(name: str, disturb: Callable[[], None]) -> Callable[[Event], None]:
    """A listener that disturbs once the step of that name has copied something."""
    begun: list[str] = []

    def listen(event: Event) -> None:
        if not isinstance(event, Progress) or name not in event.id.split("+"):
            return
        if event.unit == "bytes" and event.done and not begun:
            begun.append(event.id)
            disturb()

    return listen


def at_start(title: str, disturb: Callable[[], None]) -> Callable[[Event], None]:
    """A listener that disturbs when a step of that title begins, once."""
    begun: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, CommandStarted) and event.title.startswith(title) and not begun:
            begun.append(event.title)
            disturb()

    return listen


def kill_rsync(lab: Lab) -> None:
    lab.old.exec("pkill", "-KILL", "-x", "rsync")


def restart_sshd(lab: Lab) -> None:
    """On new: every session of sshd dies, the copy's among them; the listening sshd stays."""
    lab.new.exec("sh", "-c", "pkill -KILL -f '^sshd: .*@' || pkill -KILL -f '^sshd-session'")


def fill_new(lab: Lab) -> None:
    free = "avail=$(df --output=avail -B1M /srv/pg | tail -n 1); fallocate -l $((avail - 4))M /srv/pg/filler"
    lab.new.exec("sh", "-c", free)


def empty_new(lab: Lab) -> None:
    lab.new.exec("rm", "-f", "/srv/pg/filler")


def nothing(_lab: Lab) -> None:
    """Nothing is to be mended."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("disturb", "mend"),
    [
        (kill_rsync, nothing),
        (restart_sshd, nothing),
        (fill_new, empty_new),
    ],
    ids=["rsync killed", "sshd restarted", "target full"],
)
def test_a_broken_copy_is_stopped_cleanly_and_gone_on_with(
    disturb: Callable[[Lab], None], mend: Callable[[Lab], None], cluster: Lab, stopped: Moving
) -> None:
    before = site.contents(cluster.old)
    number = stopped.begin()
    cluster.shape(SLOW)
    try:
        with pytest.raises(PghaulError) as caught:
            stopped.runner(
                number, listener=at_first_bytes(step_ids.of_part(step_ids.COPY, "data"), lambda: disturb(cluster))
            ).carry_out()
        cluster.shape("off")
        broken = stopped.store.execution(number)
        assert broken.state in {State.STOPPED, State.INTERRUPTED}, caught.value
        assert site.contents(cluster.old) == before
        assert cluster.new.exec("test", "-e", f"{TARGET}/pghaul-start.log", check=False).returncode == 1
        if broken.state is State.STOPPED:
            assert "pghaul" not in cluster.old.exec("ls", "/tmp", "/var/tmp").stdout
    finally:
        mend(cluster)
    stopped.runner(number).carry_out()
    assert stopped.store.execution(number).state is State.DONE
    assert site.contents(cluster.old) == before
    assert sql(cluster.new, "select count(*) from pgbench_accounts") == "100000"


@pytest.mark.long
def test_a_read_only_source_is_noticed_and_gone_on_with(cluster: Lab, stopped: Moving) -> None:
    """Nothing is started on new while old cannot even be kept from starting."""
    before = site.hashes(cluster.old)
    number = stopped.begin()
    clusters.control(cluster.old, "stop")  # the lab's own cluster lies on the same disk
    try:
        cluster.old.exec("mount", "-o", "remount,ro", "/srv/pg")
        with pytest.raises(PghaulError, match=r"[Rr]ead-only"):
            stopped.runner(number).carry_out()
    finally:
        cluster.old.exec("mount", "-o", "remount,rw", "/srv/pg")
        clusters.control(cluster.old, "start")
        cluster.old.exec("rm", "-rf", "/run/mount")  # mount's own notes
    assert stopped.store.execution(number).state is State.STOPPED
    assert site.hashes(cluster.old) == before
    stopped.runner(number).carry_out()
    assert stopped.store.execution(number).state is State.DONE
    assert site.contents(cluster.old) in before


@pytest.mark.long
def test_a_cut_cable_leaves_the_copy_running_and_it_is_found_again(cluster: Lab, stopped: Moving) -> None:
    """The workstation loses old; the copy on old goes on as soon as the cable is back."""
    before = site.contents(cluster.old)
    number = stopped.begin()
    cluster.shape(SLOW)
    with pytest.raises(UnreachableError) as caught:
        stopped.runner(
            number, listener=at_first_bytes(step_ids.of_part(step_ids.COPY, "data"), lambda: cluster.cut("old"))
        ).carry_out()
    assert f"pghaul execute '{SPREAD.name}' --resume" in caught.value.hint
    assert stopped.store.execution(number).state is State.INTERRUPTED
    cluster.mend("old")
    cluster.shape("off")
    stopped.runner(number).carry_out()
    done = stopped.store.execution(number)
    copies = [run for run in done.steps if run.title == stopped.title(step_ids.of_part(step_ids.COPY, "data"))]
    assert (done.state, len(copies)) == (State.DONE, 1)  # the very same try, followed to its end
    assert site.contents(cluster.old) == before


@pytest.mark.long
def test_old_started_by_somebody_during_the_final_pass(cluster: Lab, running: Moving) -> None:
    def start_old() -> None:
        site.unfence(cluster.old)
        site.start(cluster.old)
        sql(cluster.old, "update pgbench_branches set bbalance = 4711")

    number = running.begin()
    with pytest.raises(PghaulError, match=f"a PostgreSQL server is running in {re.escape(DATA)}"):
        running.runner(
            number,
            listener=at_start(running.title(step_ids.of_part(step_ids.FINAL_SYNC_CHANGED, "data")), start_old),
        ).carry_out()
    assert running.store.execution(number).state is State.STOPPED
    assert cluster.new.exec("test", "-e", f"{TARGET}/pghaul-start.log", check=False).returncode == 1
    assert sql(cluster.old, "select bbalance from pgbench_branches") == "4711"
    person = Person()
    running.runner(number, person).carry_out()
    assert running.store.execution(number).state is State.DONE
    assert person.asked[0] == f"stop {DATA}"
    assert sql(cluster.new, "select bbalance from pgbench_branches") == "4711"


@pytest.mark.long
def test_two_workstations_at_once(cluster: Lab, running: Moving, tmp_path: Path, lines: Lines) -> None:
    """The second is told who is at it and since when; the first is not disturbed."""
    refused: list[BlockedError] = []

    def second() -> None:
        other = site.moving(tmp_path / "other", lines.profiles["old"], lines.profiles["new"], lines, running.facts)
        with pytest.raises(BlockedError) as caught:
            other.execute()
        refused.append(caught.value)
        other.store.close()

    done = running.execute(Person(at={Hook.STOP_APPLICATIONS: second}))
    assert done.state is State.DONE
    assert f" {done.owner} " in refused[0].message
    assert f" {done.started_at:%Y-%m-%d %H:%M} UTC" in refused[0].message
    assert sql(cluster.new, "select count(*) from pgbench_accounts") == "100000"


@pytest.mark.long
def test_a_cancel_from_elsewhere_ends_the_copy_and_cleans_up(cluster: Lab, stopped: Moving) -> None:
    before = site.contents(cluster.old)
    number = stopped.begin()
    cluster.shape(SLOW)

    def ask() -> None:
        stopped.store.ask_cancel(number)

    with pytest.raises(Cancelled):
        stopped.runner(number, listener=at_first_bytes(step_ids.of_part(step_ids.COPY, "data"), ask)).carry_out()
    assert stopped.store.execution(number).state is State.CANCELLED
    cluster.shape("off")
    roll_back(stopped.runner(number))
    assert site.contents(cluster.old) == before


@pytest.mark.long
def test_a_killed_workstation_is_gone_on_with(
    cluster: Lab, running: Moving, tmp_path: Path, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real pghaul, killed in its first warm pass; another one finds the pass still running, or its end."""
    folder = tmp_path / "history"
    with Store.open(folder) as store:
        store.add_profile(lines.profiles["old"])
        store.add_profile(lines.profiles["new"])
        store.add_move(SPREAD)
    config = tmp_path / "ssh_config"
    config.write_text(f'UserKnownHostsFile "{cluster.known_hosts}"\n')
    monkeypatch.setenv("PGHAUL_DATA", str(folder))
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(config))
    words = [
        sys.executable,
        "-m",
        "gui.entry",
        "execute",
        SPREAD.name,
        "--confirm",
        DATA,
        "--manual-steps-done",
        "--json",
    ]
    cluster.shape(SLOW)
    with killed_at_the_end(subprocess.Popen(words, cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)):
        wait_until(
            lambda: "--server" in cluster.new.exec("ps", "-e", "-o", "args=").stdout, "the copy to begin", seconds=90
        )
        wait_until(
            lambda: last_step(folder).startswith(step_ids.of_part(step_ids.PRE_COPY, 1, "")),
            "the first warm pass to begin",
            seconds=30,
        )
        refuses_to_measure("probe", "which is running: pghaul execute")
    cluster.shape("off")
    refuses_to_measure("bench", "whose process has ended: continue it with")
    second = subprocess.run([*words, "--resume"], cwd=PROJECT, check=False, capture_output=True, text=True, timeout=200)
    assert second.returncode == 0, second.stderr
    with Store.open(folder) as store:
        done = store.executions(SPREAD.name)[0]
    assert done.state is State.DONE
    assert sql(cluster.new, "select count(*) from pgbench_accounts") == "100000"
    assert running.store.executions(SPREAD.name) == ()


def refuses_to_measure(noun: str, said: str) -> None:
    """A server that a move is being carried out on is not measured, and whose the move is stands in the refusal."""
    words = [sys.executable, "-m", "gui.entry", noun, SPREAD.name, "--quiet"]
    refused = subprocess.run(words, cwd=PROJECT, check=False, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1, refused.stderr

    assert said in refused.stderr


def last_step(folder: Path) -> str:
    """Its name; empty where none has begun."""
    with Store.open(folder) as store:
        found = [(each.plan, run) for each in store.executions(SPREAD.name) for run in each.steps]
    return found[-1][0].steps[found[-1][1].number - 1].id if found else ""


@pytest.mark.long
def test_what_a_killed_workstation_left_is_taken_away_by_a_cancel(cluster: Lab, stopped: Moving) -> None:
    """The program is gone between two steps: key, lists and locks lie on the servers."""
    before = site.hashes(cluster.old)
    number = stopped.begin()

    def die() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped.runner(number, listener=at_start(stopped.title(step_ids.CHECK_STOPPED), die)).carry_out()
    assert "pghaul" in cluster.old.exec("ls", "/tmp", "/var/tmp").stdout
    stopped.runner(number).cancel_abandoned()
    assert stopped.store.execution(number).state is State.CANCELLED
    for host in (cluster.old, cluster.new):
        assert "pghaul" not in host.exec("ls", "/tmp", "/var/tmp").stdout
    assert site.hashes(cluster.old) == before


class Undecided(Person):
    """Somebody who ends the move at the decision."""

    def confirm_manual_step(self, step: Step) -> bool:
        return super().confirm_manual_step(step) and step.id != step_ids.DECIDE


@pytest.mark.long
@pytest.mark.parametrize("back", [False, True], ids=["resumed", "rolled back"])
def test_an_execution_that_an_earlier_version_has_begun(
    cluster: Lab, running: Moving, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    """Its plan is kept as that version has written it, with the names that steps had then."""
    plan = running.plan()
    with monkeypatch.context() as earlier:
        earlier.setattr(documents, "dump", lambda _plan: as_earlier(plan))
        number = running.store.execution_started(new_execution(plan, Kind.REAL))
    cluster.shape(SLOW)
    copying = step_ids.of_part(step_ids.PRE_COPY, 1, "data")
    with pytest.raises(PghaulError):
        running.runner(number, listener=at_first_bytes(copying, lambda: kill_rsync(cluster))).carry_out()
    cluster.shape("off")
    with pytest.raises(BlockedError, match=running.about(number, step_ids.DECIDE)):
        running.runner(number, Undecided()).carry_out()
    assert running.store.execution(number).state is State.PAUSED
    if back:
        roll_back(running.runner(number))
        assert sql(cluster.old, "select count(*) from pgbench_accounts") == "100000"
    else:
        running.runner(number).carry_out()
        assert sql(cluster.new, "select count(*) from pgbench_accounts") == "100000"
    assert running.store.execution(number).state is (State.ROLLED_BACK if back else State.DONE)
    assert running.store.recorded_here(number)

"""A plan exported as a script and run alone, through a whole move; broken off in the middle, and gone on with."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.facts.model import Facts
from core.migration.model import step_ids
from core.migration.model.move import Verify
from core.migration.model.plan import Phase, Plan
from core.migration.plan import script
from core.servers.connection import Server
from core.servers.profiles import Profile
from tests.lab.footprint import differences, footprint
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import LabError, wait_until
from tests.live import moving as site
from tests.live.moving import DATA, ROOT, TARGET, Moving, sql

pytestmark = pytest.mark.lab

ROWS = "select count(*), sum(abalance), md5(string_agg(aid || ' ' || abalance, ',' order by aid)) from pgbench_accounts"


@pytest.fixture(scope="module")
def cluster(lab: Lab) -> Iterator[Lab]:
    site.create(lab.old, spread=True)
    yield lab
    site.remove(lab)


@pytest.fixture
def move(
    cluster: Lab,
    facts: tuple[Facts, Facts],
    old_profile: Profile,
    new_profile: Profile,
    old_server: Server,
    new_server: Server,
    tmp_path: Path,
) -> Iterator[Moving]:
    """The move with old running; afterwards nothing of ours may be on the hosts, but the cluster itself."""
    site.clear(cluster)
    looks = {host.name: footprint(host) for host in (cluster.old, cluster.new)}
    site.start(cluster.old)
    servers = {"old": old_server, "new": new_server}
    made = site.moving(tmp_path, old_profile, new_profile, servers.__getitem__, facts)
    yield made
    made.store.close()
    for host in (cluster.old, cluster.new):
        site.end(host)
        left = [line for line in differences(looks[host.name], footprint(host)) if ROOT not in line]
        assert left == [], host.name
        assert at_work(host) == [], host.name


def at_work(host: Host) -> list[str]:
    """The processes of a copy there. The new cluster's server is none: its options name its private socket folder."""
    lines = host.exec("ps", "-e", "-o", "args=").stdout.splitlines()
    return [
        line
        for line in lines
        if any(word in line for word in ("rsync", "pghaul", "# begins")) and not line.startswith(f"{site.NEW_BIN}/")
    ]


def ended(lab: Lab) -> None:
    """Wait for the end of what an interrupted script had begun: a server ends it, within five seconds by force."""

    def left() -> list[str]:
        return [*at_work(lab.old), *at_work(lab.new)]

    try:
        wait_until(lambda: not left(), "what was begun ends")
    except LabError as error:
        raise AssertionError(left()) from error


def traces(host: Host) -> list[str]:
    """Keys, locks and work of a copy."""
    look = "find /tmp /var/tmp -maxdepth 1 -name 'pghaul-*'; grep -h pghaul /home/*/.ssh/authorized_keys"
    return [*host.exec("sh", "-c", look, check=False).stdout.splitlines(), *at_work(host)]


class Script:
    """A plan's script on the workstation, with the lab's own known hosts.

    Attributes:
        answers: what a person answers, by the end of the question.
    """

    def __init__(self, plan: Plan, lab: Lab, folder: Path) -> None:
        self.plan = plan
        self.path = folder / "move.sh"
        self.folder = folder
        self.path.write_text(script(plan), encoding="utf-8")
        programs = folder / "programs"
        programs.mkdir()
        ssh = programs / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F /dev/null -o UserKnownHostsFile="{lab.known_hosts}" "$@"\n')
        ssh.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}

    def start(self, *options: str) -> "subprocess.Popen[str]":
        """Begun, with a person who says yes to everything and knows the cluster's name."""
        with (self.folder / "said").open("a") as said:
            return subprocess.Popen(
                ["sh", str(self.path), *options],
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=subprocess.STDOUT,
                text=True,
                env=self.environment,
                cwd=self.folder,
                start_new_session=True,
            )

    def answered(self, *options: str, answers: str) -> int:
        process = self.start(*options)
        process.communicate(answers, timeout=300)
        return process.returncode

    def broken_off(self, name: str, by: signal.Signals, answers: str, *options: str) -> int:
        """Sent a signal as soon as the step of that name has begun and something of it runs."""
        process = self.start(*options)
        assert process.stdin is not None
        process.stdin.write(answers)
        process.stdin.flush()
        log = self.folder / "move.log"
        step = self.plan.step(name)
        assert step is not None, name
        begun = f"begins: {step.title} ("
        wait_until(lambda: log.exists() and begun in log.read_text(), begun, seconds=120)
        process.send_signal(by)
        with process:
            return process.wait(60)

    def said(self) -> str:
        return (self.folder / "said").read_text()

    def answers(self, first: int = 1) -> str:
        """A person who says yes to all that is asked from that step on, and knows the cluster's name."""
        lines = ["yes"]
        asked: set[int] = set()
        proven = next(step.number for step in self.plan.steps if step.id == step_ids.CHECK_STOPPED)
        named = first > proven
        for step in self.plan.steps:
            if step.number < first:
                continue
            if step.downtime and not named:
                named = True
                lines.append(DATA)
            if step.precopy_pass > 1 and step.precopy_pass not in asked:
                asked.add(step.precopy_pass)
                lines.append("yes")
            if step.by_person:
                lines.append("yes")
        return "\n".join(lines) + "\n"


def test_the_script_alone_moves_a_cluster(cluster: Lab, move: Moving, tmp_path: Path) -> None:
    archives = "archive_mode = on\narchive_command = '/bin/true'\n"  # which the local-only start holds back
    cluster.old.exec("tee", "-a", f"{DATA}/postgresql.conf", input=archives)
    site.pg_ctl(cluster.old, "-l", "/dev/null", "restart")
    cluster.old.exec("tee", "-a", f"{DATA}/postgresql.conf", input="work_mem = 8MB\n")
    made = Script(move.plan(Verify.ALL), cluster, tmp_path)
    held = sql(cluster.old, ROWS)
    assert made.answered(answers=made.answers()) == 0, made.said()
    assert made.said().count("warning: The setting ") == 1
    assert 'warning: The setting work_mem is "8192 kB" on the new server' in made.said()
    assert "Everything is done." in made.said()
    assert sql(cluster.new, ROWS) == held
    assert cluster.old.exec("test", "-e", f"{DATA}/pghaul-fence/global/pg_control").returncode == 0
    log = (tmp_path / "move.log").read_text()
    assert log.count(" begins: ") == log.count(" is done after ") == len(made.plan.steps)
    said = {step.phase: (tmp_path / "move.kept" / str(step.number)).read_text() for step in made.plan.steps}
    assert re.findall(r"\bBad checksums: +(\d+)$", said[Phase.CHECKSUMS], re.MULTILINE) == ["0"]
    assert said[Phase.AMCHECK].split() == ["database", "postgres", "database", "shop"]
    (tmp_path / "move.kept").rename(tmp_path / "lost")  # as on another workstation
    assert made.answered("--back", answers="yes\n") == 1
    assert "the new cluster was opened for clients" in made.said()
    assert sql(cluster.new, ROWS) == held


@pytest.mark.long
def test_a_script_that_was_broken_off_goes_on(cluster: Lab, move: Moving, tmp_path: Path) -> None:
    """Ended in a warm pass, it closes the channel; killed behind the stop, what it began ends on the servers too."""
    made = Script(move.plan(), cluster, tmp_path)
    held = sql(cluster.old, ROWS)
    warm = next(step.number for step in made.plan.steps if step.precopy_pass == 1)
    assert made.broken_off(step_ids.of_part(step_ids.PRE_COPY, 1, "data"), signal.SIGTERM, made.answers()) == 4
    assert f"To go on:     {made.path} --from {warm}\n" in made.said()
    assert "The old cluster runs as before." in made.said()
    ended(cluster)
    for host in (cluster.old, cluster.new):
        assert traces(host) == [], host.name
    assert (
        made.broken_off(
            step_ids.of_part(step_ids.FINAL_SYNC_CHANGED, "data"),
            signal.SIGKILL,
            made.answers(warm),
            "--from",
            str(warm),
        )
        < 0
    )
    ended(cluster)
    assert traces(cluster.old) != []
    final = next(
        step.number for step in made.plan.steps if step.id == step_ids.of_part(step_ids.FINAL_SYNC_CHANGED, "data")
    )
    assert made.answered("--from", str(final), answers=made.answers(final)) == 0, made.said()
    assert sql(cluster.new, ROWS) == held
    for host in (cluster.old, cluster.new):
        assert traces(host) == [], host.name


@pytest.mark.long
def test_a_script_that_was_declined_goes_back(cluster: Lab, move: Moving, tmp_path: Path) -> None:
    made = Script(move.plan(), cluster, tmp_path)
    held = sql(cluster.old, ROWS)
    assert made.answered(answers=f"yes\nno\n{DATA}\nyes\nno\n") == 4
    assert f", {move.title(step_ids.DECIDE)}: it was not done" in made.said()
    assert made.said().endswith(f"To roll back: {made.path} --back\n")
    assert made.answered("--back", answers="yes\n") == 0, made.said()
    assert sql(cluster.old, ROWS) == held
    assert cluster.new.exec("test", "-e", f"{TARGET}/postmaster.pid", check=False).returncode == 1

"""`make demo`: a whole move between two real hosts, by the commands that a DBA would type.

The lab limits both data disks and the link. What fio measures is compared with these limits at the end. The terminal
shows a line a step with its most important figure; the commands and their output go to demo/demo.log. The history, the
plan, two reports and a picture of each page of the window are left in demo/. The two hosts are removed when this ends,
however it ends.
"""

import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core import units
from core.history.store import Store
from core.migration.execution.outcome import follow_up
from core.migration.model import step_ids
from tests.lab import clusters
from tests.lab.hosts import Host
from tests.lab.lab import Lab, lab
from tests.lab.machine import lab_unavailable

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = PROJECT / "demo"
PICTURES = str(Path(__file__).with_name("pictures.py"))
MOVE = "demo"
SCALE = 20
"""pgbench scale of the old cluster: about 15 MB each."""
TOLERANCE = 0.03
"""How far what fio measures may be from the limit of the disk."""


@dataclass(frozen=True, slots=True)
class Caps:
    """What the lab lets a data disk do, and so what fio must measure."""

    read_bytes_per_second: int
    write_bytes_per_second: int
    read_iops: int
    write_iops: int


CAPS = {
    "old": Caps(80_000_000, 60_000_000, 900, 1200),
    "new": Caps(240_000_000, 150_000_000, 3000, 2500),
}


class DemoFailedError(Exception):
    """A command of the demo did not end as it should."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Runs pghaul's commands and writes each with its output to a log."""

    log: TextIO

    def run(self, *arguments: str, accept: tuple[int, ...] = (0,)) -> str:
        """What a command prints on standard output.

        Raises:
            DemoFailedError: its exit code is none of `accept`.
        """
        print(f"\n$ pghaul {shlex.join(arguments)}", file=self.log, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "gui.entry", *arguments],
            check=False,
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.log.write(done.stdout)
        self.log.flush()
        if done.returncode not in accept:
            raise DemoFailedError(f"pghaul {shlex.join(arguments)} ended with exit code {done.returncode}")
        return done.stdout

    def document(self, *arguments: str, accept: tuple[int, ...] = (0,)) -> Any:
        """What a command prints with `--json`."""
        return json.loads(self.run(*arguments, "--json", accept=accept))


class Page:
    """What a person reads while the demo runs: a line a step, with a tick, its time and its figure."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def say(self, text: str = "") -> None:
        """A line of text."""
        print(text, file=self._out, flush=True)

    @contextmanager
    def step(self, title: str) -> Iterator[list[str]]:
        """A step; what the block appends to the list is its figure, a line each.

        The tick comes when the block has ended, and a cross if it failed.
        """
        figures: list[str] = []
        began = time.monotonic()
        terminal = self._out.isatty()
        if terminal:
            self._out.write(f"  … {title}\r")
            self._out.flush()
        mark = "✗"
        try:
            yield figures
            mark = "✓"
        finally:
            first, *others = figures or [""]
            line = f"  {mark} {title:<34} {units.duration(time.monotonic() - began):>9}   {first}"
            self.say(line.rstrip())
            for other in others:
                self.say(f"{'':51}{other}")


def main() -> int:
    """Run the demo; 0 when every figure is right."""
    reason = lab_unavailable()
    if reason is not None:
        print(f"The demo needs two hosts that this machine cannot give: {reason}", file=sys.stderr)
        return 1
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    os.environ["PGHAUL_DATA"] = str(FOLDER / "history")
    os.environ["PGHAUL_CONFIG"] = str(FOLDER / "config")
    ssh_config = FOLDER / "ssh_config"  # the hosts' keys stay out of ~/.ssh/known_hosts
    ssh_config.write_text(f'UserKnownHostsFile "{FOLDER / "known_hosts"}"\n')
    os.environ["PGHAUL_SSH_CONFIG"] = str(ssh_config)
    with (FOLDER / "demo.log").open("w", encoding="utf-8") as log:
        try:
            return _played(Page(sys.stdout), CommandLine(log))
        except DemoFailedError as error:
            print(f"{error}. What it printed is at the end of {FOLDER / 'demo.log'}.", file=sys.stderr)
            return 1


def _played(page: Page, typed: CommandLine) -> int:
    began = time.monotonic()
    page.say("This demo moves a PostgreSQL cluster between two hosts that run on this machine.")
    page.say(f"The commands and what they print are in {FOLDER / 'demo.log'}.\n")
    with ExitStack() as stack:
        with page.step("Start two hosts and a cluster") as figures:
            hosts = stack.enter_context(lab("demo", scale=SCALE))
            figures.append(f"pgbench, scale {SCALE}; disks and link are limited")
        problems = the_main_job(hosts, page, typed)
    page.say("\nWhere the results are")
    for title, words in (
        ("Report before the move", f"{FOLDER / 'plan.pdf'}"),
        ("Report of the move", f"{FOLDER / 'moved.pdf'}"),
        ("Plan as a runbook", f"{FOLDER / 'demo.md'}"),
        ("Plan as a shell script", f"{FOLDER / 'demo.sh'}"),
        ("Pictures of the window", f"{FOLDER / 'pages'}"),
        ("History", f"{FOLDER / 'history' / 'history.sqlite3'}"),
    ):
        page.say(f"  {title:<24} {words}")
    page.say("\nTo open the window on this history, run:")
    page.say(f"  PGHAUL_DATA={FOLDER / 'history'} PGHAUL_CONFIG={FOLDER / 'config'} .venv/bin/pghaul")
    page.say(f"\nThe demo took {units.duration(time.monotonic() - began)}.")
    for problem in problems:
        print(f"WRONG: {problem}", file=sys.stderr)
    return 1 if problems else 0


def the_main_job(lab: Lab, page: Page, typed: CommandLine) -> list[str]:
    """Describe, read, measure, compare, check, probe, estimate, plan, move, report; what was wrong."""
    with page.step("Describe and read both servers") as figures:
        figures.append(_described(lab, typed))
    with page.step("Benchmark both storages") as figures:
        typed.run("bench", MOVE, "--suite", "quick", "--forecast")
        typed.run("bench", MOVE, "--suite", "quick")
        typed.run("compare", MOVE)
        figures.extend(["old server → new server", *compared(typed.document("compare", MOVE))])
    with page.step("Check whether the cluster can move") as figures:
        checks = typed.document("check", MOVE, accept=(0, 1))["checks"]
        number = Counter(check["status"] for check in checks)
        figures.append(
            f"{number['pass']} passed, {units.counted(number['warning'], 'warning')}, "
            f"{units.counted(number['blocker'], 'blocker')}, {number['unknown']} unknown"
        )
    with page.step("Measure the link between them") as figures:
        chosen = typed.document("probe", MOVE)["chosen"]
        figures.append(f"slowest part: {chosen['bound_by'] or 'not known'}")
    with page.step("Estimate the move") as figures:
        figures.extend(estimated(typed.document("estimate", MOVE)))
    with page.step("Write plan, runbook and script") as figures:
        typed.run("plan", MOVE, "--runbook", str(FOLDER / "demo.md"), "--script", str(FOLDER / "demo.sh"))
        typed.run("report", "plan", MOVE, "-o", str(FOLDER / "plan.pdf"))
        plan = typed.document("plan", MOVE)
        figures.extend([units.counted(len(plan["steps"]), "step"), f"copy: {plan['transport']}"])
    with page.step("Move the cluster") as figures:
        figures.extend(moved(typed.document("execute", MOVE, "--confirm", plan["cluster"], "--manual-steps-done")))
    with page.step("Write the report of the move") as figures:
        typed.run("estimate", MOVE, "--record")
        typed.run("report", "execution", MOVE, "-o", str(FOLDER / "moved.pdf"))
    with page.step("Take pictures of the window") as figures:
        figures.append(f"{pictures(typed.log)} pictures")
    with page.step("Compare fio with the disks' limits") as figures:
        off, problems = compared_with_caps(typed.document("history", "runs", MOVE)["runs"])
        figures.append(f"the largest difference is {off:.2%}")
    _found(page, checks, typed.document("diagnose", MOVE))
    page.say("\nWhat remains to be done after such a move")
    with Store.open() as store:
        execution = store.latest_execution(MOVE)
    for sentence in follow_up(execution) if execution is not None else ():
        page.say(f"  {sentence}")
    return problems


def _described(lab: Lab, typed: CommandLine) -> str:
    """Both servers and the move, as pghaul shall know them; what was read of the old cluster."""
    facts = {}
    for host in (lab.old, lab.new):
        caps = CAPS[host.name]
        lab.cap_disk(
            host.name, caps.read_bytes_per_second, caps.write_bytes_per_second, caps.read_iops, caps.write_iops
        )
        key = host_key_fingerprint(host)
        typed.run("server", "add", host.name, host.address, "--user", host.user, "--identity", str(host.key))
        typed.run("server", "test", host.name, "--host-key", key)
        facts[host.name] = typed.document("facts", host.name)
    lab.shape("1gbit")
    places = ("--cluster", clusters.DATA, "--target", clusters.NEW_DATA)
    volumes = ("--old-volume", "/srv/pg", "--new-volume", "/srv/pg")
    typed.run("move", "add", MOVE, "--old", "old", "--new", "new", *places, *volumes)
    cluster = next(each for each in facts["old"]["clusters"] if each["data_directory"] == clusters.DATA)
    return f"PostgreSQL {cluster['version']}, {units.size(cluster['size_bytes'])} in {cluster['data_directory']}"


def compared(comparison: dict[str, Any]) -> list[str]:
    """A line for each headline of the comparison: both medians with their unit, and the ratio."""
    rows = [row for row in comparison["rows"] if row["headline"] and row["old"] and row["new"]]
    width = max((len(row["workload"]["title"]) for row in rows), default=0)
    return [
        f"{row['workload']['title']:<{width}}  {units.metric(row['metric'], row['old']['median']):>11} → "
        f"{units.metric(row['metric'], row['new']['median']):<11} {units.ratio(row['ratio'])}"
        for row in rows
    ]


def estimated(estimated: dict[str, Any]) -> list[str]:
    """The whole move and its downtime, by the method that the plan follows."""
    method = next(each for each in estimated["methods"] if each["method"] == estimated["planned"])
    return [f"whole move: {_span(method['duration_seconds'])}", f"downtime: {_span(method['downtime_seconds'])}"]


def _span(span: dict[str, float]) -> str:
    return f"{units.duration(span['low'])} to {units.duration(span['high'])}"


def moved(done: dict[str, Any]) -> list[str]:
    """The downtime, and what was compared."""
    if done["execution"]["state"] != "done":
        raise DemoFailedError(f"the move ended as {done['execution']['state']}")
    account = done["account"]
    began, ended = (datetime.fromisoformat(account[name]) for name in ("stopped_at", "opened_at"))
    return [
        f"downtime: {units.duration((ended - began).total_seconds())}",
        f"copied: {units.size(account['sent'])} in {account['passes']} passes",
        f"verified: {_verified(done['execution'])}",
    ]


def _verified(execution: dict[str, Any]) -> str:
    """How many files the step has found equal that compares the checksums of the new server with the old one's.

    Raises:
        DemoFailedError: no such step has ended well.
    """
    comparing = {
        step["number"]
        for step in execution["plan"]["steps"]
        if step["verification"]["equals"] == step_ids.CHECKSUMS_OLD
    }
    outputs = [run["output"] for run in execution["steps"] if run["number"] in comparing and run["exit_status"] == 0]
    if not outputs:
        raise DemoFailedError("no step has compared the checksums of both servers")
    files = sum(int(number) for number in re.findall(r": (\d+) files, ", outputs[-1]))
    return f"{units.count(files)} files are equal on both servers by their checksums"


def _found(page: Page, checks: list[dict[str, Any]], diagnoses: list[dict[str, Any]]) -> None:
    """What a person should know of it: the checks that did not pass, and what explains the figures."""
    page.say("\nWhat was found")
    for check in checks:
        if check["status"] != "pass":
            page.say(f"  {check['status']}: {check['title']}: {check['message']}")
    for each in diagnoses:
        for finding in each["findings"]:
            page.say(f"  storage of {each['server']}: {finding['title']}")


def host_key_fingerprint(host: Host) -> str:
    """What a DBA reads on the server's own console and compares: `SHA256:…`."""
    printed = host.exec("ssh-keygen", "-lf", "/etc/ssh/ssh_host_ed25519_key.pub").stdout
    return printed.split()[1]


def compared_with_caps(runs: list[dict[str, Any]]) -> tuple[float, list[str]]:
    """How far fio's medians are from the limits of the disks at the most, and a sentence for each too far off."""
    largest, problems = 0.0, []
    for run in runs:
        headline, side = run["workload"]["headline"], run["volume"]["side"]
        cap = float(getattr(CAPS[side], headline))
        median = statistics.median(repetition["metrics"][headline] for repetition in run["repetitions"])
        off = abs(median / cap - 1)
        largest = max(largest, off)
        if off > TOLERANCE:
            problems.append(
                f"{run['workload']['title']} on the {side} server: the limit of the disk is "
                f"{units.metric(headline, cap)}, and fio measured {units.metric(headline, median)}"
            )
    return largest, problems


def pictures(log: TextIO) -> int:
    """A picture of each page of the window with the demo's history, on a virtual screen; how many."""
    folder = FOLDER / "pages"
    subprocess.run(
        ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24", sys.executable, PICTURES, MOVE, str(folder)],
        cwd=PROJECT,
        check=True,
        timeout=120,
        stdout=log,
        stderr=log,
    )
    return len(list(folder.iterdir()))


if __name__ == "__main__":
    sys.exit(main())

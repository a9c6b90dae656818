"""The main job, one function an action: connect, do the work, record it. The command line and the window call these.

Each action takes a Desk (whose history, whose questions, which connections are open) and, where it reaches a server,
a Job. Results are the frozen dataclasses of the package that did the work, in the history when the action returns.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from core.benchmarks.model import Forecast, Run, Side, Suite, Volume
from core.benchmarks.runs import forecast as forecast_suite
from core.benchmarks.runs import remove_leftovers, run_suite
from core.benchmarks.suites import load_suite
from core.comparison.compare import compare as compare_runs
from core.comparison.model import Comparison
from core.errors import AuthenticationError, CommandError, InputError
from core.facts.collect import collect
from core.facts.model import Facts
from core.history.store import Store
from core.jobs import CommandEnded, CommandStarted, Event, Job, Note
from core.migration.checks import check as check_facts
from core.migration.estimate import estimate as estimate_spec
from core.migration.estimate import spec_of
from core.migration.model import CheckResult, Estimate, Move, Plan, Probe
from core.migration.plan import make_plan
from core.migration.probes import probe as probe_servers
from core.migration.trial import with_known_trials, with_trial_cluster
from core.reports.pdf import write_pdf
from core.reports.report import build
from core.servers.connection import Server, connect
from core.servers.profiles import Asker, Rights
from core.servers.secrets import session
from core.servers.shell import command


@dataclass
class Desk:
    """What every action needs. Connections stay open by server name until `close`; safe to use from several threads.

    Attributes:
        store: the history.
        asker: who answers a connection's questions.
    """

    store: Store
    asker: Asker
    _servers: dict[str, Server] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _connecting: dict[str, threading.Lock] = field(default_factory=dict)
    _replaced: list[Server] = field(default_factory=list)

    def server(self, name: str, job: Job) -> Server:
        """The connected server of that profile, connecting it if needed or if the profile or the connection changed."""
        with self._lock:
            guard = self._connecting.setdefault(name, threading.Lock())
        while not guard.acquire(timeout=0.1):  # who connects may be waiting for a person's answer
            job.check()
        try:
            profile = self.store.profile(name)
            known = self._servers.get(name)
            if known is not None:
                if known.profile == profile and known.connected:
                    return known
                self._replaced.append(known)  # another job may still work, and clean up, on it
                if known.profile != profile:
                    session.forget_server(name)
            server = connect(profile, self.asker, job)
            self._servers[name] = server
            return server
        finally:
            guard.release()

    def close(self) -> None:
        """Close every connection; the history belongs to whoever opened it."""
        for server in (*self._servers.values(), *self._replaced):
            server.close()
        self._servers.clear()
        self._replaced.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def recorded(store: Store, job: Job, move: str | None = None) -> Job:
    """A job that stands for `job` and also records every command that ran in the history."""

    def listen(event: Event) -> None:
        if isinstance(event, CommandStarted | CommandEnded):
            store.record_command(move, event)
        job.report(event)

    return job.relay(listen)


@dataclass(frozen=True, slots=True)
class Tried:
    """What a test of a server found.

    Attributes:
        sentences: what works, and what does not with its reason.
        missing: the users that the profile's rights promise and that nothing runs as.
    """

    sentences: tuple[str, ...]
    missing: tuple[str, ...] = ()


def test_server(desk: Desk, server: str, job: Job) -> Tried:
    """Connect and try each right that the work may need."""
    job = recorded(desk.store, job)
    connected = desk.server(server, job)
    sentences, missing = [f"connected to {server} as {connected.login}"], []
    for user, why in (("root", "drop caches, read every file"), (connected.profile.database_user, "read the clusters")):
        refused = _refused(connected, user, job)
        sentences.append(f"commands as {user} ({why}): {'yes' if refused is None else f'no: {refused.message}'}")
        if refused is not None and refused.hint:
            sentences.append(f"  hint: {refused.hint}")
        if refused is not None and _promised(connected.profile.rights, user):
            missing.append(user)
    return Tried(tuple(sentences), tuple(missing))


def _refused(server: Server, user: str, job: Job) -> AuthenticationError | CommandError | None:
    """Why nothing runs as `user`; None where it does."""
    try:
        server.run(command("true"), job, user=user, title=f"whether commands run as {user}")
    except (AuthenticationError, CommandError) as error:
        return error
    return None


def _promised(rights: Rights, user: str) -> bool:
    return rights is not Rights.NONE and (rights is not Rights.SUDO_POSTGRES or user != "root")


def read_facts(desk: Desk, server: str, job: Job, folders: Sequence[str] = ()) -> Facts:
    """Learn what a server is. `folders`: data directories that the DBA names, besides those that are found."""
    return _collected(desk, server, recorded(desk.store, job), folders)


def volume(move: Move, side: Side) -> Volume:
    """The volume that the move names for a side; the benchmarks make a folder of their own on it."""
    server, mount_point = (move.old, move.old_volume) if side is Side.OLD else (move.new, move.new_volume)
    return Volume(side=side, server=server, mount_point=mount_point, folder=mount_point)


def forecast(
    desk: Desk, move: str, suite: str, job: Job, sides: Sequence[Side] = (Side.OLD, Side.NEW)
) -> tuple[Forecast, ...]:
    """What a suite takes on each side: seconds, bytes, and what forbids it."""
    job = recorded(desk.store, job, move)
    chosen, found = load_suite(suite), desk.store.move(move)
    return tuple(_forecast(desk, found, side, chosen, job) for side in sides)


def run_benchmarks(
    desk: Desk, move: str, suite: str, job: Job, sides: Sequence[Side] = (Side.OLD, Side.NEW)
) -> tuple[Run, ...]:
    """Run a suite on each side, one after the other; nothing starts while a forecast has a problem.

    Raises:
        InputError: not enough space, no such volume, a tool is missing: the forecast's problems.
    """
    job = recorded(desk.store, job, move)
    chosen, found = load_suite(suite), desk.store.move(move)
    forecasts = [_forecast(desk, found, side, chosen, job) for side in sides]
    problems = [problem for forecast in forecasts for problem in forecast.problems]
    if problems:
        raise InputError("the benchmarks cannot start: " + "; ".join(problems), "nothing was written to either server")
    runs: list[Run] = []
    for side in sides:
        measured = volume(found, side)
        server = desk.server(measured.server, job)
        remove_leftovers(server, measured, job)
        runs += run_suite(server, measured, chosen, _facts_of(desk, found, side, job), desk.store, job, move=move)
    return tuple(runs)


def compare(desk: Desk, move: str) -> Comparison:
    """The latest runs of each workload on both sides, side by side.

    Raises:
        InputError: nothing was measured yet.
    """
    sides = [desk.store.runs(desk.store.move(move).name, side=side, latest_only=True) for side in (Side.OLD, Side.NEW)]
    if not any(sides):
        raise InputError(f"nothing was measured for the move {move}", f"run: pghaul bench {move}")
    return compare_runs(*sides)


def compare_two(desk: Desk, old: int, new: int) -> Comparison:
    """Two runs by their numbers in the history, of whichever servers and volumes.

    Raises:
        InputError: they ran different workloads.
    """
    first, second = desk.store.run(old), desk.store.run(new)
    if (first.workload.tool, first.workload.name) != (second.workload.tool, second.workload.name):
        raise InputError(
            f"run {old} is of {first.workload.title}, run {new} of {second.workload.title}: nothing to compare",
            "name two runs of one workload; pghaul history runs MOVE lists them",
        )
    if first.workload.parameters != second.workload.parameters:
        raise InputError(
            f"runs {old} and {new} of {first.workload.title} had different parameters: nothing to compare",
            f"see them with: pghaul history run {old} --json, pghaul history run {new} --json",
        )
    return compare_runs([first], [second])


def check(desk: Desk, move: str, job: Job, *, refresh: bool = True) -> tuple[CheckResult, ...]:
    """What must hold before the move, from fresh facts of both servers (or the latest, without `refresh`).

    Fresh facts of new hold what a trial cluster shows of its binaries, so that later checks of facts alone know it.
    """
    job = recorded(desk.store, job, move)
    found = desk.store.move(move)
    old = _facts_of(desk, found, Side.OLD, job, refresh=refresh)
    cluster = old.cluster(found.cluster)
    new = _facts_of(desk, found, Side.NEW, job, refresh=refresh, trial=cluster.series if cluster is not None else None)
    results = check_facts(found, old, new)
    desk.store.save_checks(move, results)
    return results


def probe(desk: Desk, move: str, job: Job) -> tuple[Probe, ...]:
    """Short measurements of each link of the copy chain."""
    job = recorded(desk.store, job, move)
    found = desk.store.move(move)
    old, new = _both_facts(desk, found, job, refresh=True)
    return probe_servers(desk.server(found.old, job), desk.server(found.new, job), old, new, found, desk.store, job)


def estimate(desk: Desk, move: str, job: Job) -> Estimate:
    """How long each method takes, from what the history holds of the move; what is missing is assumed, and said."""
    job = recorded(desk.store, job, move)
    found = desk.store.move(move)
    return _estimated(desk, found, _facts_of(desk, found, Side.OLD, job))


def plan(desk: Desk, move: str, job: Job) -> Plan:
    """The steps of the move with their exact commands, and as warnings what the checks say of the same facts."""
    job = recorded(desk.store, job, move)
    found = desk.store.move(move)
    old, new = _both_facts(desk, found, job, refresh=False)
    made = make_plan(
        found,
        desk.store.profile(found.old),
        desk.store.profile(found.new),
        old,
        new,
        check_facts(found, old, new),
        desk.store.probes(move),
        _estimated(desk, found, old),
    )
    desk.store.save_plan(move, made)
    return made


def report(desk: Desk, move: str, path: Path) -> Path:
    """Everything that the history holds of the move, as a PDF."""
    write_pdf(build(desk.store, move), path)
    desk.store.record_report(move, path)
    return path


# What follows is given a job that records already.


def _collected(desk: Desk, server: str, job: Job, folders: Sequence[str] = (), trial: str | None = None) -> Facts:
    """Fresh facts, recorded. `trial`: the series of which the server's binaries are to make a trial cluster."""
    connected = desk.server(server, job)
    facts = collect(connected, job, folders=folders)
    if trial is None:
        facts = with_known_trials(facts, desk.store.facts(server))
    else:
        facts = with_trial_cluster(connected, facts, trial, job)
    desk.store.save_facts(facts)
    return facts


def _facts_of(
    desk: Desk, move: Move, side: Side, job: Job, *, refresh: bool = False, trial: str | None = None
) -> Facts:
    """The latest facts of a side; read now where there are none, where old's lack the cluster, or with `refresh`."""
    server, folder = (move.old, move.cluster) if side is Side.OLD else (move.new, move.target)
    known = None if refresh else desk.store.facts(server)
    if known is not None and (side is Side.NEW or known.cluster(folder) is not None):
        return known
    if not refresh:
        what = f"facts of {server}" if known is None else f"facts of {folder} on {server}"
        job.report(Note(f"no {what} yet: reading them"))
    return _collected(desk, server, job, [folder], trial)


def _both_facts(desk: Desk, move: Move, job: Job, *, refresh: bool) -> tuple[Facts, Facts]:
    old, new = (_facts_of(desk, move, side, job, refresh=refresh) for side in (Side.OLD, Side.NEW))
    return old, new


def _estimated(desk: Desk, move: Move, old: Facts) -> Estimate:
    probes, runs = desk.store.probes(move.name), desk.store.runs(move.name, latest_only=True)
    made = estimate_spec(spec_of(move, old, probes, runs))
    desk.store.save_estimate(move.name, made)
    return made


def _forecast(desk: Desk, move: Move, side: Side, suite: Suite, job: Job) -> Forecast:
    measured = volume(move, side)
    return forecast_suite(desk.server(measured.server, job), measured, suite, _facts_of(desk, move, side, job), job)

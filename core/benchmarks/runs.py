"""Running a suite on one volume: forecast, repetitions with cold caches, and journal. Nothing is left behind."""

import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby

from core import units
from core.benchmarks import statistics
from core.benchmarks.folders import Folder, own_folder, remove_leftovers, user_for
from core.benchmarks.forecasts import ALONE, MoveContext, forecast, prepare
from core.benchmarks.model import BenchmarkJournal, Metrics, Outcome, Repetition, Run, Suite, Volume, Workload
from core.benchmarks.statistics import outliers
from core.benchmarks.tool import (
    CACHE_SECONDS,
    READY,
    Background,
    LiveOutput,
    Phase,
    Procedure,
    Reading,
    expected_seconds,
)
from core.benchmarks.traffic import DiskWatch, fastest_read
from core.benchmarks.volume_device import SECTOR, wait_until_in_sync
from core.errors import Cancelled, CommandError, InputError, ParseError, PghaulError
from core.facts.model import Facts
from core.jobs import CommandEnded, CommandStarted, Job, Live, Note, Progress
from core.servers.connection import Server
from core.servers.remote_process import Process
from core.servers.shell import call, with_secrets
from core.text import complaint, own_sentence

# Background processes, such as a database server: they run on the measured server during the phases of a repetition.
#
# A background process ends when its input ends: the phases are done, the connection was lost, or the workstation died.
# A process whose working directory is in the benchmark's folder is ended together with the folder in any case.


@contextmanager
def running(folder: Folder, background: Background, job: Job) -> Iterator[None]:
    """Run the process during the `with` block.

    It has ended afterwards, unless the job was cancelled or the connection was lost.

    Raises:
        CommandError: it ended, or was not ready in time; the message is its own.
        UnreachableError: the connection was lost.
        Cancelled: the job was cancelled.
    """
    server, shell = folder.server, folder.inside(background.words)
    shown = server.become(folder.user, shell).shown
    status, begun = None, time.monotonic()
    job.report(CommandStarted(server.name, folder.user or server.login, shown, title=f"start {background.title}"))
    try:
        # A bridge has no deadline, because the process runs as long as the phases.
        with server.bridge(shell, job, user=folder.user) as process:
            _wait_until_it_serves(folder, background, process, job)
            try:
                yield
            finally:
                status = _end(background, process, job)
    finally:
        job.report(CommandEnded(server.name, shown, status, time.monotonic() - begun))


def _wait_until_it_serves(folder: Folder, background: Background, process: Process, job: Job) -> None:
    said = bytearray()
    process.deliver(said.extend)
    until = time.monotonic() + background.seconds
    # Only a whole line counts, because the word may occur within other output.
    while READY.encode() not in said.splitlines():
        if process.ended or time.monotonic() > until:
            # A lost connection looks like a process that has ended. This tells which of the two it was.
            if not folder.server.connected:
                raise folder.server.lost(f"starting {background.title}")
            told = process.stderr.text() or said.decode(errors="replace")
            why = complaint(told) or f"no answer within {background.seconds:.0f} s"
            raise CommandError(
                f"{background.title} did not start on {folder.server.name}: {why}",
                exit_status=process.exit_status,
                stderr=told,
            )
        process.turn()
        job.check()


def _end(background: Background, process: Process, job: Job) -> int | None:
    """End its input, wait for it, and return its exit status; None if it is not waited for."""
    # From here on nobody reads its output, which would fill the channel and block the process.
    process.deliver(lambda _: None)
    try:
        process.channel.shutdown_write()
    except OSError:
        return None  # the connection is gone, and its input with it
    until = time.monotonic() + background.seconds
    # a cancelled job does not wait: leaving the bridge ends the process group
    while not process.ended and not job.cancelled and time.monotonic() < until:
        process.turn()
    return process.exit_status


# The ticks of a phase: its progress, and the current traffic of the volume's device.
#
# While a phase runs, the shell function `bench_run_with_ticks` prints one line per tick: a dot, followed by the
# counters of the device. The ticks come before the output of the command.

LOOK_BACK = 5
"""The number of ticks over which a rate is computed. They cover about a second, so that bursts give one rate."""
LONGEST = 1000
"""The most characters of a line that a tool says of its rates."""
SHORTEST_SECONDS = 0.2
"""No rate is computed from ticks that arrive in less time than this, because the connection has delayed them."""
_TICK = re.compile(rb"\.(?: (\d{1,20}) (\d{1,20}) (\d{1,20}) (\d{1,20}))?")
_TICKS = re.compile(r"\.(?: \d{1,20}){0,4}")
_LINE = re.compile(r"([^\r\n]*)[\r\n]")
"""A line of the ticks, or of what a tool says meanwhile: it may go back to the beginning of its line."""
_NAMES = ("read_iops", "read_bytes_per_second", "write_iops", "write_bytes_per_second")
_FACTORS = (1, SECTOR, 1, SECTOR)


@dataclass(slots=True)
class Ticks:
    """Reads the ticks as they arrive. `clock` returns seconds."""

    clock: Callable[[], float] = time.monotonic
    _rest: bytes = b""
    _seen: deque[tuple[float, tuple[int, ...]]] = field(default_factory=lambda: deque(maxlen=LOOK_BACK))

    def take(self, data: bytes) -> Mapping[str, float] | None:
        """Return the traffic of the device per second, as metrics; None if these bytes do not contain enough ticks."""
        *lines, self._rest = re.split(rb"[\r\n]", self._rest + data)
        # No tick is that long, so this is the output of the command, which is not kept here.
        self._rest = self._rest[:100]
        counted = [found for line in lines if (found := _TICK.fullmatch(line)) is not None and found[1] is not None]
        if not counted:
            return None
        self._seen.append((self.clock(), tuple(map(int, counted[-1].groups()))))
        (begun, before), (now, after) = self._seen[0], self._seen[-1]
        if now - begun < SHORTEST_SECONDS:
            return None
        moved = [factor * (late - early) for factor, late, early in zip(_FACTORS, after, before, strict=True)]
        # The counters of a device that was replaced begin at 0 again.
        return (
            None
            if min(moved) < 0
            else {name: number / (now - begun) for name, number in zip(_NAMES, moved, strict=True)}
        )


@dataclass(slots=True)
class Saying:
    """Reads what a tool says of its rates, as it arrives."""

    live: LiveOutput
    _rest: str = ""

    def take(self, data: bytes) -> Metrics:
        """Return the rates that these bytes complete; empty if there are none."""
        *lines, self._rest = re.split(r"[\r\n]", self._rest + data.decode(errors="replace"))
        self._rest = self._rest[:LONGEST]
        said = [self.live.read(found) for line in lines if (found := self.live.line.fullmatch(line)) is not None]
        return next((metrics for metrics in reversed(said) if metrics), {})


def without_ticks(output: str, live: LiveOutput | None = None) -> str:
    """Return the output of the command without the ticks, and without what it said of its rates meanwhile.

    A line that only begins like those of its rates stays, ahead of the rest.
    """
    place, mixed = 0, list[str]()
    while (line := _LINE.match(output, place)) is not None:
        said = live is not None and (not line[1] or live.line.fullmatch(line[1]) is not None)
        if not said and _TICKS.fullmatch(line[1]) is None:
            if live is None or not live.beginning or not line[1].startswith(live.beginning):
                break
            mixed.append(line[0])
        place = line.end()
    return "".join(mixed) + output[place:]


__all__ = ["MoveContext", "forecast", "remove_leftovers", "run_suite", "wait_until_in_sync"]

# `failure` explains the exit status in the tool's own words.
_ANY_STATUS = range(-1, 256)
_FULL = "No space left on device"
_MAY_NOT = 77
"""The exit status of the function that drops caches if only root is allowed to."""


def run_suite(
    server: Server,
    volume: Volume,
    suite: Suite,
    facts: Facts,
    journal: BenchmarkJournal,
    job: Job,
    *,
    move: str | None,
    context: MoveContext = ALONE,
) -> tuple[Run, ...]:
    """Run all workloads of the suite, one after the other, in a new folder below `volume.folder`.

    Caches are flushed and dropped before each phase. If that is not allowed, the repetition is marked as cached. A
    workload with a failed repetition ends as failed, and the next one begins with an empty folder. Each repetition is
    recorded as soon as it has ended. In any case the folder is removed and its processes are ended.

    Args:
        server: the server of the volume.
        volume: the volume.
        suite: the suite.
        facts: the facts of the server.
        journal: records the runs.
        job: receives progress, and can be cancelled.
        move: the name of the move; None: the run belongs to none.
        context: the move's part in the benchmark; ALONE: no move takes part.

    Raises:
        InputError: the forecast has problems.
        Cancelled: the job was cancelled; the current run is recorded as cancelled.
        ServerError: the connection was lost; the current run is recorded as failed.
    """
    prepared = prepare(server, volume, suite, facts, job, context)
    problems, procedures = prepared.forecast.problems, prepared.procedures
    if problems:
        raise InputError(f"the benchmarks cannot start on {server.name}: {'; '.join(problems)}")
    seen = prepared.situation
    # The forecast may be days old or of another user. Therefore its warnings are repeated here.
    for text in (*prepared.forecast.left_out, *prepared.forecast.warnings):
        job.report(Note(text, "warning"))
    with own_folder(server, volume.folder, user_for(server, job), job) as folder:
        measured = replace(volume, folder=folder.path)
        each = [procedure for _, procedure in procedures]
        until = [expected_seconds(each[:number], suite.repetitions) for number in range(1, len(each) + 1)]
        watch = DiskWatch(folder, seen, volume.mount_point, fastest_read(facts, seen))
        bench = _Bench(folder, measured, journal, job, move, suite, until[-1], watch, context.other)
        return tuple(
            _run(bench, workload, procedure, end) for (workload, procedure), end in zip(procedures, until, strict=True)
        )


@dataclass(slots=True)
class _Bench:
    """A running suite on one volume: the common state of its functions, and its progress."""

    folder: Folder
    volume: Volume
    journal: BenchmarkJournal
    job: Job
    move: str | None
    suite: Suite
    expected_seconds: float
    watch: DiskWatch
    other: Server | None = None
    """The server that runs the phases of the other server."""
    progress_id: str = ""
    """The current repetition: its volume, workload and number."""
    title: str = ""
    workload: str = ""
    """The name of the current workload."""
    done_seconds: float = 0.0
    until_seconds: float = 0.0
    """The progress at the end of the current workload, in seconds."""
    warned: bool = False
    laid_out: set[str] = field(default_factory=set)
    """The files in the folder that workloads read or overwrite."""

    def prepare(self, procedure: Procedure) -> Metrics:
        """Create the files of a workload that do not exist yet; return their bytes and the time."""
        if procedure.prepare is None or self.laid_out.issuperset(procedure.laid_out):
            return {}
        # Files that another workload has created already are used as they are.
        missing = sum(size for name, size in procedure.laid_out.items() if name not in self.laid_out)
        begun = time.monotonic()
        self.execute(procedure.prepare, procedure.program, "lay out files")
        # This is recorded only after success, because an incomplete file must not be measured.
        self.laid_out.update(procedure.laid_out)
        return {"layout_bytes": float(missing), "layout_seconds": time.monotonic() - begun}

    def empty(self) -> None:
        """Empty the folder after a failure."""
        self.laid_out.clear()
        self.folder.empty(self.job)

    def execute(self, phase: Phase, program: str, what: str = "") -> str:
        """Run one phase in the folder, with progress at each tick, and return its output.

        Raises:
            CommandError: the phase failed.
        """
        begun, ticks = time.monotonic(), Ticks()
        saying = None if phase.live is None else Saying(phase.live)
        by = ""

        def tick(data: bytes = b"") -> None:
            nonlocal by
            self.progress(min(phase.seconds, time.monotonic() - begun))
            figures, said = ticks.take(data), {} if saying is None else saying.take(data)
            # What the tool reports is what it measures. The disk may move more or less than that.
            by = phase.live.program if said and phase.live is not None else by
            if said or (figures is not None and not by):
                self.job.report(Live(self.volume.source, self.workload, said or figures or {}, by))

        tick()
        server, user = self.folder.server, self.folder.user
        elsewhere = phase.from_other and self.other is not None
        if phase.from_other and self.other is not None:
            server, user = self.other, None
            shell = with_secrets(phase.secrets, call("bench_run_with_ticks", "", *phase.run_words))
            # The disk is not watched while the other server runs the client: see DiskWatch.marks.
            self.watch.foreign_phases += 1
        else:
            words = self.watch.around(("bench_run_with_ticks", self.watch.counters, *phase.run_words), program, phase)
            shell = with_secrets(phase.secrets, self.folder.inside(words))
        completed = server.run(
            shell,
            self.job,
            user=user,
            deadline=phase.deadline,
            accept=_ANY_STATUS,
            on_stdout=tick,
            title=f"benchmark: {self.title}{what and ': '}{what}",
        )
        self.done_seconds += phase.seconds
        said = completed.stdout if elsewhere else self.watch.tool_output(completed.stdout)
        output = without_ticks(said, phase.live).lstrip()
        if completed.exit_status != 0:
            raise self.failure(completed.exit_status, output or complaint(completed.stderr))
        return output

    def failure(self, status: int, output: str) -> CommandError:
        """Return the reason of a failed phase, in the tool's own words."""
        where = f"{self.volume.mount_point} on {self.folder.server.name}"
        # Each tool has its own words for a full disk. Those of the kernel are always the same.
        if _FULL in output:
            return CommandError(
                f"{where} is full: no space left on the device",
                "free some space, or choose a smaller suite",
                exit_status=status,
            )
        lines = [line.strip().removeprefix("pghaul: ") for line in output.splitlines() if line.strip()]
        # The first error is the cause. The last line is often only a summary.
        said = [line for line in lines if "rror" in line or line.startswith(("fio:", "dd:"))]
        why = (said[:1] or lines[-1:] or [f"exit status {status}"])[0]
        return CommandError(f"the benchmark on {where} failed: {why}", exit_status=status, stderr=output)

    def drop_caches(self) -> bool:
        """Flush and drop the caches; return whether that was possible."""
        self.job.check()
        server, user = self.folder.server, self.folder.user
        shell = call("bench_drop_caches")
        # Flushing the memory may take minutes on a slow disk.
        ended = server.run(shell, self.job, user=user, deadline=600, accept=(0, _MAY_NOT), title="drop caches")
        dropped = ended.exit_status == 0
        self.done_seconds += CACHE_SECONDS
        if not dropped and not self.warned:
            self.warned = True
            why = own_sentence(ended.stderr)
            text = (
                f"the caches of {server.name} cannot be dropped ({why}), so results that read through them are "
                "marked as cached"
            )
            self.job.report(Note(text, "warning"))
        return dropped

    def progress(self, seconds: float) -> None:
        # Repetitions beyond the forecast must not count as progress of later workloads.
        done = min(self.done_seconds + seconds, self.until_seconds)
        self.job.report(Progress(self.progress_id, self.title, done, self.expected_seconds, "seconds"))


def _run(bench: _Bench, workload: Workload, procedure: Procedure, until_seconds: float) -> Run:
    """Run all repetitions of a workload.

    Args:
        bench: the running suite.
        workload: the workload.
        procedure: what runs for it.
        until_seconds: the progress of the suite at its end, in seconds.
    """
    run = Run(bench.move, bench.volume, workload, datetime.now(UTC))
    run = replace(run, id=bench.journal.run_started(run))
    repetitions: list[Repetition] = []
    # This outcome stays in the history if this process is killed now.
    outcome, version, stopped = Outcome.INTERRUPTED, None, ""
    bench.workload, bench.until_seconds = workload.name, until_seconds
    try:
        while not stopped:
            number = len(repetitions) + 1
            bench.progress_id = f"{bench.volume.mount_point}:{workload.name}/{number}"
            bench.title = f"{workload.title}, {number} of {max(number, bench.suite.repetitions)}"
            repetition, reading = _repeat(bench, run, procedure, number)
            repetitions.append(repetition)
            version = reading.version or version
            if repetition.outcome is not Outcome.DONE:
                outcome = Outcome.FAILED
                # Especially after a full disk, the next workload needs the space.
                bench.empty()
                break
            stopped = why_enough(bench.suite, workload.headline, repetitions)
        else:
            outcome = Outcome.DONE
    except PghaulError as error:
        outcome = Outcome.CANCELLED if isinstance(error, Cancelled) else Outcome.FAILED
        raise
    finally:
        ended = datetime.now(UTC)
        # It may have needed fewer repetitions than the forecast, or may have failed.
        bench.done_seconds = until_seconds
        if run.id is not None:
            bench.journal.run_ended(run.id, outcome, ended, version, stopped)
    made = tuple(repetitions)
    return replace(run, outcome=outcome, ended_at=ended, repetitions=made, tool_version=version, stopped=stopped)


def why_enough(suite: Suite, headline: str, repetitions: Sequence[Repetition]) -> str:
    """Return a sentence with the reason why no further repetition is made; empty if one is made.

    There are at least `suite.repetitions` undisturbed ones. More follow until the coefficient of variation of their
    headline, without outliers, is not above `suite.target_variation`, but at most `suite.limit` in total.
    """
    # A disturbed repetition is repeated, up to the limit of the suite.
    calm = [one for one in repetitions if not one.disturbed]
    last = len(repetitions) >= suite.limit
    if len(calm) < suite.repetitions:
        return (
            f"{len(calm)} of {len(repetitions)} repetitions were undisturbed, and the suite allows no more"
            if last
            else ""
        )
    values = [one.metrics[headline] for one in calm if headline in one.metrics]
    extreme = outliers(values)
    kept = [value for position, value in enumerate(values) if position not in extreme]
    spread = statistics.variation(kept) if kept else None
    made = f"{len(repetitions)} repetition{'s' if len(repetitions) > 1 else ''}"
    if spread is None:
        return f"{made}, as many as the suite demands"
    target = units.spread(suite.target_variation)
    if spread <= suite.target_variation:
        return f"steady after {made}: {units.spread(spread)}; the target is {target}"
    return (
        f"not steady after {made}, the maximum of the suite: {units.spread(spread)}; the target is {target}"
        if last
        else ""
    )


def _past_caches(workload: Workload) -> bool:
    """Return whether the workload bypasses the page cache, so that cached data do not make it faster."""
    return workload.tool == "fio" and workload.parameters.get("direct") is True


def _without_headline(workload: Workload, reading: Reading) -> str:
    """Return why a repetition without its headline has failed. bonnie++ prints +++++ for what it could not time."""
    if workload.headline in reading.metrics:
        return ""
    return f"{workload.tool} printed no {workload.headline}. The run may have been too short: choose a larger size"


def _repeat(bench: _Bench, run: Run, procedure: Procedure, number: int) -> tuple[Repetition, Reading]:
    """Run one repetition. It is recorded when this returns or raises.

    Args:
        bench: the running suite.
        run: the run.
        procedure: what runs.
        number: the number of the repetition, from 1.
    """
    started = datetime.now(UTC)
    command = "\n".join(phase.shown for phase in procedure.phases)
    repetition = Repetition(number, started, 0.0, Outcome.INTERRUPTED, {}, command, "")
    reading = Reading({})
    outputs: list[str] = []
    begun = time.monotonic()
    try:
        laid_out = bench.prepare(procedure)
        bench.watch.begin()
        begun = time.monotonic()
        # Consecutive phases with the same process share it. It starts once and stays warm.
        for background, phases in groupby(procedure.phases, key=lambda phase: phase.background):
            with running(bench.folder, background, bench.job) if background is not None else nullcontext():
                for phase in phases:
                    if not phase.warm:
                        # A single phase without cold caches is enough.
                        cold = bench.drop_caches() or _past_caches(run.workload)
                        repetition = replace(repetition, cached=not cold or repetition.cached)
                    outputs.append(bench.execute(phase, procedure.program))
        reading = procedure.read(outputs)
        failure = reading.failure or _without_headline(run.workload, reading)
        outcome = Outcome.FAILED if failure else Outcome.DONE
        # The last query of the watch takes a moment, which is not part of the time.
        metrics = reading.metrics | bench.watch.figures() | laid_out
        repetition = replace(repetition, outcome=outcome, metrics=metrics, message=failure)
        repetition = replace(repetition, marks=bench.watch.marks(reading.metrics, bench.job))
    except CommandError as error:
        # The output of the tool is also kept after a failure, as evidence.
        outputs.append(error.stderr)
        repetition = replace(repetition, outcome=Outcome.FAILED, message=error.message)
    except ParseError as error:
        repetition = replace(repetition, outcome=Outcome.FAILED, message=error.message)
    except PghaulError as error:
        outcome = Outcome.CANCELLED if isinstance(error, Cancelled) else Outcome.FAILED
        repetition = replace(repetition, outcome=outcome, message=error.message)
        raise
    finally:
        # It is recorded in any case, so that no measurement is lost.
        repetition = replace(repetition, seconds=time.monotonic() - begun, raw="\n".join(outputs))
        if run.id is not None:
            bench.journal.repetition_ended(run.id, repetition)
    return repetition, reading

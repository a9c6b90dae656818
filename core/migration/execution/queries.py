"""What the queries of a dress rehearsal took on each server, by what its steps printed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core import units
from core.benchmarks.model import Metrics
from core.benchmarks.pgbench.output import parse_pgbench
from core.benchmarks.statistics import Interval, latencies_counted, ratio_of_means
from core.errors import ParseError
from core.language import marked
from core.migration.model import step_ids
from core.migration.model.dress import Script
from core.migration.model.execution import Execution
from core.migration.model.plan import Step
from core.migration.plan.steps.dress import script_arguments
from core.redaction import CUT
from core.servers.shell import call
from core.text import sentence

_RUN = re.compile(r"queries (?P<run>old [12]|new [12])(?: not measured: (?P<why>.*))?")
_TOOK = re.compile(r"took (?P<script>\d{1,4})(?P<times>(?: \d{1,15}:\d{1,15})+)")
_RATE = "transactions_per_second"
METRICS: Mapping[str, str] = {
    _RATE: marked("transactions a second"),
    "latency_p50_seconds": marked("latency p50"),
    "latency_p95_seconds": marked("latency p95"),
    "latency_p99_seconds": marked("latency p99"),
}
"""What is shown of a run, and its words."""
_LEAST = {"latency_p50_seconds": 10, "latency_p95_seconds": 100, "latency_p99_seconds": 500}
"""From how many transactions on a percentile says something: five must lie beyond it."""
_LONGEST_WHY = 500
UNEQUAL = (
    marked(
        "The old server serves its clients meanwhile, and the copy has none. The copy is in recovery, where hint bits "
        "are not kept: rows that were changed lately cost it more."
    ),
    marked("pgbench runs on the server itself: the network of your applications is in none of these figures."),
)
"""What a ratio must be read with."""
AS_ROLE = marked(
    "The queries ran as an application runs them, in transactions that are read-only by default: what the functions, "
    "views and foreign tables of the role do for the application, they did here, too."
)


class Run(StrEnum):
    """Which run it was."""

    OLD_FIRST = "old first"
    OLD_WARM = "old warm"
    NEW_COLD = "new cold"
    NEW_WARM = "new warm"


SHOWN = (Run.OLD_WARM, Run.NEW_COLD, Run.NEW_WARM)
_RUNS = {"old 1": Run.OLD_FIRST, "old 2": Run.OLD_WARM, "new 1": Run.NEW_COLD, "new 2": Run.NEW_WARM}


@dataclass(frozen=True, slots=True)
class Measured:
    """A run of the queries.

    Attributes:
        metrics: of all scripts together, then of each in their order, where there are several.
        why: it was not measured; empty where it was.
    """

    run: Run
    metrics: tuple[Metrics, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class QueryResults:
    """What the queries took.

    Attributes:
        scripts: the names of the files, each with its weight.
        page_cache_dropped: before the copy was started.
    """

    role: str
    database: str
    clients: int
    seconds: int
    scripts: tuple[tuple[str, int], ...]
    runs: tuple[Measured, ...]
    page_cache_dropped: bool

    def run(self, run: Run) -> Measured | None:
        """The latest that was seen of that run."""
        return next((each for each in reversed(self.runs) if each.run is run), None)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of what was measured: a metric of a script on each server.

    Attributes:
        script: empty: all of them.
        values: in the order of SHOWN; None where it was not measured.
        ratio: warm runs, the new server to the old one.
    """

    script: str
    metric: str
    values: tuple[float | None, ...]
    ratio: Interval | None


def missing(results: QueryResults, line: Line, place: int) -> str:
    """Why a line has no value in that place."""
    run = results.run(SHOWN[place])
    return marked("too few") if run is not None and run.metrics and line.metric in _LEAST else ""


def query_results(execution: Execution) -> QueryResults | None:
    """What its queries took; None of one that measures none, or has not come to that yet."""
    queries = execution.plan.queries
    if queries is None:
        return None
    sides = (
        (step_ids.MEASURE_QUERIES_OLD, (Run.OLD_FIRST, Run.OLD_WARM)),
        (step_ids.REHEARSE_START, (Run.NEW_COLD, Run.NEW_WARM)),
    )
    runs = tuple(run for name, expected in sides for run in _runs_of(_printed(execution, name), expected))
    if not runs:
        return None
    return QueryResults(
        queries.role,
        queries.database or "",
        queries.clients,
        queries.seconds,
        tuple((each.name, each.weight) for each in queries.scripts),
        runs,
        _printed(execution, step_ids.REHEARSE_DROP_CACHE).startswith("page cache dropped"),
    )


LEFT_OUT = "…"
"""What stands in a call in place of the lines of a script."""


def without_script_texts(execution: Execution) -> Execution:
    """Return the execution without the texts of the operator's scripts, for whoever asks how it stands.

    A script may be long, and the plan has it three times.
    """
    queries = execution.plan.queries
    if queries is None:
        return execution
    steps = tuple(_with_shorter_call(step, queries.scripts) for step in execution.plan.steps)
    scripts = tuple(replace(script, text="") for script in queries.scripts)
    return replace(execution, plan=replace(execution.plan, steps=steps, queries=replace(queries, scripts=scripts)))


def _with_shorter_call(step: Step, scripts: Sequence[Script]) -> Step:
    """Return the step with the lines left out of its call, where the scripts stand together and in their order.

    They are looked for as one: the words of a script may stand within another script, too.
    """
    remote = step.remote
    if remote is None or step.id not in {step_ids.MEASURE_QUERIES_OLD, step_ids.REHEARSE_START}:
        return step
    arguments = [word for script in scripts for word in script_arguments(script)]
    words = str(call("run_with_queries", *arguments)).partition(" ")[2]
    ahead, found, behind = remote.call.rpartition(f" {words} ")
    if not found:
        return step
    left = " ".join(f"{script.weight} {LEFT_OUT}" for script in scripts)
    return replace(step, action=replace(remote, call=f"{ahead} {left} {behind}"))


def _runs_of(printed: str, expected: Sequence[Run]) -> Iterator[Measured]:
    """The runs that a step printed, and those whose beginning was not kept of it."""
    found = tuple(parse_runs(printed))
    if printed.startswith(CUT):
        seen = {each.run for each in found}
        yield from (Measured(run, why="not all of its output was kept") for run in expected if run not in seen)
    yield from found


def _printed(execution: Execution, name: str) -> str:
    """What the latest try at the step of that name printed; nothing where there is none."""
    step = execution.plan.step(name)
    latest = execution.latest(step.number) if step is not None else None
    return latest.output if latest is not None else ""


def parse_runs(text: str) -> Iterator[Measured]:
    """The runs that a step printed."""
    printed = text.split("\n")
    heads = [(number, found) for number, line in enumerate(printed) if (found := _RUN.fullmatch(line))]
    ends = [*(number for number, _ in heads), len(printed)][1:]
    for (number, head), end in zip(heads, ends, strict=True):
        run = _RUNS[head["run"]]
        if head["why"] is not None:
            yield Measured(run, why=head["why"][:_LONGEST_WHY] or "nobody said why")
            continue
        # whatever else a step printed is none of theirs
        of_run = printed[number + 1 : end]
        report = [line.removeprefix(": ") for line in of_run if line.startswith(": ")]
        yield _measured(run, report, [line for line in of_run if line.startswith("took ")])


def _measured(run: Run, report: Sequence[str], took: Sequence[str]) -> Measured:
    try:
        results = parse_pgbench("\n".join(report) + "\n").results
    except ParseError as error:
        return Measured(run, why=error.message)
    counts = _counts(took)
    if results[0].aborted or _RATE not in results[0].metrics:
        return Measured(run, why="pgbench was aborted")
    if not counts:
        return Measured(run, why="the log of pgbench did not come whole")
    every: dict[int, int] = {}
    for of_script in counts.values():
        for value, number in of_script.items():
            every[value] = every.get(value, 0) + number
    metrics = [_metrics(results[0].metrics, every)]
    # of one script alone pgbench says nothing more
    metrics += [_metrics(result.metrics, counts.get(number, {})) for number, result in enumerate(results[1:])]
    return Measured(run, tuple(metrics))


def _counts(took: Sequence[str]) -> dict[int, dict[int, int]]:
    """By the number of a script: how many transactions took so many microseconds."""
    found: dict[int, dict[int, int]] = {}
    for line in took:
        parts = _TOOK.fullmatch(line)
        if parts is None:
            return {}
        times = found.setdefault(int(parts["script"]), {})
        for each in parts["times"].split():
            value, _, number = each.partition(":")
            times[int(value)] = times.get(int(value), 0) + int(number)
    return found


def _metrics(reported: Metrics, counts: Mapping[int, int]) -> Metrics:
    rate = {_RATE: reported[_RATE]} if _RATE in reported else {}
    number, times = sum(counts.values()), latencies_counted(counts, 1e-6)
    return {**rate, **{name: times[name] for name, least in _LEAST.items() if number >= least}}


def lines(results: QueryResults) -> tuple[Line, ...]:
    """Side by side: of all scripts together, then of each where there are several."""
    names = ["", *(name for name, _ in results.scripts)] if len(results.scripts) > 1 else [""]
    found = []
    for number, script in enumerate(names):
        for metric in METRICS:
            values = tuple(_value(results.run(run), number, metric) for run in SHOWN)
            old, new = values[SHOWN.index(Run.OLD_WARM)], values[SHOWN.index(Run.NEW_WARM)]
            ratio = ratio_of_means([new], [old]) if old is not None and new is not None else None
            found.append(Line(script, metric, values, ratio))
    return tuple(found)


def _value(measured: Measured | None, number: int, metric: str) -> float | None:
    if measured is None or number >= len(measured.metrics):
        return None
    return measured.metrics[number].get(metric)


def sentences(results: QueryResults) -> tuple[str, ...]:
    """What was measured, what was cold, and what was not measured and why."""
    scripts = ", ".join(f"{name} (weight {weight})" for name, weight in results.scripts)
    clients, seconds = units.counted(results.clients, "client"), units.duration(results.seconds)
    where = f"as the role {results.role} in the database {results.database}"
    said = [f"The scripts {scripts} ran {where}, with {clients}, for {seconds} a run."]
    said += [sentence(f"{each.run} was not measured: {each.why}") for each in _latest(results) if each.why]
    cold, old = results.run(Run.NEW_COLD), results.run(Run.OLD_WARM)
    if cold is not None and not cold.why:
        said.append(_cold(dropped=results.page_cache_dropped))
    if old is None:
        said.append("The old server was not measured. To measure it: --queries-on-old.")
    elif any(line.ratio for line in lines(results)):
        said.append(
            "The ratio is that of the warm runs, new server to old server, with the range for ±10 % of noise on each."
        )
    if results.run(Run.NEW_WARM) is not None:
        said.append(
            "Warm means the second run on each server. The copy may still have to read from disk what the old server "
            "has had in memory for days."
        )
    if any(not each.why for each in _latest(results)):
        said += [*UNEQUAL, AS_ROLE]
    return tuple(said)


def _latest(results: QueryResults) -> list[Measured]:
    return [found for run in Run if (found := results.run(run)) is not None]


def _cold(*, dropped: bool) -> str:
    if dropped:
        return (
            "Cold means that the page cache was dropped. The shared buffers held what the recovery had read, and the "
            "caches of the storage were not dropped."
        )
    return (
        "Cold means that the shared buffers held what the recovery had read. The page cache was kept, and may have "
        "held the files."
    )

"""Compare the results of benchmarks, show them over time, and diagnose the storage of a move or of any servers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations

from core.api.benchmarks import volume_of_side
from core.api.facts import get_facts, get_facts_of_server
from core.api.model import Compared, MetricOverTime
from core.api.session import Session, record_commands
from core.benchmarks.model import Outcome, Run
from core.comparison.compare import compare as compare_runs
from core.comparison.compare import sample_of
from core.comparison.diagnosis import diagnose as diagnose_volume
from core.comparison.machines import Machines
from core.comparison.model import Comparison, Diagnosis, Sample
from core.comparison.sets import (
    Place,
    ServerPlace,
    Start,
    is_place_on_server,
    meant_place,
    over_time,
    place_of,
    place_on_server,
    set_of,
)
from core.errors import InputError
from core.jobs import Job
from core.reports.report import diagnoses
from core.servers.shell import for_hint, quoted
from core.sides import Side

__all__ = [
    "NEWEST",
    "Compared",
    "FoundSets",
    "Start",
    "compare_numbered_runs",
    "compare_sets",
    "compare_sides",
    "compare_starts",
    "compare_volumes",
    "compare_with_diagnoses",
    "diagnose",
    "diagnose_from_history",
    "diagnose_volumes",
    "find_sets",
    "find_sides",
    "list_starts",
    "metric_over_time",
    "runs_on_volume",
]

NEWEST = 200
"""How many runs of a workload are shown over time: a chart cannot show more."""


@dataclass(frozen=True, slots=True)
class FoundSets:
    """Sets of runs to compare.

    Attributes:
        sets: the runs that count. Those of a volume are of one machine, the one that was measured last.
        runs: all runs that were found, also those of machines that had the same name before.
        machines: which machine each of them was measured on.
        dated: whether the title of each set needs its time.
    """

    sets: tuple[tuple[Run, ...], ...]
    runs: tuple[Run, ...]
    machines: Machines
    dated: bool = False

    @property
    def compared(self) -> Comparison:
        """The comparison of the sets."""
        return compare_runs(*self.sets, dated=self.dated, machines=self.machines)


def _find(
    session: Session, found: Sequence[Sequence[Run]], move: str | None = None, *, dated: bool = False
) -> FoundSets:
    """Return sets of runs, each with those of one machine, and what is known of the machines.

    `move`: the move whose runs alone count, as in its report.
    """
    runs = tuple(run for one in found for run in one)
    machines = session.store.machines({run.volume.server for run in runs}, move=move)
    return FoundSets(tuple(map(machines.newest, found)), runs, machines, dated)


def find_sides(session: Session, move: str) -> FoundSets:
    """Return the latest runs of each workload on both sides.

    Raises:
        InputError: nothing was measured yet.
    """
    name = session.store.move(move).name
    sides = [session.store.runs(name, side=side, latest_only=True) for side in (Side.OLD, Side.NEW)]
    if not any(sides):
        raise InputError(f"no benchmark of the move {move} has run yet", f"run: pghaul bench {quoted(move)}")
    return _find(session, sides, name)


def compare_sides(session: Session, move: str) -> Comparison:
    """Return a comparison of the latest runs of each workload on both sides. Raises as `find_sides` does."""
    return find_sides(session, move).compared


def compare_sets(session: Session, move: str, places: Sequence[str]) -> Comparison:
    """Return a comparison of sets of runs: volumes of either server, or one volume at several dates.

    Args:
        session: the history and the connections.
        move: the name of the move.
        places: the volumes, with or without a date; a single volume is compared over time.

    Raises:
        InputError: a word does not name a volume, or nothing was measured there.
    """
    found = session.store.move(move)
    runs, servers = session.store.runs(found.name), {Side.OLD: found.old, Side.NEW: found.new}

    def place(word: str) -> Place:
        return meant_place(lambda dated: place_of(word, servers, dated=dated), runs)

    named = [place(word) for word in places]
    if len(named) == 1:
        sets = over_time(named[0], runs)
        if len(sets) < 2:
            times = "once" if sets else "never"
            raise InputError(
                f"{places[0]} was measured {times}, so its results cannot be compared over time",
                f"run: pghaul bench {quoted(move)}",
            )
        return _find(session, sets, found.name, dated=True).compared
    sets = tuple(set_of(place, runs) for place in named)
    for word, one in zip(places, sets, strict=True):
        if not any(run.outcome is Outcome.DONE for run in one):
            raise InputError(
                f"no benchmark of {word} has finished yet",
                f"run: pghaul bench {quoted(move)} --volume {quoted(word.partition('@')[0])}",
            )
    _require_different(places, sets)
    dated = len({(place.side, place.path) for place in named}) < len(named)
    return _find(session, sets, found.name, dated=dated).compared


def compare_volumes(session: Session, words: Sequence[str]) -> Comparison:
    """Return a comparison of volumes of any servers, whether or not moves use them; the words are as for `find_sets`.

    Raises:
        InputError: a word names nothing that was measured.
    """
    return find_sets(session, words).compared


def find_sets(session: Session, words: Sequence[str]) -> FoundSets:
    """Return the sets of runs that words name.

    Args:
        session: the history and the connections.
        words: runs by numbers such as `12,13,14`, or a volume of any server, `SERVER:/PATH` or
            `SERVER:/PATH@2026-11-01` as measured until that day. A single volume is compared over time.

    Raises:
        InputError: a word names nothing that was measured, or there are too few sets to compare.
    """
    if len(words) == 1 and is_place_on_server(words[0]):
        over = over_time(*_volume_and_runs(session, words[0]))
        if len(over) < 2:
            raise InputError(
                f"{words[0]} was {'measured only once' if over else 'never measured'}, so its results cannot be "
                "compared over time",
                f"{'measure it again' if over else 'measure it'}, or name a second volume to compare it with",
            )
        return _find(session, over, dated=True)
    sets = tuple(_set_of_word(session, word) for word in words)
    if len(sets) < 2:
        raise InputError("a comparison needs two sets or more", "name them, for example db1:/srv/pg db2:/srv/pg")
    _require_different(words, sets)
    places = [{(run.volume.server, run.volume.mount_point) for run in one} for one in sets]
    dated = any(one == other for at, one in enumerate(places) for other in places[:at])
    found = _find(session, sets, dated=dated)
    # runs that are named by their numbers all count
    counting = zip(words, sets, found.sets, strict=True)
    return replace(found, sets=tuple(own if _numbers(word) else newest for word, own, newest in counting))


def _require_different(words: Sequence[str], sets: Sequence[Sequence[Run]]) -> None:
    """Refuse two sets of the same runs: compared with themselves, they would say that nothing has changed.

    Raises:
        InputError: such as a volume at two dates between which it was not measured.
    """
    # only finished runs are compared, but two sets without any are not the same set
    counted = [{run.id for run in one if run.outcome is Outcome.DONE} or {run.id for run in one} for one in sets]
    for (first, earlier), (second, later) in combinations(zip(words, counted, strict=True), 2):
        if earlier == later:
            raise InputError(
                f"{first} and {second} are the same runs, so there is nothing to compare",
                "measure the volume again, or name another date or volume",
            )


def _numbers(word: str) -> tuple[int, ...]:
    """Return the numbers of runs in a word such as `12,13,14`; empty if it is none."""
    numbers = word.split(",")
    return tuple(map(int, numbers)) if all(each.isascii() and each.isdigit() for each in numbers) else ()


def _set_of_word(session: Session, word: str) -> tuple[Run, ...]:
    if numbers := _numbers(word):
        return tuple(session.store.run(number) for number in numbers)
    found = runs_on_volume(session, word)
    if not any(run.outcome is Outcome.DONE for run in found):
        listing = for_hint("pghaul", "history", "runs", "--server", place_on_server(word).server)
        raise InputError(f"no benchmark of {word} has finished yet", f"list the runs with: {listing}")
    return found


def runs_on_volume(session: Session, word: str) -> tuple[Run, ...]:
    """Return the runs on a volume that a word such as `db1:/srv/pg@2026-11-01` names, the oldest first.

    They may belong to any move or to none.

    Raises:
        InputError: the word does not name a volume.
    """
    return set_of(*_volume_and_runs(session, word))


def _volume_and_runs(session: Session, word: str) -> tuple[ServerPlace, tuple[Run, ...]]:
    """Return the volume that a word names, and all runs on its server."""
    runs = session.store.runs_on(place_on_server(word, dated=False).server)
    return meant_place(lambda dated: place_on_server(word, dated=dated), runs), runs


def compare_numbered_runs(session: Session, old: int, new: int, *further: int) -> Comparison:
    """Return a comparison of runs by their numbers in the history, of any servers and volumes.

    An imported run may have another workload name: it is compared by the metrics that both have.

    Raises:
        InputError: the runs are of different workloads.
    """
    first = session.store.run(old)
    others = [_require_comparable(first, session.store.run(number)) for number in (new, *further)]
    return _find(session, [[each] for each in (first, *others)]).compared


def _require_comparable(first: Run, second: Run) -> Run:
    """Return the second run with the first run's workload if one was imported; else both must have the same."""
    old, new = first.id, second.id
    if first.workload.tool == second.workload.tool and (first.volume.elsewhere or second.volume.elsewhere):
        return replace(second, workload=first.workload)
    if (first.workload.tool, first.workload.name) != (second.workload.tool, second.workload.name):
        raise InputError(
            f"run {old} is of {first.workload.title}, run {new} of {second.workload.title}; they cannot be compared",
            "name two runs of the same workload; list them with: pghaul history runs MOVE",
        )
    if first.workload.parameters != second.workload.parameters:
        raise InputError(
            f"runs {old} and {new} of {first.workload.title} had different parameters and cannot be compared",
            f"show the parameters with: pghaul history run {old} --json; pghaul history run {new} --json",
        )
    return second


def list_starts(session: Session) -> tuple[Start, ...]:
    """Return what each start of a suite has measured on one volume, for all moves, the newest first."""
    return session.store.starts()


def compare_starts(session: Session, move: str, left: Start | Side, right: Start | Side) -> Comparison:
    """Return a comparison of two sets of runs.

    Args:
        session: the history and the connections.
        move: the name of the move.
        left: a start of a suite, or a side for the latest runs of each workload on the move's volume.
        right: the other set, likewise.

    Raises:
        InputError: nothing was measured in either set.
    """
    store = session.store
    first, second = (
        store.runs_of_start(one) if isinstance(one, Start) else store.runs(move, side=one, latest_only=True)
        for one in (left, right)
    )
    if not first and not second:
        raise InputError(f"no benchmark of the move {move} has run yet", f"run: pghaul bench {quoted(move)}")
    places = {(run.volume.server, run.volume.mount_point) for runs in (first, second) for run in runs[-1:]}
    dated = len(places) < 2 or isinstance(left, Start) or isinstance(right, Start)
    return _find(session, [first, second], dated=dated).compared


def compare_with_diagnoses(session: Session, move: str, left: Start | Side, right: Start | Side) -> Compared | None:
    """Return what `compare_starts` does, with the latest diagnoses of the move; None if nothing was measured."""
    try:
        found = compare_starts(session, move, left, right)
    except InputError:
        return None
    return Compared(found, diagnose_from_history(session, move))


def metric_over_time(session: Session, move: str, tool: str, workload: str, metric: str) -> MetricOverTime:
    """Return a metric of a workload in each finished run on the volumes of a move, the oldest first.

    Where another machine had the name of a server before, its runs are left out.

    Args:
        session: the history and the connections.
        move: the name of the move.
        tool: the tool of the workload.
        workload: the name of the workload.
        metric: the name of the metric.
    """

    found = session.store.move(move)

    def of(side: Side) -> tuple[tuple[datetime, Sample], ...]:
        runs = session.store.runs_of_workload(move, side, tool, workload, NEWEST)
        server = found.old if side is Side.OLD else found.new
        newest = session.store.machines([server]).newest(runs)
        samples = ((run.started_at, sample_of(metric, run)) for run in newest)
        return tuple((at, sample) for at, sample in samples if sample is not None)

    return MetricOverTime(of(Side.OLD), of(Side.NEW))


def diagnose(
    session: Session,
    move: str,
    job: Job,
    sides: Sequence[Side] = (Side.OLD, Side.NEW),
    *,
    places: Sequence[str] = (),
    refresh: bool = True,
) -> tuple[Diagnosis, ...]:
    """Return a diagnosis of each volume, from facts and its latest runs.

    Args:
        session: the history and the connections.
        move: the name of the move.
        job: the job that reports progress.
        sides: the sides whose volumes are diagnosed.
        places: other volumes of the two servers instead, such as `old:/mnt/a`.
        refresh: read the facts again instead of using the latest ones.

    Raises:
        InputError: a word does not name a volume.
    """
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    servers = {Side.OLD: found.old, Side.NEW: found.new}
    named = [place_of(word, servers, dated=False) for word in places]
    wanted = named or [Place(side, volume_of_side(found, side).mount_point) for side in sides]
    runs = session.store.runs(found.name, latest_only=not named)
    facts = {
        side: get_facts(session, found, side, job, refresh=refresh)
        for side in dict.fromkeys(place.side for place in wanted)
    }
    machines = session.store.machines(servers.values())
    return tuple(diagnose_volume(facts[place.side], place.path, set_of(place, runs), machines) for place in wanted)


def diagnose_volumes(
    session: Session, places: Sequence[str], job: Job, *, refresh: bool = True
) -> tuple[Diagnosis, ...]:
    """Return a diagnosis of volumes of any servers, from facts and the runs on each volume; no move takes part.

    Args:
        session: the history and the connections.
        places: the volumes, such as `db1:/srv/pg`.
        job: the job that reports progress.
        refresh: read the facts again instead of using the latest ones.

    Raises:
        InputError: a word does not name a volume.
    """
    job = record_commands(session.store, job)
    named = [place_on_server(word, dated=False) for word in places]
    facts = {
        server: get_facts_of_server(session, server, job, refresh=refresh)
        for server in dict.fromkeys(place.server for place in named)
    }
    runs = [set_of(place, session.store.runs_on(place.server)) for place in named]
    machines = session.store.machines(facts)
    return tuple(
        diagnose_volume(facts[place.server], place.path, of_place, machines)
        for place, of_place in zip(named, runs, strict=True)
    )


def diagnose_from_history(session: Session, move: str) -> tuple[Diagnosis, ...]:
    """Return diagnoses from the latest facts in the history; none of a server without facts."""
    return diagnoses(session.store, session.store.move(move))

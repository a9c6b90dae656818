"""The stages of a method night by night, how they add up, and what stands at both ends of every method.

Commands alone are counted, for all methods alike. What people take on top, to decide, to stop the applications and to
lead them over, no measurement tells: `PEOPLE` says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING

from core import units
from core.migration.estimate import assumptions
from core.migration.estimate.basis import Basis, changed, measured_rate
from core.migration.estimate.draws import drawn, fixed, least, span
from core.migration.estimate.rates import Figure, Rate, of_its_time, slowest, timed
from core.migration.model.estimate import Method, PassSeconds, Span, Stage
from core.migration.model.plan import Phase

if TYPE_CHECKING:
    from core.migration.estimate.draws import Draws

PEOPLE = (
    "The time for manual steps is not included: stopping the applications, deciding on the cutover, and repointing the "
    "applications."
)

ROUND_TRIPS = "round trips"
"""What bounds a stage of many short commands."""

COUNTED: Mapping[Phase, tuple[int, int]] = MappingProxyType(
    {
        Phase.PREPARE: (8, 0),
        Phase.BEFORE_STOP: (9, 1),
        Phase.STOP: (4, 1),
        Phase.CLOSE: (3, 0),
        Phase.START: (5, 0),
        Phase.OPEN: (4, 0),
        Phase.AFTER: (6, 0),
    }
)
"""Steps of a stage in a plan over ssh, and those among them that go on without the workstation. One for each data root
comes to the preparation. The tests hold them against a plan."""

COUNTED_STOPPED: Mapping[Phase, tuple[int, int]] = MappingProxyType(
    {**COUNTED, Phase.BEFORE_STOP: (3, 0), Phase.STOP: (3, 0), Phase.START: (4, 0), Phase.AFTER: (5, 0)}
)
"""The same where the cluster is stopped already."""

_CALIBRATED: Figure = (0.85, 1.0, 1.2)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A stage night by night: its seconds, what bounds it, where its figure comes from.

    `stopped`: clients wait for it.
    """

    name: str
    seconds: "Draws"
    bound_by: str
    evidence: str
    stopped: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """A method night by night.

    `on_old`, `on_new`: bytes that it takes there besides what is there.
    """

    name: str
    parts: tuple[Part, ...]
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    on_new: float
    on_old: float = 0.0
    verify_all: "Draws | None" = None
    looks: "Draws | None" = None
    ruled_out: str = ""
    passes: tuple[PassSeconds, ...] = ()

    @property
    def duration(self) -> "Draws":
        """Seconds of all of it."""
        return _sum([part.seconds for part in self.parts])

    @property
    def ahead(self) -> "Draws":
        """Seconds of what precedes the stop, such as the pre-copy: clients work meanwhile."""
        return _sum([part.seconds for part in takewhile(lambda part: not part.stopped, self.parts)])

    @property
    def downtime(self) -> "Draws":
        """Seconds for which clients wait."""
        return _sum([part.seconds for part in self.parts if part.stopped])


def summed_up(found: Simulated) -> Method:
    """The method for people: totals are percentiles of the nights.

    The likely seconds of the stages of the stop add up to the downtime's, those ahead of it to what comes before. Their
    low and high ones do not: not everything goes well, or badly, on the same night.
    """
    ahead = [part for part in found.parts if not part.stopped]
    stop = [part for part in found.parts if part.stopped]
    stages = {**_stages(ahead), **_stages(stop)}
    return Method(
        method=found.name,
        duration_seconds=span(found.duration),
        downtime_seconds=span(found.downtime),
        stages=tuple(stages[part.name] for part in found.parts),
        assumptions=found.assumptions,
        warnings=found.warnings,
        verify_all_seconds=None if found.verify_all is None else span(found.verify_all),
        looks_seconds=None if found.looks is None else span(found.looks),
        bytes_on_old=found.on_old,
        bytes_on_new=found.on_new,
        ruled_out=found.ruled_out,
        passes=found.passes,
    )


def _stages(parts: Sequence[Part]) -> dict[str, Stage]:
    """Each with what it likely takes, and its share of what they take longer together: bad nights of one outweigh good
    ones of another. The share is by how much further its high lies from the likely than its low."""
    spans = [span(part.seconds) for part in parts]
    together, added = span(_sum([part.seconds for part in parts])).likely, sum(each.likely for each in spans)
    skews = [max(0.0, each.high + each.low - 2 * each.likely) for each in spans]
    if together < added or not any(skews):
        skews = [each.likely for each in spans]
    made = {}
    for part, own, skew in zip(parts, spans, skews, strict=True):
        mine = own.likely + (together - added) * (skew / sum(skews) if any(skews) else 0.0)
        seconds = Span(min(own.low, mine), mine, max(own.high, mine))
        made[part.name] = Stage(part.name, seconds, part.bound_by, part.evidence)
    return made


def _sum(all_seconds: Sequence["Draws"]) -> "Draws":
    whole = fixed(0.0)
    for seconds in all_seconds:
        whole = whole + seconds
    return whole


def steps(known: Basis, number: int, *, detached: int = 0) -> "Draws":
    """Seconds of so many steps that do next to nothing, and of those among them that go on without the workstation."""
    given = known.spec.link.command_seconds
    figure = assumptions.COMMAND if given is None else (0.8 * given, given, 1.5 * given)
    one, kept = drawn("command", *figure), drawn("a step", *assumptions.A_STEP)
    alone = detached * one * (drawn("detached", *assumptions.DETACHED) - 1)
    return number * (one + kept) + alone


def empty_pass(known: Basis) -> "Draws":
    """Seconds of a pass that has nothing to send."""
    given = known.spec.copy.pass_seconds
    figure = assumptions.PASS if given is None else (0.85 * given, given, 1.5 * given)
    return drawn("pass", *figure)


def counted(known: Basis, phase: Phase, work: "Draws", bound_by: str, *, more: int = 0, stopped: bool = True) -> Part:
    """A stage of a plan: its steps as they are counted, `more` of them, and the work that they do."""
    number, detached = (COUNTED_STOPPED if known.spec.history.stopped else COUNTED)[phase]
    return stage(known, phase, number + more, work, bound_by, detached=detached, stopped=stopped)


def stage(
    known: Basis, name: str, number: int, work: "Draws", bound_by: str, *, detached: int = 0, stopped: bool = True
) -> Part:
    """A stage of so many steps and the work that they do; as it was timed, where it was.

    `bound_by`: what the work waits for. Where the steps themselves take longer, the stage waits for round trips.
    """
    alone = steps(known, number, detached=detached)
    bound_by = bound_by if float(work.mean()) > float(alone.mean()) else ROUND_TRIPS
    seconds = alone + work
    return as_timed(known, Part(name, seconds, bound_by, reckoned_words(known), stopped))


def reckoned_words(known: Basis) -> str:
    """Where the figure of a stage comes from that was never timed."""
    return (
        "calculated from measured rates, the number of commands, and the duration of a single command on these servers"
        if known.spec.link.command_seconds is not None
        else "assumed"
    )


def as_timed(known: Basis, part: Part) -> Part:
    """The stage as it was timed; as it is reckoned where it never was."""
    before = known.timed(part.name)
    if not before:
        return part
    seconds = timed(part.name, before, known.spec.doubt(part.name))
    return replace(part, seconds=seconds, evidence=timed_words(known, part.name))


def timed_words(known: Basis, stage: str) -> str:
    """Where a timed stage's figure comes from."""
    times = units.counted(len(known.timed(stage)), "time")
    evidence = known.spec.history.sources.get(stage)
    return f"timed {times} {evidence.description}" if evidence is not None else f"timed {times}"


def prepare(known: Basis) -> Part:
    """Folders, keys and accounts made ready, while the old cluster runs."""
    return counted(known, Phase.PREPARE, fixed(0.0), ROUND_TRIPS, more=known.roots, stopped=False)


def checkpoint(known: Basis) -> "Draws":
    """A checkpoint writes what is dirty: at most some GB, usually a five-hundredth of the cluster."""
    dirty = least(drawn("dirty", *assumptions.DIRTY) * known.size, drawn("dirty", *assumptions.MOST_DIRTY))
    return dirty / known.read.draws


def stop_old(known: Basis, shutdown: "Draws") -> Part:
    """The shutdown's checkpoint; the stop, its proof, the fence and the look at the data roots are a step each."""
    if known.spec.history.stopped:
        return counted(known, Phase.STOP, fixed(0.0), ROUND_TRIPS)
    return counted(known, Phase.STOP, drawn("stop", *assumptions.STOP) + shutdown, "old disk")


def since_a_checkpoint(known: Basis) -> "Draws":
    """Seconds of the shutdown's own, a minute after another: what has changed since, never more than without."""
    return least(checkpoint(known), changed(known, fixed(60.0)) / known.read.draws)


def asked_checkpoint(written: "Draws") -> "Draws":
    """Seconds until a checkpoint that a step asks for has written so much."""
    return drawn("checkpoint", *assumptions.CHECKPOINT) + written


def before_stop(known: Basis, work: "Draws") -> Part:
    """What is done while the old cluster still runs, behind the last pass: the inventory, looks, a checkpoint, and the
    trial start, which is no step. Of a stopped cluster there are a few looks."""
    if known.spec.history.stopped:
        return counted(known, Phase.BEFORE_STOP, fixed(0.0), ROUND_TRIPS, stopped=False)
    taken = drawn("inventory", *assumptions.INVENTORY)
    made = counted(known, Phase.BEFORE_STOP, taken + work, "old disk", stopped=False)
    return replace(made, seconds=made.seconds + drawn("trial start", *assumptions.TRIAL_START))


def close_channel(known: Basis) -> Part:
    """The copy's key and its lists of files are taken away."""
    return counted(known, Phase.CLOSE, fixed(0.0), ROUND_TRIPS)


def start_new(known: Basis) -> Part:
    """The new cluster made known to its host, its first start for local connections alone, and a look at it."""
    return counted(known, Phase.START, drawn("start", *assumptions.START), "new disk")


def cut_over(known: Basis) -> Part:
    """The end of the local-only start, and the start for clients."""
    return counted(known, Phase.OPEN, drawn("service", *assumptions.SERVICE), "new disk")


def after_cutover(known: Basis) -> Part:
    """What is looked at and tidied up once clients can connect."""
    return counted(known, Phase.AFTER, fixed(0.0), ROUND_TRIPS, stopped=False)


def stop_by_hand(known: Basis, shutdown: "Draws") -> Part:
    """One command: of a method that pghaul does not carry out, so nothing is proven behind it."""
    return stage(known, Phase.STOP, 1, drawn("stop", *assumptions.STOP) + shutdown, "old disk")


def start_by_hand(known: Basis) -> Part:
    """One command, by which the new cluster is there for clients."""
    return stage(known, Phase.START, 1, drawn("service", *assumptions.SERVICE), "new disk")


def rebuild(known: Basis) -> tuple[Part, ...]:
    """REINDEX of what text sorts differently for, before anybody works on the new server; nothing where that is not so.

    `reindex_bytes / rate of one process`; by an observed build of all indexes where there is one.
    """
    wanted, seen = known.spec.cluster.reindex_bytes, known.spec.observed
    if not wanted:
        return ()
    if seen.index_seconds is not None and known.index_bytes:
        grown = known.spec.cluster.size_bytes / (seen.at_size_bytes or known.spec.cluster.size_bytes)
        built = seen.index_seconds * grown * wanted / known.index_bytes
        seconds = drawn("reindex", *(built * each for each in _CALIBRATED))
        return (Part(Phase.REINDEX, seconds, "new cpu", "an earlier build"),)
    rate = slowest((index_build(known), known.write))
    return (Part(Phase.REINDEX, rate.seconds(wanted), rate.bound_by, rate.evidence),)


def index_build(known: Basis) -> Rate:
    """Bytes of index that one process builds a second: as over a sample, else as was published."""
    given = known.spec.dump.index_bytes_per_second
    if given is not None:
        name = "dump.index_bytes_per_second"
        return at_length(known, name, given, assumptions.INDEX_SAMPLED, "new cpu", "index build")
    before, of_now = assumptions.INDEX_BUILD, assumptions.INDEX_BUILD_OF_NOW
    return of_its_time(before, of_now, "new cpu", "index build", now=known.of_now)


def at_length(known: Basis, path: str, value: float, sampled: Figure, bound_by: str, name: str) -> Rate:
    """A rate that a sample showed, as it goes on over all of it: `sampled` times that."""
    low, likely, high = sampled
    return measured_rate(known.spec, path, likely * value, bound_by, (low / likely, high / likely), name)


def analyzer(known: Basis) -> Rate:
    """Bytes of cluster that one ANALYZE comes through a second."""
    return of_its_time(assumptions.ANALYZE, assumptions.ANALYZE_OF_NOW, "new disk", "analyze", now=known.of_now)


def describe_index_rebuild(known: Basis) -> tuple[str, ...]:
    """Return the assumption of the stage that rebuilds indexes, for people; empty if none is rebuilt."""
    wanted = known.spec.cluster.reindex_bytes
    if not wanted:
        return ()
    figure = assumptions.INDEX_BUILD_OF_NOW if known.of_now else assumptions.INDEX_BUILD
    low, likely, high = (units.rate(each) for each in figure)
    if known.spec.observed.index_seconds is not None and known.index_bytes:
        how = "at the rate of the indexes that were built before"
    elif (sampled := known.spec.dump.index_bytes_per_second) is not None:
        how = f"at about {units.rate(sampled)} in one process, as in a sample of the tables"
    else:
        how = f"at an assumed {likely} in one process ({low} to {high})"
    return (
        (
            f"Text sorts differently on the new server. Indexes of {units.size(wanted)} are rebuilt before the "
            f"cutover, {how}."
        ),
    )

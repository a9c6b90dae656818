"""What every method's estimate stands on: the spec's figures, night by night, with what is missing assumed, and
said."""

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

from core import units
from core.migration.estimate import assumptions
from core.migration.estimate.draws import drawn, fixed, least, most, span
from core.migration.estimate.evidence import widened
from core.migration.estimate.lanes import times
from core.migration.estimate.plausible import implausible
from core.migration.estimate.rates import MEASURED, Figure, Rate, assumed, of_its_time, off_by, slowest, stated
from core.migration.estimate.spec import Spec
from core.migration.model.estimate import bottleneck_title
from core.migration.transports.choice import WIRE_EFFICIENCY
from core.sides import Side

if TYPE_CHECKING:
    from core.migration.estimate.draws import Draws

ONE_STREAM_LIMIT = 400e6
"""No single ssh stream was seen to carry more."""

_CONTRADICTED = 1.1
"""An observed copy this many times faster than a link it went over contradicts it: the spread then keeps both."""

_SHRINKS_MUCH = 2.0
"""Data of which a sample shrinks so much may well shrink less elsewhere."""

_COMPRESSED = slice(1, 3)
"""The places of the network and of ssh in a chain of links, which carry compressed data."""

_HELD_UP = 0.85
"""A sample that reaches this fraction of the rate of the network or of ssh was held up by it."""

_BINDS = 1.6
"""A link that carries so many times what was observed, or more, is not what held it up."""

ONE_IS_WRONG = "One of them is wrong, or a cache was measured. The range covers both."


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """The figures that the methods share.

    Attributes:
        size: bytes that a copy of the files brings.
        copy: the rate of a copy of files, end to end, per byte of cluster, of all folders at the same time.
        in_turn: the same of one folder after the other, as pre-copy passes are made.
        beside: `in_turn` while the old cluster runs: a link that nobody measured beside it is taken to share with its
            clients.
        measured_whole: `copy` was observed as a whole, so that it holds the cost of each file already.
        wire: what crosses the network in bytes of cluster, as a copy compresses it: as given, else as a copy was
            observed to go, else assumed. `bare`: the same without ssh's compression.
        read, write: the disks; `back`: what the new server's disk gives back, where nobody measured that what it takes.
        roots: folders that are copied by themselves.
        of_now: both servers are taken to be of about 2017 and later.
        change: bytes of cluster that change in an hour.
        assumptions: sentences on what was assumed, by what they concern.
        warnings: sentences on figures that cannot be, or contradict each other.
    """

    spec: Spec
    size: float
    files: float
    index_bytes: float
    copy: Rate
    in_turn: Rate
    beside: Rate
    measured_whole: bool
    wire: Rate
    bare: Rate
    read: Rate
    write: Rate
    back: Rate
    cores: int
    new_cores: int
    roots: int
    of_now: bool
    change: "Draws"
    assumptions: dict[str, str]
    warnings: tuple[str, ...]

    @property
    def copy_concerns(self) -> tuple[str, ...]:
        """What a copy's assumptions concern: its links, unless it was observed as a whole."""
        if self.measured_whole:
            return ("observed", "idle", "files", "lanes", *OTHER_MACHINES)
        return ("read", "write", "wire", "ssh", "streams", "compression", "files", "lanes", *OTHER_MACHINES)

    def assumptions_about(self, *concerns: str) -> tuple[str, ...]:
        """Return the assumptions about these inputs, such as `wire` or `compression`."""
        return tuple(self.assumptions[concern] for concern in concerns if concern in self.assumptions)

    def timed(self, stage: str) -> tuple[float, ...]:
        """Seconds that a stage took in earlier executions; empty where there was none."""
        return tuple(self.spec.history.timed.get(stage, ()))


def basis(spec: Spec) -> Basis:
    """The figures of a spec, with the missing ones assumed."""
    said: dict[str, str] = {side: text for side, text in OTHER_MACHINES.items() if side in spec.history.renamed}
    old, new = spec.old, spec.new
    read = _disk(spec, "old.read_bytes_per_second", old.read_bytes_per_second, said)
    write = _disk(spec, "new.write_bytes_per_second", new.write_bytes_per_second, said)
    wire = _wire(spec, said)
    alone = (read, wire, _ssh(spec, said), write)
    chain = _side_by_side(spec, alone, said)
    copy = _copy(spec, chain, said)
    in_turn = _in_turn(spec, alone, chain, copy)
    crossing = _crossing(spec, wire, copy)
    cores = _cores(old.cores or new.cores, "cores", said)
    return Basis(
        spec=spec,
        size=spec.cluster.moved_bytes,
        files=_files(spec, said),
        index_bytes=_index_bytes(spec, said),
        copy=copy,
        in_turn=in_turn,
        beside=_beside(spec, alone, in_turn),
        measured_whole=spec.copy.observed_bytes_per_second is not None,
        wire=crossing,
        bare=_bare(spec, wire, crossing),
        read=read,
        write=write,
        back=_back(spec, write),
        cores=cores,
        new_cores=new.cores or cores,
        roots=spec.cluster.data_roots or 1,
        of_now=is_of_now(spec),
        change=_change(spec, said),
        assumptions=said,
        warnings=(*implausible(spec), *_contradictions(spec, chain)),
    )


OTHER_MACHINES = {
    Side.OLD: "Another machine had the name of the old server before. The benchmarks of that machine do not count.",
    Side.NEW: "Another machine had the name of the new server before. The benchmarks of that machine do not count.",
}
"""What is said if benchmark runs of a side do not count."""


def is_of_now(spec: Spec) -> bool:
    """Whether what is known speaks for servers of about 2017 and later: PostgreSQL 10, an SSD, many processors, a
    network of 10 Gbit/s."""
    old, new = spec.old, spec.new
    disk = max(old.read_bytes_per_second or 0, new.write_bytes_per_second or 0)
    signs = (
        (old.version or new.version or 0) >= 10,
        disk >= 1e9,
        max(old.cores or 0, new.cores or 0) >= 16,
        (spec.link.bits_per_second or 0) >= 1e10,
    )
    return any(signs) and (old.version or 10) >= 10


def _disk(spec: Spec, path: str, value: float | None, said: dict[str, str]) -> Rate:
    side, _, verb = path.removesuffix("_bytes_per_second").partition(".")
    name = f"{side} disk"
    if value is not None:
        return measured_rate(spec, path, value, name)
    now = is_of_now(spec)
    disk = assumptions.DISK_OF_NOW if now else assumptions.DISK
    said[verb] = f"The {name} was not measured. It is assumed to {verb} {units.rate(disk[1])} ({_range(disk)})."
    return of_its_time(assumptions.DISK, assumptions.DISK_OF_NOW, name, now=now)


def _back(spec: Spec, write: Rate) -> Rate:
    given = spec.new.read_bytes_per_second
    if given is None:
        return write
    return measured_rate(spec, "new.read_bytes_per_second", given, "new disk", name="new disk reads")


def measured_rate(
    spec: Spec, path: str, value: float, bound_by: str, spread: tuple[float, float] = MEASURED, name: str = ""
) -> Rate:
    """What a field says, the wider the more speaks against where it comes from."""
    return stated(value, bound_by, spec.source(path).description, widened(spread, spec.doubt(path)), name)


def _wire(spec: Spec, said: dict[str, str]) -> Rate:
    ratio = spec.copy.compression_ratio or 1.0
    if ratio > 1:
        said["compression"] = f"The data on the network shrinks to 1/{ratio:g}, and no processor is too slow for that."
    if spec.link.bits_per_second is not None:
        carried = spec.link.bits_per_second / 8 * WIRE_EFFICIENCY * ratio
        return measured_rate(spec, "link.bits_per_second", carried, "wire")
    said["wire"] = "The network was not measured. It is assumed to be gigabit Ethernet (90 Mbit/s to 10 Gbit/s)."
    return assumed(assumptions.NETWORK, "wire").scaled(WIRE_EFFICIENCY * ratio)


def _ssh(spec: Spec, said: dict[str, str]) -> Rate:
    streams = spec.link.streams or 1
    if spec.link.streams is None:
        said["streams"] = "one stream of rsync over ssh"
    shrunk = spec.copy.compression_ratio or 1.0
    if spec.copy.ssh_bytes_per_second is not None:
        carried = spec.copy.ssh_bytes_per_second
        one = measured_rate(spec, "copy.ssh_bytes_per_second", carried, "old cpu", name="one ssh stream")
        return one.scaled(streams * shrunk)
    ssh = assumptions.SSH
    said["ssh"] = (
        f"The cipher of ssh was not measured. It is assumed to reach {units.rate(ssh[1])} per stream ({_range(ssh)})."
    )
    return assumed(ssh, "old cpu", "one ssh stream").scaled(streams * shrunk)


def _side_by_side(spec: Spec, chain: tuple[Rate, ...], said: dict[str, str]) -> tuple[Rate, ...]:
    """The links as they carry all folders of the cluster, each its own at the same time."""
    cluster = spec.cluster
    fullest = (cluster.old_disk_bytes, None, cluster.largest_folder_bytes, cluster.new_disk_bytes)
    lanes = [times(cluster.moved_bytes, each) for each in fullest]
    if max(lanes) > 1:
        said["lanes"] = (
            "While the cluster is stopped, the data directory and each tablespace are copied at the same time, each by "
            "its own rsync with its own stream. Copies that use the same disk share its rate. Pre-copy passes copy "
            "one after the other."
        )
    return tuple(rate.scaled(factor) for rate, factor in zip(chain, lanes, strict=True))


def _copy(spec: Spec, chain: tuple[Rate, ...], said: dict[str, str]) -> Rate:
    """The chain's slowest link, or what was observed of all of it: that counts more."""
    observed = spec.copy.observed_bytes_per_second
    if observed is None:
        return slowest(chain)
    low, high = _off(spec)
    bound = min((rate for rate in chain if rate.stated), key=lambda rate: rate.likely, default=None)
    name = bound.bound_by if bound is not None and bound.likely < _BINDS * observed else "observed rate"
    if name == "observed rate" and _compresses(spec):
        name = "old cpu"
    if bound is not None and observed > _CONTRADICTED * bound.likely:
        low = min(low, MEASURED[0] * bound.likely / observed)
    likely, rates, seen = 1.0, [], observed
    if (spec.copy.compression_ratio or 1.0) > _SHRINKS_MUCH and not (spec.history.whole_copy or name.endswith("disk")):
        figure = assumptions.SHRUNK_SAMPLED
        carriers = [each for each in chain[_COMPRESSED] if each.stated and isfinite(each.likely)]
        carried = min((each.likely for each in carriers), default=0.0)
        if observed < _HELD_UP * carried:
            # a processor has held up the sample; the network or ssh holds up the rest if that compresses less
            rates, figure = [_of_whole(each) for each in carriers], assumptions.COMPRESSED_SAMPLED
        else:
            seen = max(observed, carried)
        slower, likely, faster = figure
        low, high = min(low, slower / likely), max(high, faster / likely)
    path = "copy.observed_bytes_per_second"
    copied = slowest((measured_rate(spec, path, likely * seen, name, (low, high), name="copy"), *rates))
    said["observed"] = _describe_observed(spec, observed, copied.likely)
    if spec.cluster.idle_wal_bytes:
        said["idle"] = f"Unused WAL segments of {units.size(spec.cluster.idle_wal_bytes)} are not copied."
    return copied


def _of_whole(carrier: Rate) -> Rate:
    """What the network or ssh carries of the whole cluster, which compresses less than the sample."""
    less = drawn("shrunk", *assumptions.SHRUNK_SAMPLED)
    return replace(carrier, draws=carrier.draws * less, likely=carrier.likely * assumptions.SHRUNK_SAMPLED[1])


def _describe_observed(spec: Spec, observed: float, expected: float) -> str:
    """Where the rate of the copy comes from, and how long it takes for what is copied."""
    moved = spec.cluster.moved_bytes
    took = f"At this rate, copying all files ({units.size(moved)}) takes {units.duration(moved / expected)}."
    if expected < _HELD_UP * observed:
        slower = f"Other files shrink less than the sample, so {units.rate(expected)} are expected for all files."
        took = " ".join((slower, took))
    if spec.history.whole_copy:
        if spec.history.copied_at is not None:
            since = "Pre-copy passes copy only what has changed since that copy."
            took = " ".join((took, since))
        return f"The last complete copy of this move was made at {units.rate(observed)} on average. {took}"
    if "copy.observed_bytes_per_second" in spec.history.sources:
        return f"A sample of the cluster's own files was copied at {units.rate(observed)}. {took}"
    return f"The copy rate was given as {units.rate(observed)}. {took}"


def _in_turn(spec: Spec, alone: tuple[Rate, ...], chain: tuple[Rate, ...], copy: Rate) -> Rate:
    """The rate of a copy of one folder after the other: `copy` without what copies at the same time gain.

    A copy that was observed as a whole has passes in it, which were made in that way.
    """
    if spec.copy.observed_bytes_per_second is None:
        return slowest(alone)
    gain = slowest(chain).likely / slowest(alone).likely
    return copy if spec.history.whole_copy or not isfinite(gain) else copy.scaled(1 / gain)


def _beside(spec: Spec, chain: tuple[Rate, ...], in_turn: Rate) -> Rate:
    if spec.copy.observed_bytes_per_second is not None:
        return in_turn
    shared = drawn("running", *assumptions.WHILE_RUNNING)
    return slowest(rate if rate.stated else replace(rate, draws=rate.draws / shared) for rate in chain)


def _off(spec: Spec) -> tuple[float, float]:
    """How far an observed rate is off the next time: as earlier copies were, else as measurements are."""
    took = spec.history.copies
    return MEASURED if len(took) < 3 else off_by(took)


def _crossing(spec: Spec, wire: Rate, copy: Rate) -> Rate:
    """What is known of the network: an observed copy crossed it, and nothing else is believed to go much faster."""
    if spec.copy.observed_bytes_per_second is None:
        return wire
    seen = copy if copy.bound_by.endswith("disk") else replace(copy, bound_by="wire")
    return slowest((wire, seen.scaled(_CONTRADICTED))) if wire.stated else seen


def _bare(spec: Spec, wire: Rate, crossing: Rate) -> Rate:
    """What crosses the network as it is. Where the network was measured, a copy that compresses was rather held up by a
    processor: what it carried of the cluster is no limit of the wire's bytes."""
    ratio = spec.copy.compression_ratio or 1.0
    return slowest((wire.scaled(1 / ratio), crossing)) if wire.stated else crossing.scaled(1 / ratio)


def _files(spec: Spec, said: dict[str, str]) -> float:
    if spec.cluster.files is not None:
        return spec.cluster.files
    relations = (spec.cluster.tables or 0) + (spec.cluster.indexes or 0)
    guessed = 1000 + spec.cluster.size_bytes / 50e6 + relations
    said["files"] = f"The number of files was not given. It is assumed to be {units.count(round(guessed))}."
    return guessed


def _index_bytes(spec: Spec, said: dict[str, str]) -> float:
    if spec.cluster.index_bytes is not None:
        return spec.cluster.index_bytes
    said["index"] = "The size of the indexes was not given. It is assumed to be 30 % of the cluster."
    return 0.3 * spec.cluster.size_bytes


def _cores(given: int | None, concern: str, said: dict[str, str]) -> int:
    if given is not None:
        return given
    said[concern] = "The number of processors was not given. It is assumed to be 4."
    return 4


def _change(spec: Spec, said: dict[str, str]) -> "Draws":
    given, size = spec.cluster.change_bytes_per_hour, spec.cluster.size_bytes
    if given is not None:
        seen = spec.history.watched
        spread = (0.7, 1.5) if seen is None else seen.change_spread
        spread = widened(spread, spec.doubt("cluster.change_bytes_per_hour"))
        return drawn("change", spread[0] * given, given, spread[1] * given)
    part, most = assumptions.CHANGE, assumptions.MOST_CHANGE
    figures = [min(each * size, bytes_) for each, bytes_ in zip(part, most, strict=True)]
    written = spec.cluster.written_bytes
    if written is not None and written < figures[1]:
        # no more has changed in that hour than was written to; another hour may be a busier one
        low, likely, high = min(figures[0], written), written, figures[2]
        said["change"] = (
            "The change rate of the cluster was not measured. The total size of the data files that were changed in "
            f"the hour before the facts were read stands for it: {units.size(likely)} an hour. The high "
            f"values of the estimate assume {units.size(high)} an hour, as in other clusters of this size."
        )
        return drawn("change", low, likely, high)
    low, likely, high = figures
    said["change"] = (
        f"The change rate of the cluster was not measured. It is assumed to be {units.size(likely)} an hour "
        f"({units.size(low)} to {units.size(high)})."
    )
    return least(drawn("change", *part) * size, drawn("change", *most))


def quieter(spec: Spec, bytes_per_hour: float) -> Spec:
    """The same while so much changes an hour, and in proportion fewer files are written to."""
    cluster, now, history = spec.cluster, span(_change(spec, {})).likely, spec.history
    written = cluster.written_bytes
    if written is not None and now > 0:
        written = min(cluster.size_bytes, written * bytes_per_hour / now)
    if history.watched is not None and now > 0:
        history = replace(history, watched=history.watched.scaled(bytes_per_hour / now))
    cluster = replace(cluster, change_bytes_per_hour=bytes_per_hour, written_bytes=written)
    return replace(spec, cluster=cluster, history=history)


def changed(known: Basis, seconds: "Draws") -> "Draws":
    """Bytes that change in so many seconds; never more than there are, nor than a watch saw files written to: where
    the same pages change again and again they are sent once."""
    sent, seen = known.change / 3600 * seconds, known.spec.history.watched
    if seen is not None:
        sent = least(sent, seen.touched(most(seconds, fixed(3600.0)), known.size))
    return least(sent, fixed(known.size))


def _contradictions(spec: Spec, chain: tuple[Rate, ...]) -> tuple[str, ...]:
    observed = spec.copy.observed_bytes_per_second
    known = [rate for rate in chain if rate.stated]
    if observed is None or not known:
        return ()
    bound = min(known, key=lambda rate: rate.likely)
    if observed > _CONTRADICTED * bound.likely:
        words = (
            f"The copy rate of {units.rate(observed)} is more than the slowest link of the copy path allows "
            f"({bottleneck_title(bound.bound_by)}, {units.rate(bound.likely)}). {ONE_IS_WRONG}"
        )
        return (words,)
    if len(known) == len(chain) and observed < 0.5 * bound.likely and not _compresses(spec):
        words = (
            f"The copy rate of {units.rate(observed)} is less than half of what the slowest link of the copy path "
            f"allows ({bottleneck_title(bound.bound_by)}, {units.rate(bound.likely)}). Something else slows it down."
        )
        return (words,)
    return ()


def _compresses(spec: Spec) -> bool:
    """What no link holds up is then held up by the processor: how fast it compresses is no link of the chain."""
    return (spec.copy.compression_ratio or 1.0) > _CONTRADICTED


def _range(rates: Figure) -> str:
    return f"{units.rate(rates[0])} to {units.rate(rates[2])}"

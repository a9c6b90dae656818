"""What every method's estimate stands on: the spec's figures, with what is missing assumed, and said.

A figure from outside: one ssh stream carries 125 to 375 MB/s on older processors, bound by one core (rsync list, 2021).
"""

from dataclasses import dataclass, replace

from core import units
from core.migration.estimate.rates import MEASURED, Rate, assumed, slowest, stated
from core.migration.estimate.spec import Spec
from core.migration.model.estimate import Span
from core.migration.transports.choice import WIRE_EFFICIENCY

ONE_STREAM_LIMIT = 400e6
"""No single ssh stream was seen to carry more."""

SECONDS_A_FILE = Span(0.0001, 0.0004, 0.005)
"""What each file costs besides its bytes: open, attributes, rename; a seek where the disk turns."""

_CONTRADICTED = 1.1
"""An observed copy this many times faster than a link it went over contradicts it: the span then keeps both."""

_ONE_IS_WRONG = "one is wrong, or a cache was measured; low to high covers both"

_DISK = (60e6, 150e6, 500e6)
_SSH = (125e6, 300e6, 400e6)
_GIGABIT = (90e6 / 8, 1e9 / 8, 10e9 / 8)


@dataclass(frozen=True, slots=True)
class Basis:
    """The figures that the methods share.

    Attributes:
        copy: the rate of a copy of files, end to end, per byte of cluster.
        measured_whole: `copy` was observed as a whole, so that it holds the cost of each file already.
        wire: what the network carries: as given, else as a copy was observed to go, else assumed.
        read, write: the disks.
        change: bytes of cluster that change in an hour, low, likely and high.
        assumptions: sentences on what was assumed, by what they concern.
        warnings: sentences on figures that contradict each other.
    """

    spec: Spec
    size: float
    files: float
    index_bytes: float
    copy: Rate
    measured_whole: bool
    wire: Rate
    read: Rate
    write: Rate
    cores: int
    change: Span
    assumptions: dict[str, str]
    warnings: tuple[str, ...]

    @property
    def copy_concerns(self) -> tuple[str, ...]:
        """What a copy's assumptions concern: its links, unless it was observed as a whole."""
        if self.measured_whole:
            return ("observed", "files")
        return ("read", "write", "wire", "ssh", "streams", "compression", "files")

    def said(self, *concerns: str) -> tuple[str, ...]:
        """The assumptions that concern a method."""
        return tuple(self.assumptions[concern] for concern in concerns if concern in self.assumptions)


def basis(spec: Spec) -> Basis:
    """The figures of a spec, with the missing ones assumed."""
    said: dict[str, str] = {}
    read = _disk(spec.old.read_bytes_per_second, "old disk", "read", said)
    write = _disk(spec.new.write_bytes_per_second, "new disk", "write", said)
    wire = _wire(spec, said)
    chain = (read, wire, _ssh(spec, said), write)
    copy = _copy(spec, chain, said)
    return Basis(
        spec=spec,
        size=spec.cluster.size_bytes,
        files=_files(spec, said),
        index_bytes=_index_bytes(spec, said),
        copy=copy,
        measured_whole=spec.copy.observed_bytes_per_second is not None,
        wire=_crossing(spec, wire, copy),
        read=read,
        write=write,
        cores=_cores(spec, said),
        change=_change(spec, said),
        assumptions=said,
        warnings=_contradictions(spec, chain),
    )


def _disk(value: float | None, name: str, verb: str, said: dict[str, str]) -> Rate:
    if value is not None:
        return stated(value, name)
    said[verb] = f"the {name} was not measured: assumed to {verb} {units.rate(_DISK[1])} ({_range(_DISK)})"
    return assumed(*_DISK, name)


def _wire(spec: Spec, said: dict[str, str]) -> Rate:
    ratio = spec.copy.compression_ratio or 1.0
    if ratio > 1:
        said["compression"] = f"what crosses the wire shrinks to 1/{ratio:g}, and no processor is too slow for that"
    if spec.link.bits_per_second is not None:
        return stated(spec.link.bits_per_second / 8 * WIRE_EFFICIENCY * ratio, "wire")
    said["wire"] = "the network was not measured: assumed to be gigabit (90 Mbit/s to 10 Gbit/s)"
    return assumed(*_GIGABIT, "wire").scaled(WIRE_EFFICIENCY * ratio)


def _ssh(spec: Spec, said: dict[str, str]) -> Rate:
    streams = spec.link.streams or 1
    if spec.link.streams is None:
        said["streams"] = "one stream of rsync over ssh"
    shrunk = spec.copy.compression_ratio or 1.0
    if spec.copy.ssh_bytes_per_second is not None:
        return stated(spec.copy.ssh_bytes_per_second, "old cpu").scaled(streams * shrunk)
    said["ssh"] = f"the cipher was not measured: assumed {units.rate(_SSH[1])} a stream ({_range(_SSH)})"
    return assumed(*_SSH, "old cpu").scaled(streams * shrunk)


def _copy(spec: Spec, chain: tuple[Rate, ...], said: dict[str, str]) -> Rate:
    observed = spec.copy.observed_bytes_per_second
    if observed is None:
        return slowest(chain)
    whole = stated(observed, "observed", MEASURED).seconds(spec.cluster.size_bytes)
    said["observed"] = (
        f"the copy goes at the observed {units.rate(observed)}: "
        f"{units.size(spec.cluster.size_bytes)} take {units.duration(whole.likely)}"
    )
    bound = min((rate for rate in chain if rate.stated), key=lambda rate: rate.likely, default=None)
    if bound is None or bound.likely >= 1.6 * observed:
        return stated(observed, "old cpu" if _compresses(spec) else "observed rate")
    rate = stated(observed, bound.bound_by)
    if observed <= _CONTRADICTED * bound.likely:
        return rate
    return replace(rate, low=min(rate.low, bound.low), high=max(rate.high, bound.high))


def _crossing(spec: Spec, wire: Rate, copy: Rate) -> Rate:
    """What is known of the network: an observed copy crossed it, and counts where nothing else does."""
    if spec.copy.observed_bytes_per_second is None:
        return wire
    if not wire.stated:
        return replace(copy, bound_by="wire")
    return replace(wire, high=max(wire.high, copy.high))


def _files(spec: Spec, said: dict[str, str]) -> float:
    if spec.cluster.files is not None:
        return spec.cluster.files
    guessed = 1000 + spec.cluster.size_bytes / 50e6
    said["files"] = f"the number of files was not given: assumed {units.count(round(guessed))}"
    return guessed


def _index_bytes(spec: Spec, said: dict[str, str]) -> float:
    if spec.cluster.index_bytes is not None:
        return spec.cluster.index_bytes
    said["index"] = "the size of the indexes was not given: assumed 30 % of the cluster"
    return 0.3 * spec.cluster.size_bytes


def _cores(spec: Spec, said: dict[str, str]) -> int:
    if spec.old.cores is not None:
        return spec.old.cores
    said["cores"] = "the processors were not counted: assumed 4"
    return 4


def _change(spec: Spec, said: dict[str, str]) -> Span:
    given = spec.cluster.change_bytes_per_hour
    if given is not None:
        return Span(0.7 * given, given, 1.5 * given)
    size = spec.cluster.size_bytes
    said["change"] = "how fast the cluster changes was not given: assumed 0.5 % of it an hour (0.1 % to 5 %)"
    return Span(0.001 * size, 0.005 * size, 0.05 * size)


def _contradictions(spec: Spec, chain: tuple[Rate, ...]) -> tuple[str, ...]:
    observed = spec.copy.observed_bytes_per_second
    known = [rate for rate in chain if rate.stated]
    if observed is None or not known:
        return ()
    bound = min(known, key=lambda rate: rate.likely)
    if observed > _CONTRADICTED * bound.likely:
        carried = f"the {bound.bound_by} carries ({units.rate(bound.likely)})"
        return (f"the observed {units.rate(observed)} is more than {carried}: {_ONE_IS_WRONG}",)
    if len(known) == len(chain) and observed < 0.5 * bound.likely and not _compresses(spec):
        carried = f"the slowest link carries ({bound.bound_by}, {units.rate(bound.likely)})"
        return (f"the observed {units.rate(observed)} is less than half of what {carried}: something holds it up",)
    return ()


def _compresses(spec: Spec) -> bool:
    """What no link holds up is then held up by the processor: how fast it compresses is no link of the chain."""
    return (spec.copy.compression_ratio or 1.0) > _CONTRADICTED


def _range(rates: tuple[float, float, float]) -> str:
    return f"{units.rate(rates[0])} to {units.rate(rates[2])}"

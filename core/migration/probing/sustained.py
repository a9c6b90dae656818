"""A longer write to the disk of the new server, on request: its rate when caches are full and credits are used up.

Many disks are fast only at first: an SSD has a part that is faster than the rest, an array has a cache, and a disk of a
cloud has credits that it collects while it is idle. The copy of a large cluster takes long, so the later rate counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from math import log

from core import units
from core.errors import InputError, ParseError
from core.facts.model import Facts
from core.jobs import Job, Note, Progress
from core.migration.model.probe import Probe, ProbeJournal, Quantity
from core.migration.probing.taking import ProbeContext, scratch_folder
from core.servers.shell import call, quoted
from core.text import lines_of

PIECE = 64 * 1024**2
LEAST_SECONDS, MOST_SECONDS = 10.0, 6 * 3600.0
_OF_THE_FREE = 0.5
"""At most half of the free space is used, so that other programs on the new server can still write."""

_TAIL = 0.25
"""The start is the first quarter of the time, and the tail is the last quarter."""

_FELL = 0.8
"""If the rate of the tail is below this fraction of the start, the disk has become slower. Smaller differences are
noise."""

_GRACE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Sustained:
    """The result of a longer write.

    Attributes:
        bytes: the bytes that were written.
        seconds: the time that this took.
        start: the rate in the first quarter of the time, in bytes per second.
        tail: the rate in the last quarter of the time, in bytes per second.
        fell_after: the bytes after which the disk became slower; None if it did not.
    """

    bytes: int
    seconds: float
    start: float
    tail: float
    fell_after: int | None


def sustained(pieces: Sequence[float], size: int = PIECE) -> Sustained:
    """Return the result by the seconds of each piece, in order; raise ParseError if there is none."""
    if not pieces or min(pieces) <= 0:
        raise ParseError("the sustained write returned no measurement", "give it more time")
    whole = sum(pieces)
    start, tail = _rate(pieces, whole, size), _rate(pieces[::-1], whole, size)
    fell = _break(pieces) * size if tail < _FELL * start and len(pieces) > 1 else None
    return Sustained(len(pieces) * size, whole, start, tail, fell)


def _rate(pieces: Sequence[float], whole: float, size: int) -> float:
    """Return the rate of the first pieces, until a quarter of the time is over, in bytes per second."""
    ends = list(accumulate(pieces))
    number = next(at for at, taken in enumerate(ends, 1) if taken >= _TAIL * whole)
    return number * size / ends[number - 1]


def _break(pieces: Sequence[float]) -> int:
    """Return the number of pieces before the disk became slower: the split with the least variance on both sides."""
    rates = [-log(each) for each in pieces]
    return min(range(1, len(rates)), key=lambda at: _scatter(rates[:at]) + _scatter(rates[at:]))


def _scatter(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((each - mean) ** 2 for each in values)


def measure(site: ProbeContext, seconds: float, known: float | None, journal: ProbeJournal) -> Probe:
    """Write to the disk of the new server beside the target, and record the result. A note announces it before.

    Args:
        site: both servers and the move.
        seconds: the longest duration.
        known: the rate of a short probe in bytes per second, for the announcement; None if not known.
        journal: records the result.

    Raises:
        InputError: the time is too short or too long, or there is not enough free space.
        ParseError: nothing was measured.
        ServerError: as Server.run does.
    """
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise InputError(
            (f"the sustained write must last {units.duration(LEAST_SECONDS)} to {units.duration(MOST_SECONDS)}"),
            "such as 10m",
        )
    most = _most_bytes(site)
    site.job.report(Note(_forecast(site, seconds, most, known)))
    with scratch_folder(site) as folder:
        pieces = _Pieces(site.job, most)
        completed = site.new.run(
            call("sustained_write", folder, most, round(seconds)),
            site.job,
            user=site.writer,
            deadline=seconds + _GRACE_SECONDS,
            title="probe: sustained write",
            on_stdout=pieces.take,
        )
    found = sustained(pieces.seconds)
    now = datetime.now(UTC)
    taken = Probe(
        quantity=Quantity.SUSTAINED,
        bytes_per_second=found.tail,
        bytes=found.bytes,
        seconds=found.seconds,
        method=_words(found),
        command=completed.command,
        raw=pieces.text,
        taken_at=now,
        began_at=now,
    )
    journal.probe_taken(site.move.name, taken)
    return taken


class _Pieces:
    """The output of the longer write while it runs."""

    def __init__(self, job: Job, most: int) -> None:
        self._job, self._most, self._read = job, most, bytearray()

    def take(self, chunk: bytes) -> None:
        self._read += chunk
        written = len(self.seconds) * PIECE
        self._job.report(Progress("probe:sustained-write", "probe: sustained write", written, self._most, "bytes"))

    @property
    def text(self) -> str:
        return self._read.decode(errors="replace")

    @property
    def seconds(self) -> list[float]:
        words = [line.partition(" ") for line in lines_of(self.text) if line.startswith("piece ")]
        return [int(number) / 1e9 for _, _, number in words if number.isdecimal()]


def _most_bytes(site: ProbeContext) -> int:
    """Return the size of the cluster, but at most half of the free space beside the target, in whole pieces."""
    disk = _disk(site.new_facts, site.move.target)
    cluster = site.old_facts.cluster(site.move.cluster)
    size = cluster.size_bytes if cluster is not None and cluster.size_bytes else disk
    most = int(min(size, _OF_THE_FREE * disk)) // PIECE * PIECE
    if most < PIECE:
        raise InputError(
            (
                f"a sustained write is not possible: {site.new.name} has no room beside {site.move.target}, or "
                "there is nothing to move"
            ),
            f"at least {units.size(2 * PIECE)} must be free, and the cluster must be as large",
        )
    return most


def _disk(facts: Facts, target: str) -> int:
    disk = facts.file_system_of(target)
    if disk is None:
        raise InputError(
            f"the facts of {facts.server} do not say how much is free in {target}",
            f"pghaul facts {quoted(facts.server)}",
        )
    return disk.available_bytes


def _forecast(site: ProbeContext, seconds: float, most: int, known: float | None) -> str:
    """Return the announcement: what will be written, and how long that takes.

    Args:
        site: both servers and the move.
        seconds: the longest duration.
        most: the largest number of bytes.
        known: the rate of a short probe in bytes per second; None if not known.
    """
    takes = min(seconds, most / known) if known else seconds
    about = (
        f"about {units.size(min(most, known * seconds))} in {units.duration(takes)}" if known else "as fast as it goes"
    )
    return (
        f"{site.new.name}: one file of random bytes is written beside {site.move.target} for "
        f"{units.duration(seconds)}, with {units.size(most)} at most, {about}. This slows down others on "
        "that disk. The file is removed afterwards"
    )


def _words(found: Sustained) -> str:
    how = f"random bytes, flushed every {units.size(PIECE)}"
    if found.fell_after is None:
        return f"{how}: as fast at the end as at the start ({units.rate(found.start)})"
    return (
        f"{how}: {units.rate(found.start)} at the start, slower after {units.size(found.fell_after)}; the rate "
        "at the end counts"
    )

"""What the new server's disk still takes when a cache is full and credits are used up: a longer write, on request.

Many disks are fast at first: an SSD writes into a part of itself that is quick, an array into its cache, a disk of a
cloud by credits that it saves up while nobody asks. A copy of a large cluster is long, and the end is what it gets.
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
from core.servers.shell import call

PIECE = 64 * 1024**2
LEAST_SECONDS, MOST_SECONDS = 10.0, 6 * 3600.0
_OF_THE_FREE = 0.5
"""Half of what is free stays free for whoever works on the new server."""

_TAIL = 0.25
"""The last quarter of the time is the tail."""

_FELL = 0.8
"""A tail slower than this part of the start is another disk: less is noise."""

_GRACE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Sustained:
    """A longer write: all of it, its start, its tail, and after how many bytes it fell; None: it did not.

    Bytes a second of the first and of the last quarter of the time.
    """

    bytes: int
    seconds: float
    start: float
    tail: float
    fell_after: int | None


def sustained(pieces: Sequence[float], size: int = PIECE) -> Sustained:
    """From the seconds of each piece, in order; raises ParseError where there is none."""
    if not pieces or min(pieces) <= 0:
        raise ParseError("the sustained write returned no measurement", "give it more time")
    whole = sum(pieces)
    start, tail = _rate(pieces, whole, size), _rate(pieces[::-1], whole, size)
    fell = _break(pieces) * size if tail < _FELL * start and len(pieces) > 1 else None
    return Sustained(len(pieces) * size, whole, start, tail, fell)


def _rate(pieces: Sequence[float], whole: float, size: int) -> float:
    """Bytes a second of the first of these, until a quarter of the time is over."""
    ends = list(accumulate(pieces))
    number = next(at for at, taken in enumerate(ends, 1) if taken >= _TAIL * whole)
    return number * size / ends[number - 1]


def _break(pieces: Sequence[float]) -> int:
    """How many pieces go before the fall: there the rates on either side are most alike among themselves."""
    rates = [-log(each) for each in pieces]
    return min(range(1, len(rates)), key=lambda at: _scatter(rates[:at]) + _scatter(rates[at:]))


def _scatter(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((each - mean) ** 2 for each in values)


def measure(site: ProbeContext, seconds: float, known: float | None, journal: ProbeJournal) -> Probe:
    """Write to new's disk beside the target for so long at the most, record what came of it; what it will do is said.

    `known`: what a short probe measured, by which it is forecast.

    Raises:
        InputError: the time is too short or too long, or there is no room for it.
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
    """What the longer write says as it goes on."""

    def __init__(self, job: Job, most: int) -> None:
        self._job, self._most, self._read = job, most, bytearray()

    def take(self, chunk: bytes) -> None:
        self._read += chunk
        self._job.report(Progress("probe: sustained write", len(self.seconds) * PIECE, self._most, "bytes"))

    @property
    def text(self) -> str:
        return self._read.decode(errors="replace")

    @property
    def seconds(self) -> list[float]:
        words = [line.partition(" ") for line in self.text.splitlines() if line.startswith("piece ")]
        return [int(number) / 1e9 for _, _, number in words if number.isdecimal()]


def _most_bytes(site: ProbeContext) -> int:
    """As many as the cluster has, but half of what is free beside the target at the most, in whole pieces."""
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
            f"the facts of {facts.server} do not say how much is free in {target}", f"pghaul facts {facts.server}"
        )
    return disk.available_bytes


def _forecast(site: ProbeContext, seconds: float, most: int, known: float | None) -> str:
    """What it will write, and for how long, before it does."""
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

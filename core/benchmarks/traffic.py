"""Whose traffic it was: what the volume's device moved during a repetition, held against what its own processes did.

Right before and right after a phase's command, in the same shell, the device's counters are read (`stat` in its folder
in /sys) and those of every process (`io` in its folder in /proc: what it caused to be read from and written to devices,
that of children that ended included; man 5 proc). What the device moved beyond the phase's own processes is either the
file system's own (the journal, by threads of the kernel) or other processes': it counts as others' only as far as other
processes say that they moved so much, so that a journal, or traffic on another disk, is not taken for a second writer.
"""

import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from core import units
from core.benchmarks.devices import Traffic, counters
from core.benchmarks.model import Mark, MarkKind, Metrics
from core.benchmarks.tool import Words

DISTURBED_FRACTION = 0.05
"""Of what the device moved: from here on others' share is a disturbance…"""
FLOOR_BYTES = 4 * 2**20
"""…if it is no less than this: log files and the like."""
JOURNAL_BYTES = 64 * 1024
"""What a file system writes of its own for each flush, at the most: a few blocks of journal."""
CACHE_FRACTION = 0.5
"""A phase that got less than this share of its reads from the device read from memory; so for writes."""

TICKS_PER_SECOND = 100
"""The kernel's unit of processor time towards programs, USER_HZ: 100 on every architecture that is still built."""

_STAT = re.compile(
    r"(?P<id>\d{1,10}) \((?P<name>.*)\) \S -?\d{1,10} (?P<group>\d{1,10}) (?P<session>\d{1,10}) "
    r"(?:(?:-?\d{1,20} ){7}(?P<user>\d{1,20}) (?P<system>\d{1,20}) )?",
    re.DOTALL,
)
_UPTIME = re.compile(r"(?P<seconds>\d{1,15}\.\d\d) \d{1,15}\.\d\d")
_IO = re.compile(r"/proc/(?P<id>\d{1,10})/io:(?P<field>\w+): (?P<number>\d{1,20})")
# md0_raid5, md127_raid10
_ARRAY_THREAD = re.compile(r"(?P<array>md\w+?)_raid\d{0,2}")
_CWD = re.compile(r"/proc/(?P<id>\d{1,10})/cwd")


@dataclass(frozen=True, slots=True)
class Process:
    """What one process has moved since it began; children that ended are in it. Bytes.

    `asked_to_read` and `asked_to_write` count what went through memory alone, too.
    """

    name: str
    group: int
    session: int
    read: int = 0
    written: int = 0
    asked_to_read: int = 0
    asked_to_write: int = 0
    ticks: int = 0
    """Processor time, of its own threads alone."""


@dataclass(frozen=True, slots=True)
class Look:
    """The counters at one moment; `inside`: the processes whose working directory is the benchmark's folder."""

    device: Traffic
    processes: Mapping[int, Process]
    inside: frozenset[int]
    uptime_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A phase's two looks, and the process group that its command ran in."""

    group: int
    before: Look
    after: Look


@dataclass(frozen=True, slots=True)
class Share:
    """What some process moved during a phase."""

    id: int
    process: Process

    @property
    def moved(self) -> int:
        return self.process.read + self.process.written

    def and_before(self, before: "Share | None") -> "Share":
        """With what it moved during an earlier phase."""
        if before is None:
            return self
        read, written = (self.process.read + before.process.read, self.process.written + before.process.written)
        return Share(self.id, replace(self.process, read=read, written=written))


def watched(words: Words, program: str, counters_path: str, inside: tuple[str, str]) -> tuple[Words, str]:
    """The command between two looks, and the mark that `taken_apart` finds them by.

    What works in the folders `inside`, the benchmark's own and the one that it is served from, belongs to the command.
    """
    # nobody on the server can print it before it is known there
    mark = f"=={secrets.token_hex(16)}=="
    own, served = f"*/{inside[0].rpartition('/')[2]}*", f"{inside[1]}*"
    return ("bench_run_watched", mark, program, counters_path, own, served, *words), mark


def taken_apart(output: str, mark: str) -> tuple[str, Seen | None]:
    """What the command itself printed, and what was seen; None where its end was cut off."""
    parts = output.split(mark)
    # cut off: what the tool printed counts, what was seen does not
    if len(parts) != 5 or re.fullmatch(r"\s*[0-9]{1,10}\s*", parts[4]) is None:
        return parts[0], None
    return parts[0], Seen(int(parts[4]), before=_look(parts[3]), after=_look(parts[1]))


def _look(text: str) -> Look:
    device, *lines = text.strip("\n").split("\n")
    processes = {
        int(found["id"]): Process(
            found["name"],
            int(found["group"]),
            int(found["session"]),
            ticks=int(found["user"] or 0) + int(found["system"] or 0),
        )
        # names may hold blanks and brackets: stat's second field ends at the last bracket
        for found in map(_STAT.match, lines)
        if found is not None
    }
    moved: dict[int, dict[str, int]] = {}
    for found in filter(None, map(_IO.fullmatch, lines)):
        moved.setdefault(int(found["id"]), {})[found["field"]] = int(found["number"])
    for number, fields in moved.items():
        if number in processes:
            processes[number] = replace(
                processes[number],
                read=fields.get("read_bytes", 0),
                written=fields.get("write_bytes", 0),
                asked_to_read=fields.get("rchar", 0),
                asked_to_write=fields.get("wchar", 0),
            )
    inside = frozenset(int(found["id"]) for found in filter(None, map(_CWD.fullmatch, lines)))
    uptime = next((float(found["seconds"]) for found in map(_UPTIME.fullmatch, lines) if found is not None), None)
    return Look(counters(device), processes, inside, uptime)


def own_and_others(seen: Seen) -> tuple[list[Share], list[Share]]:
    """What each process moved in between: those of the phase or in its folder, and the others."""
    shares = [Share(number, _moved(process, seen.before, number)) for number, process in seen.after.processes.items()]
    mine = {
        share.id
        for share in shares
        # by its group, or by where it works: a server's processes lead groups of their own
        if share.process.group == seen.group or share.id in seen.after.inside or share.id in seen.before.inside
    }
    others = [share for share in shares if share.id not in mine]
    return [share for share in shares if share.id in mine], others


def _moved(process: Process, before: Look, number: int) -> Process:
    known = before.processes.get(number)
    if known is None or known.session != process.session:  # begun since, whatever had its number before
        return process
    return replace(
        process,
        read=max(0, process.read - known.read),
        written=max(0, process.written - known.written),
        asked_to_read=max(0, process.asked_to_read - known.asked_to_read),
        asked_to_write=max(0, process.asked_to_write - known.asked_to_write),
        ticks=max(0, process.ticks - known.ticks),
    )


def array_thread_cores(phases: Sequence[Seen], devices: Collection[str]) -> float | None:
    """Cores that the busiest thread of an md array among the devices kept busy in any of the phases.

    md names a thread after its array and level: md0_raid5. None where there is none, or nobody timed the looks.
    """
    found = []
    for seen in phases:
        # an output of before the looks were timed
        if seen.before.uptime_seconds is None or seen.after.uptime_seconds is None:
            continue
        seconds = seen.after.uptime_seconds - seen.before.uptime_seconds
        threads = [
            _moved(process, seen.before, number)
            for number, process in seen.after.processes.items()
            if (named := _ARRAY_THREAD.fullmatch(process.name)) is not None and named["array"] in devices
        ]
        found += [thread.ticks / TICKS_PER_SECOND / seconds for thread in threads if seconds > 0]
    return max(found, default=None)


@dataclass(frozen=True, slots=True)
class Foreign:
    """What others may have moved on the device: bytes of them, of all, and the processes that moved most anywhere."""

    bytes: int
    total: int
    others: Sequence[Share]
    explained: int
    """What the file system's own journal may have written."""

    @property
    def disturbs(self) -> bool:
        return self.bytes >= max(FLOOR_BYTES, DISTURBED_FRACTION * self.total)


def foreign(phases: Sequence[Seen]) -> Foreign:
    """What others moved during the phases of a repetition, at the most; reads and writes each for themselves."""
    moved = total = explained = 0
    shares: dict[int, Share] = {}
    for seen in phases:
        device = seen.after.device.since(seen.before.device)
        own, others = own_and_others(seen)
        # others alone say how much of the rest was theirs; the device alone says how much there was
        read = max(0, device.read_bytes - sum(share.process.read for share in own))
        written = max(0, device.written_bytes - sum(share.process.written for share in own))
        moved += min(read, sum(share.process.read for share in others))
        moved += min(written, sum(share.process.written for share in others))
        total += device.total
        # a kernel that does not count flushes explains everything: then somebody has to be seen
        explained += read + written if device.flushes is None else min(written, JOURNAL_BYTES * device.flushes)
        for share in others:
            shares[share.id] = share.and_before(shares.get(share.id))
    # three names are enough to find the culprit by
    most = sorted(shares.values(), key=lambda share: -share.moved)[:3]
    return Foreign(moved, total, [share for share in most if share.moved >= FLOOR_BYTES / 4], explained)


def disturbed(found: Foreign, device: str) -> Mark:
    """The mark of a repetition that others disturbed, with the figures."""
    names = ", ".join(f"{share.process.name} (process {share.id}, {units.size(share.moved)})" for share in found.others)
    text = (
        f"other processes transferred {units.size(found.bytes)} of the {units.size(found.total)} that {device} "
        "transferred meanwhile"
    )
    return Mark(MarkKind.DISTURBED, f"{text}; active beside the benchmark: {names}" if names else text)


def from_memory(phases: Sequence[Seen], metrics: Metrics) -> list[Mark]:
    """The marks of reads that the device never did, and of writes that never reached it."""
    read = written = asked_to_read = asked_to_write = 0
    for seen in phases:
        device = seen.after.device.since(seen.before.device)
        read, written = read + device.read_bytes, written + device.written_bytes
        for share in own_and_others(seen)[0]:
            asked_to_read += share.process.asked_to_read
            asked_to_write += share.process.asked_to_write
    marks = []
    # programs read their own files too: a few megabytes do not matter
    if _measures(metrics, "read_") and read + FLOOR_BYTES < CACHE_FRACTION * asked_to_read:
        text = f"{units.size(asked_to_read)} were read, of which the device delivered {units.size(read)}"
        marks.append(Mark(MarkKind.CACHE, text))
    if _measures(metrics, "write_") and written + FLOOR_BYTES < CACHE_FRACTION * asked_to_write:
        text = f"{units.size(asked_to_write)} were written, of which {units.size(written)} reached the device"
        marks.append(Mark(MarkKind.MEMORY, text))
    return marks


def _measures(metrics: Metrics, start: str) -> bool:
    return any(name in metrics for name in (f"{start}bytes_per_second", f"{start}iops"))

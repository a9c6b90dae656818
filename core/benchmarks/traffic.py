"""The traffic of others: the traffic of the volume's device during a repetition, compared with its own.

Directly before and after the command of a phase, the same shell reads the counters of the device (`stat` in its folder
in /sys) and of all processes (`io` in their folders in /proc: what they have read from and written to devices,
including children that have ended; man 5 proc). Traffic of the device that is not from the phase's own processes comes
from the file system itself (the journal, by kernel threads) or from other processes. It counts as theirs only as far as
their own counters show it. So neither a journal nor traffic on another disk is taken for another writer.
"""

import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core import units
from core.benchmarks.folders import Folder
from core.benchmarks.model import Mark, MarkKind, Metrics
from core.benchmarks.tool import Phase, Words
from core.benchmarks.volume_device import Situation, Traffic, counters
from core.facts.block_devices import is_one_disk
from core.facts.model import BlockDevice, Facts
from core.jobs import Job
from core.servers.shell import call
from core.text import counted

DISTURBED_FRACTION = 0.05
"""The share of others in the traffic of the device from which on a repetition is disturbed."""
FLOOR_BYTES = 4 * 2**20
"""The least traffic of others that is a disturbance. Log files cause less."""
JOURNAL_BYTES = 64 * 1024
"""The most that a file system itself writes for each flush: a few blocks of its journal."""
CACHE_FRACTION = 0.5
"""If less than this share of the reads of a phase came from the device, it has read from memory. The same holds for
writes."""

TICKS_PER_SECOND = 100
"""The kernel's unit of processor time, USER_HZ: 100 on every architecture that is still supported."""

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
    """The traffic of a process since its start, in bytes, including that of children that have ended.

    `asked_to_read` and `asked_to_write` also count data that went only through memory.
    """

    name: str
    group: int
    session: int
    read: int = 0
    written: int = 0
    asked_to_read: int = 0
    asked_to_write: int = 0
    ticks: int = 0
    """The processor time of its own threads."""


@dataclass(frozen=True, slots=True)
class Look:
    """The counters at one moment. `inside` are the processes that work in the benchmark's folder."""

    device: Traffic
    processes: Mapping[int, Process]
    inside: frozenset[int]
    uptime_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """The counters before and after a phase, and the process group of its command."""

    group: int
    before: Look
    after: Look


@dataclass(frozen=True, slots=True)
class Share:
    """The traffic of a process during a phase."""

    id: int
    process: Process

    @property
    def moved(self) -> int:
        return self.process.read + self.process.written

    def and_before(self, before: "Share | None") -> "Share":
        """Return the sum with its traffic during an earlier phase."""
        if before is None:
            return self
        read, written = (self.process.read + before.process.read, self.process.written + before.process.written)
        return Share(self.id, replace(self.process, read=read, written=written))


def watched(words: Words, program: str, counters_path: str, inside: tuple[str, str]) -> tuple[Words, str]:
    """Return the command between two readings of the counters, and the mark by which `taken_apart` finds them.

    Processes that work in the folders `inside`, the benchmark's own and the one that it is served from, belong to it.
    """
    # The mark is random, so that nobody on the server can print it before.
    mark = f"=={secrets.token_hex(16)}=="
    own, served = f"*/{inside[0].rpartition('/')[2]}*", f"{inside[1]}*"
    return ("bench_run_watched", mark, program, counters_path, own, served, *words), mark


def taken_apart(output: str, mark: str) -> tuple[str, Seen | None]:
    """Return the output of the command itself, and the counters; None if the end is missing."""
    parts = output.split(mark)
    # The end is missing: only the output of the tool counts.
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
        # Names may contain spaces and brackets: the second field of stat ends at the last bracket.
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
    """Return the traffic of each process of the phase or in its folder, and of each other process."""
    shares = [Share(number, _moved(process, seen.before, number)) for number, process in seen.after.processes.items()]
    mine = {
        share.id
        for share in shares
        # By its group or by its working directory, because the processes of a server have groups of their own.
        if share.process.group == seen.group or share.id in seen.after.inside or share.id in seen.before.inside
    }
    others = [share for share in shares if share.id not in mine]
    return [share for share in shares if share.id in mine], others


def _moved(process: Process, before: Look, number: int) -> Process:
    known = before.processes.get(number)
    if (
        known is None or known.session != process.session
    ):  # It has started since, even if another process had its number before.
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
    """Return the busy cores of the busiest md thread among the devices in any of the phases.

    md names a thread after its array and level: md0_raid5. Returns None if there is no such thread, or if the time of
    the readings is not known.
    """
    found = []
    for seen in phases:
        # An output from before the time of the readings was recorded.
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
    """The possible traffic of others on the device in bytes, that of all, and the processes with the most traffic."""

    bytes: int
    total: int
    others: Sequence[Share]
    explained: int
    """The bytes that the file system's own journal may have written."""

    @property
    def disturbs(self) -> bool:
        return self.bytes >= max(FLOOR_BYTES, DISTURBED_FRACTION * self.total)


def foreign(phases: Sequence[Seen]) -> Foreign:
    """Return the most that others have read and written during the phases of a repetition."""
    moved = total = explained = 0
    shares: dict[int, Share] = {}
    for seen in phases:
        device = seen.after.device.since(seen.before.device)
        own, others = own_and_others(seen)
        # Only the others' counters tell their share of the rest. Only the device tells how large the rest is.
        read = max(0, device.read_bytes - sum(share.process.read for share in own))
        written = max(0, device.written_bytes - sum(share.process.written for share in own))
        moved += min(read, sum(share.process.read for share in others))
        moved += min(written, sum(share.process.written for share in others))
        total += device.total
        # If the kernel does not count flushes, the journal could explain everything. Another process must be seen.
        explained += read + written if device.flushes is None else min(written, JOURNAL_BYTES * device.flushes)
        for share in others:
            shares[share.id] = share.and_before(shares.get(share.id))
    # Three names are enough to find the cause.
    most = sorted(shares.values(), key=lambda share: -share.moved)[:3]
    return Foreign(moved, total, [share for share in most if share.moved >= FLOOR_BYTES / 4], explained)


def disturbed(found: Foreign, device: str) -> Mark:
    """Return the mark of a repetition that others have disturbed, with the numbers."""
    names = ", ".join(f"{share.process.name} (process {share.id}, {units.size(share.moved)})" for share in found.others)
    text = (
        f"other processes transferred {units.size(found.bytes)} of the {units.size(found.total)} that {device} "
        "transferred meanwhile"
    )
    return Mark(MarkKind.DISTURBED, f"{text}; active beside the benchmark: {names}" if names else text)


def from_memory(phases: Sequence[Seen], metrics: Metrics) -> list[Mark]:
    """Return the marks for reads that did not come from the device, and for writes that did not reach it."""
    read = written = asked_to_read = asked_to_write = 0
    for seen in phases:
        device = seen.after.device.since(seen.before.device)
        read, written = read + device.read_bytes, written + device.written_bytes
        for share in own_and_others(seen)[0]:
            asked_to_read += share.process.asked_to_read
            asked_to_write += share.process.asked_to_write
    marks = []
    # Programs read their own files too. A few megabytes do not matter.
    if _measures(metrics, "read_") and read + FLOOR_BYTES < CACHE_FRACTION * asked_to_read:
        text = f"{units.size(asked_to_read)} were read, of which the device delivered {units.size(read)}"
        marks.append(Mark(MarkKind.CACHE, text))
    if _measures(metrics, "write_") and written + FLOOR_BYTES < CACHE_FRACTION * asked_to_write:
        text = f"{units.size(asked_to_write)} were written, of which {units.size(written)} reached the device"
        marks.append(Mark(MarkKind.MEMORY, text))
    return marks


def _measures(metrics: Metrics, start: str) -> bool:
    return any(name in metrics for name in (f"{start}bytes_per_second", f"{start}iops"))


# Watching the volume's device during a repetition, and marking the repetition by the result.

FASTEST_ROTATING = 600e6
"""The most that one rotating disk can read, in bytes per second: the rate of SATA. The fastest disks reach half."""
FASTEST_SOLID = 2.5e9
"""The rate of a solid-state disk on SAS-4: 22.5 Gbit/s, including its encoding."""
FASTEST_NVME = 16e9
"""The rate of four lanes of PCIe 5."""


@dataclass(slots=True)
class DiskWatch:
    """The observations of one repetition so far.

    Attributes:
        foreign_phases: the number of phases that ran on the other server, where the disk is not watched.
    """

    folder: Folder
    situation: Situation
    mount_point: str
    fastest_read: float | None
    seen: list[Seen] = field(default_factory=list)
    foreign_phases: int = 0
    _mark: str = ""

    @property
    def counters(self) -> str:
        """The statistics file of the device in /sys; empty if the volume has no device of its own."""
        return "" if self.situation.device is None else self.situation.device.counters

    def begin(self) -> None:
        """Begin a new repetition."""
        self.seen.clear()
        self.foreign_phases = 0

    def around(self, words: Words, program: str, phase: Phase) -> Words:
        """Return the command of the phase. It is watched if the volume has a device."""
        if self.situation.device is None:
            return words
        inside = (self.folder.path, phase.served_from or self.folder.path)
        words, self._mark = watched(words, program, self.situation.device.counters, inside)
        return words

    def tool_output(self, output: str) -> str:
        """Return the output of the command without the counters of the watch, and keep these."""
        if self.situation.device is None:
            return output
        output, seen = taken_apart(output, self._mark)
        if seen is not None:
            self.seen.append(seen)
        return output.rstrip("\n")

    def figures(self) -> Metrics:
        """Return the observed metrics besides those of the tool. Only threads of arrays below the volume count."""
        cores = array_thread_cores(self.seen, self.situation.below)
        return {} if cores is None else {"array_thread_cores": cores}

    def marks(self, metrics: Metrics, job: Job) -> tuple[Mark, ...]:
        """Return the marks of the repetition that has just ended."""
        # No device below the volume is known by name. Only an impossible rate shows that the data came from memory.
        found = _implausible(metrics, self.fastest_read) or []
        device = self.situation.device
        if device is None:
            return (*found, Mark(MarkKind.UNWATCHED, f"{self.mount_point} has no block device of its own"))
        found = from_memory(self.seen, metrics) or found
        if self.foreign_phases:
            return (*found, Mark(MarkKind.UNWATCHED, "it was driven from the other server"))
        # a kernel without CONFIG_TASK_IO_ACCOUNTING
        if not self._accounted():
            return (*found, Mark(MarkKind.UNWATCHED, "the kernel does not report what each process reads and writes"))
        if self.folder.user != "root":
            return (*found, Mark(MarkKind.UNWATCHED, "only root can see who else uses the disk"))
        others = foreign(self.seen)
        # Traffic that a journal may explain is a disturbance only if another process has a file of the volume open.
        if others.disturbs and (others.bytes - others.explained >= FLOOR_BYTES or self._confirmed(others, job)):
            found = [*found, disturbed(others, device.name)]
        return tuple(found)

    def _accounted(self) -> bool:
        """Return whether the counters of processes are available. In every phase, at least a shell reads and writes."""
        return any(one.asked_to_read for seen in self.seen for one in seen.after.processes.values())

    def _confirmed(self, others: Foreign, job: Job) -> bool:
        """Return whether a process with much traffic, or another one of its session, has a file of the volume open."""
        looking = call("bench_sessions", f"{_as_pattern(self.mount_point.rstrip('/'))}/*", f"*/{self.folder.name}*")
        server, user = self.folder.server, self.folder.user
        seen = server.run(looking, job, user=user, title="check who else uses the disk").stdout
        sessions = counted(seen, "sessions")
        # By session, because a shell may have the file open to which its child writes.
        return any(str(share.process.session) in sessions for share in others.others)


def fastest_read(facts: Facts, situation: Situation) -> float | None:
    """Return the most that the disks below a volume can read together, in bytes per second; None if not known."""
    disks = [device for device in facts.block_devices if device.kind == "disk" and device.name in situation.below]
    bounds = [_fastest(disk) for disk in disks]
    known = [bound for bound in bounds if bound is not None]
    # A single disk of an unknown type may be faster than all others together.
    return sum(known) if known and len(known) == len(bounds) else None


def _fastest(disk: BlockDevice) -> float | None:
    if disk.name.startswith("nvme"):
        return FASTEST_NVME
    # The rate of a LUN depends on the storage system behind it.
    if disk.rotational is None or not is_one_disk(disk):
        return None
    return FASTEST_ROTATING if disk.rotational else FASTEST_SOLID


def _implausible(metrics: Metrics, fastest: float | None) -> list[Mark]:
    rate = metrics.get("read_bytes_per_second")
    if rate is None or fastest is None or rate <= fastest:
        return []
    text = f"{units.rate(rate)} were read, but disks of this kind reach at most {units.rate(fastest)}"
    return [Mark(MarkKind.CACHE, text)]


def _as_pattern(path: str) -> str:
    """Return a pattern of find that matches only this path."""
    return "".join(f"\\{character}" if character in "\\*?[" else character for character in path)

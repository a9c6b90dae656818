"""Watching the volume's device during a repetition, and marking the repetition by the result."""

from dataclasses import dataclass, field

from core import units
from core.benchmarks.devices import Situation
from core.benchmarks.folders import Folder
from core.benchmarks.model import Mark, MarkKind, Metrics
from core.benchmarks.tool import Phase, Words
from core.benchmarks.traffic import (
    FLOOR_BYTES,
    Foreign,
    Seen,
    array_thread_cores,
    disturbed,
    foreign,
    from_memory,
    taken_apart,
    watched,
)
from core.facts.block_devices import is_one_disk
from core.facts.model import BlockDevice, Facts
from core.jobs import Job
from core.servers.shell import call
from core.text import counted

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

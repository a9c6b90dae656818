"""Watch the volume's device while a repetition runs, and mark the repetition by what was seen."""

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
"""Bytes a second that one rotating disk can read: what its SATA link carries; the fastest platters do half of it."""
FASTEST_SOLID = 2.5e9
"""One solid-state disk on SAS-4, 22.5 Gbit/s with its coding."""
FASTEST_NVME = 16e9
"""Four lanes of PCIe 5."""


@dataclass(slots=True)
class DiskWatch:
    """What was seen of one repetition so far.

    Attributes:
        foreign_phases: phases that ran where nobody watches: on the other server.
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
        """The file in /sys that counts what the device moves; empty where the volume has none of its own."""
        return "" if self.situation.device is None else self.situation.device.counters

    def begin(self) -> None:
        """A new repetition."""
        self.seen.clear()
        self.foreign_phases = 0

    def around(self, words: Words, program: str, phase: Phase) -> Words:
        """The phase's command, watched where its device can be."""
        if self.situation.device is None:
            return words
        inside = (self.folder.path, phase.served_from or self.folder.path)
        words, self._mark = watched(words, program, self.situation.device.counters, inside)
        return words

    def said(self, output: str) -> str:
        """What the command itself printed; what was seen is kept."""
        if self.situation.device is None:
            return output
        output, seen = taken_apart(output, self._mark)
        if seen is not None:
            self.seen.append(seen)
        return output.rstrip("\n")

    def figures(self) -> Metrics:
        """What was seen beside the tool's own figures; an array's thread that no device below the volume has is not."""
        cores = array_thread_cores(self.seen, self.situation.below)
        return {} if cores is None else {"array_thread_cores": cores}

    def marks(self, metrics: Metrics, job: Job) -> tuple[Mark, ...]:
        """The marks of the repetition that has just ended."""
        # no device below is known by name: then only the impossible tells that it was memory
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
        # what a journal may explain is a disturbance only where somebody has a file of the volume open
        if others.disturbs and (others.bytes - others.explained >= FLOOR_BYTES or self._confirmed(others, job)):
            found = [*found, disturbed(others, device.name)]
        return tuple(found)

    def _accounted(self) -> bool:
        """Whether processes' counters were seen at all: every phase has at least a shell that reads and writes."""
        return any(one.asked_to_read for seen in self.seen for one in seen.after.processes.values())

    def _confirmed(self, others: Foreign, job: Job) -> bool:
        """Whether somebody who moved much has, or shares a session with who has, a file of the volume open."""
        looking = call("bench_sessions", f"{_as_pattern(self.mount_point.rstrip('/'))}/*", f"*/{self.folder.name}*")
        server, user = self.folder.server, self.folder.user
        seen = server.run(looking, job, user=user, title="check who else uses the disk").stdout
        sessions = counted(seen, "sessions")
        # by session: a shell holds the file open that its child writes to
        return any(str(share.process.session) in sessions for share in others.others)


def fastest_read(facts: Facts, situation: Situation) -> float | None:
    """Bytes a second that the disks below a volume can read together at the most; None where one's kind is unknown."""
    disks = [device for device in facts.block_devices if device.kind == "disk" and device.name in situation.below]
    bounds = [_fastest(disk) for disk in disks]
    known = [bound for bound in bounds if bound is not None]
    # one disk of an unknown kind may be faster than all others together
    return sum(known) if known and len(known) == len(bounds) else None


def _fastest(disk: BlockDevice) -> float | None:
    if disk.name.startswith("nvme"):
        return FASTEST_NVME
    # a LUN of a storage system reads as fast as whatever stands behind it
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
    """The path as a pattern of find that matches itself alone."""
    return "".join(f"\\{character}" if character in "\\*?[" else character for character in path)

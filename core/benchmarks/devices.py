"""The block device under a volume: which one it is, who else uses it, and whether an array below it is being rebuilt.

A folder's device number leads to /sys/dev/block. From there the way goes down as long as bytes go through one to one:
from a partition to its disk, from a logical or encrypted volume to the one device that it lies on. So whoever writes
beside the volume on the same disk is seen too. A file system without a device of its own (overlay, nfs, btrfs, zfs) has
no such number: it is not watched.
"""

from dataclasses import dataclass

from core import units
from core.facts.arrays import parse_arrays
from core.facts.model import Array, Facts
from core.facts.text import parse_whole_number, unreadable_error
from core.jobs import Job, Progress
from core.servers.connection import Server
from core.servers.shell import call

SECTOR = 512
"""Bytes of a sector in the kernel's figures, whatever the disk's own are (Documentation/block/stat.rst)."""
LOOK_SECONDS = 1.0
BUSY_BYTES_PER_SECOND = 500e3
"""From here on others use a disk: a second of log files and housekeeping stays below."""
POLL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a device has moved since it came up. `flushes` None: the kernel (before 5.5) does not count them."""

    read_bytes: int
    written_bytes: int
    flushes: int | None = None

    @property
    def total(self) -> int:
        return self.read_bytes + self.written_bytes

    def since(self, before: "Traffic") -> "Traffic":
        """What it moved between two looks."""
        # not counted by the kernel is not zero: see Foreign.explained
        flushes = None if self.flushes is None or before.flushes is None else self.flushes - before.flushes
        return Traffic(self.read_bytes - before.read_bytes, self.written_bytes - before.written_bytes, flushes)


@dataclass(frozen=True, slots=True)
class Device:
    """The device whose traffic is that of the volume. `path`: its folder in /sys."""

    name: str
    path: str

    @property
    def counters(self) -> str:
        return f"{self.path}/stat"


@dataclass(frozen=True, slots=True)
class Situation:
    """A volume's device before the start: what it moves in LOOK_SECONDS, and every array that is being rebuilt."""

    device: Device | None = None
    moved: Traffic | None = None
    rebuilt: tuple[Array, ...] = ()
    below: frozenset[str] = frozenset()
    """The volume's device and all that it lies on."""

    def warnings(self, server: str, volume: str) -> list[str]:
        """Sentences for people; none where the disk is quiet."""
        # log files and housekeeping move a little always
        if self.moved is None or self.device is None or self.moved.total < BUSY_BYTES_PER_SECOND * LOOK_SECONDS:
            return []
        read, written = (number / LOOK_SECONDS for number in (self.moved.read_bytes, self.moved.written_bytes))
        device = f"{self.device.name} reads {units.rate(read)} and writes {units.rate(written)}"
        return [f"other programs are using the disk of {volume} on {server}: {device}"]

    def resync(self, server: str) -> str:
        """A sentence on the arrays below the volume that are being rebuilt; empty where there is none."""
        return "; ".join(f"{rebuilding(array)} on {server}, which affects the measurements" for array in self.rebuilt)


def rebuilding(array: Array) -> str:
    """`md0 (raid10) resyncs, 12.5 % done, about 41 min 30 s left`."""
    # md's own words for what it does to an array
    action = {"check": "is being checked", "repair": "is being repaired"}.get(
        array.action or "", f"is in {array.action}" if array.action != "resync" else "resyncs"
    )
    parts = [f"{array.name} ({array.level}) {action}" if array.level else f"{array.name} {action}"]
    parts.append("not started yet" if array.progress is None else f"{units.percent(array.progress)} done")
    if array.finish_seconds is not None:
        parts.append(f"about {units.duration(array.finish_seconds)} left")
    return ", ".join(parts)


def situation(server: Server, folder: str, user: str | None, facts: Facts, job: Job) -> Situation:
    """Look at the device of a folder for LOOK_SECONDS; changes nothing."""
    looking = call("bench_device", folder, LOOK_SECONDS)
    return parse_situation(server.run(looking, job, user=user, title="check whether others use the disk").stdout, facts)


def parse_situation(text: str, facts: Facts) -> Situation:
    """What the look printed."""
    # without md there is no such line, and no array
    head, _, arrays = text.partition("mdstat\n")
    found: dict[str, list[str]] = {}
    for key, _, value in (line.partition(" ") for line in head.splitlines()):
        found.setdefault(key, []).append(value)
    device = Device(found["device"][0].rpartition("/")[2], found["device"][0]) if "device" in found else None
    moved = None
    if "before" in found and "after" in found:
        moved = counters(found["after"][0]).since(counters(found["before"][0]))
    # arrays below other volumes do not matter, unless they share a disk
    busy = [array for array in parse_arrays(arrays) if array.action is not None]
    disks = _disks(found.get("below", []), facts)
    rebuilt = tuple(array for array in busy if _shares(array, disks, facts))
    return Situation(device, moved, rebuilt, frozenset(disks))


def counters(text: str) -> Traffic:
    """A line of /sys/block/NAME/stat: 11 numbers, 15 since Linux 4.18, 17 since 5.5."""
    # the third and the seventh are sectors read and written, the sixteenth is flushes
    words = [number for word in text.split() if (number := parse_whole_number(word)) is not None]
    if len(words) < 11 or len(words) != len(text.split()):
        raise unreadable_error("/sys/block", "at least 11 numbers", text)
    return Traffic(words[2] * SECTOR, words[6] * SECTOR, words[15] if len(words) > 15 else None)


def wait_until_in_sync(server: Server, folder: str, facts: Facts, job: Job) -> None:
    """Return when no array below the folder is being rebuilt any more; Cancelled when the job was."""
    while True:
        rebuilt = situation(server, folder, None, facts, job).rebuilt
        if not rebuilt:
            return
        # several may resync one after the other: the longest says how far it is
        slowest = max(rebuilt, key=lambda array: array.finish_seconds or 0.0)
        job.report(Progress(f"waiting on {server.name}: {rebuilding(slowest)}", slowest.progress or 0.0, 1.0, "arrays"))
        job.wait(POLL_SECONDS)


def _disks(names: list[str], facts: Facts) -> set[str]:
    """The devices of those names and all that they lie on, as the facts have it."""
    parents = {device.name: device.parents for device in facts.block_devices}
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        # stacks meet again further down: two mirrors on partitions of one disk
        if name not in found:
            found.add(name)
            left += parents.get(name, ())
    return found


def _shares(array: Array, disks: set[str], facts: Facts) -> bool:
    """Whether the array lies below the volume, or on a disk of it."""
    return array.name in disks or not disks.isdisjoint(_disks(list(array.devices), facts))

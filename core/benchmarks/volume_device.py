"""The block device under a volume: which one it is, who else uses it, and whether an array below it is being rebuilt.

The device number of a folder leads to /sys/dev/block. From there the path goes down as long as one device takes all the
traffic: from a partition to its disk, from a logical or encrypted volume to the single device that it is on. So other
traffic on the same disk is seen too. A file system without a block device of its own (overlay, nfs, btrfs, zfs) has no
such number and is not watched.
"""

from dataclasses import dataclass

from core import units
from core.facts.block_devices import parse_arrays
from core.facts.model import Array, Facts
from core.facts.parsing import parse_whole_number, unreadable_error
from core.jobs import Job, Progress
from core.servers.connection import Server
from core.servers.shell import call
from core.text import lines_of

SECTOR = 512
"""The bytes of a sector in the kernel's statistics, whatever the sector size of the disk is
(Documentation/block/stat.rst)."""
LOOK_SECONDS = 1.0
BUSY_BYTES_PER_SECOND = 500e3
"""From this rate on, a disk counts as used by others. Log files and housekeeping stay below it."""
POLL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Traffic:
    """The traffic of a device since its start. `flushes` is None if the kernel does not count them (before 5.5)."""

    read_bytes: int
    written_bytes: int
    flushes: int | None = None

    @property
    def total(self) -> int:
        return self.read_bytes + self.written_bytes

    def since(self, before: "Traffic") -> "Traffic":
        """Return the traffic since an earlier reading."""
        # A number that the kernel does not count is not 0: see Foreign.explained.
        flushes = None if self.flushes is None or before.flushes is None else self.flushes - before.flushes
        return Traffic(self.read_bytes - before.read_bytes, self.written_bytes - before.written_bytes, flushes)


@dataclass(frozen=True, slots=True)
class Device:
    """The device whose traffic is that of the volume. `path` is its folder in /sys."""

    name: str
    path: str

    @property
    def counters(self) -> str:
        return f"{self.path}/stat"


@dataclass(frozen=True, slots=True)
class Situation:
    """The device of a volume before the start: its traffic in LOOK_SECONDS, and every array that is being rebuilt."""

    device: Device | None = None
    moved: Traffic | None = None
    rebuilt: tuple[Array, ...] = ()
    below: frozenset[str] = frozenset()
    """The volume's device and all devices that it is on."""

    def warnings(self, server: str, volume: str) -> list[str]:
        """Return the warnings as sentences; none if the disk is idle."""
        # Log files and housekeeping always cause a little traffic.
        if self.moved is None or self.device is None or self.moved.total < BUSY_BYTES_PER_SECOND * LOOK_SECONDS:
            return []
        read, written = (number / LOOK_SECONDS for number in (self.moved.read_bytes, self.moved.written_bytes))
        device = f"{self.device.name} reads {units.rate(read)} and writes {units.rate(written)}"
        return [f"other programs are using the disk of {volume} on {server}: {device}"]

    def resync(self, server: str) -> str:
        """Return a sentence about the arrays below the volume that are being rebuilt; empty if there are none."""
        return "; ".join(f"{rebuilding(array)} on {server}, which affects the measurements" for array in self.rebuilt)


def rebuilding(array: Array) -> str:
    """Return a phrase such as `md0 (raid10) resyncs, 12.5 % done, about 41 min 30 s left`."""
    # The words of md for what it does to an array.
    action = {"check": "is being checked", "repair": "is being repaired"}.get(
        array.action or "", f"is in {array.action}" if array.action != "resync" else "resyncs"
    )
    parts = [f"{array.name} ({array.level}) {action}" if array.level else f"{array.name} {action}"]
    parts.append("not started yet" if array.progress is None else f"{units.percent(array.progress)} done")
    if array.finish_seconds is not None:
        parts.append(f"about {units.duration(array.finish_seconds)} left")
    return ", ".join(parts)


def situation(server: Server, folder: str, user: str | None, facts: Facts, job: Job) -> Situation:
    """Return the state of the folder's device, observed for LOOK_SECONDS. Nothing is changed.

    Args:
        server: the server of the folder.
        folder: the folder.
        user: the user who runs the command; None: the login user.
        facts: the facts of the server, for the names and levels of the devices.
        job: receives progress, and can be cancelled.
    """
    looking = call("bench_device", folder, LOOK_SECONDS)
    return parse_situation(server.run(looking, job, user=user, title="check whether others use the disk").stdout, facts)


def parse_situation(text: str, facts: Facts) -> Situation:
    """Return the state that the shell function bench_device has printed."""
    # Without md there is no such line, and no array.
    head, _, arrays = text.partition("mdstat\n")
    found: dict[str, list[str]] = {}
    for key, _, value in (line.partition(" ") for line in lines_of(head)):
        found.setdefault(key, []).append(value)
    device = Device(found["device"][0].rpartition("/")[2], found["device"][0]) if "device" in found else None
    moved = None
    if "before" in found and "after" in found:
        moved = counters(found["after"][0]).since(counters(found["before"][0]))
    # Arrays below other volumes do not matter, unless they share a disk with this one.
    busy = [array for array in parse_arrays(arrays) if array.action is not None]
    disks = _disks(found.get("below", []), facts)
    rebuilt = tuple(array for array in busy if _shares(array, disks, facts))
    return Situation(device, moved, rebuilt, frozenset(disks))


def counters(text: str) -> Traffic:
    """Return the traffic by a line of /sys/block/NAME/stat: 11 numbers, 15 since Linux 4.18, 17 since 5.5."""
    # the third and the seventh are sectors read and written, the sixteenth is flushes
    words = [number for word in text.split() if (number := parse_whole_number(word)) is not None]
    if len(words) < 11 or len(words) != len(text.split()):
        raise unreadable_error("/sys/block", "at least 11 numbers", text)
    return Traffic(words[2] * SECTOR, words[6] * SECTOR, words[15] if len(words) > 15 else None)


def wait_until_in_sync(server: Server, folder: str, facts: Facts, job: Job) -> None:
    """Wait until no array below the folder is being rebuilt any more.

    Raises:
        Cancelled: the job was cancelled.
    """
    while True:
        rebuilt = situation(server, folder, None, facts, job).rebuilt
        if not rebuilt:
            return
        # Several arrays may resync one after the other. The longest one tells the progress.
        slowest = max(rebuilt, key=lambda array: array.finish_seconds or 0.0)
        resync, done = f"resync:{slowest.name}", slowest.progress or 0.0
        job.report(Progress(resync, f"waiting on {server.name}: {rebuilding(slowest)}", done, 1.0, "arrays"))
        job.wait(POLL_SECONDS)


def _disks(names: list[str], facts: Facts) -> set[str]:
    """Return the devices with these names and all devices that they are on, according to the facts."""
    parents = {device.name: device.parents for device in facts.block_devices}
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        # Different devices can share a disk, such as two mirrors on partitions of one disk.
        if name not in found:
            found.add(name)
            left += parents.get(name, ())
    return found


def _shares(array: Array, disks: set[str], facts: Facts) -> bool:
    """Return whether the array is below the volume, or uses one of its disks."""
    return array.name in disks or not disks.isdisjoint(_disks(list(array.devices), facts))

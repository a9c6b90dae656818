"""How the file system is mounted, and what it was made as: times of access, data in the journal, old file systems."""

from core import units
from core.comparison.diagnosis.observation import Observation, Storage, observed
from core.facts.model import FileSystem
from core.servers.shell import command

_WITH_ACCESS_TIMES = {"ext2", "ext3", "ext4", "xfs", "btrfs", "jfs", "reiserfs", "f2fs"}
_JOURNALS_DATA = {"ext3", "ext4"}
_COPIES_ON_WRITE = {"zfs", "btrfs", "bcachefs"}
_BARRIERS_OFF = ("nobarrier", "barrier=0")
_SLOW_LAYOUT = 0.5
"""Files that are laid out at less than this share of what the disks write in one go wait for something else."""

_LONG_ENOUGH = 5.0
"""Seconds: under that a layout is mostly the start of the tool."""


def access_times(storage: Storage) -> Observation | None:
    """Each read of a file writes its time of access: neither relatime (since Linux 2.6.30) nor noatime is in force."""
    system = storage.system
    if system is None or system.kind not in _WITH_ACCESS_TIMES:
        return None
    if {"noatime", "relatime", "lazytime", "ro"} & set(system.options):
        return None
    return observed(
        [f"{_mounted(system)}. Without noatime or relatime, each read is also a write."],
        [
            (
                f"Mount it with noatime: `{_remount(system, 'noatime')}`. Set the option in /etc/fstab "
                "too. PostgreSQL never uses access times."
            ),
        ],
    )


def journaled_data(storage: Storage) -> Observation | None:
    """ext3 or ext4 with data=journal: all data goes through the journal first."""
    system = storage.system
    if system is None or system.kind not in _JOURNALS_DATA or "data=journal" not in system.options:
        return None
    writes = storage.sequential("write")
    slowest = min(writes, key=lambda figure: figure.value, default=None)
    return observed(
        [
            (f"{_mounted(system)}. With data=journal, each byte is written twice: to the journal and to its place."),
            f"Sequential writes reach {slowest.text}." if slowest is not None else "",
        ],
        [
            (
                "Mount it with data=ordered, which is the default. Set it in /etc/fstab and unmount the "
                "file system first: a remount cannot change it. PostgreSQL's WAL already makes its "
                "writes safe."
            ),
        ],
        *((slowest,) if slowest is not None else ()),
    )


def barriers_off(storage: Storage) -> Observation | None:
    """Flushes do not reach the disks: what is measured as fsync is none, and a power failure loses data."""
    system = storage.system
    off = next((option for option in system.options if option in _BARRIERS_OFF), None) if system is not None else None
    if system is None or off is None:
        return None
    rates = storage.measured("fsyncs_per_second")
    return observed(
        [
            f"{_mounted(system)}. With {off}, an fsync does not wait for the disks.",
            *(f"fsync rate: {figure.text}. The disks did not have to store the data." for figure in rates[:1]),
        ],
        [
            f"Remove {off}, unless every cache on the way to the disks has a battery.",
            f"Measure again afterwards. fsync rates with and without {off} cannot be compared.",
        ],
        *rates[:1],
    )


def slow_layout(storage: Storage) -> Observation | None:
    """Files are made much slower than the disks write, as on ext3, which maps each block by itself."""
    system = storage.system
    direct = [figure for figure in storage.sequential("write") if figure.direct]
    write = max(direct, key=lambda figure: figure.value, default=None)
    layouts = [
        (size.value / took.value, size, took)
        for took in storage.measured("layout_seconds")
        for size in storage.measured("layout_bytes")
        if size.workload == took.workload and took.value >= _LONG_ENOUGH
    ]
    rate, size, took = min(layouts, key=lambda one: one[0], default=(0.0, None, None))
    if system is None or write is None or size is None or took is None or rate > _SLOW_LAYOUT * write.value:
        return None
    return observed(
        [
            (
                f"Creating test files of {units.size(size.value)} took {units.duration(took.value)}, a rate of "
                f"{units.rate(rate)}. The disks write {write.text}."
            ),
            _blocks_one_by_one(system) or f"{system.mount_point} is {system.kind}, {_fullness(system)}.",
        ],
        [
            (
                "Create the file system again as ext4 or XFS. With their extents, large files are created quickly."
                if _blocks_one_by_one(system)
                else _held_up_by(system)
            ),
        ],
        took,
        write,
    )


def _fullness(system: FileSystem) -> str:
    used = 1 - system.available_bytes / system.size_bytes if system.size_bytes else 0.0
    return f"{units.percent(used)} full"


def _held_up_by(system: FileSystem) -> str:
    """What else than its map of blocks makes a file system slow to lay out files."""
    others = "Check whether other programs write to the same disks, and whether a limit (cgroup, hypervisor) is set."
    if system.kind in _COPIES_ON_WRITE:
        return (
            f"{others} {system.kind} is a copy-on-write file system: give it more free space, and check its "
            "compression and its snapshots."
        )
    return f"{others} {system.kind} creates large files quickly, unless its free space is fragmented."


def _blocks_one_by_one(system: FileSystem) -> str:
    """Why, where the facts tell: the file system has no extents."""
    if system.kind in ("ext2", "ext3"):
        return f"{system.mount_point} is {system.kind}, which has no extents."
    if system.features and "extent" not in system.features:
        return f"{system.mount_point} is {system.kind} without the feature extent."
    return ""


def _mounted(system: FileSystem) -> str:
    return f"{system.mount_point} ({system.kind}) is mounted with {','.join(system.options)}"


def _remount(system: FileSystem, option: str) -> str:
    return command("mount", "-o", f"remount,{option}", system.mount_point).shown

"""The script that prepares a volume for a cluster: partitions, md arrays, a file system that knows them, fstab.

It is shown and exported for a person to read and run; pghaul never runs it. It stops before it changes anything where a
device is not empty: mounted, swap, with partitions, in an array, held by something, read-only, or with any signature
that wipefs knows; where the mount point is in use; or where a program is missing. Then it asks.

- Partitions begin at 1 MiB, a multiple of every chunk, page and erase block.
- The file system is told the geometry, so that it does not write across stripes: ext4's stride is the chunk and its
  stripe_width all data drives' chunks, in blocks of 4 KiB (mke2fs(8)); XFS's su is the chunk and sw the data drives
  (mkfs.xfs(8)).
- Under a nested level the outer chunk is one full stripe of a group: writes of a whole stripe stay within one.
- A bitmap keeps a resync after a crash short. `noatime` spares a write for every first read.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.comparison.raid import Layout, Level
from core.errors import InputError
from core.servers.functions import library, named_in
from core.servers.shell import command

BLOCK_BYTES = 4096
CHUNK_BYTES = 64 * 1024
LARGEST_CHUNK_BYTES = 2**26
_RAID_TYPE = "A19D880F-05FC-4D3B-A006-743F0F84911E"
_DATA_TYPE = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"
"""What GPT calls a partition for Linux's software RAID, and one for a Linux file system."""
_DEVICE = re.compile(r"/dev/[\w+.:-]+(?:/[\w+.:-]+)*", re.ASCII)
_MOUNT_POINT = re.compile(r"(?:/[\w+.-]+)+", re.ASCII)

FileSystemKind = Literal["ext4", "xfs"]
_FSCK_PASS: Mapping[FileSystemKind, int] = {"ext4": 2, "xfs": 0}
"""When fsck looks at it at a start: after the root; XFS is looked at when it is mounted."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """A volume to be prepared.

    Attributes:
        devices: whole devices; several with a layout, one without.
        layout: the array over them; None: a single device, or one that a controller makes of several.
        chunk_bytes: of an md array, a power of two of at least 4096.
        partition: whether each device gets one partition; else it is used whole.

    Raises:
        InputError: devices, layout, mount point or chunk make no sense.
    """

    devices: tuple[str, ...]
    mount_point: str
    file_system: FileSystemKind = "xfs"
    layout: Layout | None = None
    chunk_bytes: int = CHUNK_BYTES
    partition: bool = True

    def __post_init__(self) -> None:
        for device in self.devices:
            # the script runs as root: names are of a narrow kind, besides being quoted
            if not _DEVICE.fullmatch(device) or ".." in device:
                raise InputError(f"{device!r} is not a device", "give its path, such as /dev/sdb")
        if len(set(self.devices)) < len(self.devices):
            raise InputError("a device is named twice", "name each device once")
        # a controller shows its array as one device
        wanted = 1 if self.layout is None else self.layout.drives
        if len(self.devices) != wanted:
            if self.layout is None:
                raise InputError(
                    f"without a RAID level a volume has one device, not {len(self.devices)}",
                    "name one device, or choose a RAID level",
                )
            raise InputError(
                f"{self.layout.title} needs {wanted} devices, not {len(self.devices)}", f"name {wanted} devices"
            )
        if not _MOUNT_POINT.fullmatch(self.mount_point) or ".." in self.mount_point:
            raise InputError(
                f"{self.mount_point!r} is not possible as a mount point",
                "use an absolute path that contains only letters without accents, digits, and . _ + -",
            )
        chunk = self.chunk_bytes
        if not BLOCK_BYTES <= chunk <= LARGEST_CHUNK_BYTES or chunk & (chunk - 1):
            raise InputError(
                f"the chunk size is {chunk} bytes, which is not a power of two",
                f"choose a power of two from {BLOCK_BYTES} to {LARGEST_CHUNK_BYTES} bytes",
            )

    @property
    def array(self) -> str | None:
        """The array that holds the file system, named after the mount point."""
        return None if self.layout is None else f"/dev/md/{self.mount_point.strip('/').replace('/', '-')}"


def preparation_script(wanted: Preparation) -> str:
    """The whole script, for /bin/sh as root: what it calls of `resources/sh/volume.sh`, then its steps."""
    # partitions get their names from the kernel, while the script runs
    disks = [f'"$disk_{number}"' for number, _ in enumerate(wanted.devices, 1)]
    disks = disks if wanted.partition else [_line(device) for device in wanted.devices]
    whole = disks[0] if wanted.array is None else _line(wanted.array)
    steps = [
        *_checks(wanted),
        *(_partitions(wanted) if wanted.partition else ()),
        *(_arrays(wanted, wanted.layout, disks) if wanted.layout is not None else ()),
        "\n# the file system, mounted by UUID, now and at each start",
        f"{_mkfs(wanted)} {whole} >/dev/null || fail 'the file system cannot be made'",
        f"volume_mount {whole} {_line(wanted.mount_point, wanted.file_system, _FSCK_PASS[wanted.file_system])}",
    ]
    text = "\n".join(steps)
    return f"{_HEAD}\n{library(named_in(text))}\n# ---- what is done ----\n{text}\n"


def geometry(wanted: Preparation) -> tuple[int, int] | None:
    """Stripe unit in bytes and how many of them hold data in a stripe; None where nothing is striped."""
    layout = wanted.layout
    if layout is None or layout.level is Level.MIRROR:
        return None
    if layout.groups > 1:
        # to the file system each group is one drive, and its full stripe the chunk
        return _outer_chunk(wanted, layout), layout.groups
    return wanted.chunk_bytes, layout.data_drives


def _outer_chunk(wanted: Preparation, layout: Layout) -> int:
    return wanted.chunk_bytes * (layout.data_drives // layout.groups)


def _checks(wanted: Preparation) -> list[str]:
    programs = [
        *("awk", "lsblk", "wipefs", "blkid", f"mkfs.{wanted.file_system}"),
        *(["sfdisk"] if wanted.partition else []),
        *(["mdadm"] if wanted.layout is not None else []),
    ]
    return [
        _line("volume_needs", *programs),
        _line("volume_check", *wanted.devices),
        _line("volume_check_mount_point", wanted.mount_point),
        _line("volume_confirm", wanted.file_system, wanted.mount_point, *wanted.devices),
    ]


def _partitions(wanted: Preparation) -> list[str]:
    kind = _DATA_TYPE if wanted.layout is None else _RAID_TYPE
    lines = ["\n# one partition each; they take the devices' places"]
    for number, device in enumerate(wanted.devices, 1):
        lines += [_line("volume_partition", device, kind), f"disk_{number}=$partition"]
    return lines


def _arrays(wanted: Preparation, layout: Layout, disks: Sequence[str]) -> list[str]:
    """One array, or one of each group and a stripe over them."""
    whole = wanted.array or ""
    if layout.groups == 1:
        made, arrays = [_mdadm(whole, layout.level, wanted.chunk_bytes, disks)], [whole]
    else:
        each = layout.drives // layout.groups
        inner = Level.PARITY if layout.level is Level.STRIPED_PARITY else Level.DOUBLE_PARITY
        arrays = [f"{whole}-{group}" for group in range(1, layout.groups + 1)]
        made = [
            _mdadm(array, inner, wanted.chunk_bytes, disks[number * each : (number + 1) * each])
            for number, array in enumerate(arrays)
        ]
        made.append(_mdadm(whole, Level.STRIPE, _outer_chunk(wanted, layout), [_line(array) for array in arrays]))
        arrays.append(whole)
    return ["\n# the array", *made, _line("volume_keep_arrays", *arrays)]


def _mdadm(array: str, level: Level, chunk_bytes: int, members: Sequence[str]) -> str:
    """`members` are words of the script, quoted."""
    words: list[str] = ["--create", array, "--run", "--metadata=1.2", f"--level={level}"]
    words.append(f"--raid-devices={len(members)}")
    if level is not Level.MIRROR:
        words.append(f"--chunk={chunk_bytes // 1024}")
    # near: both copies at one place of both drives, as controllers do; far reads faster and writes slower
    if level is Level.STRIPED_MIRRORS:
        words.append("--layout=n2")
    if level is not Level.STRIPE:
        words.append("--bitmap=internal")
    return f"{_line('mdadm', *words)} {' '.join(members)} || fail 'the array cannot be made'"


def _mkfs(wanted: Preparation) -> str:
    shape = geometry(wanted)
    if wanted.file_system == "ext4":
        stride = shape[0] // BLOCK_BYTES if shape is not None else 0
        striped = ["-E", f"stride={stride},stripe_width={stride * shape[1]}"] if shape is not None else []
        return _line("mkfs.ext4", "-q", "-b", BLOCK_BYTES, *striped)
    return _line("mkfs.xfs", "-q", *(["-d", f"su={shape[0]},sw={shape[1]}"] if shape is not None else []))


def _line(program: str, *words: str | int) -> str:
    return command(program, *words).text


_HEAD = """\
#!/bin/sh
# Prepares a volume. Made by pghaul, which has not run it: read it first; what is done stands at its end.
# It erases the devices that are named there, and stops before that where one of them is not empty.
PATH=$PATH:/usr/sbin:/sbin LC_ALL=C etc=/etc
export PATH LC_ALL
"""

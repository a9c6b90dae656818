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
from dataclasses import dataclass
from typing import Literal

from core.comparison.raid import Layout, Level
from core.errors import InputError
from core.servers.shell import Shell, Word, command, redirect, script, script_of

BLOCK_BYTES = 4096
CHUNK_BYTES = 64 * 1024
LARGEST_CHUNK_BYTES = 2**26
_RAID_TYPE = "A19D880F-05FC-4D3B-A006-743F0F84911E"
_DATA_TYPE = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"
"""What GPT calls a partition for Linux's software RAID, and one for a Linux file system."""
_DEVICE = re.compile(r"/dev/[\w+.:-]+(?:/[\w+.:-]+)*", re.ASCII)
_MOUNT_POINT = re.compile(r"(?:/[\w+.-]+)+", re.ASCII)

FileSystemKind = Literal["ext4", "xfs"]


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
            if not _DEVICE.fullmatch(device) or ".." in device:
                raise InputError(f"{device!r} is no device", "name it as /dev/sdb or /dev/disk/by-id/…")
        if len(set(self.devices)) < len(self.devices):
            raise InputError("a device is named twice")
        wanted = 1 if self.layout is None else self.layout.drives
        if len(self.devices) != wanted:
            what = "a single device" if self.layout is None else self.layout.title
            raise InputError(f"{what} needs {wanted} devices, not {len(self.devices)}")
        if not _MOUNT_POINT.fullmatch(self.mount_point) or ".." in self.mount_point:
            raise InputError(
                f"{self.mount_point!r} is no mount point", "take an absolute path of plain letters, digits, . _ + and -"
            )
        chunk = self.chunk_bytes
        if not BLOCK_BYTES <= chunk <= LARGEST_CHUNK_BYTES or chunk & (chunk - 1):
            raise InputError(f"a chunk is a power of two from {BLOCK_BYTES} to {LARGEST_CHUNK_BYTES}, not {chunk}")

    @property
    def array(self) -> str | None:
        """The array that holds the file system, named after the mount point."""
        return None if self.layout is None else f"/dev/md/{self.mount_point.strip('/').replace('/', '-')}"


def preparation_script(wanted: Preparation) -> Shell:
    """The whole script, for /bin/sh as root."""
    pieces = [
        script(_HEAD, mount_point=wanted.mount_point),
        command("needs", *_programs(wanted)),
        script("\n# what is to be erased"),
        command("set", "--", *wanted.devices),
        script(_CHECKS, file_system=wanted.file_system),
    ]
    if wanted.partition:
        pieces.append(script(_PARTITIONS, kind=_DATA_TYPE if wanted.layout is None else _RAID_TYPE))
    pieces.append(script("\n# the array\ntarget=$1") if wanted.layout is None else _arrays(wanted, wanted.layout))
    pieces.append(
        redirect(Shell(f'{_mkfs(wanted).text} "$target"', f'{_mkfs(wanted).shown} "$target"'), stdout="/dev/null")
    )
    pieces.append(script(_MOUNT, file_system=wanted.file_system, check="2" if wanted.file_system == "ext4" else "0"))
    return script_of(*pieces)


def geometry(wanted: Preparation) -> tuple[int, int] | None:
    """Stripe unit in bytes and how many of them hold data in a stripe; None where nothing is striped."""
    layout = wanted.layout
    if layout is None or layout.level is Level.MIRROR:
        return None
    if layout.groups > 1:
        return _outer_chunk(wanted, layout), layout.groups
    return wanted.chunk_bytes, layout.data_drives


def _outer_chunk(wanted: Preparation, layout: Layout) -> int:
    return wanted.chunk_bytes * (layout.data_drives // layout.groups)


def _programs(wanted: Preparation) -> list[str]:
    return [
        "awk",
        "lsblk",
        "wipefs",
        "blkid",
        f"mkfs.{wanted.file_system}",
        *(["sfdisk"] if wanted.partition else []),
        *(["mdadm"] if wanted.layout is not None else []),
    ]


def _mkfs(wanted: Preparation) -> Shell:
    shape = geometry(wanted)
    words: list[Word] = []
    if wanted.file_system == "ext4":
        if shape is not None:
            stride = shape[0] // BLOCK_BYTES
            words = ["-E", f"stride={stride},stripe_width={stride * shape[1]}"]
        return command("mkfs.ext4", "-q", "-b", BLOCK_BYTES, *words)
    if shape is not None:
        words = ["-d", f"su={shape[0]},sw={shape[1]}"]
    return command("mkfs.xfs", "-q", *words)


def _arrays(wanted: Preparation, layout: Layout) -> Shell:
    """One array, or one of each group and a stripe over them."""
    whole = wanted.array or ""
    if layout.groups == 1:
        made = [_mdadm(whole, layout.level, wanted.chunk_bytes, layout.drives, _positions(1, layout.drives))]
        arrays = [whole]
    else:
        each = layout.drives // layout.groups
        inner = Level.PARITY if layout.level is Level.STRIPED_PARITY else Level.DOUBLE_PARITY
        arrays = [f"{whole}-{group}" for group in range(1, layout.groups + 1)]
        made = [
            _mdadm(array, inner, wanted.chunk_bytes, each, _positions(number * each + 1, each))
            for number, array in enumerate(arrays)
        ]
        outer = _outer_chunk(wanted, layout)
        made.append(_mdadm(whole, Level.STRIPE, outer, layout.groups, command(arrays[0], *arrays[1:])))
        arrays.append(whole)
    return script_of(script("\n# the array"), *made, command("set", "--", *arrays), script(_ARRAYS, array=whole))


def _mdadm(array: str, level: Level, chunk_bytes: int, count: int, members: Shell) -> Shell:
    words: list[Word] = ["--create", array, "--run", "--metadata=1.2", f"--level={level}", f"--raid-devices={count}"]
    if level is not Level.MIRROR:
        words.append(f"--chunk={chunk_bytes // 1024}")
    if level is Level.STRIPED_MIRRORS:
        words.append("--layout=n2")
    if level is not Level.STRIPE:
        words.append("--bitmap=internal")
    made = command("mdadm", *words)
    return Shell(f"{made.text} {members.text}", f"{made.shown} {members.shown}")


def _positions(first: int, count: int) -> Shell:
    """The positional parameters from `first` on, quoted."""
    text = " ".join(f'"${{{number}}}"' for number in range(first, first + count))
    return Shell(text, text)


_HEAD = """\
#!/bin/sh
# Prepares a volume. Made by pghaul, which has not run it: read it first.
# It erases the devices that are named below, and stops before that where one of them is not empty.
set -eu
PATH=$PATH:/usr/sbin:/sbin LC_ALL=C
export PATH LC_ALL
mount_point=@mount_point@

stop() {
    printf 'stopped: %s\\n' "$1" >&2
    exit 1
}

needs() {
    for program in "$@"; do
        command -v "$program" >/dev/null || stop "$program is not installed"
    done
}
"""

_CHECKS = """\
[ "$(id -u)" -eq 0 ] || stop "this must run as root"

# nothing lies on the devices, and nobody uses them
check() {
    [ -b "$1" ] || stop "$1 is no block device"
    real=$(readlink -f "$1")
    name=${real##*/}
    [ "$(lsblk -dno RO "$real" | tr -d ' ')" = 0 ] || stop "$1 is read-only"
    ! grep -q "^$real " /proc/swaps || stop "$1 is swap"
    [ -z "$(lsblk -nro MOUNTPOINT "$real" | tr -d '\\n')" ] || stop "$1 is mounted"
    ! grep -qw "$name" /proc/mdstat 2>/dev/null || stop "$1 belongs to an md array"
    [ "$(lsblk -nro NAME "$real" | wc -l)" -eq 1 ] || stop "$1 has partitions, or something lies on it"
    [ -z "$(ls -A "/sys/class/block/$name/holders")" ] || stop "something holds $1"
    signatures=$(wipefs -n "$real") || stop "$1 cannot be read"
    [ -z "$signatures" ] || stop "$1 is not empty: $signatures"
}
seen=' '
for device in "$@"; do
    check "$device"
    case $seen in *" $real "*) stop "$device is named twice" ;; esac
    seen="$seen$real "
done
if [ -e "$mount_point" ]; then
    [ -d "$mount_point" ] || stop "$mount_point is no folder"
    [ -z "$(ls -A "$mount_point")" ] || stop "$mount_point is not empty"
fi
awk -v place="$mount_point" '$1 !~ /^#/ && $2 == place { found = 1 } END { exit found }' /etc/fstab ||
    stop "$mount_point stands in /etc/fstab already"

lsblk -do NAME,SIZE,MODEL,SERIAL "$@"
printf 'All of it becomes %s for %s. Type erase to go on: ' @file_system@ "$mount_point"
read -r answer || answer=
[ "$answer" = erase ] || stop "nothing was changed\""""

_PARTITIONS = """\

# one partition each, from 1 MiB on; they take the devices' places
for device in "$@"; do
    printf 'label: gpt\\nstart=1MiB, type=%s\\n' @kind@ | sfdisk -q "$device" >/dev/null
    ! command -v udevadm >/dev/null || udevadm settle
    partition=$(lsblk -nrpo NAME,TYPE "$device" | awk '$2 == "part" { print $1; exit }')
    [ -b "$partition" ] || stop "the kernel shows no partition of $device"
    shift
    set -- "$@" "$partition"
done"""

_ARRAYS = """\
! command -v udevadm >/dev/null || udevadm settle
file=/etc/mdadm.conf
[ ! -d /etc/mdadm ] || file=/etc/mdadm/mdadm.conf
for array in "$@"; do
    mdadm --detail --brief "$array" >>"$file"
done
! command -v update-initramfs >/dev/null || update-initramfs -u
target=@array@
"""

_MOUNT = """\

# mounted by UUID, now and at each start
uuid=$(blkid -s UUID -o value "$target")
[ -n "$uuid" ] || stop "$target has no UUID"
mkdir -p "$mount_point"
cp -p /etc/fstab /etc/fstab.before-pghaul
printf 'UUID=%s %s %s noatime 0 %s\\n' "$uuid" "$mount_point" @file_system@ @check@ >>/etc/fstab
mount "$mount_point"
df -h "$mount_point"
"""

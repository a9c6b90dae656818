"""Mounted file systems: their options, space and inodes, and how each was made.

Mounts are read from /proc (mountinfo; mounts on kernels before 2.6.26), space and inodes from df. A file server that is
away would let df hang for ever: after three seconds local file systems alone are asked, the others stay without space
and are named.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from core.facts.model import FileSystem
from core.facts.parsing import first_line, lines_of, parse_whole_number, unreadable_error
from core.facts.sections import Section

# the kernel escapes blank, tab, line break and backslash alone, as octal numbers of three digits
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2})")
_MOUNTINFO = re.compile(r"[0-9]+ [0-9]+ (?P<number>[0-9]+:[0-9]+) \S+ (?P<point>\S+) (?P<options>\S+) (?P<tail>.*)")
# columns are told from the right: a device's name may hold blanks, and a size may be a dash
_DF = re.compile(
    r"\s(?P<total>[0-9]+|-)\s+(?P<used>-?[0-9]+|-)\s+(?P<free>-?[0-9]+|-)\s+"
    r"(?:[0-9]+%|-)\s+"
    r"(?P<point>/.*)"
)


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount. `number` is the device's major:minor, which bind mounts of a file system share."""

    mount_point: str
    device: str
    kind: str
    options: tuple[str, ...]
    number: str | None


def parse_mounts(text: str) -> tuple[Mount, ...]:
    """The mounts of /proc/self/mountinfo or /proc/self/mounts (man 5 proc), octal escapes undone.

    Of several mounts on one point the last covers the others and alone is returned.

    Raises:
        ParseError: a line is neither.
    """
    mounts: dict[str, Mount] = {}
    for line in lines_of(text):
        if line.strip():
            mount = _mount(line)
            # the one that covers it takes its place at the end, too: order is that of mounting
            mounts.pop(mount.mount_point, None)
            mounts[mount.mount_point] = mount
    return tuple(mounts.values())


def _mount(line: str) -> Mount:
    found = _MOUNTINFO.fullmatch(line)
    if found is not None:
        # a varying number of tags (shared:1 master:2) stands ahead of the dash, or none
        _, dash, tail = f" {found['tail']}".partition(" - ")
        words = tail.split(" ", 2)
        if dash and len(words) == 3:
            kind, device, super_options = words
            options = _merged(found["options"].split(","), super_options.split(","))
            return Mount(_unescaped(found["point"]), _unescaped(device), kind, options, found["number"])
    # /proc/self/mounts: device, point, kind, options and two numbers
    words = line.split(" ", 3)
    options = tuple(words[-1].rsplit(" ", 2)[0].split(","))
    if found is None and len(words) == 4 and words[1].startswith("/") and options[0] in ("ro", "rw"):
        return Mount(_unescaped(words[1]), _unescaped(words[0]), words[2], options, None)
    raise unreadable_error("mounts", "a line of /proc/self/mountinfo", line)


def _merged(of_mount: list[str], of_super: list[str]) -> tuple[str, ...]:
    """The mount's options, then those of the file system; read-only in either is read-only."""
    # a read-only super block wins over a bind mount that says rw, and the other way round
    first = "ro" if "ro" in (*of_mount, *of_super) else "rw"
    others = [option for option in (*of_mount, *of_super) if option not in ("ro", "rw", "")]
    return tuple(dict.fromkeys((first, *others)))


def _unescaped(text: str) -> str:
    """`\\040` and the like are bytes, and several of them may make up one character."""
    raw = _ESCAPE.sub(lambda found: bytes([int(found[1], 8)]), text.encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "surrogateescape")


def parse_df(text: str) -> dict[str, tuple[int | None, int | None]]:
    """Total and free (blocks of 1024 bytes, or inodes) by mount point, from `df -P -k` or `df -P -i`.

    A dash is None. Mount points are as df prints them: whole, spaces included.

    Raises:
        ParseError: there is no heading, or a line below it cannot be read.
    """
    lines = [line for line in lines_of(text) if line.strip()]
    # timeout's or df's own complaints may stand ahead of it
    heading = next((number for number, line in enumerate(lines) if line.startswith("Filesystem")), None)
    if heading is None:
        raise unreadable_error("df", "a heading Filesystem", first_line(text))
    found: dict[str, tuple[int | None, int | None]] = {}
    for line in lines[heading + 1 :]:
        match = _DF.search(line)
        if match is not None and line[: match.start()].strip():
            found[match["point"]] = (parse_whole_number(match["total"]), _free(match))
        # two headings: the second df answered after the first was cut off
        elif not line.startswith("Filesystem"):
            raise unreadable_error("df", "device, size, used, available, use and mount point", line)
    return found


def _free(match: re.Match[str]) -> int | None:
    """Free; a file system over its reserve shows less than nothing, which is nothing."""
    return 0 if re.fullmatch("-[0-9]+", match["free"]) else parse_whole_number(match["free"])


def file_systems(
    mounts: tuple[Mount, ...],
    space: dict[str, tuple[int | None, int | None]],
    inodes: dict[str, tuple[int | None, int | None]],
) -> tuple[tuple[FileSystem, ...], tuple[str, ...]]:
    """The file systems that hold files, and the mount points of those whose space df did not tell.

    df shows one mount of each device; other mounts of it (bind mounts) take their figures from it. A file system
    without a size (proc, sysfs) holds no files; network file systems always belong to the list.
    """
    # df leaves out all but the shortest mount point of a device
    shown_at = {mount.number: mount.mount_point for mount in mounts if mount.mount_point in space}
    found, without = [], []
    for mount in mounts:
        point = mount.mount_point if mount.mount_point in space else shown_at.get(mount.number)
        total, free = space.get(point, (None, None)) if point is not None else (None, None)
        if total and free is not None:
            # A total of 0 inodes is df's word for "made as it goes".
            nodes, free_nodes = inodes.get(point, (None, None)) if point is not None else (None, None)
            found.append(
                FileSystem(
                    mount_point=mount.mount_point,
                    device=mount.device,
                    kind=mount.kind,
                    options=mount.options,
                    size_bytes=total * 1024,
                    available_bytes=free * 1024,
                    inodes=nodes or None,
                    inodes_free=free_nodes if nodes else None,
                )
            )
        elif mount.device.startswith("/dev/") or mount.kind in ("nfs", "nfs4", "cifs", "ceph", "glusterfs"):
            without.append(mount.mount_point)
    return tuple(found), tuple(without)


MOUNTS = Section(
    "mounts", "mounted file systems", ("print_first", "/proc/self/mountinfo", "/proc/self/mounts"), parse_mounts
)
SPACE = Section("space", "file system space", ("space_facts", "-k"), parse_df, deadline=8, partly=True)
INODES = Section("inodes", "file system inodes", ("space_facts", "-i"), parse_df, deadline=8, partly=True)


# How a file system was made: block size, stripe unit and width, and the features of ext's family.
#
# xfs_info needs no root for a mounted file system; dumpe2fs reads the superblock, which only root may. Without them the
# mount's own options still tell some of it: the kernel shows XFS's geometry in sectors of 512 bytes
# (fs/xfs/xfs_super.c) and ext4's stripe in blocks (fs/ext4/super.c) wherever there is one.

_HEAD = re.compile(r"geometry of (?P<device>\S+)")
# the names of these fields are the same in every language
_XFS_DATA = re.compile(
    r"data\s*=.*?\bbsize=(?P<block>[0-9]{1,9})\b.*?\bsunit=(?P<unit>[0-9]{1,9})\s+swidth=(?P<width>[0-9]{1,9})\s+blks",
    re.DOTALL,
)
_LONGEST = 1000
"""Characters of that section; it has two lines."""
_EXT_FIELD = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+):[ \t]+(?P<value>\S.*)$", re.MULTILINE)
_XFS_SECTOR = 512


@dataclass(frozen=True, slots=True)
class Geometry:
    """Sizes in bytes; a stripe of 0 is one that the file system was made without."""

    block_bytes: int
    stripe_unit_bytes: int
    stripe_width_bytes: int
    features: tuple[str, ...] = ()


def parse_xfs_info(text: str) -> Geometry:
    """What xfs_info, or mkfs.xfs, says of the data section; whatever the age and the language.

    Raises:
        ParseError: there is no data section with bsize, sunit and swidth.
    """
    found = _xfs_data(text)
    if found is None:
        raise unreadable_error("xfs_info", "a data section with bsize, sunit and swidth", first_line(text))
    block = int(found["block"])
    return Geometry(block, int(found["unit"]) * block, int(found["width"]) * block)


def _xfs_data(text: str) -> re.Match[str] | None:
    """The data section: it begins a line, and ends on the next."""
    lines = lines_of(text)
    first = next((number for number, line in enumerate(lines) if line.startswith("data")), len(lines))
    return _XFS_DATA.match("\n".join(lines[first : first + 3])[:_LONGEST])


def parse_superblock(text: str) -> Geometry:
    """What `dumpe2fs -h` or `tune2fs -l` says of an ext2, ext3 or ext4 file system.

    `RAID stride` and `RAID stripe width` are printed only where they are not 0.

    Raises:
        ParseError: there is no block size, or no list of features.
    """
    fields = {found["name"]: found["value"].rstrip() for found in _EXT_FIELD.finditer(text)}
    block, features = parse_whole_number(fields.get("Block size")), fields.get("Filesystem features")
    if block is None or features is None:
        raise unreadable_error("dumpe2fs", "the features and the block size of a file system", first_line(text))
    unit, width = (parse_whole_number(fields.get(name)) or 0 for name in ("RAID stride", "RAID stripe width"))
    return Geometry(block, unit * block, width * block, tuple(features.split()))


def parse_geometries(text: str) -> dict[str, Geometry]:
    """The section's text: geometries by device as the mount names it; one that cannot be read is left out.

    Raises:
        ParseError: text stands ahead of the first device.
    """
    found: dict[str, Geometry] = {}
    parts = re.split(r"^(?=geometry of )", text, flags=re.MULTILINE)
    if parts[0].strip():
        raise unreadable_error("geometry", "a line 'geometry of DEVICE'", first_line(parts[0]))
    for part in parts[1:]:
        head, _, body = part.partition("\n")
        match = _HEAD.fullmatch(head.strip())
        # by what it says, not by the mount's kind: an ext3 may be mounted as ext4
        xfs = _xfs_data(body) is not None
        read = parse_xfs_info if xfs else parse_superblock
        # a tool may have failed half-way: what is no geometry is left out, and the next is read
        if match is not None and (xfs or "Block size:" in body):
            found[match["device"]] = read(body)
    return found


def with_geometries(systems: Iterable[FileSystem], geometries: Mapping[str, Geometry]) -> tuple[FileSystem, ...]:
    """The file systems with their geometry; from their mount options where no tool told it."""
    return tuple(_with_geometry(system, geometries.get(system.device)) for system in systems)


def _with_geometry(system: FileSystem, geometry: Geometry | None) -> FileSystem:
    if geometry is not None:
        return replace(
            system,
            block_bytes=geometry.block_bytes,
            stripe_unit_bytes=geometry.stripe_unit_bytes,
            stripe_width_bytes=geometry.stripe_width_bytes,
            features=geometry.features,
        )
    # of ext the options tell a stripe in blocks, and not how large a block is
    if system.kind != "xfs" or "noalign" in system.options:
        return system
    unit, width = (parse_whole_number(option_value(system, name)) or 0 for name in ("sunit", "swidth"))
    return replace(system, stripe_unit_bytes=unit * _XFS_SECTOR, stripe_width_bytes=width * _XFS_SECTOR)


def option_value(system: FileSystem, name: str) -> str | None:
    """The value of a mount option `name=value`; None where it is not among them."""
    return next((option.partition("=")[2] for option in system.options if option.startswith(f"{name}=")), None)


GEOMETRY = Section(
    "geometry",
    "file system geometry",
    ("geometry_facts", "/proc/self/mounts"),
    parse_geometries,
    deadline=8,
    partly=True,
)

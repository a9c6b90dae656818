"""How a file system was made: block size, stripe unit and width, and the features of ext's family.

xfs_info needs no root for a mounted file system; dumpe2fs reads the superblock, which only root may. Without them the
mount's own options still tell some of it: the kernel shows XFS's geometry in sectors of 512 bytes (fs/xfs/xfs_super.c)
and ext4's stripe in blocks (fs/ext4/super.c) wherever there is one.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from core.facts.model import FileSystem
from core.facts.sections import Section
from core.facts.text import first_line, parse_whole_number, unreadable_error

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
    lines = text.splitlines()
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


SECTION = Section(
    "geometry",
    "file system geometry",
    ("geometry_facts", "/proc/self/mounts"),
    parse_geometries,
    deadline=8,
    partly=True,
)

"""Mounted file systems with their options, space and inodes.

Mounts are read from /proc (mountinfo; mounts on kernels before 2.6.26), space and inodes from df. A file server that is
away would let df hang for ever: after three seconds local file systems alone are asked, the others stay without space
and are named.
"""

import re
from dataclasses import dataclass

from core.facts.model import FileSystem
from core.facts.sections import Section
from core.facts.text import first_line, parse_whole_number, unreadable_error

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
    # not splitlines: it would also break at signs that a mount point may hold
    for line in text.split("\n"):
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
    lines = [line for line in text.splitlines() if line.strip()]
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

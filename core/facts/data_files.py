"""The files of a data directory: what they weigh, which a copy may not bring over, and what lies where a copy goes to.

The walks are in resources/sh/cluster_files.sh; a directory of a million files takes a while, hence the deadline.
"""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.facts.host_environment import IrregularFiles
from core.facts.model import Link, Tablespace
from core.facts.parsing import first_line, lines_of, unreadable_error
from core.facts.sections import Section, decode_hexadecimal

DEADLINE = 120

_LINK = re.compile(
    r"link (?P<state>folder|file|dangling) (?P<bytes>[0-9]{1,20}|-) (?P<files>[0-9]{1,20}|-) "
    r"=(?P<path>[0-9a-f]+) =(?P<target>[0-9a-f]*) =(?P<written>[0-9a-f]*)"
)
_LEFTOVER = re.compile(r"leftover =(?P<path>[0-9a-f]+)")
_TABLESPACE = re.compile(r"pg_tblspc/([0-9]{1,10})")


@dataclass(frozen=True, slots=True)
class Contents:
    """What lies in a data directory besides plain files."""

    tablespaces: tuple[Tablespace, ...]
    links: tuple[Link, ...]
    leftovers: tuple[str, ...]


def parse_size(text: str) -> tuple[int, int]:
    """Return bytes and number of files."""
    found = re.fullmatch(r"([0-9]{1,20}) ([0-9]{1,20})", text.strip())
    if found is None:
        raise unreadable_error("find", "bytes and files", first_line(text))
    return int(found[1]), int(found[2])


def parse_written(text: str) -> int:
    """Return the bytes of files, except WAL, that were written in the last hour."""
    found = re.fullmatch(r"[0-9]{1,20}", text.strip())
    if found is None:
        raise unreadable_error("find", "bytes", first_line(text))
    return int(found[0])


def parse_links(text: str) -> Contents:
    """Return tablespaces, other links and leftover files of a data directory."""
    tablespaces, links, leftovers = [], [], []
    for line in lines_of(text):
        leftover, found = _LEFTOVER.fullmatch(line), _LINK.fullmatch(line)
        try:
            if leftover is not None:
                leftovers.append(decode_hexadecimal(leftover["path"]))
            elif found is not None:
                link = _link(found)
                number = _TABLESPACE.fullmatch(link.path)
                if number is None:
                    links.append(link)
                else:
                    tablespaces.append(_tablespace(int(number[1]), link))
            else:
                raise unreadable_error("links", "a line 'link … =PATH =TARGET =WRITTEN'", line)
        except ValueError as error:
            raise unreadable_error("links", "hexadecimal digits", line) from error
    return Contents(
        tuple(sorted(tablespaces, key=lambda tablespace: tablespace.oid)),
        tuple(sorted(links, key=lambda link: link.path)),
        tuple(sorted(leftovers)),
    )


def _link(found: re.Match[str]) -> Link:
    path, target = decode_hexadecimal(found["path"]), decode_hexadecimal(found["target"])
    known = found["bytes"] != "-" and found["files"] != "-"
    return Link(
        path=path,
        target=target,
        dangling=found["state"] == "dangling",
        size_bytes=int(found["bytes"]) if known else None,
        files=int(found["files"]) if known else None,
        to_file=found["state"] == "file",
        written=decode_hexadecimal(found["written"]),
    )


def _tablespace(oid: int, link: Link) -> Tablespace:
    return Tablespace(oid, link.path, link.target, link.size_bytes, link.files, link.written)


def total_size(folder: str, own: tuple[int, int], contents: Contents) -> tuple[int, int] | None:
    """Return bytes and files of all that a move copies, each file once; None if a part is not known."""
    places: dict[str, tuple[int | None, int | None]] = {folder: own}
    followed = [link for link in contents.links if not link.dangling and not link.to_file]
    places |= {space.location: (space.size_bytes, space.files) for space in contents.tablespaces}
    places |= {link.target: (link.size_bytes, link.files) for link in followed}
    size = files = 0
    for place, (place_bytes, place_files) in places.items():
        # what lies in another place was weighed with it
        if any(_is_inside(place, other) for other in places):
            continue
        # a sum without one of its places would be believed, and the target found too small
        if place_bytes is None or place_files is None:
            return None
        size, files = size + place_bytes, files + place_files
    return size, files


def _is_inside(path: str, folder: str) -> bool:
    return path != folder and posixpath.commonpath((path, folder)) == folder if path.startswith("/") else False


SIZE = Section("size", "size", ("cluster_size",), parse_size, deadline=DEADLINE)
WRITTEN = Section("written", "files changed in the last hour", ("cluster_written",), parse_written, deadline=DEADLINE)
LINKS = Section("links", "links and tablespaces", ("cluster_links",), parse_links, deadline=DEADLINE, most=8 << 20)


# Files of a data directory that a copy may not bring over as they are: hard links, holes, strangers' and leftovers.
#
# One walk over names and inodes at low priority, as the data directory's owner, who is the one that will copy.

_KINDS = ("hard-link", "sparse", "foreign", "unreadable", "partial", "special")


def parse_irregular_files(text: str) -> tuple[str, IrregularFiles]:
    """The data directory's mode in octal, and the odd files.

    Raises:
        ParseError: a line is none of ours, or the walk did not come to its end.
    """
    mode, holes = None, None
    counts, examples = dict.fromkeys((*_KINDS, "empty"), 0), dict[str, list[str]]()
    for line in lines_of(text):
        word, _, rest = line.partition(" ")
        kind, _, number = rest.partition(" ")
        if word == "mode" and re.fullmatch("[0-7]{3,4}", rest):
            mode = rest
        elif word == "holes" and re.fullmatch("[0-9]{1,20}", rest):
            holes = int(rest)
        elif word == "count" and kind in counts and re.fullmatch("[0-9]{1,18}", number):
            counts[kind] = int(number)
        elif word in _KINDS and rest.startswith("="):
            examples.setdefault(word, []).append(_path(rest[1:], line))
        else:
            raise unreadable_error("find", "a kind of file and its path", line)
    # `holes` is the walk's last line: without it no count is of all files
    if mode is None or holes is None:
        raise unreadable_error("find", "the mode of the data directory and a count", first_line(text))
    return mode, IrregularFiles(
        hard_links=counts["hard-link"],
        sparse=counts["sparse"],
        sparse_bytes=holes,
        foreign=counts["foreign"],
        unreadable=counts["unreadable"],
        partial=counts["partial"],
        examples={kind: tuple(paths) for kind, paths in examples.items()},
        empty=counts["empty"],
        special=counts["special"],
    )


def _path(digits: str, line: str) -> str:
    try:
        # the walk turned line breaks of names into byte 1, as lines end its records
        return decode_hexadecimal(digits).replace("\x01", "\n")
    except ValueError as error:
        raise unreadable_error("find", "hexadecimal digits", line) from error


IRREGULAR_FILES = Section(
    "irregular-files", "file kinds", ("irregular_files",), parse_irregular_files, deadline=DEADLINE
)


# The names in folders that a copy is to go to: whether they are empty, and whose they may be.

NAMES = 1000
"""At most so many names of a folder are read."""


def parse_target_entries(text: str) -> dict[str, tuple[str, ...]]:
    """Folder -> the names in it.

    Raises:
        ParseError: a line cannot be read.
    """
    found: dict[str, tuple[str, ...]] = {}
    folder = None
    for line in lines_of(text):
        match = re.fullmatch(r"(folder|name) =((?:[0-9a-f]{2})*)", line)
        if match is None or (folder is None and match[1] == "name"):
            raise unreadable_error("target-entries", "a line 'folder =PATH' or 'name =NAME'", line)
        if match[1] == "folder":
            folder = decode_hexadecimal(match[2])
            found[folder] = ()
        elif folder is not None:
            found[folder] = (*found[folder], decode_hexadecimal(match[2]))
    return found


def section(folders: Sequence[str]) -> Section[dict[str, tuple[str, ...]]]:
    """A section that lists each folder; one that is not there holds nothing."""
    return Section(
        "target-entries",
        "target directories",
        ("target_entries", str(NAMES), *folders),
        parse_target_entries,
        deadline=30,
    )

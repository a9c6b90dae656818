"""What a data directory weighs: bytes and files of itself, of its tablespaces and of what its links lead to.

The walks are in resources/sh/cluster_files.sh; a directory of a million files takes a while, hence the deadline.
"""

import posixpath
import re
from dataclasses import dataclass

from core.facts.model import Link, Tablespace
from core.facts.sections import Section, decode_hexadecimal
from core.facts.text import first_line, unreadable_error

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
    for line in text.splitlines():
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

"""What a data directory weighs: bytes and files of itself, of its tablespaces and of what its links lead to.

A file weighs what it takes up on the disk or what it holds, whichever is more: a file system that compresses (zfs,
btrfs) gives the first too small for what a copy moves and what its target needs.

Only names and inodes are read, at low priority; a directory of a million files takes a while, hence the deadline.
"""

import posixpath
import re
from dataclasses import dataclass

from core.facts.model import Link, Tablespace
from core.facts.sections import Section, hexadecimal
from core.facts.text import first_line, unreadable
from core.servers.shell import Shell, script

DEADLINE = 120

# A file with several names counts once. Numbers beyond 2^31 need %.0f in older awks. What vanishes while a running
# server works is no error (-ignore_readdir_race); what may not be read is, and a sum without it is none.
_AWK = (
    '$1 == "incomplete" { incomplete = 1; next } '
    '$1 == "f" && $3 > 1 && seen[$4]++ { next } '
    '{ taken = $2 * 512; if ($1 == "f" && $5 > taken) taken = $5; bytes += taken; if ($1 != "d") files++ } '
    'END { if (incomplete) print "- -"; else printf "%.0f %.0f\\n", bytes, files }'
)
SUM: Shell = script(
    """gentle=
! command -v ionice >/dev/null || gentle="ionice -c 2 -n 7"
! command -v nice >/dev/null || gentle="$gentle nice -n 10"
{ $gentle find "$1" -ignore_readdir_race -printf "%y %b %n %D:%i %s\\n" || echo incomplete; } | awk @program@""",
    program=_AWK,
)
"""A body for `sh -c BODY sh FOLDER` that prints bytes and files, or dashes where not all could be read."""

# The bodies below read $folder, the data directory, and $sum, the body above.
SIZE = Section("size", script('sh -c "$sum" sh "$folder"'), deadline=DEADLINE)
WRITTEN = Section(
    "written",
    script(
        """find -L "$folder" -ignore_readdir_race -path "*/pg_wal/*" -prune -o -type f -mmin -60 -printf "%s\\n" |
awk '{ bytes += $1 } END { printf "%.0f\\n", bytes }'"""
    ),
    deadline=DEADLINE,
)
_EACH = script("""hex() { od -An -v -tx1 | tr -d " \\n"; }
for entry do
  inside=$(printf %s "${entry#"$folder"/}" | hex)
  if test ! -L "$entry"; then echo "leftover =$inside"; continue; fi
  target=$(readlink -f -- "$entry")
  if test -e "$entry"; then figures="present $(sh -c "$sum" sh "$target")"; else figures="dangling - -"; fi
  test -n "$target" || target=$(readlink -- "$entry")
  echo "link $figures =$inside =$(printf %s "$target" | hex)"
done""")
LINKS = Section(
    "links",
    script(
        """find "$folder" -ignore_readdir_race \\( -type l -o -name "pgsql_tmp*" -type f -o -name ".~tmp~" \\
  -o -name ".rsync-partial" \\) -exec sh -c @each@ sh {} +""",
        each=_EACH,
    ),
    deadline=DEADLINE,
)

_LINK = re.compile(
    r"link (?P<state>present|dangling) (?P<bytes>[0-9]{1,20}|-) (?P<files>[0-9]{1,20}|-) "
    r"=(?P<path>[0-9a-f]+) =(?P<target>[0-9a-f]*)"
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
    """Bytes and files.

    Raises:
        ParseError: there are no two numbers; dashes where not everything could be read.
    """
    found = re.fullmatch(r"([0-9]{1,20}) ([0-9]{1,20})", text.strip())
    if found is None:
        raise unreadable("find", "bytes and files", first_line(text))
    return int(found[1]), int(found[2])


def parse_written(text: str) -> int:
    """Bytes of the files that were written to in the last hour, WAL aside.

    Raises:
        ParseError: it is no number.
    """
    found = re.fullmatch(r"[0-9]{1,20}", text.strip())
    if found is None:
        raise unreadable("find", "bytes", first_line(text))
    return int(found[0])


def parse_links(text: str) -> Contents:
    """Tablespaces, other links and leftovers of a data directory.

    Raises:
        ParseError: a line cannot be read.
    """
    tablespaces, links, leftovers = [], [], []
    for line in text.splitlines():
        leftover, found = _LEFTOVER.fullmatch(line), _LINK.fullmatch(line)
        try:
            if leftover is not None:
                leftovers.append(hexadecimal(leftover["path"]))
            elif found is not None:
                link = _link(found)
                number = _TABLESPACE.fullmatch(link.path)
                if number is None:
                    links.append(link)
                else:
                    tablespaces.append(Tablespace(int(number[1]), link.path, link.target, link.size_bytes, link.files))
            else:
                raise unreadable("links", "a line 'link … =PATH =TARGET'", line)
        except ValueError as error:
            raise unreadable("links", "hexadecimal digits", line) from error
    return Contents(
        tuple(sorted(tablespaces, key=lambda tablespace: tablespace.oid)),
        tuple(sorted(links, key=lambda link: link.path)),
        tuple(sorted(leftovers)),
    )


def _link(found: re.Match[str]) -> Link:
    path, target = hexadecimal(found["path"]), hexadecimal(found["target"])
    known = found["bytes"] != "-" and found["files"] != "-"
    return Link(
        path=path,
        target=target,
        dangling=found["state"] == "dangling",
        size_bytes=int(found["bytes"]) if known else None,
        files=int(found["files"]) if known else None,
    )


def total(folder: str, own: tuple[int, int], contents: Contents) -> tuple[int, int] | None:
    """Bytes and files of everything that a move copies, each place once; None where one of them is not known.

    A target inside the data directory, or inside another target, is already counted there.
    """
    places: dict[str, tuple[int | None, int | None]] = {folder: own}
    places |= {space.location: (space.size_bytes, space.files) for space in contents.tablespaces}
    places |= {link.target: (link.size_bytes, link.files) for link in contents.links if not link.dangling}
    size = files = 0
    for place, (place_bytes, place_files) in places.items():
        if any(_inside(place, other) for other in places):
            continue
        if place_bytes is None or place_files is None:
            return None
        size, files = size + place_bytes, files + place_files
    return size, files


def _inside(path: str, folder: str) -> bool:
    return path != folder and posixpath.commonpath((path, folder)) == folder if path.startswith("/") else False

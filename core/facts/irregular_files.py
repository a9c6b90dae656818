"""Files of a data directory that a copy may not bring over as they are: hard links, holes, strangers' and leftovers.

One walk over names and inodes at low priority, as the data directory's owner, who is the one that will copy.
"""

import re

from core.facts.host_environment import IrregularFiles
from core.facts.sections import Section, hexadecimal
from core.facts.sizes import DEADLINE
from core.facts.text import first_line, unreadable
from core.servers.shell import script

_KINDS = ("hard-link", "sparse", "foreign", "unreadable", "partial")
_SHOWN = 5
_HOLE = 1 << 20
"""Bytes of holes from which a file counts as sparse: less is the end of a block, or a small file inside its inode."""

# A line break in a name would break the lines of the walk; find prints it as \n, as it does for any path of %p in a
# terminal only, so names go through `tr`: a NUL ends a record, a line break becomes byte 1.
_AWK = (
    "function note(kind) { count[kind]++; if (count[kind] <= shown) print kind, path } "
    '{ path = $0; for (i = 0; i < 6; i++) sub(/^[^ ]* /, "", path) } '
    '$1 == "f" && $3 > 1 && !seen[$2]++ { note("hard-link") } '
    '$1 == "f" && $5 - $4 * 512 >= hole { note("sparse"); holes += $5 - $4 * 512 } '
    '$6 != owner { note("foreign") } '
    '$1 == "U" { note("unreadable") } '
    '$1 == "P" { note("partial") } '
    'END { printf "holes %.0f\\n", holes; for (kind in count) print "count", kind, count[kind] }'
)
SECTION = Section(
    "irregular-files",
    script(
        """gentle=
! command -v ionice >/dev/null || gentle="ionice -c 2 -n 7"
! command -v nice >/dev/null || gentle="$gentle nice -n 10"
owner=$(stat -c %u "$folder")
echo "mode $(stat -c %a "$folder")"
set -- "$folder"
for link in "$folder"/pg_tblspc/*; do test ! -e "$link" || set -- "$@" "$link"; done
$gentle find -H "$@" -ignore_readdir_race \\( -type f -o -type d \\) \\
  -printf "%y %D:%i %n %b %s %U %p\\0" \\
  \\( ! -readable -printf "U - 0 0 0 $owner %p\\0" -o -true \\) \\
  \\( \\( -name ".~tmp~" -o -name ".rsync-partial" -o -type f -name @scratch@ \\) \\
     -printf "P - 0 0 0 $owner %p\\0" -o -true \\) 2>/dev/null |
  tr "\\n\\0" "\\001\\n" | awk -v owner="$owner" -v shown=@shown@ -v hole=@hole@ @program@ |
  while read -r kind rest; do
    case $kind in
      count | holes) echo "$kind $rest" ;;
      *) echo "$kind =$(printf %s "$rest" | od -An -v -tx1 | tr -d " \\n")" ;;
    esac
  done""",
        shown=_SHOWN,
        hole=_HOLE,
        scratch=".?*." + 6 * "[0-9a-zA-Z]",
        program=_AWK,
    ),
    deadline=DEADLINE,
)


def parse_irregular_files(text: str) -> tuple[str, IrregularFiles]:
    """The data directory's mode in octal, and the odd files.

    Raises:
        ParseError: a line is none of ours, or the walk did not come to its end.
    """
    mode, holes = None, None
    counts, examples = dict.fromkeys(_KINDS, 0), dict[str, list[str]]()
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        kind, _, number = rest.partition(" ")
        if word == "mode" and re.fullmatch("[0-7]{3,4}", rest):
            mode = rest
        elif word == "holes" and re.fullmatch("[0-9]{1,20}", rest):
            holes = int(rest)
        elif word == "count" and kind in counts and re.fullmatch("[0-9]{1,18}", number):
            counts[kind] = int(number)
        elif word in counts and rest.startswith("="):
            examples.setdefault(word, []).append(_path(rest[1:], line))
        else:
            raise unreadable("find", "a kind of file and its path", line)
    if mode is None or holes is None:
        raise unreadable("find", "the mode of the data directory and a count", first_line(text))
    return mode, IrregularFiles(
        hard_links=counts["hard-link"],
        sparse=counts["sparse"],
        sparse_bytes=holes,
        foreign=counts["foreign"],
        unreadable=counts["unreadable"],
        partial=counts["partial"],
        examples={kind: tuple(paths) for kind, paths in examples.items()},
    )


def _path(digits: str, line: str) -> str:
    try:
        return hexadecimal(digits).replace("\x01", "\n")
    except ValueError as error:
        raise unreadable("find", "hexadecimal digits", line) from error

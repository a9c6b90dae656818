"""Lists of files on old: what is there, what changed since a pass that ended well, and who carries what.

A list has a line a file: size, mtime and ctime in nanoseconds, inode, name; sorted, so that two of them can be
compared. A line break in a name becomes byte 1 there and back. A file is trusted as copied when its line is the same as
before the pass that copied it: not its time alone counts, as for rsync's quick check, but also what no program can set
back, the ctime. Lines of the two seconds before a pass are left out of what it vouches for: what is written within one
tick of the clock leaves no trace in any time.

The lists lie in the folder of the copy's key, and go with it.
"""

from typing import LiteralString

from core.migration.transports import idle_wal
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, script

_LINES: LiteralString = "-printf '%s %T@ %C@ %i ./%P\\0' | tr '\\n\\0' '\\001\\n' | sort"
_LEAST_LOADED: LiteralString = (
    "awk -v streams=@streams@ -v list=@list@ '"
    'BEGIN { for (i = 1; i <= streams; i++) { file[i] = list "-" i; load[i] = 0; printf "" >file[i] } } '
    "{ least = 1; for (i = 2; i <= streams; i++) if (load[i] < load[least]) least = i; "
    # a file costs a moment besides its bytes
    'load[least] += $1 + 65536; sum += $1; sub(/^[^ ]* [^ ]* [^ ]* [^ ]* /, ""); print >file[least] } '
    'END { printf "%.0f bytes in %d files to send\\n", sum, NR }\''
    ' && stream=1 && while [ "$stream" -le @streams@ ]; do '
    "tr '\\n\\001' '\\0\\n' <@list@\"-$stream\" >@list@\"-$stream.names\" || exit; stream=$((stream + 1)); done"
)


def names(channel: CopyChannel, label: str, stream: int) -> str:
    """The file with the names of one stream, from 1, a NUL after each."""
    return f"{channel.folder}/files-{label}-{stream}.names"


def changed_names(channel: CopyChannel, label: str, streams: int) -> Shell:
    """In a folder on old: the names of its files that no pass has vouched for, split by size over the streams.

    Leaves beside them what a pass that follows may vouch for when it ends well: see `vouch`. Prints what lies ahead of
    the pass: `123456 bytes in 78 files to send`.
    """
    return script(
        "umask 077; limit=$(($(date +%s) - 2)); export LC_ALL=C; set --; [ ! -e @idle@ ] || "
        'while read -r _ pattern; do set -- "$@" ! -path ".$pattern"; done <@idle@; '
        'find . -type f "$@" ! -newermt "@$limit" ! -newerct "@$limit" ' + _LINES + " >@next@ && "
        'find . -type f "$@" ' + _LINES + " >@now@ && { [ -e @seen@ ] || : >@seen@; } && "
        "comm -13 @seen@ @now@ | sort -rn | " + _LEAST_LOADED,
        next=f"{channel.folder}/next-{label}",
        now=f"{channel.folder}/now-{label}",
        seen=_seen(channel, label),
        streams=streams,
        list=f"{channel.folder}/files-{label}",
        idle=idle_wal.rules(channel, label),
    )


def vouch(channel: CopyChannel, label: str) -> Shell:
    """A pass has ended well: what stood still before it began is on new."""
    return script("mv -f -- @next@ @seen@", next=f"{channel.folder}/next-{label}", seen=_seen(channel, label))


def split(channel: CopyChannel, listed: str, label: str, streams: int) -> Shell:
    """Lines in the file `listed`, in the shape of a list, split by size over the streams."""
    return script(
        "sort -rn <@listed@ | " + _LEAST_LOADED,
        listed=listed,
        streams=streams,
        list=f"{channel.folder}/files-{label}",
    )


def _seen(channel: CopyChannel, label: str) -> str:
    return f"{channel.folder}/seen-{label}"

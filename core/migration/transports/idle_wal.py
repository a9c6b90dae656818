"""WAL that nobody needs: segments with names beyond the last one in use, kept by the server to be written over.

A server renames segments that it is done with to names to come, gigabytes of them where max_wal_size or min_wal_size
are large; what they hold is old. The rule of which these are stands here alone, for every pass, for what a pass removes
and for the comparison of both sides:

    stopped cleanly   beyond the segment in which the record of the shutdown's checkpoint ends
    running           beyond the segment that was written last; only warm passes look at a running server
    anything else     none: of a standby the WAL beyond its last restartpoint is needed

They are names of 24 digits on the timeline of that segment. What replication slots, wal_keep_size or archiving hold is
older than the checkpoint and travels, as do histories, labels of backups and the files of archive_status. A server that
starts without the rest makes it as it needs it. Source: PostgreSQL's xlog.c, RemoveOldXlogFiles and XLogFileInit.
"""

from typing import LiteralString

from core.migration.findings.data_roots import DataRoot
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, script

_LAST: LiteralString = (
    "control=$(sh -c @control@) || exit; "
    'told() { printf \'%s\\n\' "$control" | sed -n "s/^$1: *//p"; }; '
    "case $(told 'Database cluster state') in "
    "'shut down') at=$(told 'Latest checkpoint location'); size=$(told 'Bytes per WAL segment'); "
    # the record is shorter than a block, and may begin in one segment and end in the next
    "segment=$((((0x${at%/*} << 32) + 0x${at#*/} + 8192) / size)); many=$((0x100000000 / size)); "
    'last=$(printf %08X%08X%08X "$(told "Latest checkpoint\'s TimeLineID")" '
    "$((segment / many)) $((segment % many)));; "
    "'in production') last=$(find @folder@/ -maxdepth 1 -type f -printf '%T@ %f\\n' | LC_ALL=C sort -rn | "
    "LC_ALL=C sed -n '/ [0-9A-F]\\{24\\}$/{s/.* //p;q;}');; "
    "*) last=;; esac; "
)
# a name is greater where its digits begin alike and then one is greater
_GREATER: LiteralString = (
    '[ -z "$last" ] || awk -v last="$last" -v ahead=@ahead@ \'BEGIN { digits = "0123456789ABCDEF"; '
    "for (at = 9; at <= 24; at++) { above = substr(digits, index(digits, substr(last, at, 1)) + 1); "
    'if (above == "") continue; pattern = substr(last, 1, at - 1) "[" above "]"; '
    'for (rest = at; rest < 24; rest++) pattern = pattern "?"; print ahead pattern } }\''
)


def patterns(control: Shell, folder: str, ahead: str) -> Shell:
    """Print patterns that match the names of those segments in the WAL's folder and no other, one a line.

    At most one for each digit that a name has behind its timeline. `control` prints the control file of the cluster;
    `ahead` stands ahead of each pattern. `find -path` and rsync's filters read them alike.
    """
    return script(_LAST + _GREATER, control=control, folder=folder, ahead=ahead)


def written(channel: CopyChannel, root: DataRoot, control: Shell) -> Shell:
    """On old: the patterns for a root that holds the WAL, as rules of rsync's that hide what matches from its sender.

    What is hidden is not sent, and is removed on new where a pass removes what old does not have.
    """
    return script(
        "umask 077; sh -c @patterns@ >@file@.$$ && mv -f -- @file@.$$ @file@",
        patterns=patterns(control, f"{root.source}/{root.wal}", f"H /{below(root)}"),
        file=rules(channel, root.label),
    )


def rules(channel: CopyChannel, label: str) -> str:
    """The file with the rules for a data root."""
    return f"{channel.folder}/idle-{label}"


def below(root: DataRoot) -> str:
    """What stands ahead of a segment's name below the root: `pg_wal/`, or nothing where the root is the WAL's own."""
    return f"{root.wal}/" if root.wal else ""

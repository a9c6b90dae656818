"""Passes of rsync, by whichever route a copy takes: over ssh or a daemon, through a mount, within one server.

What differs from route to route stands in `routes` and its modules.

Options, and why:
    -rlptH      folders, links as they are, modes, times, hard links. Not the owner: the receiver is the database user
                of new, whatever number it has there, and owns what it writes. Not ACLs and labels: they are new's own.
    --inplace   what changed of a file of 1 GB is written into it, not a second file beside it; a broken pass goes on
                where it stopped. Never --delay-updates, which hides what was copied where a later --delete removes it.
    --ignore-times  what no pass has vouched for is compared byte for byte, whatever size and time say.
    --existing, then --ignore-existing  what is on new already is written in place, what is missing is not: rsync ends
                a file in place by truncating it to its size, and for a new one XFS then waits for its disk
                (xfs_setattr_size). 20,000 new files took 4.9 s in place and 3.0 s else.
    --partial   what a broken pass had of a missing file of 1 GB stays, and the next pass goes on with it in place.
    --rsync-path=pghaul-receive LABEL   new's folder is chosen by the key's own line on new (see copy_channel), so no
                path crosses a remote shell, and without that line nothing can be written, let alone deleted.
    --filter="merge …"  WAL that nobody needs stays on old; the rule stands in `idle_wal`.
RSYNC_PROTECT_ARGS=0 keeps the server's options on the command line, where the receiver checks them. What depends on
rsync's version stands in `rsync_versions`.

Several streams share the files by size; folders, links and what is gone belong to one last pass. Exit 24 (a file
vanished) is what a running server does to a warm pass; source: rsync(1), EXIT VALUES.
"""

from typing import LiteralString

from core.migration.findings.data_roots import DataRoot
from core.migration.transports import file_lists, idle_wal, stream_logs
from core.migration.transports.copy_channel import CopyChannel
from core.migration.transports.routes import route_of
from core.migration.transports.rsync_versions import can_stream, listed_options, progress_options, version_options
from core.servers.shell import Shell, command, environment, pipe, script, sequence

VANISHED = 24

_ENVIRONMENT = {"LC_ALL": "C", "RSYNC_PROTECT_ARGS": "0"}
_OPTIONS = ("-rlptH", "--timeout=600", "--stats")
_IN_PLACE = ("--ignore-times", "--inplace")
_PRESENT = ("--existing", *_IN_PLACE)
_MISSING = ("--ignore-existing", "--partial")
_EXCLUDED = ("/postmaster.pid", "/pghaul-start.log")

_SIDE_BY_SIDE: LiteralString = (
    'streams=; for stream do sh -c "$stream" & streams="$streams $!"; done; worst=0; '
    'for stream in $streams; do wait "$stream"; status=$?; '
    f'[ "$status" -eq 0 ] || [ "$worst" -ne 0 -a "$status" -eq {VANISHED} ] || worst=$status; done; exit "$worst"'
)


def warm_pass(channel: CopyChannel, root: DataRoot) -> Shell:
    """On old, while the server runs: what no earlier pass has brought, then what is missing yet, folders and links."""
    tolerant = listed_options(channel.rsync)
    if can_stream(channel.rsync):
        present = _by_streams(channel, root, [*_PRESENT, *tolerant])
    else:
        present = _whole(channel, root, [*_PRESENT])
    missing = [_by_streams(channel, root, [*_MISSING, *tolerant])] if _in_streams(channel) else []
    copies = [present, *missing, _whole(channel, root, [*_MISSING])]
    listed, vouch = _listed(channel, root), file_lists.vouch(channel, root.label)
    return sequence(*_idle_known(channel, root), *listed, *(_forgiving(each) for each in copies), vouch)


def cold_pass(channel: CopyChannel, root: DataRoot) -> Shell:
    """On old, stopped: everything, and what is not on old removed on new. rsync checks the sum of all it sends."""
    if not _in_streams(channel):
        present, missing = _whole(channel, root, [*_PRESENT]), _whole(channel, root, [*_MISSING, "--delete"])
        return sequence(*_idle_known(channel, root), present, missing)
    copies = [_by_streams(channel, root, [*options]) for options in (_PRESENT, _MISSING)]
    return sequence(*_idle_known(channel, root), *_listed(channel, root), *copies, rest_pass(channel, root))


def changed_pass(channel: CopyChannel, root: DataRoot) -> Shell:
    """On old, stopped: every file that changed since the last warm pass began, compared byte for byte."""
    copies = _by_streams(channel, root, [*_IN_PLACE])
    return sequence(*_idle_known(channel, root), *_listed(channel, root), copies)


def rest_pass(channel: CopyChannel, root: DataRoot) -> Shell:
    """On old, stopped: folders, links and times; what is not on old is removed on new."""
    return sequence(*_idle_known(channel, root), _whole(channel, root, ["--delete"]))


def control_file_pass(channel: CopyChannel, root: DataRoot, links: list[str]) -> Shell:
    """On old: the control file and those links of the data directory, with their folders."""
    one = _rsync(channel, root.label, ["--ignore-times", "--from0", "--files-from=-"], f"{root.source}/")
    return pipe(command("printf", "./%s\\0", "global/pg_control", *links), one)


def deletions(channel: CopyChannel, root: DataRoot) -> Shell:
    """On old: the names that the last pass would remove on new, one a line; a dry run."""
    dry = _whole(channel, root, ["--dry-run", "--delete", "--itemize-changes"])
    return sequence(*_idle_known(channel, root), pipe(dry, command("sed", "-n", "s/^[*]deleting *//p")))


def sample_passes(channel: CopyChannel, label: str, folder: str, seconds: int) -> tuple[Shell, Shell]:
    """On old: the files below `folder` whose names lie in the lists of `label`, as a pass sends them.

    First what lies on new already, of which the rest is appended, then what is missing. `timeout` ends each after so
    many seconds; it stays in the process group (--foreground), or it would not end with it.
    """
    limit = ("timeout", "--foreground", "-k", 2, seconds)
    tolerant = listed_options(channel.rsync)
    appended = _beside(_streams(channel, label, ["--existing", "--append", *tolerant], limit))
    missing = _beside(_streams(channel, label, [*_MISSING, *tolerant], limit))
    return sequence(command("cd", "--", folder), appended), sequence(command("cd", "--", folder), missing)


def empty_pass(channel: CopyChannel, label: str, listed: str) -> Shell:
    """On old: a pass over a list without a name: what it takes until a pass can begin."""
    return _contents(channel, label, ["--from0", f"--files-from={listed}"], "/")


def further_starts(channel: CopyChannel) -> int:
    """How many more times rsync begins in a copy than by one stream: two passes by streams, and one over the rest."""
    return 2 * channel.transport.streams + 1 - 2 if _in_streams(channel) else 0


def _in_streams(channel: CopyChannel) -> bool:
    """Whether listed files go ahead, and a last pass over all brings folders and links."""
    return channel.transport.streams > 1 or route_of(channel).CONTENTS_ALONE


def _listed(channel: CopyChannel, root: DataRoot) -> list[Shell]:
    """Into the root's folder, and the lists of its files that no pass has vouched for."""
    streams = channel.transport.streams if can_stream(channel.rsync) else 1
    return [command("cd", "--", root.source), file_lists.changed_names(channel, root.label, streams)]


def _by_streams(channel: CopyChannel, root: DataRoot, options: list[str]) -> Shell:
    """The listed files, by as many streams as the transport has."""
    copies = _streams(channel, root.label, [*options, *_exclude(channel, root)])
    if len(copies) == 1:
        return copies[0]
    return stream_logs.watched(channel, root.label, _beside(stream_logs.own_logs(channel, root.label, copies)))


def _whole(channel: CopyChannel, root: DataRoot, options: list[str]) -> Shell:
    """All of the root, folders and links too."""
    return _rsync(channel, root.label, [*options, *_exclude(channel, root)], f"{root.source}/")


def _streams(channel: CopyChannel, label: str, options: list[str], ahead: tuple[str | int, ...] = ()) -> list[Shell]:
    """In a folder on old: the listed files, a stream a list."""
    copies = []
    for stream in range(1, channel.transport.streams + 1):
        listed = ["--from0", f"--files-from={file_lists.names(channel, label, stream)}"]
        copies.append(_contents(channel, label, [*options, *listed], "./", ahead))
    return copies


def _beside(copies: list[Shell]) -> Shell:
    """All at once; ends with the worst of their exit statuses."""
    if len(copies) == 1:
        return copies[0]
    return command("sh", "-c", script(_SIDE_BY_SIDE), "streams", *copies)


def _forgiving(copy: Shell) -> Shell:
    """A file that vanishes while the server runs is no fault."""
    return script("{ sh -c @copy@ || [ $? -eq 24 ]; }", copy=copy)


def _contents(
    channel: CopyChannel, label: str, options: list[str], source: str, ahead: tuple[str | int, ...] = ()
) -> Shell:
    """rsync over listed files, by the way that contents take; `ahead`: words ahead of one that nobody follows."""
    route = route_of(channel)
    followed = () if ahead else progress_options(channel.rsync)
    words: list[str | int | Shell] = [*ahead, *route.sender(channel), *_OPTIONS, *version_options(channel.rsync)]
    words += [*followed, *options, *route.contents(channel, label, source)]
    return environment(_ENVIRONMENT, command(str(words[0]), *words[1:]))


def _rsync(channel: CopyChannel, label: str, options: list[str], source: str) -> Shell:
    """rsync over all that `options` leave, folders and links too."""
    followed = () if "--dry-run" in options else progress_options(channel.rsync)
    words = (*_OPTIONS, *version_options(channel.rsync), *followed, *options)
    return environment(_ENVIRONMENT, command("rsync", *words, *route_of(channel).target(channel, label, source)))


def _exclude(channel: CopyChannel, root: DataRoot) -> list[str]:
    excluded = [f"--exclude={pattern}" for pattern in _EXCLUDED] if root.label == "data" else []
    idle = [f"--filter=merge {idle_wal.rules(channel, root.label)}"] if _idle_known(channel, root) else []
    return [*excluded, *idle]


def _idle_known(channel: CopyChannel, root: DataRoot) -> list[Shell]:
    """Where the root holds the WAL: the command that finds out ahead of a pass what of it nobody needs."""
    if channel.control is None or root.wal is None:
        return []
    return [idle_wal.written(channel, root, channel.control)]

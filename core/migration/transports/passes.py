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
    --rsync-path=pghaul-receive LABEL   new's folder is chosen by the key's own line on new (see passage), so no path
                crosses a remote shell, and without that line nothing can be written, let alone deleted.
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


def warm_pass(way: CopyChannel, place: DataRoot) -> Shell:
    """On old, while the server runs: what no earlier pass has brought, then what is missing yet, folders and links."""
    tolerant = listed_options(way.rsync)
    if can_stream(way.rsync):
        present = _by_streams(way, place, [*_PRESENT, *tolerant])
    else:
        present = _whole(way, place, [*_PRESENT])
    missing = [_by_streams(way, place, [*_MISSING, *tolerant])] if _in_streams(way) else []
    copies = [present, *missing, _whole(way, place, [*_MISSING])]
    listed, vouch = _listed(way, place), file_lists.vouch(way, place.label)
    return sequence(*_idle_known(way, place), *listed, *(_forgiving(each) for each in copies), vouch)


def cold_pass(way: CopyChannel, place: DataRoot) -> Shell:
    """On old, stopped: everything, and what is not on old removed on new. rsync checks the sum of all it sends."""
    if not _in_streams(way):
        present, missing = _whole(way, place, [*_PRESENT]), _whole(way, place, [*_MISSING, "--delete"])
        return sequence(*_idle_known(way, place), present, missing)
    copies = [_by_streams(way, place, [*options]) for options in (_PRESENT, _MISSING)]
    return sequence(*_idle_known(way, place), *_listed(way, place), *copies, rest_pass(way, place))


def changed_pass(way: CopyChannel, place: DataRoot) -> Shell:
    """On old, stopped: every file that changed since the last warm pass began, compared byte for byte."""
    copies = _by_streams(way, place, [*_IN_PLACE])
    return sequence(*_idle_known(way, place), *_listed(way, place), copies)


def rest_pass(way: CopyChannel, place: DataRoot) -> Shell:
    """On old, stopped: folders, links and times; what is not on old is removed on new."""
    return sequence(*_idle_known(way, place), _whole(way, place, ["--delete"]))


def control_file_pass(way: CopyChannel, place: DataRoot, links: list[str]) -> Shell:
    """On old: the control file and those links of the data directory, with their folders."""
    one = _rsync(way, place.label, ["--ignore-times", "--from0", "--files-from=-"], f"{place.source}/")
    return pipe(command("printf", "./%s\\0", "global/pg_control", *links), one)


def deletions(way: CopyChannel, place: DataRoot) -> Shell:
    """On old: the names that the last pass would remove on new, one a line; a dry run."""
    dry = _whole(way, place, ["--dry-run", "--delete", "--itemize-changes"])
    return sequence(*_idle_known(way, place), pipe(dry, command("sed", "-n", "s/^[*]deleting *//p")))


def sample_passes(way: CopyChannel, label: str, folder: str, seconds: int) -> tuple[Shell, Shell]:
    """On old: the files below `folder` whose names lie in the lists of `label`, as a pass sends them.

    First what lies on new already, of which the rest is appended, then what is missing. `timeout` ends each after so
    many seconds; it stays in the process group (--foreground), or it would not end with it.
    """
    limit = ("timeout", "--foreground", "-k", 2, seconds)
    tolerant = listed_options(way.rsync)
    appended = _beside(_streams(way, label, ["--existing", "--append", *tolerant], limit))
    missing = _beside(_streams(way, label, [*_MISSING, *tolerant], limit))
    return sequence(command("cd", "--", folder), appended), sequence(command("cd", "--", folder), missing)


def empty_pass(way: CopyChannel, label: str, listed: str) -> Shell:
    """On old: a pass over a list without a name: what it takes until a pass can begin."""
    return _contents(way, label, ["--from0", f"--files-from={listed}"], "/")


def further_starts(way: CopyChannel) -> int:
    """How many more times rsync begins in a copy than by one stream: two passes by streams, and one over the rest."""
    return 2 * way.transport.streams + 1 - 2 if _in_streams(way) else 0


def _in_streams(way: CopyChannel) -> bool:
    """Whether listed files go ahead, and a last pass over all brings folders and links."""
    return way.transport.streams > 1 or route_of(way).CONTENTS_ALONE


def _listed(way: CopyChannel, place: DataRoot) -> list[Shell]:
    """Into the place's folder, and the lists of its files that no pass has vouched for."""
    streams = way.transport.streams if can_stream(way.rsync) else 1
    return [command("cd", "--", place.source), file_lists.changed_names(way, place.label, streams)]


def _by_streams(way: CopyChannel, place: DataRoot, options: list[str]) -> Shell:
    """The listed files, by as many streams as the transport has."""
    copies = _streams(way, place.label, [*options, *_exclude(way, place)])
    if len(copies) == 1:
        return copies[0]
    return stream_logs.watched(way, place.label, _beside(stream_logs.own_logs(way, place.label, copies)))


def _whole(way: CopyChannel, place: DataRoot, options: list[str]) -> Shell:
    """All of the place, folders and links too."""
    return _rsync(way, place.label, [*options, *_exclude(way, place)], f"{place.source}/")


def _streams(way: CopyChannel, label: str, options: list[str], ahead: tuple[str | int, ...] = ()) -> list[Shell]:
    """In a folder on old: the listed files, a stream a list."""
    copies = []
    for stream in range(1, way.transport.streams + 1):
        listed = ["--from0", f"--files-from={file_lists.names(way, label, stream)}"]
        copies.append(_contents(way, label, [*options, *listed], "./", ahead))
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
    way: CopyChannel, label: str, options: list[str], source: str, ahead: tuple[str | int, ...] = ()
) -> Shell:
    """rsync over listed files, by the way that contents take; `ahead`: words ahead of one that nobody follows."""
    route = route_of(way)
    followed = () if ahead else progress_options(way.rsync)
    words: list[str | int | Shell] = [*ahead, *route.sender(way), *_OPTIONS, *version_options(way.rsync)]
    words += [*followed, *options, *route.contents(way, label, source)]
    return environment(_ENVIRONMENT, command(str(words[0]), *words[1:]))


def _rsync(way: CopyChannel, label: str, options: list[str], source: str) -> Shell:
    """rsync over all that `options` leave, folders and links too."""
    followed = () if "--dry-run" in options else progress_options(way.rsync)
    words = (*_OPTIONS, *version_options(way.rsync), *followed, *options)
    return environment(_ENVIRONMENT, command("rsync", *words, *route_of(way).target(way, label, source)))


def _exclude(way: CopyChannel, place: DataRoot) -> list[str]:
    excluded = [f"--exclude={pattern}" for pattern in _EXCLUDED] if place.label == "data" else []
    idle = [f"--filter=merge {idle_wal.rules(way, place.label)}"] if _idle_known(way, place) else []
    return [*excluded, *idle]


def _idle_known(way: CopyChannel, place: DataRoot) -> list[Shell]:
    """Where the place holds the WAL: the command that finds out ahead of a pass what of it nobody needs."""
    if way.control is None or place.wal is None:
        return []
    return [idle_wal.written(way, place, way.control)]

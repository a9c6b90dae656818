"""Passes of rsync by any route: over ssh or a daemon, through a mount, or within one server.

`resources/sh/copy.sh`, `lists.sh` and `wal.sh` say what they do; this module says which pass gets which arguments. What
depends on the version of rsync, the route or the transport is decided here and passed as settings.

    -rlptH      Folders, links unchanged, modes, times, hard links. Not the owner: the receiver is the database user of
                the new server, whatever its user ID, and owns what it writes. Not ACLs and labels: they belong to the
                new server.
    never --delay-updates, which hides copied files where a later --delete removes them.
"""

from dataclasses import replace

from core.migration.findings.data_roots import DataRoot
from core.migration.model.transport import Route
from core.migration.transports.copy_channel import CopyChannel
from core.migration.transports.rsync_versions import (
    can_stream,
    compression_options,
    listed_options,
    progress_options,
)
from core.servers.functions import library, named_in
from core.servers.shell import Shell, call, command, with_settings

_OPTIONS = ("-rlptH", "--timeout=600", "--stats")
_DAEMON_USER = "pghaul"
_KIB = 1024
"""The unit of --bwlimit in bytes/s."""
PRECOPY_LIMIT = "copy_limit_pass"
"""The setting of a copy with the options that limit its pre-copy passes; empty: they have no limit."""

IN_PLACE = ("--ignore-times", "--inplace")
PRESENT = ("--existing", *IN_PLACE)
MISSING = ("--ignore-existing", "--partial")
"""Options of passes, for display: the functions contain them themselves."""


_SENDS = {Route.SSH: "send_by_ssh", Route.DAEMON: "send_by_ssh", Route.NFS: "send_by_nfs", Route.LOCAL: "send_locally"}
"""The function by which a route sends a data root; a daemon receives only listed files."""


_PATTERN_CHARACTERS = {"*": "[*]", "?": "[?]", "[": "[[]", "\\": r"[\\]"}
"""Characters with a meaning in a pattern, and how they are escaped."""


def copy_settings(channel: CopyChannel) -> dict[str, str]:
    """Return the variables that the functions of a copy read; some contain the name of a function."""
    transport = channel.transport
    route = transport.route
    path, data = channel.control or ("-", "-")
    host = f"[{channel.address}]" if ":" in channel.address else channel.address
    # compression is of no use within one server or over NFS, where rsync writes to a file
    compression = transport.compression if route in {Route.SSH, Route.DAEMON} else ""
    options = (*_OPTIONS, *compression_options(channel.rsync, compression))
    has_streams = transport.streams > 1
    stream = "send_to_daemon" if route is Route.DAEMON else "send_listed"
    lists_first = _sends_lists_first(channel)
    return {
        "copy_route": route.value,
        "copy_send": _SENDS[route],
        "copy_stream": stream,
        "copy_streams": str(transport.streams),
        "copy_listed": "send_streams" if has_streams else f"{stream} 1",
        "copy_share": "balance_streams" if has_streams else "use_one_stream",
        "copy_warm": "precopy_everything"
        if not can_stream(channel.rsync)
        else "precopy_streams"
        if lists_first
        else "precopy_listed",
        "copy_cold": "full_streams" if lists_first else "full_single_stream",
        "copy_folder": channel.folder,
        "copy_marker": channel.marker,
        "copy_options": " ".join(options),
        "copy_progress": " ".join(progress_options(channel.rsync)),
        "copy_vanish": " ".join(listed_options(channel.rsync)),
        "copy_ssh": channel.ssh,
        "copy_daemon": f"{_DAEMON_USER}@{host}",
        "copy_path": path,
        "copy_data": data,
        "copy_target": _target_on_old(channel),
        PRECOPY_LIMIT: " ".join(limit_options(channel)),
        "copy_limit_stream": " ".join(limit_options(channel, transport.streams)),
    }


def limit_options(channel: CopyChannel, streams: int = 1) -> tuple[str, ...]:
    """Return the options that limit a pre-copy pass; empty if it has no limit.

    Args:
        channel: the copy.
        streams: how many rsync run at the same time. Each gets its part of the limit.
    """
    if channel.precopy_limit is None:
        return ()
    return (f"--bwlimit={max(1, channel.precopy_limit // (_KIB * streams))}",)  # 0 would be no limit


def _sends_lists_first(channel: CopyChannel) -> bool:
    """Return whether listed files are sent first, and a last pass over everything copies folders and links."""
    return channel.transport.streams > 1 or channel.transport.route is Route.DAEMON


def _target_on_old(channel: CopyChannel) -> str:
    """Return the new data directory as the old server sees it; `-` if only the receiver sees it."""
    if channel.transport.route not in {Route.NFS, Route.LOCAL}:
        return "-"
    label, folder = channel.targets[0]
    return folder if channel.transport.route is Route.LOCAL else f"/run/{channel.marker}/{label}"


def prepare_call(channel: CopyChannel, shell: Shell) -> Shell:
    """Return the call of a pass outside a plan, with its settings and the functions that they name."""
    variables = copy_settings(channel)
    return with_settings(variables, replace(shell, functions=library(named_in(shell.text), variables)))


def pre_copy_pass(root: DataRoot) -> Shell:
    """Return the call of a pre-copy pass, while the old server runs.

    It copies changed files first, then missing files, folders and links.
    """
    return _call_pass("precopy_pass", root)


def limited_pre_copy_pass(root: DataRoot, files: int, lists: str) -> Shell:
    """Return the call of a pre-copy pass that gives the old server precedence.

    Args:
        root: the data root.
        files: of how many files the copy keeps lists.
        lists: the folder of these lists.
    """
    return call("run_beside_server", files, lists, "precopy_pass", *_root_arguments(root))


def full_pass(root: DataRoot) -> Shell:
    """Return the call that copies everything of a stopped cluster, and deletes on the new server what no longer exists.

    rsync compares the checksum of all that it sends.
    """
    return _call_pass("full_pass", root)


def changed_pass(root: DataRoot) -> Shell:
    """Return the call that compares every file that changed since the last pre-copy pass began, byte for byte."""
    return _call_pass("changed_pass", root)


def rest_pass(root: DataRoot) -> Shell:
    """Return the call that copies folders, links and times of a stopped cluster, and deletes what no longer exists."""
    return _call_pass("rest_pass", root)


def list_deletions(root: DataRoot) -> Shell:
    """Return the call that lists the names that the last pass would delete, one a line, then `# N entries`."""
    return _call_pass("list_deletions", root)


def native_rsync(channel: CopyChannel, root: DataRoot, *options: str) -> str:
    """Return the rsync command that does the work of a pass, as a person would type it.

    It has every option of the pass, except those of the channel: its ssh, the lists of names, and the progress.
    """
    variables = copy_settings(channel)
    destination = {
        Route.NFS: f"/run/{channel.marker}/{root.label}/",
        Route.LOCAL: f"{root.target}/",
    }.get(channel.transport.route, f"{channel.login}@{channel.address}:{root.target}/")
    # of a shared folder only its parts are named, so that the folder keeps its mode
    sources = [command(f"{root.source}/{part}").text for part in root.parts] or [f"{root.source}/"]
    return " ".join(["rsync", variables["copy_options"], *options, *sources, destination])


def additional_rsync_starts(channel: CopyChannel) -> int:
    """Return how many more times rsync starts in a copy than with one stream."""
    return 2 * channel.transport.streams + 1 - 2 if _sends_lists_first(channel) else 0


def _call_pass(name: str, root: DataRoot) -> Shell:
    return call(name, *_root_arguments(root))


def _root_arguments(root: DataRoot) -> tuple[str, ...]:
    return root.label, root.source, root.target, part_argument(root)


def part_argument(root: DataRoot, *, idle_known: bool = True) -> str:
    """Return the argument for what of a root is copied.

    It is `-` for everything, the names of its parts, or the folder of its WAL such as `PG_15_202209061/wal`; `.` means
    the root itself. Of a folder of WAL, idle WAL is not copied.

    Args:
        root: the data root.
        idle_known: whether the side can tell which WAL is idle.
    """
    if root.parts:
        return "/".join(_part_patterns(root))
    return "-" if root.wal is None or not idle_known else root.wal or "."


def _part_patterns(root: DataRoot) -> list[str]:
    """Return the names of the parts as patterns of rsync and find, without characters that need quoting."""
    return [
        "".join(
            "[[:space:]]" if character in " \t\n" else _PATTERN_CHARACTERS.get(character, character)
            for character in part
        )
        for part in root.parts
    ]

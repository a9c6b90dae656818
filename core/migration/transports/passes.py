"""Passes of rsync, by whichever route a copy takes: over ssh or a daemon, through a mount, within one server.

What they do stands in `resources/sh/copy.sh`, with `lists.sh` and `wal.sh`; here stands which with which words. What is
fixed by a version of rsync, by the route or the transport is decided here and handed in as settings.

    -rlptH      folders, links as they are, modes, times, hard links. Not the owner: the receiver is the database user
                of new, whatever number it has there, and owns what it writes. Not ACLs and labels: they are new's own.
    never --delay-updates, which hides what was copied where a later --delete removes it.
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

IN_PLACE = ("--ignore-times", "--inplace")
PRESENT = ("--existing", *IN_PLACE)
MISSING = ("--ignore-existing", "--partial")
"""Options of passes, for people: the functions have them themselves."""


_SENDS = {Route.SSH: "send_by_ssh", Route.DAEMON: "send_by_ssh", Route.NFS: "send_by_nfs", Route.LOCAL: "send_locally"}
"""By which function a route sends a data root; to a daemon go listed files alone."""


_ODD = {"*": "[*]", "?": "[?]", "[": "[[]", "\\": r"[\\]"}
"""Signs that a pattern takes for others."""


def settings(channel: CopyChannel) -> dict[str, str]:
    """The variables that the functions of a copy read; some name a function, by route and number of streams."""
    transport = channel.transport
    route = transport.route
    path, data = channel.control or ("-", "-")
    host = f"[{channel.address}]" if ":" in channel.address else channel.address
    # within one server there is nothing to pack for, nor over NFS, where rsync writes a file
    packed = transport.compression if route in {Route.SSH, Route.DAEMON} else ""
    options = (*_OPTIONS, *compression_options(channel.rsync, packed))
    several = transport.streams > 1
    stream = "send_to_daemon" if route is Route.DAEMON else "send_listed"
    ahead = _listed_ahead(channel)
    return {
        "copy_route": route.value,
        "copy_send": _SENDS[route],
        "copy_stream": stream,
        "copy_streams": str(transport.streams),
        "copy_listed": "send_streams" if several else f"{stream} 1",
        "copy_share": "balance_streams" if several else "use_one_stream",
        "copy_warm": "precopy_everything"
        if not can_stream(channel.rsync)
        else "precopy_streams"
        if ahead
        else "precopy_listed",
        "copy_cold": "full_streams" if ahead else "full_single_stream",
        "copy_folder": channel.folder,
        "copy_marker": channel.marker,
        "copy_options": " ".join(options),
        "copy_progress": " ".join(progress_options(channel.rsync)),
        "copy_vanish": " ".join(listed_options(channel.rsync)),
        "copy_ssh": channel.ssh,
        "copy_daemon": f"{_DAEMON_USER}@{host}",
        "copy_path": path,
        "copy_data": data,
        "copy_target": _seen_from_old(channel),
    }


def _listed_ahead(channel: CopyChannel) -> bool:
    """Whether listed files go ahead, and a last pass over all brings folders and links."""
    return channel.transport.streams > 1 or channel.transport.route is Route.DAEMON


def _seen_from_old(channel: CopyChannel) -> str:
    """New's data directory as old itself sees it; `-` where new's receiver looks instead."""
    if channel.transport.route not in {Route.NFS, Route.LOCAL}:
        return "-"
    label, folder = channel.targets[0]
    return folder if channel.transport.route is Route.LOCAL else f"/run/{channel.marker}/{label}"


def ready(channel: CopyChannel, shell: Shell) -> Shell:
    """A call of a pass outside of a plan, with its settings and the functions that they name."""
    made = settings(channel)
    return with_settings(made, replace(shell, functions=library(named_in(shell.text), made)))


def warm_pass(root: DataRoot) -> Shell:
    """On old, while the server runs: what no earlier pass has brought, then what is missing yet, folders and links."""
    return _pass("precopy_pass", root)


def gentle_warm_pass(root: DataRoot, files: int, lists: str) -> Shell:
    """The same, so that the server goes first. `files`: of how many it keeps lists, in the folder `lists`."""
    return call("run_beside_server", files, lists, "precopy_pass", *_words(root))


def cold_pass(root: DataRoot) -> Shell:
    """On old, stopped: everything, and what is not on old removed on new. rsync checks the sum of all it sends."""
    return _pass("full_pass", root)


def changed_pass(root: DataRoot) -> Shell:
    """On the old server, stopped: every file that changed since the last warm pass began, compared byte for byte."""
    return _pass("changed_pass", root)


def rest_pass(root: DataRoot) -> Shell:
    """On the old server, stopped: folders, links and times; what is not on old is removed on the new server."""
    return _pass("rest_pass", root)


def deletions(root: DataRoot) -> Shell:
    """On old: the names that the last pass would remove on new, one a line, then `# N entries`; a dry run."""
    return _pass("list_deletions", root)


def native(channel: CopyChannel, root: DataRoot, *options: str) -> str:
    """The rsync that does the work of a pass, as a person would type it; new as its server is called there.

    Every option that the pass really has but for those of the channel: its ssh, the names in lists, what is followed.
    """
    chosen = settings(channel)
    to = {
        Route.NFS: f"/run/{channel.marker}/{root.label}/",
        Route.LOCAL: f"{root.target}/",
    }.get(channel.transport.route, f"{channel.login}@{channel.address}:{root.target}/")
    # of a folder that others share its parts alone, so that it keeps its mode
    sources = [command(f"{root.source}/{part}").text for part in root.parts] or [f"{root.source}/"]
    return " ".join(["rsync", chosen["copy_options"], *options, *sources, to])


def further_starts(channel: CopyChannel) -> int:
    """How many more times rsync begins in a copy than by one stream: two passes by streams, and one over the rest."""
    return 2 * channel.transport.streams + 1 - 2 if _listed_ahead(channel) else 0


def _pass(name: str, root: DataRoot) -> Shell:
    return call(name, *_words(root))


def _words(root: DataRoot) -> tuple[str, ...]:
    return root.label, root.source, root.target, part_of(root)


def part_of(root: DataRoot, *, idle_known: bool = True) -> str:
    """The word for what of a root is copied: `-` for all, names in it, `PG_15_202209061/wal`, or its folder of WAL.

    Of the last, `.` for the root itself, idle WAL is not copied; `idle_known`: whether the side can tell what that is.
    """
    if root.parts:
        return "/".join(_patterns(root))
    return "-" if root.wal is None or not idle_known else root.wal or "."


def _patterns(root: DataRoot) -> list[str]:
    """The names of its parts as patterns of rsync and of find, each a word of the shell without quotes."""
    return ["".join("[[:space:]]" if sign in " \t\n" else _ODD.get(sign, sign) for sign in part) for part in root.parts]

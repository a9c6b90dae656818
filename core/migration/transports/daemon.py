"""The route by an rsync daemon on the new server: the contents of files unencrypted, all else over ssh as on that
route.

The daemon is the database user's own, for one copy: it listens on one port, knows the addresses of old and a password
that old made up, and lets write into the copy's folders alone. It takes listed files and no more: a daemon that is not
root's changes links (rsyncd.conf(5), munge symlinks), so folders, links and what is gone are the receiver's business,
whose way is open too.

A keeper beside it flushes what arrives while more arrives, and ends it when its folder is gone, or when nothing came
for days, of a probe for minutes: whoever killed the workstation leaves no port open for ever.
"""

from ipaddress import ip_address

from core.migration.model.plan import Phase, Step, undone
from core.migration.transports import ssh
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, call

FIRST_PORT, LAST_PORT = 8730, 8829
"""rsync's own 873 is root's: the first free one of these is taken."""

_USER = "pghaul"
IDLE_SECONDS = {"copy": 3 * 24 * 3600, "probe": 600}
"""By purpose. Over a weekend between the warm passes and the stop; after that --resume starts it anew."""


def opening(channel: CopyChannel, owner: str) -> list[Step]:
    """The way over ssh, then a password made on old, the daemon on new, and its port tried from old."""
    private = "Nothing to undo: the file is removed with the key."
    return [
        *ssh.opening(channel, owner),
        Step(
            "Create a password for the rsync daemon",
            "old",
            owner,
            str(make_password(channel)),
            "Nobody who reaches the port of the daemon can do anything there without it.",
            private,
            name="password",
            private=True,
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "Install the functions of the daemon's keeper on the new server",
            "new",
            channel.writer,
            str(keep_functions(channel)),
            "A process of the database user flushes arriving files to disk, and stops the daemon when nobody needs it.",
            undone(channel.writer, "new", f"rm -r {_kept(channel)}"),
            native=(f"install -m 644 functions {_kept(channel)}/functions",),
            name="keeper-functions",
            takes_functions=True,
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "Start an rsync daemon for this copy",
            "new",
            channel.writer,
            str(start(channel)),
            "The contents of files travel unencrypted, as the move allows. The daemon accepts files from the old "
            "server only, and for the target directories only.",
            undone(channel.writer, "new", f"pkill -f {_folder(channel)}", f"rm -r {_folder(channel)}"),
            native=(f"rsync --daemon --config={_folder(channel)}/rsyncd.conf --port={FIRST_PORT}",),
            name="daemon",
            reads="password",
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "Check that the old server reaches the rsync daemon",
            "old",
            owner,
            str(reach(channel)),
            "Otherwise a firewall between the servers would show only when the copy begins.",
            private,
            name="reach-daemon",
            reads="daemon",
            renewed=True,
            rehearsed=True,
        ),
    ]


def closing(channel: CopyChannel, owner: str) -> list[Step]:
    """The daemon ended, then the way over ssh closed."""
    ended = Step(
        "Stop the rsync daemon",
        "new",
        channel.writer,
        str(end(channel)),
        "The copy is complete. Nothing of it listens on the new server any more.",
        "To undo, start the daemon again by the step above.",
        name="stop-daemon",
        phase=Phase.CLOSE,
        timed_as=Phase.VERIFY,
        stopped=True,
        closes=True,
        rehearsed=True,
    )
    return [ended, *ssh.closing(channel, owner)]


def make_password(channel: CopyChannel) -> Shell:
    """On the old server: a password that nobody could guess, in the key's folder; prints it and the marker."""
    return call("make_password", channel.folder, channel.marker)


def keep_functions(channel: CopyChannel) -> Shell:
    """On the new server, as the database user: the functions that the daemon's keeper runs, from standard input."""
    return call("keep_functions", _kept(channel), "keep_daemon")


def start(channel: CopyChannel) -> Shell:
    """On the new server, as the database user: the daemon, its password from standard input; prints its port and the
    marker.

    It is bound to the address that old uses where that is one of new's own, else to all of them.
    """
    return call(
        "start_daemon",
        _folder(channel),
        channel.marker,
        f"{_kept(channel)}/functions",
        FIRST_PORT,
        LAST_PORT,
        channel.address if _is_number(channel.address) else "-",
        IDLE_SECONDS[channel.purpose],
        " ".join(channel.sources),
        *(word for target in channel.targets for word in target),
    )


def end(channel: CopyChannel) -> Shell:
    """On the new server, as the database user: no daemon, no keeper, no file of this copy."""
    return call("close_daemon", _folder(channel), channel.marker, _kept(channel))


def reach(channel: CopyChannel) -> Shell:
    """On old: the daemon's port, from standard input, remembered and tried; where it is not reached says why."""
    host = f"[{channel.address}]" if ":" in channel.address else channel.address
    to = f"{_USER}@{host}::{channel.targets[0][0]}/"
    return call("test_daemon", channel.folder, channel.marker, channel.address, "/", to)


def _folder(channel: CopyChannel) -> str:
    """On the new server; old's may be on the same host."""
    return f"{channel.folder}-daemon"


def _kept(channel: CopyChannel) -> str:
    """On the new server, the database user's own: who logs in may be another."""
    return f"{channel.kept}-daemon"


def _is_number(address: str) -> bool:
    """Whether it is an address itself: a name may mean another one on the new server, such as 127.0.1.1."""
    try:
        ip_address(address)
    except ValueError:
        return False
    return True

"""The route by an rsync daemon on the new server: contents of files are unencrypted, everything else goes over ssh.

The daemon belongs to the database user and serves one copy. It listens on one port, accepts only the addresses of the
old server and a password that was created there, and writes only into the copy's folders. It receives listed files
only: a daemon that is not root's changes links (rsyncd.conf(5), munge symlinks), so folders, links and deletions go to
the receiver over ssh, whose key is set up, too.

A keeper process flushes arriving files to disk. It stops the daemon if its folder is removed, or if nothing has arrived
for days (for a probe: minutes). So no port stays open forever if the workstation is lost.
"""

from ipaddress import ip_address

from core.migration.model import step_ids
from core.migration.model.plan import ChannelUse, Phase, RemoteCall, ResumePolicy, Step, undone
from core.migration.transports import ssh
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, call
from core.sides import Side

FIRST_PORT, LAST_PORT = 8730, 8829
"""The first free one of these ports is used; only root could use rsync's own port 873."""

_USER = "pghaul"
IDLE_SECONDS = {"copy": 3 * 24 * 3600, "probe": 600}
"""After how many idle seconds the daemon is stopped, by purpose.

That of a copy covers a weekend between the pre-copy passes and the stop. After that --resume starts it again.
"""


def opening_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the steps that set up the key, a password on the old server and the daemon, and test its port."""
    undo = "Nothing to undo: the file is removed with the key."
    return [
        *ssh.opening_steps(channel, owner),
        Step(
            id=step_ids.CREATE_PASSWORD,
            title="Create a password for the rsync daemon",
            action=RemoteCall(side=Side.OLD, user=owner, call=str(make_password(channel)), private=True),
            reason="Nobody who reaches the port of the daemon can do anything there without it.",
            undo=undo,
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.OPENS),
        ),
        Step(
            id=step_ids.INSTALL_KEEPER_FUNCTIONS,
            title="Install the shell functions of the process that watches the rsync daemon on the new server",
            action=RemoteCall(
                side=Side.NEW,
                user=channel.writer,
                call=str(install_keeper_functions(channel)),
                native=(f"install -m 644 functions {_keeper_folder(channel)}/functions",),
                takes_functions=True,
            ),
            reason="A process of the database user flushes arriving files to disk, and stops the daemon when nobody "
            "needs it.",
            undo=undone(channel.writer, Side.NEW, f"rm -r {_keeper_folder(channel)}"),
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.OPENS),
        ),
        Step(
            id=step_ids.START_DAEMON,
            title="Start an rsync daemon for this copy",
            action=RemoteCall(
                side=Side.NEW,
                user=channel.writer,
                call=str(start_daemon(channel)),
                native=(f"rsync --daemon --config={_daemon_folder(channel)}/rsyncd.conf --port={FIRST_PORT}",),
                reads=step_ids.CREATE_PASSWORD,
            ),
            reason="The contents of files travel unencrypted, as the move allows. The daemon accepts files from the "
            "old server only, and for the target directories only.",
            undo=undone(
                channel.writer, Side.NEW, f"pkill -f {_daemon_folder(channel)}", f"rm -r {_daemon_folder(channel)}"
            ),
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.OPENS),
        ),
        Step(
            id=step_ids.CHECK_DAEMON,
            title="Check that the old server reaches the rsync daemon",
            action=RemoteCall(
                side=Side.OLD, user=owner, call=str(check_daemon_port(channel)), reads=step_ids.START_DAEMON
            ),
            reason="Otherwise a firewall between the servers would show only when the copy begins.",
            undo=undo,
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.OPENS),
        ),
    ]


def closing_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the steps that stop the daemon and remove the key."""
    stop = Step(
        id=step_ids.STOP_DAEMON,
        title="Stop the rsync daemon",
        action=RemoteCall(side=Side.NEW, user=channel.writer, call=str(stop_daemon(channel))),
        reason="The copy is complete. Nothing of it listens on the new server any more.",
        undo="To undo, start the daemon again by the step above.",
        phase=Phase.CLOSE,
        downtime=True,
        in_rehearsal=True,
        resume=ResumePolicy(channel=ChannelUse.CLOSES),
    )
    return [stop, *ssh.closing_steps(channel, owner)]


def make_password(channel: CopyChannel) -> Shell:
    """Return the call that creates a random password in the key's folder, and prints it with the marker."""
    return call("make_password", channel.folder, channel.marker)


def install_keeper_functions(channel: CopyChannel) -> Shell:
    """Return the call that stores the functions of the keeper, from standard input, on the new server."""
    return call("keep_functions", _keeper_folder(channel), "keep_daemon")


def start_daemon(channel: CopyChannel) -> Shell:
    """Return the call that starts the daemon, with its password from standard input; it prints port and marker.

    The daemon listens on the address that the old server uses if that is one of the new server's own, else on all.
    """
    return call(
        "start_daemon",
        _daemon_folder(channel),
        channel.marker,
        f"{_keeper_folder(channel)}/functions",
        FIRST_PORT,
        LAST_PORT,
        channel.address if _is_address(channel.address) else "-",
        IDLE_SECONDS[channel.purpose],
        " ".join(channel.sources),
        *(word for target in channel.targets for word in target),
    )


def stop_daemon(channel: CopyChannel) -> Shell:
    """Return the call that stops daemon and keeper and removes the files of this copy."""
    return call("close_daemon", _daemon_folder(channel), channel.marker, _keeper_folder(channel))


def check_daemon_port(channel: CopyChannel) -> Shell:
    """Return the call that stores the port, from standard input, and tests it from the old server."""
    host = f"[{channel.address}]" if ":" in channel.address else channel.address
    destination = f"{_USER}@{host}::{channel.targets[0][0]}/"
    return call("test_daemon", channel.folder, channel.marker, channel.address, "/", destination)


def _daemon_folder(channel: CopyChannel) -> str:
    """Return the daemon's folder on the new server; both servers may be the same host."""
    return f"{channel.folder}-daemon"


def _keeper_folder(channel: CopyChannel) -> str:
    """Return the keeper's folder, which belongs to the database user; the login may be another user."""
    return f"{channel.functions_folder}-daemon"


def _is_address(address: str) -> bool:
    """Return whether this is an IP address: a name may mean another address on the new server, such as 127.0.1.1."""
    try:
        ip_address(address)
    except ValueError:
        return False
    return True

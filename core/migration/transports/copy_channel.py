"""The copy channel: an ephemeral SSH key on the old server that allows only the receiver of one copy on the new server.

The key's line on the new server has `restrict`, `from=` and a forced command, the receiver. The receiver accepts one of
the copy's own folders by its label and exactly the options that the copy's passes send, and nothing else. So a stolen
key reads nothing, starts nothing and writes nowhere else, and it expires. The host keys of the new server are pinned:
they come through the verified connection of the workstation. `resources/sh/key.sh` and `receiver.sh` run on the
servers.

If the kernel of the new server lets a user create namespaces (`unshare` of util-linux), the receiver's rsync runs in
namespaces that contain only the target and programs. systemd-run is not used: a user who is not root has no systemd
instance to ask, and the login may become the database user but not root. bwrap is not used: no database server has it.

Source of the line's format: sshd(8), AUTHORIZED_KEYS FILE FORMAT.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from core.errors import InputError
from core.facts.model import Facts
from core.migration.model.move import Move
from core.migration.model.transport import PLAIN, Transport
from core.migration.transports.rsync_versions import UNKNOWN, Version
from core.servers.profiles import Profile, Rights
from core.servers.shell import Shell, call, command, quoted

EXPIRES_MINUTES = {"copy": 14 * 24 * 60, "probe": 30}
"""How many minutes a key is valid, by purpose.

sshd checks this only at a login: a running pass is not interrupted, but each later pass logs in again, also during the
downtime, which may be weeks after the first pass. --resume creates a new key.
"""


LISTS = "/tmp"  # noqa: S108  mkdir creates a folder there and fails if the name exists
"""Where each server stores the lists of a copy, and the old server the key."""


@dataclass(frozen=True, slots=True)
class CopyChannel:
    """The connection from the old server to the new one for one copy.

    Attributes:
        marker: the comment of the key, by which its line on the new server is found again.
        folder: a folder on the old server, mode 0700, with `key`, `key.pub` and `known_hosts`; the copy removes it.
        address: the address at which the old server reaches the new one.
        port: the port of ssh there.
        login: the user on the new server that logs in for the copy.
        writer: the user on the new server that owns the copied files.
        becomes: the words of the command by which the login becomes the writer; empty if they are the same user.
        sources: the addresses of the old server from which the key is accepted.
        targets: label and folder of each target on the new server.
        transport: how the files are copied.
        rsync: the older version of rsync of both servers.
        control: the PATH of the cluster's programs on the old server and its data directory there. The control file
            shows which WAL is in use. None if that is not known; then all WAL is copied.
        purpose: `probe`, which takes minutes, or `copy`, which may take days.
        precopy_limit: how many bytes/s a pre-copy pass sends at most; None: as many as it can.
    """

    marker: str
    folder: str
    address: str
    port: int
    login: str
    writer: str
    becomes: tuple[str, ...]
    sources: tuple[str, ...]
    targets: tuple[tuple[str, str], ...]
    transport: Transport = PLAIN
    rsync: Version = UNKNOWN
    control: tuple[str, str] | None = None
    purpose: str = "copy"
    precopy_limit: int | None = None

    @property
    def functions_folder(self) -> str:
        """Return the folder of the login on the new server with the functions that the key's line runs."""
        return f"/var/tmp/{self.marker}"  # noqa: S108  mkdir creates it and fails if the name exists

    @property
    def ssh(self) -> str:
        """Return the ssh command of the copy on the old server, without the destination, whose name is `new`."""
        cipher = f" -c {self.transport.cipher}" if self.transport.cipher else ""
        return f"ssh -F {self.folder}/ssh_config{cipher}"


def make_copy_channel(
    move: Move,
    new: Profile,
    old_facts: Facts,
    targets: Sequence[tuple[str, str]],
    *,
    seed: str,
    purpose: str,
    address: str,
    login: str | None,
    transport: Transport = PLAIN,
    rsync: Version = UNKNOWN,
) -> CopyChannel:
    """Return the copy channel of a move.

    The old server logs in as the user by which the workstation logs in, if that user can become the database user
    without a password: this login is known to be allowed. Otherwise it logs in as the database user.

    Args:
        move: the move.
        new: the profile of the new server.
        old_facts: the facts of the old server.
        targets: label and folder of each target on the new server.
        seed: a secret from which names are made, so that nobody can have created a file of such a name before.
        purpose: `probe` or `copy`; it keeps their keys apart.
        address: the address at which the old server reaches the new one.
        login: the user that logs in on the new server for the workstation; None if that is not known.
        transport: how the files are copied.
        rsync: the older version of rsync of both servers.

    Raises:
        InputError: the facts of the old server contain no address by which the new server could see it.
    """
    user, becomes = _login_and_become(new, login)
    name = f"pghaul-{purpose}-{unique_name(move, seed)}"
    return CopyChannel(
        marker=name,
        folder=f"{LISTS}/{name}",
        address=address,
        port=new.port or 22,
        login=user,
        writer=new.database_user,
        becomes=becomes,
        sources=_old_addresses(old_facts),
        targets=tuple(targets),
        transport=transport,
        rsync=rsync,
        purpose=purpose,
        precopy_limit=move.precopy_limit,
    )


def unique_name(move: Move, seed: str) -> str:
    """Return twelve hexadecimal digits for the names of what a move creates on servers.

    They are the same for the same seed, so that what a crash left behind is found again.
    """
    return sha256(f"{seed} {move.name}".encode()).hexdigest()[:12]


def make_key(channel: CopyChannel) -> Shell:
    """Return the call that creates the key and prints its public half; the lists of a resumed copy stay."""
    return call("make_key", channel.folder, channel.marker)


def make_folder(channel: CopyChannel) -> Shell:
    """Return the call that creates the copy's folder for a copy within one server; the lists of a resumed copy stay."""
    return call("make_private_folder", channel.folder)


def remove_key(channel: CopyChannel) -> Shell:
    """Return the call that removes the folder with the key from the old server."""
    return call("remove_folder", channel.folder)


def install_functions(channel: CopyChannel) -> Shell:
    """Return the call that stores the functions of the key's line, from standard input, on the new server."""
    return call("keep_functions", channel.functions_folder, "receive_copy")


def read_host_keys() -> Shell:
    """Return the call that prints the public host keys of the new server, which any user can read."""
    return call("print_host_keys")


def pin_host_keys(channel: CopyChannel) -> Shell:
    """Return the call that pins the new server's host keys, from standard input, and configures ssh for the copy."""
    return call("pin_host_keys", channel.folder, channel.address, channel.port, channel.login)


def allow_key(channel: CopyChannel) -> Shell:
    """Return the call that allows the public key, from standard input, for this copy only and for a limited time."""
    return call("allow_key", channel.marker, EXPIRES_MINUTES[channel.purpose], key_options(channel))


def forbid_key(channel: CopyChannel) -> Shell:
    """Return the call that removes the line of the key, and the functions, from the new server.

    All other lines stay as they are. The file is removed if it was created for the key.
    """
    return call("forbid_key", channel.marker, channel.functions_folder)


def key_options(channel: CopyChannel) -> str:
    """Return the options of the key's line: from where it is accepted, and the only command that it runs."""
    targets = [word for target in channel.targets for word in target]
    # if a cleanup job had removed the folder, any user could create another one of that name
    check_folder = ("sh", "-c", '[ -O "$0" ] && [ ! -L "$0" ] && exec "$@"', channel.functions_folder)
    receive = command(
        "exec", *check_folder, *channel.becomes, "sh", f"{channel.functions_folder}/functions", "receive_copy"
    ).text
    forced = f'{receive} "$SSH_ORIGINAL_COMMAND" {command(*targets).text}'
    escaped = forced.replace('"', '\\"')
    return f'restrict,from="{",".join(channel.sources)}",command="{escaped}"'


def new_server_address(new: Profile, resolved: str | None = None) -> str:
    """Return the address at which the old server reaches the new one.

    It is the one that the operator gave, else `resolved` by the connection, else the address in the profile.
    """
    return new.copy_address or resolved or new.address


def _login_and_become(new: Profile, login: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the user that logs in for the copy, and the words by which it becomes the database user."""
    if login == "root":
        return login, ("runuser", "-u", new.database_user, "--")
    if login is not None and login != new.database_user and new.rights in {Rights.SUDO, Rights.SUDO_POSTGRES}:
        return login, ("sudo", "-n", "-u", new.database_user, "--")
    return new.database_user, ()


def _old_addresses(facts: Facts) -> tuple[str, ...]:
    """Return every address by which another host may see the old server."""
    if not facts.addresses:
        raise InputError(
            f"the facts of {facts.server} hold no network address, so the copy's key cannot be tied to it",
            f"read the facts again: pghaul facts {quoted(facts.server)}",
        )
    return facts.addresses

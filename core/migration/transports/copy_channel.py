"""The way from the old server to the new one for one copy: an ephemeral key on old that opens nothing on new but that
copy's receiver.

The key's line on new has `restrict`, `from=` and a forced command, the receiver: it takes one of the copy's own folders
by its label and the very options that the copy's passes send, and nothing else. So a stolen key reads nothing, starts
nothing and writes nowhere else, and it expires. New's host keys are pinned from the workstation's own, checked
connection. What runs on the servers stands in `resources/sh/key.sh` and `receiver.sh`.

Where new's kernel lets a user make namespaces (`unshare` of util-linux) the receiver's rsync runs in some of its own,
which hold the target and programs alone. Not by systemd-run: a user who is not root has no instance of systemd's to
ask, and the login may become the database user, not root. Not by bwrap: no database server has it.

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
from core.servers.shell import Shell, call, command

EXPIRES_MINUTES = {"copy": 14 * 24 * 60, "probe": 30}
"""By purpose, how long a key opens new. sshd looks only when somebody logs in: a pass that runs is not cut off, but
each later one logs in again, in the stop too, which may be weeks behind the first. --resume makes a new key.
"""


LISTS = "/tmp"  # noqa: S108  in it a folder is made by mkdir, which fails where anything lies already
"""Where each server keeps the lists of a copy, and old its key."""


@dataclass(frozen=True, slots=True)
class CopyChannel:
    """The way from the old server to the new one for one copy.

    Attributes:
        marker: the comment of the key, by which its line on new is found again.
        folder: a folder on the old server, 0700, with `key`, `key.pub` and `known_hosts`; it is gone when the copy is.
        address, port, login: where old reaches new, and the user of new who opens the connection.
        writer: the user of new who owns what arrives; `becomes`: the words by which the login becomes that user.
        sources: addresses of old that the key is good from.
        targets: label -> folder on the new server.
        transport: how the files travel; `rsync`: the older of both versions.
        purpose: `probe`, which is over in minutes, or `copy`, which may wait for days.
        control: PATH of the cluster's programs on old and its data directory there: its control file tells which WAL
            is in use. None: not known, and all of it travels.
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

    @property
    def kept(self) -> str:
        """A folder on the new server, of who logs in there, with the functions that the key's line runs."""
        return f"/var/tmp/{self.marker}"  # noqa: S108  made by mkdir, which fails where anything lies already

    @property
    def ssh(self) -> str:
        """The ssh of the copy on the old server, without a destination, which it knows as `new`."""
        cipher = f" -c {self.transport.cipher}" if self.transport.cipher else ""
        return f"ssh -F {self.folder}/ssh_config{cipher}"


def channel_of(
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
    """The copy channel of a move. `seed`: what nobody else can guess, so that nobody has made anything of its names
    before; `purpose` keeps a probe's key apart from a plan's; `address`: where old reaches new.

    `login` is who logs in on new for the workstation; old comes in as the same user where that one may become the
    database user without a password: that it may log in is known. Else old comes in as the database user itself.

    Raises:
        InputError: the facts of old hold no address that new could see it by.
    """
    user, becomes = _receiving(new, login)
    name = f"pghaul-{purpose}-{own_name(move, seed)}"
    return CopyChannel(
        marker=name,
        folder=f"{LISTS}/{name}",
        address=address,
        port=new.port or 22,
        login=user,
        writer=new.database_user,
        becomes=becomes,
        sources=_sources(old_facts),
        targets=tuple(targets),
        transport=transport,
        rsync=rsync,
        purpose=purpose,
    )


def own_name(move: Move, seed: str) -> str:
    """Twelve hexadecimal digits for what a move makes on servers; of one seed the same: what a crash left is found."""
    return sha256(f"{seed} {move.name}".encode()).hexdigest()[:12]


def make_key(channel: CopyChannel) -> Shell:
    """On old: a fresh key in a folder of one's own; prints the public half. The lists of a copy that goes on stay."""
    return call("make_key", channel.folder, channel.marker)


def make_folder(channel: CopyChannel) -> Shell:
    """Where old and new are one server: the copy's own folder, for its lists; those of a copy that goes on stay."""
    return call("make_private_folder", channel.folder)


def remove_key(channel: CopyChannel) -> Shell:
    """On the old server: the folder with the key, gone."""
    return call("remove_folder", channel.folder)


def keep_functions(channel: CopyChannel) -> Shell:
    """On the new server, as who logs in: the functions that the key's line runs, from standard input."""
    return call("keep_functions", channel.kept, "receive_copy")


def read_host_keys() -> Shell:
    """On the new server: the public host keys, as any user may read them."""
    return call("print_host_keys")


def pin_host_keys(channel: CopyChannel) -> Shell:
    """On old: new's host keys, from standard input, as the only ones that the copy trusts, and how ssh reaches new."""
    return call("pin_host_keys", channel.folder, channel.address, channel.port, channel.login)


def allow_key(channel: CopyChannel) -> Shell:
    """On new, as who logs in: the public key from standard input, allowed to do this copy alone, for a time."""
    return call("allow_key", channel.marker, EXPIRES_MINUTES[channel.purpose], options(channel))


def forbid_key(channel: CopyChannel) -> Shell:
    """On new: the key's line gone, every other line as it was, and the functions; the file where it was made for it."""
    return call("forbid_key", channel.marker, channel.kept)


def options(channel: CopyChannel) -> str:
    """What stands ahead of the key on the new server: from where it may come, and what alone it may do."""
    targets = [word for target in channel.targets for word in target]
    # had something tidied the folder away, anybody could make another one of that name
    ours = ("sh", "-c", '[ -O "$0" ] && [ ! -L "$0" ] && exec "$@"', channel.kept)
    receive = command("exec", *ours, *channel.becomes, "sh", f"{channel.kept}/functions", "receive_copy").text
    forced = f'{receive} "$SSH_ORIGINAL_COMMAND" {command(*targets).text}'
    dequoted = forced.replace('"', '\\"')
    return f'restrict,from="{",".join(channel.sources)}",command="{dequoted}"'


def address_of(new: Profile, resolved: str | None = None) -> str:
    """Where old reaches new: what the DBA said, else what the connection resolved, else the profile's own address."""
    return new.copy_address or resolved or new.address


def _receiving(new: Profile, login: str | None) -> tuple[str, tuple[str, ...]]:
    """Who logs in on new for the copy, and by which words that user becomes the database user."""
    if login == "root":
        return login, ("runuser", "-u", new.database_user, "--")
    if login is not None and login != new.database_user and new.rights in {Rights.SUDO, Rights.SUDO_POSTGRES}:
        return login, ("sudo", "-n", "-u", new.database_user, "--")
    return new.database_user, ()


def _sources(facts: Facts) -> tuple[str, ...]:
    """Every address of old that another host may see it by."""
    if not facts.addresses:
        raise InputError(
            f"the facts of {facts.server} hold no network address, so the copy's key cannot be tied to it",
            f"read the facts again: pghaul facts {facts.server}",
        )
    return facts.addresses

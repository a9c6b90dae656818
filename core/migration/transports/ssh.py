"""The route over ssh: a key for one copy, its receiver on the new server (see copy_channel), and pinned host keys."""

from core import units
from core.migration.model.plan import ONLY_LOOKS, Phase, Step, undone
from core.migration.transports import copy_channel
from core.migration.transports.copy_channel import CopyChannel

_UNDO_REMOVAL = "To undo, create and allow a new key by the steps above."


def opening_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the steps that create and allow the key and pin the host keys; `owner` owns the old cluster."""
    return [*_allow_key_steps(channel, owner), *_pin_host_keys_steps(channel, owner)]


def _allow_key_steps(channel: CopyChannel, owner: str) -> list[Step]:
    keys = "~/.ssh/authorized_keys"
    expires = units.duration(60.0 * copy_channel.EXPIRES_MINUTES[channel.purpose])
    return [
        Step(
            "Create an SSH key for this copy",
            "old",
            owner,
            str(copy_channel.make_key(channel)),
            "The old server sends the files itself. The key allows this copy only, and it is removed after the copy.",
            undone(owner, "old", f"rm -r {channel.folder}"),
            native=(f"ssh-keygen -t ed25519 -N '' -C {channel.marker} -f {channel.folder}/key",),
            name="key",
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "Install the functions of this copy on the new server",
            "new",
            channel.login,
            str(copy_channel.install_functions(channel)),
            "The entry of the key runs one of these functions, the receiver, as the database user.",
            undone(channel.login, "new", f"rm -r {channel.functions_folder}"),
            native=(f"install -m 644 functions {channel.functions_folder}/functions",),
            name="functions",
            takes_functions=True,
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "Allow the key for this copy only",
            "new",
            channel.login,
            str(copy_channel.allow_key(channel)),
            "The entry in authorized_keys has `restrict`, `from=` and a forced command. It allows writing into the "
            f"target directories only, and expires in {expires}.",
            undone(channel.login, "new", f"sed -i '/ {channel.marker}$/d' {keys}"),
            native=(f"echo '… ssh-ed25519 … {channel.marker}' >>{keys}",),
            name="allow-key",
            reads="key",
            renewed=True,
            rehearsed=True,
        ),
    ]


def _pin_host_keys_steps(channel: CopyChannel, owner: str) -> list[Step]:
    return [
        Step(
            "Read the host keys of the new server",
            "new",
            channel.login,
            str(copy_channel.read_host_keys()),
            "The old server must recognise the new server when it connects. The keys come through the connection of "
            "the workstation, which has verified the new server already.",
            ONLY_LOOKS,
            native=("cat /etc/ssh/ssh_host_*_key.pub",),
            name="host-keys",
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "Pin the host keys of the new server",
            "old",
            owner,
            str(copy_channel.pin_host_keys(channel)),
            "The copy trusts these host keys only.",
            "Nothing to undo: the file is removed with the key.",
            native=(f"cat host-keys >{channel.folder}/known_hosts",),
            name="pin-host-keys",
            reads="host-keys",
            renewed=True,
            rehearsed=True,
        ),
    ]


def closing_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the steps that remove the key from both servers."""
    return [
        Step(
            "Remove the key from the new server",
            "new",
            channel.login,
            str(copy_channel.forbid_key(channel)),
            "The copy is complete. The old server has no access to the new server any more.",
            _UNDO_REMOVAL,
            native=(f"sed -i '/ {channel.marker}$/d' ~/.ssh/authorized_keys", f"rm -r {channel.functions_folder}"),
            name="remove-key-new",
            phase=Phase.CLOSE,
            timed_as=Phase.VERIFY,
            stopped=True,
            closes=True,
            rehearsed=True,
        ),
        Step(
            "Remove the key from the old server",
            "old",
            owner,
            str(copy_channel.remove_key(channel)),
            "The copy is complete. Nothing of it remains on the old server.",
            _UNDO_REMOVAL,
            native=(f"rm -r {channel.folder}",),
            name="remove-key-old",
            phase=Phase.CLOSE,
            timed_as=Phase.VERIFY,
            stopped=True,
            closes=True,
            rehearsed=True,
        ),
    ]

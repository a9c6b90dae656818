"""The route over ssh: a key for one copy, its receiver on new (see copy_channel), new's host keys pinned on old."""

from core import units
from core.migration.model.plan import ONLY_LOOKS, Phase, Step, undone
from core.migration.transports import copy_channel
from core.migration.transports.copy_channel import CopyChannel

_ANEW = "make and allow a new key, as above"


def opening(channel: CopyChannel, owner: str) -> list[Step]:
    """The key made, allowed and pinned; `owner`: who owns the cluster on old."""
    return [*_allow(channel, owner), *_pin(channel, owner)]


def _allow(channel: CopyChannel, owner: str) -> list[Step]:
    keys = "~/.ssh/authorized_keys"
    expires = units.duration(60.0 * copy_channel.EXPIRES_MINUTES[channel.purpose])
    return [
        Step(
            "make a key for this copy",
            "old",
            owner,
            str(copy_channel.make_key(channel)),
            "old sends the files itself; the key opens nothing but this copy and is removed after it",
            undone(owner, "old", f"rm -r {channel.folder}"),
            native=(f"ssh-keygen -t ed25519 -N '' -C {channel.marker} -f {channel.folder}/key",),
            name="key",
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "put the functions of this copy on new",
            "new",
            channel.login,
            str(copy_channel.keep_functions(channel)),
            "the key's line runs one of them, the receiver, as the database user; read them there or in the appendix",
            undone(channel.login, "new", f"rm -r {channel.kept}"),
            native=(f"install -m 644 functions {channel.kept}/functions",),
            takes_functions=True,
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "let the key do this copy alone",
            "new",
            channel.login,
            str(copy_channel.allow_key(channel)),
            f"restrict, from= and a forced command: it writes into the target folders alone, and expires in {expires}",
            undone(channel.login, "new", f"sed -i '/ {channel.marker}$/d' {keys}"),
            native=(f"echo '… ssh-ed25519 … {channel.marker}' >>{keys}",),
            reads="key",
            renewed=True,
            rehearsed=True,
        ),
    ]


def _pin(channel: CopyChannel, owner: str) -> list[Step]:
    return [
        Step(
            "read the host keys of new",
            "new",
            channel.login,
            str(copy_channel.read_host_keys()),
            "old must know new when it connects; they come through your own, checked connection",
            ONLY_LOOKS,
            native=("cat /etc/ssh/ssh_host_*_key.pub",),
            name="host-keys",
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "pin the host keys of new",
            "old",
            owner,
            str(copy_channel.pin_host_keys(channel)),
            "the copy trusts these keys and no other",
            "it lies in the key's folder and goes with it",
            native=(f"cat host-keys >{channel.folder}/known_hosts",),
            reads="host-keys",
            renewed=True,
            rehearsed=True,
        ),
    ]


def closing(channel: CopyChannel, owner: str) -> list[Step]:
    """The key taken away on both ends."""
    return [
        Step(
            "take the key off new",
            "new",
            channel.login,
            str(copy_channel.forbid_key(channel)),
            "the copy is done: nothing is left that opens new",
            _ANEW,
            native=(f"sed -i '/ {channel.marker}$/d' ~/.ssh/authorized_keys", f"rm -r {channel.kept}"),
            phase=Phase.CLOSE,
            timed_as=Phase.VERIFY,
            stopped=True,
            closes=True,
            rehearsed=True,
        ),
        Step(
            "remove the key from old",
            "old",
            owner,
            str(copy_channel.remove_key(channel)),
            "nothing of the copy is left on old",
            _ANEW,
            native=(f"rm -r {channel.folder}",),
            phase=Phase.CLOSE,
            timed_as=Phase.VERIFY,
            stopped=True,
            closes=True,
            rehearsed=True,
        ),
    ]

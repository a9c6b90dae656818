"""The route over ssh: a key for one copy, its receiver on new (see copy_channel), new's host keys pinned on old."""

from core.migration.model.plan import Phase, Step, undone
from core.migration.transports import copy_channel
from core.migration.transports.copy_channel import CopyChannel, destination, receiver
from core.migration.transports.rsync_versions import compression_options
from core.servers.shell import Shell

_ANEW = "make and allow a new key, as above"

CONTENTS_ALONE = False


def opening(channel: CopyChannel, owner: str) -> list[Step]:
    """The key made, allowed and pinned; `owner`: who owns the cluster on old."""
    return [
        Step(
            "make a key for this copy",
            "old",
            owner,
            str(copy_channel.make_key(channel)),
            "old sends the files itself; the key opens nothing but this copy and is removed after it",
            undone(owner, "old", copy_channel.remove_key(channel)),
            name="key",
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "let the key do this copy alone",
            "new",
            channel.login,
            str(copy_channel.allow_key(channel)),
            "restrict, from= and a forced command: it writes into the target folders and does nothing else",
            undone(channel.login, "new", copy_channel.forbid_key(channel)),
            reads="key",
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "read the host keys of new",
            "new",
            channel.login,
            str(copy_channel.read_host_keys()),
            "old must know new when it connects; they come through your own, checked connection",
            "nothing to undo: it only looks",
            name="host keys",
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
            reads="host keys",
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
            phase=Phase.CLOSE,
            timed_as=Phase.VERIFY,
            stopped=True,
            closes=True,
            rehearsed=True,
        ),
    ]


def target(channel: CopyChannel, label: str, source: str) -> tuple[str | Shell, ...]:
    """The words by which an rsync on old sends `source` into the folder of that label on new."""
    compression = compression_options(channel.rsync, channel.transport.compression)
    return (
        *compression,
        "-e",
        copy_channel.ssh(channel),
        f"--rsync-path={receiver(label)}",
        source,
        destination(channel),
    )


contents = target


def sender(channel: CopyChannel) -> tuple[str | Shell, ...]:  # noqa: ARG001  other routes ask it for more
    """The words ahead of the options of an rsync that sends contents."""
    return ("rsync",)


def flush(channel: CopyChannel, label: str) -> Shell:
    """On old: the command that ends when all that lies in the folder of that label is on new's disk."""
    return copy_channel.ask(channel, f"{label} flush")

"""The route over ssh: a key for one copy, its receiver on the new server (see copy_channel), and pinned host keys."""

from core import units
from core.migration.model import step_ids
from core.migration.model.plan import ONLY_LOOKS, ChannelUse, Phase, RemoteCall, ResumePolicy, Step, undone
from core.migration.transports import copy_channel
from core.migration.transports.copy_channel import CopyChannel
from core.sides import Side

_UNDO_REMOVAL = "To undo, create and allow a new key by the steps above."


def opening_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the steps that create and allow the key and pin the host keys; `owner` owns the old cluster."""
    return [*_allow_key_steps(channel, owner), *_pin_host_keys_steps(channel, owner)]


def _allow_key_steps(channel: CopyChannel, owner: str) -> list[Step]:
    keys = "~/.ssh/authorized_keys"
    expires = units.duration(60.0 * copy_channel.EXPIRES_MINUTES[channel.purpose])
    return [
        Step(
            id=step_ids.CREATE_KEY,
            title="Create an SSH key for this copy",
            action=RemoteCall(
                side=Side.OLD,
                user=owner,
                call=str(copy_channel.make_key(channel)),
                native=(f"ssh-keygen -t ed25519 -N '' -C {channel.marker} -f {channel.folder}/key",),
            ),
            reason="The old server sends the files itself. The key allows this copy only, and it is removed after the "
            "copy.",
            undo=undone(owner, Side.OLD, f"rm -r {channel.folder}"),
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.OPENS),
        ),
        Step(
            id=step_ids.INSTALL_FUNCTIONS,
            title="Install the shell functions of the copy on the new server",
            action=RemoteCall(
                side=Side.NEW,
                user=channel.login,
                call=str(copy_channel.install_functions(channel)),
                native=(f"install -m 644 functions {channel.functions_folder}/functions",),
                takes_functions=True,
            ),
            reason="The entry of the key runs one of these shell functions, the receiver, as the database user. They "
            f"are a script in {channel.functions_folder}, which is removed with the key after the copy.",
            undo=undone(channel.login, Side.NEW, f"rm -r {channel.functions_folder}"),
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.OPENS),
        ),
        Step(
            id=step_ids.ALLOW_KEY,
            title="Add the key to authorized_keys, for this copy only",
            action=RemoteCall(
                side=Side.NEW,
                user=channel.login,
                call=str(copy_channel.allow_key(channel)),
                native=(f"echo '… ssh-ed25519 … {channel.marker}' >>{keys}",),
                reads=step_ids.CREATE_KEY,
            ),
            reason="The entry in authorized_keys has `restrict`, `from=` and a forced command. It allows writing into "
            f"the target directories only, and expires in {expires}.",
            undo=undone(channel.login, Side.NEW, f"sed -i '/ {channel.marker}$/d' {keys}"),
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.OPENS),
        ),
    ]


def _pin_host_keys_steps(channel: CopyChannel, owner: str) -> list[Step]:
    return [
        Step(
            id=step_ids.READ_HOST_KEYS,
            title="Read the host keys of the new server",
            action=RemoteCall(
                side=Side.NEW,
                user=channel.login,
                call=str(copy_channel.read_host_keys()),
                native=("cat /etc/ssh/ssh_host_*_key.pub",),
            ),
            reason="The old server must recognise the new server when it connects. The keys come through the "
            "connection of the workstation, which has verified the new server already.",
            undo=ONLY_LOOKS,
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.OPENS),
        ),
        Step(
            id=step_ids.PIN_HOST_KEYS,
            title="Pin the host keys of the new server",
            action=RemoteCall(
                side=Side.OLD,
                user=owner,
                call=str(copy_channel.pin_host_keys(channel)),
                native=(f"cat host-keys >{channel.folder}/known_hosts",),
                reads=step_ids.READ_HOST_KEYS,
            ),
            reason="The copy trusts these host keys only.",
            undo="Nothing to undo: the file is removed with the key.",
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.OPENS),
        ),
    ]


def closing_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the steps that remove the key from both servers."""
    return [
        Step(
            id=step_ids.REMOVE_KEY_NEW,
            title="Remove the key and the shell functions of the copy from the new server",
            action=RemoteCall(
                side=Side.NEW,
                user=channel.login,
                call=str(copy_channel.forbid_key(channel)),
                native=(f"sed -i '/ {channel.marker}$/d' ~/.ssh/authorized_keys", f"rm -r {channel.functions_folder}"),
            ),
            reason="The copy is complete. The old server has no access to the new server any more, and the script of "
            "shell functions that the key was allowed to call is removed with it.",
            undo=_UNDO_REMOVAL,
            phase=Phase.CLOSE,
            downtime=True,
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.CLOSES),
        ),
        Step(
            id=step_ids.REMOVE_KEY_OLD,
            title="Remove the key from the old server",
            action=RemoteCall(
                side=Side.OLD,
                user=owner,
                call=str(copy_channel.remove_key(channel)),
                native=(f"rm -r {channel.folder}",),
            ),
            reason="The copy is complete. Nothing of it remains on the old server.",
            undo=_UNDO_REMOVAL,
            phase=Phase.CLOSE,
            downtime=True,
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.CLOSES),
        ),
    ]

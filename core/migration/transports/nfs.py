"""The route over NFS: the targets are exported to the old server alone and mounted there while the copy lasts.

Everything on this route is unencrypted, and only TCP's checksum protects the bytes on the network: a move must allow
it.

Export options, and why:
    rw,sync     The new server confirms a write only when it is on disk: close() of a file waits for it, so no pass
                relies on what a crash of the new server would lose. With async that would be lost silently.
    root_squash,all_squash,anonuid,anongid   Whoever writes on the old server, even root, is the database user on the
                new server, because user IDs differ between hosts.
    secure      Requests must come from a port that only root on the old server can use, from its one address.
    fsid        A number of our own, by which the export is recognised; some file systems have none.
    subtree_check   If a file system contains more than the target, a made-up file handle opens nothing else. If the
                target is the whole file system, nothing needs to be checked. rsync renames a file within its folder,
                after closing it, so that its handle stays valid; source: exports(5).
Only exportfs is used, never /etc/exports: a restart of the new server ends the export. An NFS server that is not
running is started without the host's service manager, so that its configuration stays as it is, and stopped afterwards.
A running one is left alone.

Mount options, and why: soft,timeo=300,retrans=2 After a network failure no process on the old server may hang forever,
nor a `sync` there, as with a hard mount. After three minutes the write fails, and with it rsync and the pass. Version 4
waits as long as the connection exists, however slow the new server's disk is. nolock Version 3: the copy locks nothing,
so the old server needs no rpc.statd. noatime,nodev,nosuid,noexec Nothing there is used except as the destination of the
copy. The mount lies below /run, in a folder that only the cluster's owner can enter. Without the mount only root could
write there: a pass that goes on then fails, and does not fill the memory of the old server. Only rmdir removes anything
there.

rsync treats the mount as a local folder and sends whole files: comparing them would read them over the network twice.
"""

from hashlib import sha256
from ipaddress import ip_address

from core.migration.model import step_ids
from core.migration.model.plan import (
    ONLY_LOOKS,
    ROOT_USER,
    ChannelUse,
    Phase,
    RemoteCall,
    ResumePolicy,
    Step,
    undone,
)
from core.migration.transports import local
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, call, command
from core.sides import Side

_EXPORT = "rw,sync,secure,root_squash,all_squash"
_MOUNT = "soft,timeo=300,retrans=2,retry=0,noatime,nodev,nosuid,noexec"


def opening_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the steps that export the targets and mount them on the old server."""
    return [*local.opening_steps(channel, owner), *mounting_steps(channel, owner)]


def closing_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the steps that unmount the targets, stop exporting them, and stop an NFS server that was started."""
    return [*unmounting_steps(channel), *local.closing_steps(channel, owner)]


def mounting_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the steps of the mount alone, with what it needs on the new server."""
    return [
        _opening_step(
            step_ids.START_NFS,
            "Start an NFS server on the new server",
            Side.NEW,
            start_nfs_server(channel),
            (str(command("rpc.nfsd", *_version_options(channel), 8)), "rpc.mountd"),
            "It runs for the time of the copy. Where an NFS server runs already, nothing is done.",
            ("rpc.nfsd 0",),
        ),
        Step(
            id=step_ids.FIND_SOURCE_ADDRESS,
            title="Find the address by which the old server reaches the new server",
            action=RemoteCall(
                side=Side.OLD,
                user=owner,
                call=str(print_source_address(channel)),
                native=(str(command("ip", "route", "get", channel.address)),),
            ),
            reason="The target is exported to this address only.",
            undo=ONLY_LOOKS,
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.OPENS),
        ),
        _opening_step(
            step_ids.EXPORT_TARGET,
            "Export the target to the old server",
            Side.NEW,
            export_targets(channel),
            _native_exports(channel),
            "Only the address of the old server may mount it. Files that arrive belong to the database user of the new "
            "server, and are written to its disk at once.",
            _native_unexports(channel),
            reads=step_ids.FIND_SOURCE_ADDRESS,
        ),
        _opening_step(
            step_ids.MOUNT_TARGET,
            "Mount the target on the old server",
            Side.OLD,
            mount_targets(channel, owner),
            _native_mounts(channel),
            "For rsync it is a local folder. Only the owner of the cluster may enter it.",
            _native_unmounts(channel),
        ),
    ]


def unmounting_steps(channel: CopyChannel) -> list[Step]:
    """Return the steps that remove the mount alone, with what it needed on the new server."""
    return [
        _closing_step(
            step_ids.UNMOUNT_TARGET,
            "Unmount the target on the old server",
            Side.OLD,
            unmount_targets(channel),
            _native_unmounts(channel),
        ),
        _closing_step(
            step_ids.UNEXPORT_TARGET,
            "Stop exporting the target",
            Side.NEW,
            unexport_targets(channel),
            _native_unexports(channel),
        ),
        _closing_step(
            step_ids.STOP_NFS, "Stop the NFS server of this copy", Side.NEW, stop_nfs_server(channel), ("rpc.nfsd 0",)
        ),
    ]


def _opening_step(
    step_id: str,
    title: str,
    side: Side,
    shell: Shell,
    native: tuple[str, ...],
    reason: str,
    undo: tuple[str, ...],
    *,
    reads: str = "",
) -> Step:
    """Return a step that sets up a part of the route.

    Args:
        step_id: the id of the step.
        title: its title.
        side: the server on which it runs as root.
        shell: its call.
        native: what a person would type.
        reason: why it is needed.
        undo: what a person would type to undo it.
        reads: the id of the step whose output it reads.
    """
    return Step(
        id=step_id,
        title=title,
        action=RemoteCall(side=side, user=ROOT_USER, call=str(shell), native=native, reads=reads),
        reason=reason,
        undo=undone(ROOT_USER, side, *undo),
        in_rehearsal=True,
        resume=ResumePolicy(channel=ChannelUse.OPENS),
    )


def _closing_step(step_id: str, title: str, side: Side, shell: Shell, native: tuple[str, ...]) -> Step:
    """Return a step that removes a part of the route.

    Args:
        step_id: the id of the step.
        title: its title.
        side: the server on which it runs as root.
        shell: its call.
        native: what a person would type.
    """
    return Step(
        id=step_id,
        title=title,
        action=RemoteCall(side=side, user=ROOT_USER, call=str(shell), native=native),
        reason="The copy is complete. Nothing of it stays open.",
        undo="To undo, open the route again by the steps above.",
        phase=Phase.CLOSE,
        downtime=True,
        in_rehearsal=True,
        resume=ResumePolicy(channel=ChannelUse.CLOSES),
    )


def _native_exports(channel: CopyChannel) -> tuple[str, ...]:
    user = str(command(channel.writer))
    anonymous = f"anonuid=$(id -u {user}),anongid=$(id -g {user})"
    options = f"{_EXPORT},subtree_check,{anonymous}"
    clients = _client_addresses(channel)
    client = clients[0] if len(clients) == 1 else "…"
    return tuple(
        f"exportfs -o {options},fsid={_fsid(channel, label)} {command(f'{client}:{folder}')}"
        for label, folder in channel.targets
    )


def _native_unexports(channel: CopyChannel) -> tuple[str, ...]:
    exports = [f"{client}:{folder}" for _, folder in channel.targets for client in _client_addresses(channel)]
    return tuple(str(command("exportfs", "-u", each)) for each in exports)


def _native_mounts(channel: CopyChannel) -> tuple[str, ...]:
    options = mount_options(channel.transport.mount)
    return tuple(
        str(command("mount", "-t", "nfs", "-o", options, _mount_source(channel, folder), _mount_points(channel)[label]))
        for label, folder in channel.targets
    )


def _native_unmounts(channel: CopyChannel) -> tuple[str, ...]:
    return tuple(str(command("umount", point)) for point in _mount_points(channel).values())


def start_nfs_server(channel: CopyChannel) -> Shell:
    """Return the call that starts an NFS server if none runs, and records that it must be stopped."""
    return call("serve_nfs", _state_folder(channel), 3 if _is_version_3(channel) else 4, *_version_options(channel))


def stop_nfs_server(channel: CopyChannel) -> Shell:
    """Return the call that stops the NFS server that `start_nfs_server` started, if any."""
    return call("stop_nfs", _state_folder(channel))


def print_source_address(channel: CopyChannel) -> Shell:
    """Return the call that prints the old server's own address on the route to the new server."""
    return call("print_source_address", channel.address)


def export_targets(channel: CopyChannel) -> Shell:
    """Return the call that exports each target to the address on standard input, one of the old server's.

    It fails if somebody else exports a target there already, or if a file system is mounted below a target: over NFS
    the mount point would be written to instead.
    """
    return call(
        "export_targets", channel.writer, _EXPORT, " ".join(_client_addresses(channel)), *_export_arguments(channel)
    )


def unexport_targets(channel: CopyChannel) -> Shell:
    """Return the call that ends pghaul's exports of the targets."""
    return call("unexport_targets", " ".join(_client_addresses(channel)), *_export_arguments(channel))


def mount_targets(channel: CopyChannel, owner: str) -> Shell:
    """Return the call that mounts each target in a folder that only the cluster's owner can enter."""
    sources = [word for label, folder in channel.targets for word in (label, _mount_source(channel, folder))]
    return call("mount_targets", _state_folder(channel), owner, mount_options(channel.transport.mount), *sources)


def unmount_targets(channel: CopyChannel) -> Shell:
    """Return the call that unmounts each target and removes its folder."""
    return call("unmount_targets", _state_folder(channel), *(label for label, _ in channel.targets))


def mount_options(variant: str) -> str:
    """Return all options of a mount; `variant` holds those of the transport, such as `vers=4.2,nconnect=4`."""
    return f"{variant},{_MOUNT}{',nolock' if variant.startswith('vers=3') else ''}"


def _is_version_3(channel: CopyChannel) -> bool:
    return channel.transport.mount.startswith("vers=3")


def _version_options(channel: CopyChannel) -> tuple[str, ...]:
    """Return the options of rpc.nfsd: only the version that the mount uses, and UDP if the mount uses it."""
    return ("-N", "4" if _is_version_3(channel) else "3", *(("-u",) if "proto=udp" in channel.transport.mount else ()))


def _mount_source(channel: CopyChannel, folder: str) -> str:
    return f"{_with_brackets(channel.address)}:{folder}"


def _export_arguments(channel: CopyChannel) -> list[str]:
    """Return the number and the folder of each export."""
    return [word for label, folder in channel.targets for word in (_fsid(channel, label), folder)]


def _with_brackets(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _client_addresses(channel: CopyChannel) -> list[str]:
    """Return the old server's addresses of the IP version of the new server's address; all for a name."""
    family = _ip_version(channel.address)
    return [_with_brackets(each) for each in channel.sources if family is None or _ip_version(each) == family]


def _ip_version(address: str) -> int | None:
    try:
        return ip_address(address).version
    except ValueError:
        return None


def _state_folder(channel: CopyChannel) -> str:
    """Return a folder of root's: with the mounts on the old server, and with records on the new server."""
    return f"/run/{channel.marker}"


def _mount_points(channel: CopyChannel) -> dict[str, str]:
    """Return where each target is mounted on the old server, by its label."""
    return {label: f"{_state_folder(channel)}/{label}" for label, _ in channel.targets}


def _fsid(channel: CopyChannel, label: str) -> str:
    """Return a number for an export, in the form of a UUID, which is the same each time."""
    digits = sha256(f"{channel.marker} {label}".encode()).hexdigest()[:32]
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

"""The route over NFS: new's folders exported to old alone and mounted there, for the copy's time.

Everything here is plain text, and TCP's own sum is all that guards the bytes on their way: a move has to allow it.

Export options, and why:
    rw,sync     what new has answered for is on its disk: close() of a file waits for it, so no pass vouches for what a
                crash of new would lose. With async that would be lost silently.
    root_squash,all_squash,anonuid,anongid   whatever writes on the old server, root too, on new it is the database
                user: numbers differ between hosts.
    secure      from a port that only root on old can have, from the one address by which old reaches new.
    fsid        a number of our own, by which the export is known for ours; some file systems have none.
    subtree_check   of a file system that holds more than the target nothing else is handed out, whatever number of a
                file somebody makes up; where the target is all of it, there is nothing to check. rsync renames a file
                within its folder and when it is closed, so that its number stays good; source: exports(5).
By exportfs alone, never in /etc/exports: a restart of new ends it. A server that does not run is started without the
host's service manager, so that nothing it knows changes, and stopped again; one that runs is left alone.

Mount options, and why:
    soft,timeo=300,retrans=2   a cut cable must not leave a process on old that nobody can end, nor a `sync` there that
                waits for ever, as a hard mount does: after three minutes writing fails, rsync with it, and the pass
                vouches for nothing. Version 4 waits as long as the connection stands, however slow new's disk is.
    nolock      version 3: the copy locks nothing, so old needs no rpc.statd.
    noatime,nodev,nosuid,noexec   what lies there is copied to, and nothing else.
The mount lies below /run, in a folder that only the cluster's owner may enter. Without the mount root alone could write
there: a pass that goes on then fails, it does not fill old's memory. Nothing there is ever removed but by rmdir.

rsync takes it for a local folder and sends whole files: comparing with what is there would read it over the wire twice.
"""

from dataclasses import replace
from hashlib import sha256
from ipaddress import ip_address

from core.migration.model.plan import ONLY_LOOKS, ROOT_USER, Phase, Step, undone
from core.migration.transports import local
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, call, command

_EXPORT = "rw,sync,secure,root_squash,all_squash"
_MOUNT = "soft,timeo=300,retrans=2,retry=0,noatime,nodev,nosuid,noexec"


def opening(channel: CopyChannel, owner: str) -> list[Step]:
    """Served and exported on new, mounted on old; `owner`: who owns the cluster on old."""
    return [*local.opening(channel, owner), *attaching(channel, owner)]


def closing(channel: CopyChannel, owner: str) -> list[Step]:
    """Unmounted, exported no more, the server stopped if it was started for the copy."""
    return [*detaching(channel), *local.closing(channel, owner)]


def attaching(channel: CopyChannel, owner: str) -> list[Step]:
    """The mount alone, with what it needs on the new server."""
    return [
        _opening(
            "serve-nfs",
            "Start an NFS server on the new server",
            "new",
            serve(channel),
            (str(command("rpc.nfsd", *_versions(channel), 8)), "rpc.mountd"),
            "It runs for the time of the copy. Where an NFS server runs already, nothing is done.",
            ("rpc.nfsd 0",),
        ),
        Step(
            "Find the address by which the old server reaches the new server",
            "old",
            owner,
            str(source_address(channel)),
            "The target is exported to this address only.",
            ONLY_LOOKS,
            (str(command("ip", "route", "get", channel.address)),),
            name="address",
            renewed=True,
            rehearsed=True,
        ),
        replace(
            _opening(
                "export",
                "Export the target to the old server",
                "new",
                export(channel),
                _native_exports(channel),
                "Only the address of the old server may mount it. Files that arrive belong to the database user of "
                "the new server, and are written to its disk at once.",
                _native_unexports(channel),
            ),
            reads="address",
        ),
        _opening(
            "mount",
            "Mount the target on the old server",
            "old",
            mount(channel, owner),
            _native_mounts(channel),
            "For rsync it is a local folder. Only the owner of the cluster may enter it.",
            _native_unmounts(channel),
        ),
    ]


def detaching(channel: CopyChannel) -> list[Step]:
    """The mount alone taken away, and what it needed on the new server."""
    return [
        _closing("unmount", "Unmount the target on the old server", "old", unmount(channel), _native_unmounts(channel)),
        _closing("unexport", "Stop exporting the target", "new", unexport(channel), _native_unexports(channel)),
        _closing("stop-nfs", "Stop the NFS server of this copy", "new", stop_serving(channel), ("rpc.nfsd 0",)),
    ]


def _opening(
    name: str, title: str, side: str, shell: Shell, native: tuple[str, ...], reason: str, undo: tuple[str, ...]
) -> Step:
    undo_ = undone(ROOT_USER, side, *undo)
    return Step(title, side, ROOT_USER, str(shell), reason, undo_, native, name=name, renewed=True, rehearsed=True)


def _closing(name: str, title: str, side: str, shell: Shell, native: tuple[str, ...]) -> Step:
    return Step(
        title,
        side,
        ROOT_USER,
        str(shell),
        "The copy is complete. Nothing of it stays open.",
        "To undo, open the route again by the steps above.",
        native,
        name=name,
        phase=Phase.CLOSE,
        timed_as=Phase.VERIFY,
        stopped=True,
        closes=True,
        rehearsed=True,
    )


def _native_exports(channel: CopyChannel) -> tuple[str, ...]:
    user = str(command(channel.writer))
    owned = f"anonuid=$(id -u {user}),anongid=$(id -g {user})"
    options = f"{_EXPORT},subtree_check,{owned}"
    clients = _clients(channel)
    client = clients[0] if len(clients) == 1 else "…"
    return tuple(
        f"exportfs -o {options},fsid={_fsid(channel, label)} {command(f'{client}:{folder}')}"
        for label, folder in channel.targets
    )


def _native_unexports(channel: CopyChannel) -> tuple[str, ...]:
    exports = [f"{client}:{folder}" for _, folder in channel.targets for client in _clients(channel)]
    return tuple(str(command("exportfs", "-u", each)) for each in exports)


def _native_mounts(channel: CopyChannel) -> tuple[str, ...]:
    options = mount_options(channel.transport.mount)
    return tuple(
        str(command("mount", "-t", "nfs", "-o", options, _source(channel, folder), _points(channel)[label]))
        for label, folder in channel.targets
    )


def _native_unmounts(channel: CopyChannel) -> tuple[str, ...]:
    return tuple(str(command("umount", point)) for point in _points(channel).values())


def serve(channel: CopyChannel) -> Shell:
    """On new: an NFS server of the version that the mount asks for; what was started is written down, to be stopped."""
    return call("serve_nfs", _state(channel), 3 if _third(channel) else 4, *_versions(channel))


def stop_serving(channel: CopyChannel) -> Shell:
    """On the new server: what `serve` started, ended; nothing where the server ran before."""
    return call("stop_nfs", _state(channel))


def source_address(channel: CopyChannel) -> Shell:
    """On the old server: its own address on the way to new; prints it."""
    return call("print_source_address", channel.address)


def export(channel: CopyChannel) -> Shell:
    """On the new server: each target exported to the address of standard input, which must be one of old's.

    Refused where somebody else exports it there already.

    Nor may a file system be mounted below a target: over NFS its mount point would be written to instead.
    """
    return call("export_targets", channel.writer, _EXPORT, " ".join(_clients(channel)), *_exports(channel))


def unexport(channel: CopyChannel) -> Shell:
    """On the new server: no target exported by us any more."""
    return call("unexport_targets", " ".join(_clients(channel)), *_exports(channel))


def mount(channel: CopyChannel, owner: str) -> Shell:
    """On the old server: each target mounted anew, in a folder that only the cluster's owner may enter."""
    sources = [word for label, folder in channel.targets for word in (label, _source(channel, folder))]
    return call("mount_targets", _state(channel), owner, mount_options(channel.transport.mount), *sources)


def unmount(channel: CopyChannel) -> Shell:
    """On the old server: no target mounted, and no folder left for it."""
    return call("unmount_targets", _state(channel), *(label for label, _ in channel.targets))


def mount_options(variant: str) -> str:
    """All options of a mount, from those in which transports differ: `vers=4.2,nconnect=4`."""
    return f"{variant},{_MOUNT}{',nolock' if variant.startswith('vers=3') else ''}"


def _third(channel: CopyChannel) -> bool:
    return channel.transport.mount.startswith("vers=3")


def _versions(channel: CopyChannel) -> tuple[str, ...]:
    """What rpc.nfsd is told: no other version than the mount asks for, and UDP where it does."""
    return ("-N", "4" if _third(channel) else "3", *(("-u",) if "proto=udp" in channel.transport.mount else ()))


def _source(channel: CopyChannel, folder: str) -> str:
    return f"{_bracketed(channel.address)}:{folder}"


def _exports(channel: CopyChannel) -> list[str]:
    """The number and the folder of each export."""
    return [word for label, folder in channel.targets for word in (_fsid(channel, label), folder)]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _clients(channel: CopyChannel) -> list[str]:
    """Old's addresses that new may see it by: those of the family of new's address, all where that is a name."""
    family = _family(channel.address)
    return [_bracketed(each) for each in channel.sources if family is None or _family(each) == family]


def _family(address: str) -> int | None:
    try:
        return ip_address(address).version
    except ValueError:
        return None


def _state(channel: CopyChannel) -> str:
    """A folder of root's: on old with the mounts, on new with what was started there."""
    return f"/run/{channel.marker}"


def _points(channel: CopyChannel) -> dict[str, str]:
    """Where each target is mounted on the old server, by its label."""
    return {label: f"{_state(channel)}/{label}" for label, _ in channel.targets}


def _fsid(channel: CopyChannel, label: str) -> str:
    """A number for an export, the same whenever it is made, in the form of a UUID."""
    digits = sha256(f"{channel.marker} {label}".encode()).hexdigest()[:32]
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

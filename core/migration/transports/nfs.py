"""The route over NFS: new's folders exported to old alone and mounted there, for the copy's time.

Everything here is plain text, and TCP's own sum is all that guards the bytes on their way: a move has to allow it.

Export options, and why:
    rw,sync     what new has answered for is on its disk: close() of a file waits for it, so no pass vouches for what a
                crash of new would lose. With async that would be lost silently.
    all_squash,anonuid,anongid   whatever writes on old, on new it is the database user: numbers differ between hosts.
    secure      from a port that only root on old can have, from old's addresses alone.
    fsid        a number of our own, by which the export is known for ours; some file systems have none.
    no_subtree_check   a file that is renamed while it is open stays reachable; source: exports(5).
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

from hashlib import sha256
from ipaddress import ip_address
from typing import LiteralString

from core.migration.model.plan import ROOT_USER, Phase, Step, undone
from core.migration.transports import local
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, command, script, sequence

_EXPORT: LiteralString = "rw,sync,no_subtree_check,secure,all_squash"
_MOUNT = "soft,timeo=300,retrans=2,retry=0,noatime,nodev,nosuid,noexec"
_PATIENCE = 60
"""Seconds after which a mount that does not come about is given up: a firewall that drops says nothing."""

_SERVE: LiteralString = """umask 077; mkdir -p -- @state@ && cd -- @state@ || exit
run() { # FILE COMMAND: runs on by itself; its number is written down
  setsid sh -c "exec $2" </dev/null >/dev/null 2>&1 &
  echo $! >"$1"
}
if ! grep -q ' /proc/fs/nfsd nfsd ' /proc/mounts; then
  modprobe nfsd && mount -t nfsd nfsd /proc/fs/nfsd && : >mounted || exit
fi
if [ "$(cat /proc/fs/nfsd/threads)" -gt 0 ]; then echo 'an NFS server runs on new'; exit; fi
if [ @third@ = yes ] && [ ! -S /run/rpcbind.sock ]; then
  [ -d /run/rpcbind ] || { mkdir -m 755 /run/rpcbind && : >folder; }
  run rpcbind @names@; tries=0
  until [ -S /run/rpcbind.sock ]; do tries=$((tries + 1)); [ "$tries" -lt 100 ] || exit 1; sleep 0.1; done
fi
: >nfsd; sh -c @threads@ || exit
[ @third@ = yes ] || echo Y >/proc/fs/nfsd/v4_end_grace
pidof rpc.mountd >/dev/null || run mountd @mounts@"""

_STOP_SERVING: LiteralString = """[ -d @state@ ] && cd -- @state@ || exit 0
if [ -e nfsd ]; then rpc.nfsd 0 || exit; fi
for name in mountd rpcbind; do
  [ -s "$name" ] && read -r process <"$name" || continue
  case $(cat "/proc/$process/comm" 2>/dev/null) in *"$name") kill "$process" ;; *) continue ;; esac
  tries=0
  while [ -d "/proc/$process" ] && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
done
if [ -e mounted ]; then umount /proc/fs/nfsd || exit; fi
if [ -e folder ]; then rm -rf /run/rpcbind /run/rpcbind.sock /run/rpcbind.lock; fi
rm -f -- nfsd mountd rpcbind mounted folder && cd / && rmdir -- @state@"""

_LEAVE: LiteralString = """mounted() { grep -qF " $1 nfs" /proc/mounts; }
answers() { timeout -k 1 10 stat -f -- "$1" >/dev/null 2>&1; }
leave() { # FOLDER: a server that does not answer is not waited for, which ends what waits for it
  tries=0
  while mounted "$1" && [ "$tries" -lt 25 ] && answers "$1"; do
    umount -- "$1" 2>/dev/null || sleep 0.2; tries=$((tries + 1))
  done
  if mounted "$1" && ! umount -i -f -- "$1" 2>/dev/null; then
    umount -i -l -- "$1" || return
    echo "warning: $1 was busy, or new does not answer: it goes when nothing uses it any more"
  fi
  [ ! -d "$1" ] || rmdir -- "$1"
}"""


CONTENTS_ALONE = False


def opening(channel: CopyChannel, owner: str) -> list[Step]:
    """Served and exported on new, mounted on old; `owner`: who owns the cluster on old."""
    return [*local.opening(channel, owner), *attaching(channel, owner)]


def closing(channel: CopyChannel, owner: str) -> list[Step]:
    """Unmounted, exported no more, the server stopped if it was started for the copy."""
    return [*detaching(channel), *local.closing(channel, owner)]


def attaching(channel: CopyChannel, owner: str) -> list[Step]:
    """The mount alone, with what it needs on new."""
    return [
        _opening(
            "serve NFS on new",
            "new",
            serve(channel),
            "for the copy's time; where an NFS server runs already nothing is done",
            stop_serving(channel),
        ),
        _opening(
            "export the target to old",
            "new",
            export(channel),
            "to old's addresses alone; what arrives belongs to the database user of new, and is on its disk",
            unexport(channel),
        ),
        _opening(
            "mount the target on old",
            "old",
            mount(channel, owner),
            "rsync writes into it as into a folder of old's; only the cluster's owner may enter",
            unmount(channel),
        ),
    ]


def detaching(channel: CopyChannel) -> list[Step]:
    """The mount alone taken away, and what it needed on new."""
    return [
        _closing("unmount the target on old", "old", unmount(channel)),
        _closing("export the target no more", "new", unexport(channel)),
        _closing("stop the NFS server of this copy", "new", stop_serving(channel)),
    ]


def _opening(title: str, side: str, shell: Shell, reason: str, undo: Shell) -> Step:
    return Step(title, side, ROOT_USER, str(shell), reason, undone(ROOT_USER, side, undo), renewed=True, rehearsed=True)


def _closing(title: str, side: str, shell: Shell) -> Step:
    why, undo = "the copy is done: nothing of it stays open", "open the way anew, as above"
    return Step(
        title,
        side,
        ROOT_USER,
        str(shell),
        why,
        undo,
        phase=Phase.CLOSE,
        timed_as=Phase.VERIFY,
        stopped=True,
        closes=True,
        rehearsed=True,
    )


def target(channel: CopyChannel, label: str, source: str) -> tuple[str | Shell, ...]:
    """The words by which an rsync on old sends `source` into the folder of that label."""
    return (source, f"{_points(channel)[label]}/")


def flush(channel: CopyChannel, label: str) -> Shell:
    """On old: the command that ends when all that lies in the folder of that label is on new's disk."""
    return command("sync", "-f", _points(channel)[label])


def contents(channel: CopyChannel, label: str, source: str) -> tuple[str | Shell, ...]:
    """The same for a pass over listed files."""
    return target(channel, label, source)


def sender(channel: CopyChannel) -> tuple[str | Shell, ...]:  # noqa: ARG001  as every route has it
    """The words ahead of the options of an rsync that sends contents."""
    return ("rsync",)


def serve(channel: CopyChannel) -> Shell:
    """On new: an NFS server of the version that the mount asks for; what was started is written down, to be stopped.

    It began just now, so there is no lock of an earlier client to wait for: the grace period is ended.
    """
    third = channel.transport.mount.startswith("vers=3")
    versions = ("-N", "4") if third else ("-N", "3")
    udp = ("-u",) if "proto=udp" in channel.transport.mount else ()
    return script(
        _SERVE,
        state=_state(channel),
        third="yes" if third else "no",
        threads=command("rpc.nfsd", *versions, *udp, 8),
        names=command("rpcbind", "-f"),
        mounts=command("rpc.mountd", "--foreground", *(() if third else ("-N", "2", "-N", "3"))),
    )


def stop_serving(channel: CopyChannel) -> Shell:
    """On new: what `serve` started, ended; nothing where the server ran before."""
    return script(_STOP_SERVING, state=_state(channel))


def export(channel: CopyChannel) -> Shell:
    """On new: each target exported to each address of old. Refused where somebody else exports it there already.

    Nor may a file system be mounted below a target: over NFS its mount point would be written to instead.
    """
    options = script(
        "options=@options@,anonuid=$(id -u @writer@),anongid=$(id -g @writer@)", options=_EXPORT, writer=channel.writer
    )
    exports = [
        sequence(_nothing_below(folder), *(_exported(channel, label, folder, client) for client in _clients(channel)))
        for label, folder in channel.targets
    ]
    return sequence(options, *exports)


def unexport(channel: CopyChannel) -> Shell:
    """On new: no target exported by us any more."""
    return sequence(
        *(
            script(
                "if grep -sF @fsid@ /var/lib/nfs/etab | grep -qF @client@; then exportfs -u @export@; fi",
                fsid=f"fsid={_fsid(channel, label)}",
                client=f"\t{client}(",
                export=_export(client, folder),
            )
            for label, folder in channel.targets
            for client in _clients(channel)
        )
    )


def mount(channel: CopyChannel, owner: str) -> Shell:
    """On old: each target mounted anew, in a folder that only the cluster's owner may enter."""
    folder = script(
        "[ -d /run ] || { echo 'there is no /run to mount in' >&2; exit 1; }; install -d -m 0500 -o @owner@ -- @state@",
        owner=owner,
        state=_state(channel),
    )
    mounts = []
    for (_, folder_of_new), point in zip(channel.targets, _points(channel).values(), strict=True):
        limit = ("timeout", "-k", 2, _PATIENCE)
        source, options = _export(channel.address, folder_of_new), mount_options(channel.transport.mount)
        mounts += [command("leave", point), command("mkdir", "-m", "0555", "--", point)]
        mounts.append(command(*limit, "mount", "-t", "nfs", "-o", options, source, point))
    return sequence(script(_LEAVE), folder, *mounts)


def unmount(channel: CopyChannel) -> Shell:
    """On old: no target mounted, and no folder left for it."""
    points = [command("leave", point) for point in _points(channel).values()]
    last = script("{ [ ! -d @state@ ] || rmdir -- @state@; }", state=_state(channel))
    return sequence(script(_LEAVE), *points, last)


def mount_options(variant: str) -> str:
    """All options of a mount, from those in which transports differ: `vers=4.2,nconnect=4`."""
    return f"{variant},{_MOUNT}{',nolock' if variant.startswith('vers=3') else ''}"


def _nothing_below(folder: str) -> Shell:
    return script(
        "while read -r device at rest; do case $(printf '%b' \"$at\") in @folder@/*) "
        'echo "a file system is mounted below "@folder@": over NFS it would not be reached" >&2; exit 1 ;; esac; '
        "done </proc/mounts",
        folder=folder,
    )


def _exported(channel: CopyChannel, label: str, folder: str, client: str) -> Shell:
    """`exportfs`, unless the table has that folder for that client with another number than ours."""
    return script(
        "{ ! grep -sF @theirs@ /var/lib/nfs/etab | grep -vF @fsid@ >&2 || "
        "{ echo 'that is exported already, by somebody else' >&2; exit 1; }; } && "
        'exportfs -o "$options,"@fsid@ @export@',
        theirs=f"{_escaped(folder)}\t{client}(",
        fsid=f"fsid={_fsid(channel, label)}",
        export=_export(client, folder),
    )


def _escaped(folder: str) -> str:
    """As exportfs writes a path into its table."""
    return "".join(f"\\{ord(sign):03o}" if sign in ' \t"\\#' else sign for sign in folder)


def _export(host: str, folder: str) -> str:
    return f"[{host}]:{folder}" if ":" in host else f"{host}:{folder}"


def _clients(channel: CopyChannel) -> list[str]:
    """Old's addresses that new may see it by: those of the family of new's address, all where that is a name."""
    family = _family(channel.address)
    return [each for each in channel.sources if family is None or _family(each) == family]


def _family(address: str) -> int | None:
    try:
        return ip_address(address).version
    except ValueError:
        return None


def _state(channel: CopyChannel) -> str:
    """A folder of root's: on old with the mounts, on new with what was started there."""
    return f"/run/{channel.marker}"


def _points(channel: CopyChannel) -> dict[str, str]:
    """Where each target is mounted on old, by its label."""
    return {label: f"{_state(channel)}/{number}" for number, (label, _) in enumerate(channel.targets)}


def _fsid(channel: CopyChannel, label: str) -> str:
    """A number for an export, the same whenever it is made, in the form of a UUID."""
    digits = sha256(f"{channel.marker} {label}".encode()).hexdigest()[:32]
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

"""Examples of a copy over NFS. No kernel here serves or mounts any: programs stand in that keep what is mounted and
exported in files beside them, and in `ran` what they were told.
"""

import getpass
import os

from tests.resources.sh.examples import Example

_STATE, _TARGET, _FSID = "@folder@/state", "/srv/it's $(x) \\", "0000-1"

_TELL = 'name=${0##*/}; printf "%s\\n" "${name%.own}: $*" >>ran || exit 1\n'
_LAST = "for at; do :; done\n"
_PROGRAMS = {
    "cat": """case $1 in
  /proc/mounts) exec /bin/cat mounts* ;;
  /proc/fs/nfsd/threads) exec /bin/cat threads ;;
  *) exec /bin/cat "$@" ;;
esac""",
    "tee": '/bin/cat >"${1##*/}"',
    "modprobe": _TELL,
    "rpc.nfsd": _TELL,
    "pidof": "exit 1",
    "rpc.mountd": f"{_TELL}exec sleep 2",
    "rpcbind": f"{_TELL}: >run/rpcbind.sock\nexec sleep 2",
    "mount": f"""{_LAST}{_TELL}[ "$at" != @ ] && printf '%s %s %s rw 0 0\\n' here "$at" "$2" >>mounts""",
    "umount": f"""{_TELL.replace(" || exit 1", "")}
for busy in busy-*; do [ ! -e "$busy" ] || {{ /bin/rm "$busy"; exit 32; }}; done
/bin/rm -f mounts-nfs""",
    "exportfs": f"""if [ "$1" = -s ]; then exec /bin/cat exports; fi
{_TELL}""",
    "mountpoint": '[ "$3" = /srv/space ]',
    "stat": '[ "$1" = -f ] || exec /bin/stat "$@"\n[ ! -e gone ]',
}
_NOTHING = "printf 'proc /proc proc rw 0 0\\n' >mounts; echo 0 >threads; : >exports"
_MOUNTED = f"{_NOTHING}; mkdir -p state/data; echo 'new:/a @folder@/state/data nfs4 rw 0 0' >mounts-nfs"
_EXPORTED = f"""{_NOTHING}; cat >exports <<'EXPORTS'
/srv/it's\\040$(x)\\040\\134  10.0.0.1(sync,fsid={_FSID},anonuid=0)
/srv/it's\\040$(x)\\040\\134  10.0.0.2(sync,fsid=another)
/srv/it's\\040$(x)\\040\\134  fd00::1(sync,fsid={_FSID})
/srv/other  10.0.0.1(sync)
EXPORTS"""
_LIVING = (
    "mkdir state; cp /bin/sleep rpcbind; setsid ./rpcbind 9 >/dev/null 2>&1 & "
    "became rpcbind $!; echo $! $(process_start $!) >state/rpcbind"
)
_LIVES = {
    "setsid behind": "it lives as long as the copy",
    "rpc.mountd behind": "as long too",
    "rpcbind behind": "as long too",
}
_FORCED = {
    "full disk": "nothing is written to one",
    "umount behind": "nothing is mounted then",
    "timeout": "what does not answer is let go by force",
    "stat": "what does not answer is let go by force",
}


_MOUNTD = "rpc.mountd: --foreground"
_USER = getpass.getuser()
_OWNED = f"anonuid={os.getuid()},anongid={os.getgid()}"
_BELOW = "printf '%s\\n' '/dev/sdb /srv/a\\040b/c\\040\\134d ext4 rw 0 0' >>mounts"
_PATIENT = {**_FORCED, "umount": "it takes five seconds: see unmount_target"}


def _ran(*lines: str) -> str:
    """What the programs were told."""
    return "cat >wanted <<'WANTED'\n" + "".join(f"{line}\n" for line in lines) + "WANTED\ndiff wanted ran >&2"


EXAMPLES = [
    Example(
        "serve_nfs",
        (_STATE, "4", "-N", "3"),
        arrange=_NOTHING,
        programs=_PROGRAMS,
        prints="",
        after='[ "$(cat v4_end_grace)" = Y ] && ls state/rpc.mountd state/mounted state/nfsd &&\n'
        + _ran("modprobe: nfsd", "mount: -t nfsd nfsd /proc/fs/nfsd", "rpc.nfsd: -N 3 8", f"{_MOUNTD} -N 2 -N 3"),
        tolerates=_LIVES,
    ),
    Example(
        "serve_nfs",
        (_STATE, "4", "-N", "3"),
        arrange=f"{_NOTHING}; echo 8 >threads; echo 'nfsd /proc/fs/nfsd nfsd rw 0 0' >>mounts",
        programs=_PROGRAMS,
        prints="An NFS server is already running on the new server.\n",
        after="[ ! -e ran ] && [ ! -e state/nfsd ]",
        name="one runs",
    ),
    Example(
        "serve_nfs",
        (_STATE, "4", "-N", "3"),
        arrange=_NOTHING,
        programs={**_PROGRAMS, "modprobe": "exit 1"},
        status=1,
        complains="the kernel of the new server cannot serve NFS",
        name="no module",
    ),
    Example("mount_nfsd", ("@folder@",), arrange=_NOTHING, programs=_PROGRAMS, after="[ -e mounted ]"),
    Example(
        "mount_nfsd",
        ("@folder@",),
        arrange=_NOTHING,
        programs={**_PROGRAMS, "mount": "exit 32"},
        status=1,
        complains="/proc/fs/nfsd cannot be mounted",
        after="[ ! -e mounted ]",
        name="it is refused",
    ),
    Example(
        "serve_rpcbind",
        ("@folder@", "@folder@/run"),
        arrange="mkdir run",
        programs=_PROGRAMS,
        after='[ "$(cat names)" = @folder@/run ] && [ -s rpcbind ] && [ "$(stat -c %a run/rpcbind)" = 755 ]',
        tolerates={**_LIVES, "sleep": "where rpcbind is quick it does not sleep"},
    ),
    Example(
        "serve_rpcbind",
        ("@folder@", "@folder@/run"),
        arrange="mkdir run; : >run/rpcbind.sock",
        programs=_PROGRAMS,
        after="[ ! -e ran ] && [ ! -e names ]",
        name="one runs",
    ),
    Example(
        "start_detached",
        ("@folder@", "rpc.mountd", "--foreground"),
        programs=_PROGRAMS,
        after='read -r id since <rpc.mountd; [ "$since" = "$(process_start "$id")" ] && kill "$id"',
        tolerates=_LIVES,
    ),
    Example(
        "start_detached",
        ("@folder@", "rpc.mountd"),
        programs={"rpc.mountd": "exit 1"},
        status=1,
        complains="rpc.mountd ended at once",
        name="it ends",
    ),
    Example(
        "start_if_not_running",
        ("@folder@", "rpc.mountd"),
        programs=_PROGRAMS,
        after=_ran("rpc.mountd: "),
        tolerates=_LIVES,
    ),
    Example(
        "start_if_not_running",
        ("@folder@", "rpc.mountd"),
        programs={"pidof": "echo 7"},
        after="[ ! -e rpc.mountd ]",
        name="one runs",
    ),
    Example(
        "stop_nfs",
        (_STATE,),
        arrange="""mkdir -p state run/rpcbind; : >run/rpcbind.sock; echo @folder@/run >state/names
: >state/nfsd; : >state/mounted; echo 4194300 >state/rpcbind; echo 'nfsd /proc/fs/nfsd nfsd rw 0 0' >mounts""",
        programs=_PROGRAMS,
        after=_ran("rpc.nfsd: 0", "umount: /proc/fs/nfsd") + ' && [ ! -e state ] && [ -z "$(ls run)" ]',
    ),
    Example("stop_nfs", (_STATE,), programs=_PROGRAMS, after="[ ! -e ran ]", name="nothing was begun"),
    Example("stop_nfs", (_STATE,), arrange="mkdir state", after="[ ! -e state ]", name="one ran before"),
    Example("end_detached", (_STATE, "rpcbind"), arrange=_LIVING, after="read -r id _ <state/rpcbind; ! kill -s 0 $id"),
    Example(
        "end_detached",
        (_STATE, "python3"),
        arrange="""mkdir state; setsid python3 -c '
import os, time
said = open("said", "w"); os.setuid(65534); said.write("so"); said.flush(); time.sleep(30)' >/dev/null 2>&1 &
until [ -s said ]; do sleep 0.01; done; echo $! $(process_start $!) >state/python3""",
        after="read -r id _ <state/python3; ! kill -s 0 $id",
        as_root=True,
        name="it has become another user's",
    ),
    Example(
        "end_detached",
        (_STATE, "rpcbind"),
        arrange="mkdir state; echo $$ >state/rpcbind",
        name="its number is another's",
    ),
    Example(
        "end_detached",
        (_STATE, "rpcbind"),
        arrange=f"{_LIVING}; read -r id _ <state/rpcbind; echo $id 5 >state/rpcbind",
        after="read -r id _ <state/rpcbind; kill $id",
        name="its number is that of another of its name",
    ),
    *(
        Example(
            "export_targets",
            (_USER, "rw,sync", "10.0.0.3 [fd00::3]", _FSID, _TARGET, "0000-2", "/srv/space"),
            arrange=_EXPORTED,
            stdin=f"{address}\n",
            programs=_PROGRAMS,
            after=_ran(
                *(
                    f"exportfs: -o rw,sync,{_OWNED},{check},fsid={fsid} {client}:{target}"
                    for fsid, target, check in (
                        (_FSID, _TARGET, "subtree_check"),
                        ("0000-2", "/srv/space", "no_subtree_check"),
                    )
                )
            ),
            tolerates={"mountpoint": "it is checked then", "mountpoint behind": "as much"},
            name=f"to {address} alone",
        )
        for address, client in (("10.0.0.3", "10.0.0.3"), ("fd00::3", "[fd00::3]"))
    ),
    *(
        Example(
            "export_targets",
            (_USER, "rw", "10.0.0.3 [fd00::3]", _FSID, _TARGET),
            arrange=_EXPORTED,
            stdin=said,
            programs=_PROGRAMS,
            status=1,
            complains="nothing was exported",
            after="[ ! -e ran ]",
            name=name,
        )
        for name, said in (("an address of nobody's", "10.0.0.4\n"), ("everybody", "*\n"), ("no address", ""))
    ),
    Example(
        "export_targets",
        ("nobody-at-all", "rw", "10.0.0.3", _FSID, _TARGET),
        status=1,
        complains=" nobody-at-all",
        name="no user",
    ),
    Example(
        "print_source_address",
        ("new",),
        programs={
            "getent": "printf '10.0.0.2 STREAM new\\n10.0.0.2 DGRAM\\n'",
            "ip": """[ "$*" = '-o route get 10.0.0.2' ] || exit 2
printf '10.0.0.2 via 10.0.1.1 dev eth0 src 10.0.0.1 uid 0 %s    cache\\n' '\\'""",
        },
        prints="10.0.0.1\n",
    ),
    Example(
        "print_source_address",
        ("new",),
        programs={"getent": "echo 10.0.0.2", "ip": "echo 'unreachable 10.0.0.2'"},
        status=1,
        complains=": unreachable 10.0.0.2",
        name="no way",
    ),
    Example("refuse_mounts_below", ("/srv/a",), arrange=f"{_NOTHING}; {_BELOW}", programs=_PROGRAMS),
    Example(
        "refuse_mounts_below",
        ("/srv/a b",),
        arrange=f"{_NOTHING}; {_BELOW}",
        programs=_PROGRAMS,
        status=1,
        complains="/srv/a b/c \\d is a separate file system (ext4)",
        name="one is mounted",
    ),
    Example(
        "export_target",
        (_TARGET, "10.0.0.1", _FSID, "rw"),
        arrange=_EXPORTED,
        programs=_PROGRAMS,
        after=_ran(f"exportfs: -o rw,fsid={_FSID} 10.0.0.1:{_TARGET}"),
        name="again",
    ),
    *(
        Example(
            "export_target",
            (_TARGET, client, "0000-9", "rw"),
            arrange=_EXPORTED,
            programs=_PROGRAMS,
            status=1,
            complains="this folder is already exported by another program: /srv/it's",
            after="[ ! -e ran ]",
            name=f"somebody else's {client}",
        )
        for client in ("10.0.0.2", "[fd00::1]")
    ),
    Example(
        "unexport_targets",
        ("10.0.0.1 10.0.0.2 10.0.0.3 [fd00::1]", _FSID, _TARGET, "0000-2", "/srv/other"),
        arrange=_EXPORTED,
        programs=_PROGRAMS,
        after=_ran(f"exportfs: -u 10.0.0.1:{_TARGET}", f"exportfs: -u [fd00::1]:{_TARGET}"),
    ),
    Example(
        "unexport_target",
        (_TARGET, "10.0.0.1", _FSID),
        arrange=_EXPORTED,
        programs=_PROGRAMS,
        after=_ran(f"exportfs: -u 10.0.0.1:{_TARGET}"),
    ),
    Example(
        "unexport_target",
        (_TARGET, "10.0.0.2", _FSID),
        arrange=_EXPORTED,
        programs=_PROGRAMS,
        after="[ ! -e ran ]",
        name="somebody else's",
    ),
    Example(
        "mount_targets",
        (_STATE, _USER, "vers=4.2,soft", "data", "10.0.0.2:/srv/a b", "16400", "[fd00::2]:/space"),
        arrange=_NOTHING,
        programs=_PROGRAMS,
        after=_ran(
            "mount: -t nfs -o vers=4.2,soft 10.0.0.2:/srv/a b @folder@/state/data",
            "mount: -t nfs -o vers=4.2,soft [fd00::2]:/space @folder@/state/16400",
        )
        + ' && [ "$(stat -c %a,%U,%G state)" = "710,root,$(id -gn)" ] && [ "$(stat -c %a state/data)" = 555 ]',
        as_root=True,
    ),
    Example(
        "mount_targets",
        ("@folder@/run/state", _USER, "vers=3"),
        status=1,
        complains="/run, which contains the mount points",
        after="[ ! -e run ]",
        name="no /run",
    ),
    Example(
        "mount_target",
        ("@folder@/state/data", "new:/a", "vers=3"),
        arrange=_MOUNTED,
        programs=_PROGRAMS,
        after=_ran("umount: -- @folder@/state/data", "mount: -t nfs -o vers=3 new:/a @folder@/state/data"),
        tolerates=_PATIENT,
        name="anew",
    ),
    Example(
        "mount_target",
        ("@folder@/data", "new:/a", "vers=3"),
        arrange=_NOTHING,
        programs={**_PROGRAMS, "timeout": "exit 124"},
        status=1,
        complains=" 60 seconds: ",
        name="no answer",
    ),
    Example(
        "unmount_targets",
        (_STATE, "data"),
        arrange=_MOUNTED,
        programs=_PROGRAMS,
        after="[ ! -e state ]",
        tolerates=_PATIENT,
    ),
    Example("unmount_targets", (_STATE, "data", "1"), arrange=_NOTHING, programs=_PROGRAMS, name="nothing is mounted"),
    Example(
        "unmount_target",
        ("@folder@/state/data",),
        arrange=f"{_MOUNTED}; : >busy-1; : >busy-2",
        programs=_PROGRAMS,
        prints="",
        after=_ran(*["umount: -- @folder@/state/data"] * 3) + " && [ ! -e state/data ]",
        tolerates=_FORCED,
        name="busy for a while",
    ),
    Example(
        "unmount_target",
        ("@folder@/state/data",),
        arrange=f"{_MOUNTED}; : >busy-1; : >gone",
        programs=_PROGRAMS,
        prints="warning: @folder@/state/data was busy, or the new server does not answer. "
        "It will be unmounted when it is no longer in use.\n",
        after=_ran("umount: -i -f -- @folder@/state/data", "umount: -i -l -- @folder@/state/data")
        + " && [ ! -e state/data ]",
        tolerates={
            "full disk": "nothing is written to one",
            "timeout": "it does not answer anyway",
            "stat": "it does not answer anyway",
        },
        name="new is gone",
    ),
    Example("nfs_answers", ("@folder@",), tolerates={"timeout": "that is its answer", "stat": "that is its answer"}),
    Example("is_mounted", ("@folder@/state/data", "nfs", "nfs4"), arrange=_MOUNTED, programs=_PROGRAMS),
    Example(
        "list_mounts",
        arrange=f"{_NOTHING}; {_BELOW}",
        programs=_PROGRAMS,
        prints="proc /proc\next4 /srv/a b/c \\d\n",
    ),
]

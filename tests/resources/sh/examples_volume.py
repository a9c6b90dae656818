"""Examples of preparing a volume; tests/core/comparison/test_preparation.py runs the whole script on real devices."""

from tests.resources.sh.examples import Example

# a block device that nobody serves: what looks at it is stood in for
_DISK = "mknod disk b 7 250 && echo '# none' >fstab && mkdir -p there"
_ETC = {"etc": "@folder@"}
_EMPTY = {
    "lsblk": """case "$*" in
*"RO "*) echo 0 ;; *"MOUNTPOINT "*) echo ;; *NAME,TYPE*) echo "$PWD/disk part" ;; *) echo disk ;; esac""",
    "wipefs": ":",
    "ls": ":",
    "sfdisk": "cat >table",
    "udevadm": ":",
    "mdadm": "echo ARRAY of $3",
    "update-initramfs": ":",
    "blkid": "echo 0000-1111",
    "mount": ":",
    "df": "echo room",
}


def _with(**programs: str) -> dict[str, str]:
    return {**_EMPTY, **programs}


EXAMPLES = [
    Example("volume_needs", ("sh", "awk"), programs={"id": "echo 0"}),
    Example("volume_needs", ("no-such-program",), status=1, complains="no-such-program is not installed", name="lacks"),
    Example("volume_needs", ("sh",), programs={"id": "echo 1000"}, status=1, complains="run as root", name="no root"),
    Example("volume_check", ("disk",), arrange=_DISK, programs=_EMPTY, as_root=True),
    Example(
        "volume_check",
        ("disk", "link"),
        arrange=f"{_DISK}; ln -s disk link",
        programs=_EMPTY,
        status=1,
        complains="link is named twice",
        name="twice",
        as_root=True,
    ),
    Example("volume_check_device", ("disk",), arrange=_DISK, programs=_EMPTY, as_root=True),
    *(
        Example(
            "volume_check_device",
            ("disk",),
            arrange=_DISK,
            programs=_with(**stood_in),
            status=1,
            complains=said,
            name=said,
            as_root=True,
        )
        for stood_in, said in (
            ({"lsblk": 'case "$*" in *"RO "*) echo 1 ;; *) echo disk ;; esac'}, "is read-only"),
            ({"lsblk": 'case "$*" in *"RO "*) echo 0 ;; *) echo /srv ;; esac'}, "is mounted"),
            (
                {"lsblk": 'case "$*" in *"RO "*) echo 0 ;; *"MOUNTPOINT "*) ;; *) echo disk; echo disk1 ;; esac'},
                "has partitions",
            ),
            ({"ls": "echo dm-0"}, "another device uses disk"),
            ({"wipefs": "echo 0x438 ext4"}, "is not empty: 0x438 ext4"),
        )
    ),
    Example("volume_check_device", ("/dev/null",), status=1, complains="is not a block device", name="no device"),
    Example("volume_check_mount_point", ("@folder@/there",), settings=_ETC, arrange=_DISK, as_root=True),
    Example(
        "volume_check_mount_point",
        ("/srv/pg",),
        settings=_ETC,
        arrange="echo 'UUID=1 /srv/pg xfs defaults 0 0' >fstab",
        status=1,
        complains="/srv/pg is already in ",
        name="known already",
    ),
    Example(
        "volume_check_mount_point",
        ("@folder@",),
        settings=_ETC,
        arrange=_DISK,
        status=1,
        complains="is not empty",
        name="holds files",
        as_root=True,
    ),
    Example(
        "volume_confirm",
        ("xfs", "/srv/pg", "disk"),
        stdin="erase\n",
        programs=_EMPTY,
        prints="disk\nAll of it becomes xfs for /srv/pg. Type erase to go on: ",
    ),
    Example(
        "volume_confirm",
        ("xfs", "/srv/pg", "disk"),
        stdin="yes\n",
        programs=_EMPTY,
        status=1,
        complains="nothing was changed",
        name="another word",
    ),
    Example(
        "volume_partition",
        ("disk", "A19D"),
        arrange=_DISK,
        programs=_EMPTY,
        after="grep -q 'start=1MiB, type=A19D' table",
        tolerates={"cat": "part of what stands in for sfdisk", "cat behind": "as above"},
        as_root=True,
    ),
    Example(
        "volume_partition",
        ("disk", "A19D"),
        arrange=_DISK,
        programs=_with(lsblk="echo /dev/nothing part"),
        status=1,
        complains="the kernel shows no partition of disk",
        name="no partition",
        as_root=True,
    ),
    Example(
        "volume_keep_arrays",
        ("/dev/md/a", "/dev/md/b"),
        settings=_ETC,
        arrange="mkdir mdadm",
        programs=_EMPTY,
        after='[ "$(cat mdadm/mdadm.conf)" = "ARRAY of /dev/md/a\nARRAY of /dev/md/b" ]',
    ),
    Example("volume_settle", programs=_EMPTY),
    Example(
        "volume_mount",
        ("disk", "@folder@/there", "xfs", "0"),
        settings=_ETC,
        arrange=_DISK,
        programs=_EMPTY,
        prints="room\n",
        after="grep -q '^UUID=0000-1111 @folder@/there xfs noatime 0 0$' fstab && [ -e fstab.before-pghaul ]",
        as_root=True,
    ),
    Example(
        "volume_mount",
        ("disk", "@folder@/there", "xfs", "0"),
        settings=_ETC,
        arrange=_DISK,
        programs=_with(blkid=":"),
        status=1,
        complains="disk has no UUID",
        after="[ ! -e fstab.before-pghaul ]",
        name="no UUID",
        as_root=True,
    ),
]

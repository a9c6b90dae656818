"""Block devices and file systems: lsblk, df and mounts of many ages."""

from pathlib import Path

import pytest

from core.errors import ParseError
from core.facts.block_devices import parse_block_devices
from core.facts.file_systems import Mount, file_systems, parse_df, parse_mounts
from core.facts.model import BlockDevice

DATA = Path(__file__).parents[2] / "data"


def sample(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def test_lsblk_json_and_pairs_agree() -> None:
    from_json = parse_block_devices(sample("lsblk/util-linux-2.38-J-b.json"))
    assert from_json == parse_block_devices(sample("lsblk/util-linux-2.38-P-b.txt"))
    assert from_json[-1] == BlockDevice("vda", "disk", 274877906944, (), True, "mq-deadline", 8192 * 1024, None, False)


def test_old_lsblk_writes_numbers_as_strings_and_nests() -> None:
    devices = parse_block_devices(sample("lsblk/11-J-b-bytes-as-strings-f24474512663.json"))
    assert [(device.name, device.size_bytes, device.parents) for device in devices] == [
        ("sda", 63999836160, ()),
        ("sda1", 63998787584, ("sda",)),
        ("sr0", 984238080, ()),
        ("sr1", 49152, ()),
    ]


def test_a_device_on_several_parents_stands_once() -> None:
    text = (
        'KNAME="sda" PKNAME="" TYPE="disk" SIZE="100" RO="0" ROTA="1" SCHED="deadline" RA="128" MODEL="PERC H710P  "\n'
        'KNAME="md0" PKNAME="sda" TYPE="raid1" SIZE="90" RO="1" ROTA="1" SCHED="" RA="" MODEL=""\n'
        'KNAME="sdb" PKNAME="" TYPE="disk" SIZE="100" RO="0" ROTA="0" SCHED="none" RA="128" MODEL="Samsung\\x20SSD"\n'
        'KNAME="md0" PKNAME="sdb" TYPE="raid1" SIZE="90" RO="1" ROTA="1" SCHED="" RA="" MODEL=""\n'
    )
    sda, md0, sdb = parse_block_devices(text)
    assert md0 == BlockDevice("md0", "raid1", 90, ("sda", "sdb"), True, None, None, None, True)
    assert (sda.model, sda.read_ahead_bytes, sdb.model, sdb.rotational) == ("PERC H710P", 131072, "Samsung SSD", False)


def test_sizes_for_people_are_not_guessed() -> None:
    with pytest.raises(ParseError, match=r"^lsblk: .*\bsda .*'931G'"):
        parse_block_devices(sample("lsblk/05-P-stderr-preamble-insights-core.txt"))


@pytest.mark.parametrize(
    "text",
    [
        sample("lsblk/02-multipath-repeated-lv-insights-core.txt"),
        "{",
        "{}",
        '{"blockdevices": 3}',
        '{"blockdevices": [7]}',
        '{"blockdevices": [{"name": "sda"}]}',
        "[" * 5000,
        '{"blockdevices": ' + "[" * 100_000,
    ],
)
def test_what_is_no_list_of_devices(text: str) -> None:
    with pytest.raises(ParseError, match=r"^lsblk: "):
        parse_block_devices(text)


def test_no_devices() -> None:
    assert parse_block_devices("") == ()


def test_recorded_proc_mounts() -> None:
    mounts = {mount.mount_point: mount for mount in parse_mounts(sample("mount/02-proc-mounts-nfs3-insights-core.txt"))}
    assert mounts["/"] == Mount(
        "/", "/dev/mapper/rootvg-rootlv", "ext4", ("rw", "relatime", "barrier=1", "data=ordered"), None
    )
    assert mounts["/sa/net"].kind == "nfs"
    assert "vers=3" in mounts["/users"].options


MOUNTINFO = (
    "22 27 0:21 / /proc rw,relatime shared:5 - proc proc rw\n"
    "27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,data=ordered\n"
    "40 27 254:0 /srv /srv/my\\040data\\011x\\134\\303\\266 ro,noatime - ext4 /dev/vda rw,data=ordered\n"
    "41 27 8:1 / /mnt rw - ext4 /dev/sda1 rw\n"
    "42 41 8:17 / /mnt rw,noexec - xfs /dev/sdb1 ro,attr2\n"
    "43 27 0:50 / /nfs rw - nfs4 filer:/vol/a\\040b rw,vers=4.2\n"
)


def test_mountinfo_escapes_binds_and_covers() -> None:
    mounts = {mount.mount_point: mount for mount in parse_mounts(MOUNTINFO)}
    assert mounts["/srv/my data\tx\\ö"].options == ("ro", "noatime", "data=ordered")
    assert mounts["/mnt"] == Mount("/mnt", "/dev/sdb1", "xfs", ("ro", "noexec", "attr2"), "8:17")
    assert mounts["/nfs"].device == "filer:/vol/a b"


def test_mounts_that_are_none() -> None:
    with pytest.raises(ParseError, match=r"^mounts: "):
        parse_mounts(sample("mount/02-proc-mounts-nfs3-insights-core.txt") + "who was that\n")


def test_recorded_df() -> None:
    space = parse_df(sample("df/02-alP-dash-capacity-stderr-insights-core.txt"))
    assert space["/"] == (98571884, 89313940)
    assert space["/proc"] == (0, 0)
    space = parse_df(sample("df/08-ubuntu18.04-loops-jc.txt"))
    assert space["/snap/core/7396"] == (90880, 0)


def test_df_with_spaces_dashes_and_an_exhausted_reserve() -> None:
    text = (
        "Filesystem        Inodes IUsed IFree IUse% Mounted on\n"
        "//10.0.0.1/Bilder und Videos 100 40 60 40% /mnt/my share\n"
        "btrfs                  0     0     0     - /b\n"
        "/dev/sda1 100 110 -10 110% /full\n"
        "udev - - - - /dev\n"
    )
    assert parse_df(text) == {"/mnt/my share": (100, 60), "/b": (0, 0), "/full": (100, 0), "/dev": (None, None)}


@pytest.mark.parametrize("text", ["", "df: no file systems processed\n", "Filesystem\nwhat is this\n"])
def test_df_that_is_none(text: str) -> None:
    with pytest.raises(ParseError, match=r"^df: "):
        parse_df(text)


def test_file_systems_take_space_by_mount_point_or_by_device() -> None:
    found, without = file_systems(
        parse_mounts(MOUNTINFO), {"/": (1000, 400), "/mnt": (50, 0)}, {"/": (64, 32), "/mnt": (0, 0)}
    )
    by_point = {system.mount_point: system for system in found}
    assert by_point["/"].size_bytes == 1000 * 1024
    assert by_point["/srv/my data\tx\\ö"].available_bytes == 400 * 1024
    assert (by_point["/"].inodes, by_point["/"].inodes_free) == (64, 32)
    assert (by_point["/mnt"].available_bytes, by_point["/mnt"].inodes, by_point["/mnt"].inodes_free) == (0, None, None)
    assert without == ("/nfs",)
    assert "/proc" not in by_point

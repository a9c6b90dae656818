"""The script that prepares a volume: what it says, and what it does to real block devices."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.comparison.preparation import FileSystemKind, Preparation, geometry, preparation_script
from core.comparison.raid import Layout, Level
from core.errors import InputError

DRIVES = tuple(f"/dev/sd{letter}" for letter in "bcdefghijklm")
needs_devices = pytest.mark.skipif(
    os.getuid() != 0 or not Path("/dev/loop-control").exists(), reason="loop devices and root are needed"
)


def prepared(level: Level, drives: int, groups: int = 1, file_system: FileSystemKind = "xfs") -> Preparation:
    return Preparation(DRIVES[:drives], "/srv/pg", file_system, Layout(level, drives, groups))


@pytest.mark.parametrize(
    ("wanted", "ext4", "xfs"),
    [
        (prepared(Level.STRIPE, 4), "stride=16,stripe_width=64", "su=65536,sw=4"),
        (prepared(Level.STRIPED_MIRRORS, 8), "stride=16,stripe_width=64", "su=65536,sw=4"),
        (prepared(Level.PARITY, 8), "stride=16,stripe_width=112", "su=65536,sw=7"),
        (prepared(Level.DOUBLE_PARITY, 6), "stride=16,stripe_width=64", "su=65536,sw=4"),
        (prepared(Level.STRIPED_PARITY, 6, 2), "stride=32,stripe_width=64", "su=131072,sw=2"),
        (prepared(Level.STRIPED_DOUBLE_PARITY, 12, 3), "stride=32,stripe_width=96", "su=131072,sw=3"),
    ],
    ids=lambda value: str(value.layout.level) if isinstance(value, Preparation) and value.layout else "",
)
def test_the_file_system_knows_the_stripes(wanted: Preparation, ext4: str, xfs: str) -> None:
    assert f"mkfs.xfs -q -d {xfs} " in preparation_script(wanted)
    other = Preparation(wanted.devices, wanted.mount_point, "ext4", wanted.layout)
    assert f"mkfs.ext4 -q -b 4096 -E {ext4} " in preparation_script(other)


def test_nothing_striped_has_no_geometry() -> None:
    assert geometry(prepared(Level.MIRROR, 2)) is None
    assert geometry(Preparation(("/dev/sdb",), "/srv/pg")) is None
    assert "su=" not in preparation_script(prepared(Level.MIRROR, 2))


def test_the_arrays_are_made_of_every_partition_once() -> None:
    text = preparation_script(prepared(Level.STRIPED_PARITY, 12, 2))
    made = [line for line in text.splitlines() if line.startswith("mdadm --create")]
    assert [re.findall(r"\$disk_(\d+)", line) for line in made] == [
        [str(number) for number in range(1, 7)],
        [str(number) for number in range(7, 13)],
        [],
    ]
    assert "--level=5 --raid-devices=6 --chunk=64 --bitmap=internal" in made[0]
    assert "--level=0 --raid-devices=2 --chunk=320 /dev/md/srv-pg-1 /dev/md/srv-pg-2 || fail" in made[2]
    mirrors = preparation_script(prepared(Level.STRIPED_MIRRORS, 4))
    assert "--level=10 --raid-devices=4 --chunk=64 --layout=n2 --bitmap=internal" in mirrors
    assert "--chunk" not in preparation_script(prepared(Level.MIRROR, 2))


EVERY = [
    Preparation(("/dev/sdb",), "/srv/pg"),
    Preparation(("/dev/disk/by-id/ata-A_b+c:1",), "/srv/pg", "ext4", partition=False),
    prepared(Level.MIRROR, 2),
    prepared(Level.STRIPED_MIRRORS, 12, file_system="ext4"),
    prepared(Level.STRIPED_DOUBLE_PARITY, 12, 3),
]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
@pytest.mark.parametrize("wanted", EVERY)
def test_shellcheck_finds_nothing(wanted: Preparation) -> None:
    text = preparation_script(wanted)
    found = subprocess.run(["shellcheck", "-s", "sh", "-"], input=text, capture_output=True, text=True, check=False)
    assert found.stdout == ""


@pytest.mark.parametrize(
    ("devices", "mount_point", "layout", "chunk", "message"),
    [
        (("/dev/sdb; reboot",), "/srv/pg", None, 65536, "'/dev/sdb; reboot'"),
        (("sdb",), "/srv/pg", None, 65536, "'sdb'"),
        (("/dev/../etc/passwd",), "/srv/pg", None, 65536, "'/dev/../etc/passwd'"),
        (("/dev/sdb", "/dev/sdb"), "/srv/pg", Layout(Level.MIRROR, 2), 65536, "named twice"),
        (("/dev/sdb", "/dev/sdc"), "/srv/pg", None, 65536, r"one device, not 2\n"),
        (("/dev/sdb",), "/srv/pg", Layout(Level.PARITY, 3), 65536, r"RAID 5 of 3 needs 3 .*\b1\n"),
        (("/dev/sdb",), "/srv/$(x)", None, 65536, "/srv/[$][(]x[)]"),
        (("/dev/sdb",), "/srv/a b", None, 65536, "/srv/a b"),
        (("/dev/sdb",), "/", None, 65536, "'/'"),
        (("/dev/sdb",), "srv", None, 65536, "'srv'"),
        (("/dev/sdb",), "/srv/../etc", None, 65536, r"/srv/\.\./etc"),
        (("/dev/sdb",), "/srv/pg", None, 65535, "a power of two"),
        (("/dev/sdb",), "/srv/pg", None, 2048, "a power of two"),
    ],
)
def test_what_makes_no_sense(
    devices: tuple[str, ...], mount_point: str, layout: Layout | None, chunk: int, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Preparation(devices, mount_point, layout=layout, chunk_bytes=chunk)


@pytest.fixture
def device(tmp_path: Path) -> Iterator[str]:
    """An empty block device of 400 MiB."""
    file = tmp_path / "disk"
    with file.open("wb") as disk:
        disk.truncate(400 * 2**20)
    made = subprocess.run(["losetup", "-f", "--show", str(file)], capture_output=True, text=True, check=True)
    yield made.stdout.strip()
    subprocess.run(["losetup", "-d", made.stdout.strip()], check=True)


def run(tmp_path: Path, wanted: Preparation, *, answer: str = "erase", then: str = "") -> tuple[int, str, str]:
    """Run the script where fstab and mounts are its own: exit status, all that it said, and fstab afterwards."""
    fstab = tmp_path / "fstab"
    if not fstab.exists():
        fstab.write_text("# none\n")
    (tmp_path / "script").write_text(preparation_script(wanted))
    inside = 'mount --bind "$1/etc" /etc; sh "$1/script" && eval "$2"'
    etc = tmp_path / "etc"
    if not etc.exists():
        (etc / "alternatives").mkdir(parents=True)
        (etc / "alternatives" / "awk").symlink_to(Path("/etc/alternatives/awk").readlink())
    for name in ("passwd", "group", "mke2fs.conf", "ld.so.cache"):
        shutil.copy(f"/etc/{name}", etc)
    shutil.copy(fstab, etc)
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", inside, "sh", str(tmp_path), then],
        input=f"{answer}\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, (etc / "fstab").read_text()


@needs_devices
@pytest.mark.parametrize("file_system", ["ext4", "xfs"])
def test_a_single_device_is_made_and_mounted(tmp_path: Path, device: str, file_system: FileSystemKind) -> None:
    place = tmp_path / "volume"
    wanted = Preparation((device,), str(place), file_system, partition=False)
    then = 'findmnt -no FSTYPE,OPTIONS "$1/volume"'
    status, said, fstab = run(tmp_path, wanted, then=then)
    assert status == 0, said
    assert re.search(rf"^{file_system}\s+rw,noatime", said, re.MULTILINE)
    uuid = subprocess.run(
        ["blkid", "-p", "-s", "UUID", "-o", "value", device], capture_output=True, text=True, check=True
    )
    check = 2 if file_system == "ext4" else 0
    assert fstab.splitlines() == ["# none", f"UUID={uuid.stdout.strip()} {place} {file_system} noatime 0 {check}"]
    again = run(tmp_path, wanted)
    assert again[0] == 1
    assert f"pghaul: {device} is not empty" in again[1]


def untouched(device: str) -> bool:
    return subprocess.run(["wipefs", "-n", device], capture_output=True, text=True, check=True).stdout == ""


@needs_devices
@pytest.mark.parametrize("answer", ["", "yes", "ERASE"])
def test_without_the_word_nothing_is_changed(tmp_path: Path, device: str, answer: str) -> None:
    status, said, fstab = run(
        tmp_path, Preparation((device,), str(tmp_path / "volume"), partition=False), answer=answer
    )
    assert (status, fstab) == (1, "# none\n")
    assert "pghaul: nothing was changed" in said
    assert untouched(device)


@needs_devices
def test_a_device_in_use_stops_it(tmp_path: Path, device: str) -> None:
    place = tmp_path / "in-use"
    place.mkdir()
    subprocess.run(["mkfs.ext4", "-q", device], check=True)
    subprocess.run(["mount", device, str(place)], check=True)
    try:
        status, said, _ = run(tmp_path, Preparation((device,), str(tmp_path / "volume"), partition=False))
    finally:
        subprocess.run(["umount", str(place)], check=True)
    assert status == 1
    assert f"pghaul: {device} is mounted" in said


@needs_devices
def test_places_that_are_taken_stop_it(tmp_path: Path, device: str) -> None:
    place = tmp_path / "volume"
    wanted = Preparation((device,), str(place), partition=False)
    (tmp_path / "fstab").write_text(f"UUID=1234 {place} xfs defaults 0 0\n")
    assert f"pghaul: {place} is already in /etc/fstab" in run(tmp_path, wanted)[1]
    (tmp_path / "fstab").write_text("# none\n")
    place.mkdir()
    (place / "file").touch()
    assert f"pghaul: {place} is not empty" in run(tmp_path, wanted)[1]
    assert untouched(device)


@needs_devices
def test_what_is_no_empty_device_stops_it(tmp_path: Path, device: str) -> None:
    wanted = Preparation(("/dev/null",), str(tmp_path / "volume"), partition=False)
    assert "pghaul: /dev/null is not a block device" in run(tmp_path, wanted)[1]
    link = Path("/dev") / f"pghaul-test-{device.rsplit('/', 1)[1]}"
    link.symlink_to(device)
    try:
        twice = Preparation(
            (device, str(link)), str(tmp_path / "volume"), layout=Layout(Level.MIRROR, 2), partition=False
        )
        said = run(tmp_path, twice)[1]
    finally:
        link.unlink()
    assert "named twice" in said or "pghaul: mdadm is not installed" in said
    assert untouched(device)


@pytest.mark.slow
@needs_devices
@pytest.mark.skipif(shutil.which("sfdisk") is None, reason="sfdisk is not installed")
def test_the_partition_is_aligned(tmp_path: Path, device: str) -> None:
    """Also where the kernel shows no partitions of loop devices: then it stops right after."""
    status, said, _ = run(tmp_path, Preparation((device,), str(tmp_path / "volume")))
    table = subprocess.run(["sfdisk", "-d", device], capture_output=True, text=True, check=True).stdout
    assert "label: gpt" in table
    assert re.search(r"start= *2048,.* type=0FC63DAF-8483-4772-8E79-3D69D8477DE4", table)
    assert status == 0 or "pghaul: the kernel shows no partition" in said

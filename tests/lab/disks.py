"""The data disks: an image file, a loop device past the page cache, and caps that the kernel keeps exactly."""

import os
from collections.abc import Iterator
from pathlib import Path

from tests.lab.machine import THROTTLE, LabError, run, wait_until

_LOOPS = Path("/sys/block")


def create(image: Path, size: str, filesystem: str) -> str:
    """Make the file system on a sparse image and attach it; gives the loop device, caps lifted."""
    run("truncate", "-s", size, image)
    if (
        filesystem == "ext4"
    ):  # the image is known to be all zeros, so nothing has to be initialised later, in the background
        run("mkfs.ext4", "-q", "-E", "nodiscard,assume_storage_prezeroed=1", image)
    else:
        run(f"mkfs.{filesystem}", "-q", image)
    device = run("losetup", "--show", "--find", "--direct-io=on", image).strip()
    cap(device, 0, 0, 0, 0)
    return device


def let_go(device: str) -> None:
    """Have the kernel detach the loop device as soon as its file system is unmounted."""
    run("losetup", "-d", device)


def cap(device: str, read_bps: int, write_bps: int, read_iops: int, write_iops: int) -> None:
    """Cap bytes and requests per second; 0 is no cap."""
    number = Path(device).stat().st_rdev
    limits = {"read_bps": read_bps, "write_bps": write_bps, "read_iops": read_iops, "write_iops": write_iops}
    for name, limit in limits.items():
        line = f"{os.major(number)}:{os.minor(number)} {limit}"
        try:
            (THROTTLE / f"blkio.throttle.{name}_device").write_text(line)
        except OSError as error:
            raise LabError(f"cap {name} of {device} at {limit}: {error.strerror}") from error


def attached(folder: Path) -> Iterator[str]:
    """The loop devices whose image lies in a folder."""
    for entry in _LOOPS.glob("loop*"):
        try:
            backing = (entry / "loop" / "backing_file").read_text().strip()
        except OSError:
            continue
        if backing.startswith(f"{folder}/"):
            yield f"/dev/{entry.name}"


def lift_caps(folder: Path) -> None:
    """A cap stays on the device number after the device is gone: lift it before."""
    for device in attached(folder):
        cap(device, 0, 0, 0, 0)


def remove(folder: Path) -> None:
    """Detach what is still attached, and wait until it is."""
    for device in attached(folder):
        run("losetup", "-d", device, accept_failure=True)
    wait_until(lambda: not list(attached(folder)), f"loop devices of {folder} to detach")

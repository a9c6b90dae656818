"""The data disks: an image file and a loop device past the page cache.

The image lies in memory where there is plenty of it: whatever else the machine's own disk is doing then, a cap is what
a host's disk does, and nothing less.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.lab import caps
from tests.lab.machine import LabError, run, wait_until

_LOOPS = Path("/sys/block")
_PLENTY_BYTES = 12 * 2**30
_LEAST_BYTES = 3 * 2**30
_IMAGE = "disk.img"


def create(folder: Path, size: str, filesystem: str) -> str:
    """Make the file system on a sparse image in a new folder and attach it; gives the loop device."""
    folder.mkdir()
    if _available_memory() >= _PLENTY_BYTES:
        run("mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "pghaul-lab", folder)
    image = folder / _IMAGE
    run("truncate", "-s", size, image)
    if filesystem == "ext4":  # the image is all zeros: nothing is left to be initialised later, in the background
        run("mkfs.ext4", "-q", "-E", "nodiscard,assume_storage_prezeroed=1", image)
    else:
        run(f"mkfs.{filesystem}", "-q", image)
    return run("losetup", "--show", "--find", "--direct-io=on", image).strip()


def _available_memory() -> int:
    lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    return int(lines["MemAvailable"].split()[0]) * 1024


def fill_up(folder: Path) -> None:
    """Leave no hole in the image: a disk in memory then is this machine's once and for all, and no host's.

    Raises:
        LabError: the image is in memory, and so little would be left of it that this machine would stand still.
    """
    image = folder / _IMAGE
    holes = image.stat().st_size - 512 * image.stat().st_blocks
    if folder.is_mount() and _available_memory() - holes < _LEAST_BYTES:
        raise LabError(f"{image} would take {holes >> 20} MiB more of memory than other programs can spare")
    run("fallocate", "--keep-size", "--length", str(image.stat().st_size), image)


def let_go(device: str) -> None:
    """Have the kernel detach the loop device as soon as its file system is unmounted."""
    run("losetup", "-d", device)


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
    """A cap of the root group stays on the device number after the device is gone: lift it before."""
    if caps.is_on_root():
        for device in attached(folder):
            caps.cap(device, None, caps.NONE)


def remove(folder: Path) -> None:
    """Detach what is still attached, wait until it is, and give the images' memory back."""
    for device in attached(folder):
        run("losetup", "-d", device, accept_failure=True)
    wait_until(lambda: not list(attached(folder)), f"loop devices of {folder} to detach")
    for mounted in _mounted(folder):
        run("umount", "--lazy", mounted)  # the kernel lets go of the image a moment after the loop device


def _mounted(folder: Path) -> list[str]:
    points = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    return [point for point in points if point.startswith(f"{folder}/")]

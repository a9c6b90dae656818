"""The disks and what the kernel does with them: write cache, scheduler, read-ahead, where partitions start."""

from collections.abc import Iterable

from core import units
from core.comparison.diagnosis.observation import Observation, observed
from core.comparison.diagnosis.storage import Figure, Storage
from core.facts.block_devices import is_one_disk
from core.facts.model import BlockDevice
from core.servers.shell import command

FAR_UNDER = 0.5
"""A disk writes about as fast as it reads; at under half of that something holds the writes up."""
_SORTING = {"cfq", "bfq"}
"""Schedulers that order and idle for the sake of a moving head."""
_PASSING = {"none", "noop"}
"""Schedulers that leave the order to the device."""
_KERNELS_OWN = 128 * 1024
"""The kernel's own read-ahead where nobody set another (VM_READAHEAD_PAGES)."""
_CACHED_LOSS = 0.8
"""Reading through the cache costs a little; more than this is what read-ahead should have prevented."""


def writes_far_under_reads(storage: Storage) -> Observation | None:
    """Long files are written at less than half the rate that they are read with: most often a write cache is off."""
    pairs = [(read, write) for read, write in storage.alike() if write.value < FAR_UNDER * read.value]
    if not pairs:
        return None
    # the worst pair shows it best
    read, write = min(pairs, key=lambda pair: pair[1].value / pair[0].value)
    through = [disk for disk in storage.disks if disk.write_cache == "write through"]
    parity = next((array for array in storage.arrays if array.level in ("raid4", "raid5", "raid6")), None)
    return observed(
        [
            (
                f"Sequential writes reach {write.text}, sequential reads {read.text}. The ratio is "
                f"{units.ratio(write.value / read.value)}."
            ),
            *(
                (
                    f"The write cache of {disk.name} is off, or is protected against power failures (the kernel "
                    "reports write through)."
                )
                for disk in through
            ),
            (f"{parity.name} is {parity.level}. To write part of a stripe, it must read the stripe first.")
            if parity is not None
            else "",
        ],
        [
            *(f"Turn on the disk's write cache: `{_hdparm(disk)}`." for disk in through if _has_own_cache(disk)),
            "On a RAID controller, check whether its cache is in write-through mode, and whether its battery works.",
            "Without a battery, a power failure loses the contents of a write cache. If that is a risk, leave it off.",
            f"Use RAID-10 instead of {parity.level}, or a larger stripe cache." if parity is not None else "",
        ],
        write,
        read,
    )


def _has_own_cache(disk: BlockDevice) -> bool:
    # hdparm reaches a disk, not what a controller or a hypervisor shows as one
    return is_one_disk(disk) and disk.rotational is True


def _hdparm(disk: BlockDevice) -> str:
    return command("hdparm", "-W1", f"/dev/{disk.name}").shown


def wrong_scheduler(storage: Storage) -> Observation | None:
    """A scheduler for moving heads over a disk that has none, or no scheduler over a head that moves."""
    wrong = [(disk, better) for disk in storage.disks if (better := _better_scheduler(disk)) is not None]
    if not wrong:
        return None
    random = [figure for figure in storage.figures if figure.pattern in ("randread", "randwrite") and _is_iops(figure)]
    return observed(
        [
            *(f"{_kind(disk)} has the I/O scheduler {disk.scheduler}." for disk, _ in wrong),
            *(f"Measured with this scheduler: {figure.text}." for figure in random),
        ],
        [
            *(f"Set the scheduler to {better}: `{_set_scheduler(disk, better)}`." for disk, better in wrong),
            "Measure again. If it is faster, make the setting permanent with a udev rule.",
        ],
        *random,
    )


def _better_scheduler(disk: BlockDevice) -> str | None:
    if disk.rotational is False and disk.scheduler in _SORTING:
        return "none"
    # a controller sorts for its own disks: there none is right
    if disk.rotational is True and disk.scheduler in _PASSING and is_one_disk(disk):
        return "mq-deadline"
    return None


def _kind(disk: BlockDevice) -> str:
    model = f" ({disk.model})" if disk.model else ""
    return f"{disk.name}{model}, {'a rotating disk' if disk.rotational else 'a non-rotating disk'},"


def _set_scheduler(disk: BlockDevice, scheduler: str) -> str:
    # cciss/c0d0 is cciss!c0d0 in /sys
    folder = disk.name.replace("/", "!")
    return f"{command('echo', scheduler)} > {command(f'/sys/block/{folder}/queue/scheduler')}"


def _is_iops(figure: Figure) -> bool:
    return figure.metric.endswith("iops")


def small_read_ahead(storage: Storage) -> Observation | None:
    """Reading ahead of a sequential reader stays so small that not all disks work for it."""
    device, array = storage.device, storage.array
    read = _slowest(figure for figure in storage.sequential("read") if not figure.direct)
    if device is None or device.read_ahead_bytes is None or read is None:
        return None
    direct = _slowest(figure for figure in storage.sequential("read") if figure.direct and _large_blocks(figure))
    data = array.data_devices if array is not None else None
    stripe = array.chunk_bytes * data if array is not None and array.chunk_bytes and data else None
    loses = direct is not None and read.value < _CACHED_LOSS * direct.value
    under_a_stripe = stripe is not None and device.read_ahead_bytes < stripe and (direct is None or loses)
    if not under_a_stripe and not (loses and device.read_ahead_bytes <= _KERNELS_OWN):
        return None
    wanted = max(4 * (stripe or 0), 4 * 2**20)
    return observed(
        [
            f"The read-ahead of {device.name} is {units.size(device.read_ahead_bytes)}, less than one stripe of "
            f"{array.name} ({units.size(stripe)})."
            if stripe and array is not None
            else f"The read-ahead of {device.name} is {units.size(device.read_ahead_bytes)}.",
            f"Read through the page cache: {read.text}.",
            f"Read with direct I/O: {direct.text}." if direct is not None else "",
        ],
        [
            f"Set the read-ahead to {units.size(wanted)}: `{_set_read_ahead(device, wanted)}`.",
            "Measure again. If it is faster, make the setting permanent with a udev rule.",
        ],
        read,
        *((direct,) if direct is not None else ()),
    )


def _set_read_ahead(device: BlockDevice, size_bytes: int) -> str:
    return command("blockdev", "--setra", size_bytes // 512, f"/dev/{device.name}").shown


def _large_blocks(figure: Figure) -> bool:
    block = figure.workload.parameters.get("block_bytes", 0)
    return isinstance(block, int) and block >= 256 * 1024


def _slowest(figures: Iterable[Figure]) -> Figure | None:
    return min(figures, key=lambda figure: figure.value, default=None)


def misaligned_partition(storage: Storage) -> Observation | None:
    """A partition that starts inside a physical block: a write of one block touches two."""
    disks = {disk.name: disk for disk in storage.devices}
    said = []
    for part in (device for device in storage.devices if device.kind == "part"):
        disk = next((disks[name] for name in part.parents if name in disks), None)
        block = disk.physical_block_bytes if disk is not None else None
        if disk is None or not block or part.start_bytes is None or part.start_bytes % block == 0:
            continue
        said.append(
            f"{part.name} starts at byte {units.count(part.start_bytes)} of {disk.name}. The "
            f"disk has physical blocks of {units.size(block)}, so the start is off by "
            f"{units.size(part.start_bytes % block)}."
        )
    if not said:
        return None
    return observed(said, ["Create the partition again with its start at 1 MiB, and copy the data back."])

"""What a folder lies on: its device, and all devices below that, down to the disks."""

from core.facts.model import BlockDevice, Facts, FileSystem


def device_of(facts: Facts, system: FileSystem | None) -> BlockDevice | None:
    """What a file system lies on."""
    # zfs, nfs and overlay have a word there that is no device
    if system is None or not system.device.startswith("/dev/"):
        return None
    name = system.device.removeprefix("/dev/")
    # mounts say /dev/mapper/vg-lv, the kernel dm-3
    mapper = name.removeprefix("mapper/") if name.startswith("mapper/") else None
    return next((one for one in facts.block_devices if one.name == name or (mapper and one.mapper == mapper)), None)


def stack_of(facts: Facts, system: FileSystem | None) -> tuple[BlockDevice, ...]:
    """That device and all below it, the upper before the lower, each once."""
    known = {device.name: device for device in facts.block_devices}
    found: dict[str, BlockDevice] = {}
    top = device_of(facts, system)
    waiting = [top] if top is not None else []
    while waiting:
        device = waiting.pop(0)
        if device.name not in found:
            found[device.name] = device
            waiting += [known[name] for name in device.parents if name in known]
    return tuple(found.values())


def disks_of(facts: Facts, system: FileSystem | None) -> tuple[BlockDevice, ...]:
    """The lowest of them."""
    return tuple(device for device in stack_of(facts, system) if not device.parents)

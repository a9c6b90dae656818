"""Block devices with scheduler, rotational flag and read-ahead: lsblk, or /sys/block where it is missing or too old."""

import json
import re
from dataclasses import dataclass, field

from core.facts.model import BlockDevice
from core.facts.sections import Section
from core.facts.text import parse_whole_number, unreadable_error

_STANDS_FOR_MANY = (
    *("virtual", "logical", "raid", "perc", "megaraid", "smart array", "serveraid", "lun"),
    *("qemu", "vbox", "vmware", "persistentdisk", "block store"),
)
"""In the model of what a controller, a hypervisor or a storage network makes of any number of disks."""
_PAIR = re.compile(r'([A-Z%:_-]{1,32})="([^"]*)"')


@dataclass(slots=True)
class _Device:
    values: dict[str, str]
    parents: dict[str, None] = field(default_factory=dict)


def parse_block_devices(text: str) -> tuple[BlockDevice, ...]:
    """The devices from `lsblk -J -b` of any age (numbers or strings) or `lsblk -P -b`; empty text: none.

    lsblk repeats a device below each of its parents: here it stands once, with all of them. A value that is no number
    of bytes (`lsblk` without `-b`) is refused, never guessed.

    Raises:
        ParseError: it is neither form, or a device has no name or size.
    """
    devices: dict[str, _Device] = {}
    # version 2.27 and later print JSON; the format tells by its first sign
    if text.lstrip().startswith("{"):
        _walk(_loaded(text), None, devices)
    else:
        for line in text.splitlines():
            if line.strip() and not line.startswith("lsblk: "):
                pairs = {name.lower(): value for name, value in _PAIR.findall(line)}
                if not pairs:
                    raise unreadable_error("lsblk", 'pairs such as NAME="sda"', line)
                _add(pairs, pairs.get("pkname") or None, devices)
    return tuple(_block_device(name, device) for name, device in devices.items())


def _loaded(text: str) -> list[object]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise unreadable_error("lsblk", "a JSON document", str(error)) from error
    entries = document.get("blockdevices") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise unreadable_error("lsblk", "a list blockdevices", text[:80])
    return entries


def _walk(entries: object, parent: str | None, devices: dict[str, _Device]) -> None:
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict):
            raise unreadable_error("lsblk", "a device", str(entry))
        # old versions write the columns' names in capitals, as they were asked for
        values = {str(name).lower(): _plain(value) for name, value in entry.items() if name != "children"}
        name = _add(values, parent or values.get("pkname") or None, devices)
        _walk(entry.get("children"), name, devices)


def _plain(value: object) -> str:
    """A JSON value as -P prints it: true is 1, null is nothing."""
    if isinstance(value, bool):
        return str(int(value))
    return "" if value is None else str(value)


def _add(values: dict[str, str], parent: str | None, devices: dict[str, _Device]) -> str:
    # the kernel's name joins it with /sys and /proc; `name` alone may be a mapper's
    name = values.get("kname") or values.get("name")
    if not name:
        raise unreadable_error("lsblk", "a device with a name", str(values))
    device = devices.setdefault(name, _Device(values))
    if parent is not None:
        device.parents[parent] = None
    return name


def _block_device(name: str, device: _Device) -> BlockDevice:
    values = device.values
    size = parse_whole_number(values.get("size"))
    if size is None:
        raise unreadable_error("lsblk", f"the size of {name} in bytes", values.get("size", ""))
    read_ahead = parse_whole_number(values.get("ra"))
    return BlockDevice(
        name=name,
        kind=values.get("type") or "disk",
        size_bytes=size,
        parents=tuple(device.parents),
        rotational=_flag(values.get("rota")),
        scheduler=values.get("sched") or None,
        read_ahead_bytes=read_ahead * 1024 if read_ahead is not None else None,
        # udev writes a blank as \x20, and models are padded with blanks
        model=" ".join(values.get("model", "").replace("\\x20", " ").split()) or None,
        read_only=_flag(values.get("ro")) is True,
    )


def _flag(text: str | None) -> bool | None:
    return {"0": False, "1": True}.get((text or "").strip())


def is_one_disk(device: BlockDevice) -> bool:
    """Whether it is a disk by itself, neither a virtual machine's nor what a RAID controller makes of several.

    One that does not say its model counts as none: who knows what is behind it.
    """
    # virtio's vda, xvda and dm-0 are never one disk that spins or wears
    if device.kind != "disk" or not device.name.startswith(("sd", "hd", "nvme")):
        return False
    if device.model is None:
        # a SCSI disk without a model hides behind a controller; an NVMe has always its own
        return device.name.startswith("nvme")
    return not any(word in device.model.lower() for word in _STANDS_FOR_MANY)


SECTION = Section("block-devices", "block devices", ("block_device_facts",), parse_block_devices)

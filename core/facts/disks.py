"""What disks say of themselves (SMART), and what ZFS does to files.

smartctl is asked where it is installed, and never wakes a disk (-n standby).
"""

import re

from core.facts.host_environment import Dataset, DiskHealth
from core.facts.sections import Section
from core.facts.text import unreadable_error

_VERDICT = re.compile(r"(?:overall-health self-assessment test result|SMART Health Status):\s*(.+)")


def parse_disk_health(text: str) -> tuple[DiskHealth, ...] | None:
    """Each disk's verdict from `smartctl -H`; None where smartctl is not installed, which is no gap: it may be missing.

    Raises:
        ParseError: a line belongs to no disk.
    """
    if text.strip() == "without":
        return None
    blocks: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("disk "):
            blocks.append((line.removeprefix("disk "), []))
        elif line.startswith(":") and blocks:
            blocks[-1][1].append(line[2:])
        elif line.strip():
            raise unreadable_error("smartctl", "a line 'disk NAME'", line)
    return tuple(_health(name, lines) for name, lines in blocks)


def _health(name: str, lines: list[str]) -> DiskHealth:
    verdict = next((found for line in lines if (found := _VERDICT.search(line))), None)
    if verdict is not None:
        return DiskHealth(name, verdict[1].strip() in ("PASSED", "OK"), verdict[1].strip())
    # without a verdict smartctl's last words say why: asleep, no SMART, no such device
    messages = [
        line.strip() for line in lines if line.strip() and not line.startswith(("smartctl ", "Copyright", "==="))
    ]
    return DiskHealth(name, None, (messages[-1] if messages else "smartctl said nothing")[:200])


def parse_datasets(text: str) -> tuple[Dataset, ...]:
    """ZFS file systems with what matters for a database, from `zfs get -H`; none where nothing of ZFS is mounted.

    Raises:
        ParseError: a line has no three columns.
    """
    found: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        columns = line.split("\t")
        if len(columns) != 3:
            raise unreadable_error("zfs", "name, property and value", line)
        found.setdefault(columns[0], {})[columns[1]] = columns[2]
    return tuple(
        Dataset(properties.pop("mountpoint"), name, properties)
        for name, properties in found.items()
        if "mountpoint" in properties
    )


HEALTH = Section("disk-health", "disk health", ("disk_health_facts",), parse_disk_health, deadline=10)
DATASETS = Section("datasets", "ZFS file systems", ("zfs_facts", "/proc/mounts"), parse_datasets)

"""Whatever of a lab can be found on this machine."""

import re
from collections.abc import Sequence
from pathlib import Path

from tests.lab import caps, disks, network
from tests.lab.machine import BASE, command_lines


def traces(name: str) -> list[str]:
    """A line for each folder, link, control group, loop device, mount and process of the lab of that name."""
    folder = BASE / name
    found = [f"folder {folder}"] if folder.exists() else []
    found += [f"link {link}" for link, alias in network.links() if alias == f"pghaul-lab:{name}"]
    found += [f"group {group}" for group in caps.groups(name)]
    found += [f"loop {device}" for device in disks.attached(folder)]
    found += [f"mount {line}" for line in Path("/proc/mounts").read_text().splitlines() if name in line]
    found += [f"process {pid} {' '.join(words)}" for pid, words in command_lines() if _names(words, name)]
    return found


def _names(words: Sequence[str], name: str) -> bool:
    return any(re.search(rf"(^|/){name}(/|$)", word) for word in words)

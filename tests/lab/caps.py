"""Caps on a data disk and on memory that the kernel keeps exactly, by whichever control groups this machine has.

Version 1: caps of the root group's blkio controller, which bind everybody, and a group of the memory controller for a
host whose memory is capped. Version 2, where the root group has no caps: each host runs in a group of its own.
https://docs.kernel.org/admin-guide/cgroup-v2.html#io https://docs.kernel.org/admin-guide/cgroup-v1/memory.html
"""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tests.lab.machine import CAPS_OF_ROOT, CGROUPS, MEMORY, LabError, descendants, wait_until

NONE = {"read_bps": 0, "write_bps": 0, "read_iops": 0, "write_iops": 0}
_NAMES = {"rbps": "read_bps", "wbps": "write_bps", "riops": "read_iops", "wiops": "write_iops"}


def is_on_root() -> bool:
    """Whether caps belong to the root group, as version 1 has it."""
    return (CAPS_OF_ROOT / "blkio.throttle.read_bps_device").exists()


def make_group(lab: str, host: str) -> Path | None:
    """The group that a host's processes have to be in; None where the root group is capped."""
    if is_on_root():
        return None
    # memory too: by it the kernel knows whose page it writes back
    (CGROUPS / "cgroup.subtree_control").write_text("+io +memory")
    group = CGROUPS / f"pghaul-lab:{lab}:{host}"
    group.mkdir()
    return group


def make_service_groups(lab: str, host: str) -> list[Path]:
    """The groups below which a host's systemd makes those of its units: its own, so that no two hosts' units meet.

    Of version 1 systemd keeps its units in a hierarchy by itself, and as it may a second one of version 2.
    """
    hierarchies = [CGROUPS / name for name in ("systemd", "unified") if (CGROUPS / name).is_dir()] or [CGROUPS]
    made = [hierarchy / f"pghaul-lab:{lab}:{host}" for hierarchy in hierarchies]
    for group in made:
        group.mkdir(exist_ok=True)
    return made


def in_groups(groups: Sequence[Path]) -> list[str]:
    """The words ahead of a command that is to run in these groups."""
    enter = 'for group in $0; do echo $$ >"$group/cgroup.procs"; done; exec "$@"'
    return ["sh", "-c", enter, " ".join(map(str, groups))] if groups else []


def cap_memory(lab: str, host: str, pid: int, group: Path | None, size: int) -> Path:
    """Bytes of memory of a host, its page cache among them; gives the group that its processes are in."""
    if group is not None and not is_on_root():
        (group / "memory.max").write_text(str(size))
        return group
    made = _own_memory() / f"pghaul-lab:{lab}:{host}"
    made.mkdir(exist_ok=True)
    (made / "memory.limit_in_bytes").write_text(str(size))
    for each in (pid, *descendants(pid)):
        (made / "cgroup.procs").write_text(str(each))
    return made


def remove_groups(lab: str) -> None:
    """Once nothing runs in them any more."""
    for group in groups(lab):
        wait_until(partial(_removed, group), f"{group} to be empty")


def groups(lab: str) -> list[Path]:
    """The groups that a lab has."""
    pattern = f"pghaul-lab:{lab}:*"
    return [
        *CGROUPS.glob(pattern),
        *(CGROUPS / "systemd").glob(pattern),
        *(CGROUPS / "unified").glob(pattern),
        *MEMORY.rglob(pattern),
    ]


def _own_memory() -> Path:
    """The group of the memory controller that this process is in; source: cgroups(7), /proc/[pid]/cgroup."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return MEMORY / path.lstrip("/")
    raise LabError("this machine has no control groups for memory")


def _removed(group: Path) -> bool:
    """With those that its service manager made in it."""
    try:
        for each, _, _ in os.walk(group, topdown=False):
            Path(each).rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def cap(device: str, group: Path | None, limits: dict[str, int]) -> None:
    """Set `read_bps`, `write_bps`, `read_iops` and `write_iops` of a device; 0 is no cap."""
    number = _number(device)
    if group is None or is_on_root():
        for name, limit in limits.items():
            _write(CAPS_OF_ROOT / f"blkio.throttle.{name}_device", f"{number} {limit}")
    else:
        words = [f"{short}={limits[name] or 'max'}" for short, name in _NAMES.items()]
        _write(group / "io.max", f"{number} {' '.join(words)}")


def read(device: str, group: Path | None) -> dict[str, int]:
    """The caps that the kernel holds now, those that are set."""
    number = _number(device)
    if group is None or is_on_root():
        files = {name: CAPS_OF_ROOT / f"blkio.throttle.{name}_device" for name in _NAMES.values()}
        lines = {name: file.read_text().splitlines() for name, file in files.items()}
        return {name: int(line.split()[1]) for name in lines for line in lines[name] if line.split()[0] == number}
    words = [line.split()[1:] for line in (group / "io.max").read_text().splitlines() if line.split()[0] == number]
    pairs = [word.split("=") for line in words for word in line]
    return {_NAMES[short]: int(limit) for short, limit in pairs if limit != "max"}


def _number(device: str) -> str:
    number = Path(device).stat().st_rdev
    return f"{os.major(number)}:{os.minor(number)}"


def _write(file: Path, line: str) -> None:
    try:
        file.write_text(line)
    except OSError as error:
        raise LabError(f"{line} to {file}: {error.strerror}") from error

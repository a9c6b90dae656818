"""The kernel: what it can do for a copy, its settings, and the limits of processes.

With 5.6 UDP went from the kernel's NFS client by default (CONFIG_NFS_DISABLE_UDP_SUPPORT), and from its server.
"""

import re

from core.facts.host_environment import UNLIMITED, Kernel, Limits, Process
from core.facts.parsing import first_line, lines_of, parse_assignments, unreadable_error
from core.facts.sections import Section


def parse_kernel(text: str) -> Kernel:
    """The abilities, from /proc/filesystems, `modprobe -n` and the kernel's configuration.

    Raises:
        ParseError: /proc/filesystems is not there.
    """
    lines = lines_of(text)
    systems = {line.split()[-1] for line in lines if line.startswith(": ") and line.strip(": \t")}
    if not systems:
        raise unreadable_error("/proc/filesystems", "a file system", first_line(text))
    modules = {line.partition(" ")[2] for line in lines if line.startswith("module ")}
    config = next((line for line in lines if line.startswith("config ")), None)
    release = next(
        (re.match(r"release ([0-9]+)\.([0-9]+)", line) for line in lines if line.startswith("release ")), None
    )
    without = False if "modprobe" in lines else None  # what a module would bring is not known then
    udp: bool | None = None
    if config is not None:
        udp = "=y" not in config
    elif release is not None and (int(release[1]), int(release[2])) < (5, 6):
        udp = True
    return Kernel(
        nfs=bool({"nfs", "nfs4"} & systems) or "nfs" in modules or without,
        nfsd="nfsd" in systems or "nfsd" in modules or without,
        nfs_udp=udp,
    )


KERNEL = Section("kernel", "kernel features", ("kernel_facts",), parse_kernel)


# Settings of the kernel that a DBA makes for PostgreSQL, and forgets on a new server: memory, write-back, huge pages.
#
# They are files below /proc/sys (the kernel's Documentation/admin-guide/sysctl) with one line each; of the setting of
# transparent huge pages the word in brackets is in force.

_SYSCTL = "/proc/sys/"
_HUGE = "/sys/kernel/mm/transparent_hugepage/enabled"
_NAMES = (
    *("vm.swappiness", "vm.overcommit_memory", "vm.overcommit_ratio", "vm.overcommit_kbytes", "vm.nr_hugepages"),
    *("vm.dirty_background_ratio", "vm.dirty_background_bytes", "vm.dirty_ratio", "vm.dirty_bytes"),
    *("vm.zone_reclaim_mode", "kernel.numa_balancing", "kernel.sem", "kernel.shmmax", "kernel.shmall"),
)


def parse_kernel_settings(text: str) -> dict[str, str]:
    """Name, as sysctl writes it, to value, from lines `FILE:VALUE`.

    Raises:
        ParseError: a line is none of a file that was asked for.
    """
    found = {}
    for line in lines_of(text):
        path, colon, value = line.partition(":")
        chosen = re.search(r"\[(\w+)\]", value)
        if path == _HUGE and chosen is not None:
            found["transparent_hugepage"] = chosen[1]
        elif colon and path.startswith(_SYSCTL):
            # kernel.sem has four numbers, parted by tabs
            found[path.removeprefix(_SYSCTL).replace("/", ".")] = " ".join(value.split())
        else:
            raise unreadable_error("kernel settings", "a line FILE:VALUE", line)
    return found


KERNEL_SETTINGS = Section(
    "kernel-settings",
    "kernel settings",
    ("kernel_settings", *(_SYSCTL + name.replace(".", "/") for name in _NAMES), _HUGE),
    parse_kernel_settings,
)


# The running server process of a cluster: its limits and who started it; and the limits that a session would give.
#
# /proc/PID/limits, /proc/PID/cgroup and /proc/PID/stat are man 5 proc.

_LIMIT = re.compile(r"Max (?P<name>open files|locked memory) +(?P<soft>[0-9]{1,20}|unlimited) ")
# version 1 of control groups has a line a controller, version 2 one alone: `0::/…`
_UNIT = re.compile(r"^[0-9]+:[^:]*:(?:/\S*)?/(?P<unit>[^/\s]+\.service)\b", re.MULTILINE)


def parse_process(text: str) -> Process | None:
    """The server process; None where the text is empty, as for a stopped cluster.

    Raises:
        ParseError: the limits are missing.
    """
    if not text.strip():
        return None
    limits = {found["name"]: _number(found["soft"]) for found in _LIMIT.finditer(text)}
    if not limits:
        raise unreadable_error("/proc/PID/limits", "a line 'Max open files'", first_line(text))
    unit = _UNIT.search(text)
    properties = dict(re.findall(r"^(parent|restart|memory_limit)=(.+)$", text, re.MULTILINE))
    return Process(
        Limits(limits.get("open files"), limits.get("locked memory")),
        properties.get("parent"),
        unit["unit"] if unit is not None else None,
        properties.get("restart"),
        _number(properties.get("memory_limit", "")),
    )


def parse_session_limits(text: str) -> Limits:
    """The limits of a session, from `ulimit`.

    Raises:
        ParseError: a value is neither a number nor `unlimited`.
    """
    values = parse_assignments(lines_of(text))
    found = {name: _number(values.get(name, "")) for name in ("open_files", "locked_kilobytes")}
    files, locked = found["open_files"], found["locked_kilobytes"]
    if files is None:
        raise unreadable_error("ulimit", "a number or unlimited", first_line(text))
    # ulimit counts locked memory in KiB, /proc in bytes
    return Limits(files, None if locked is None else min(locked * 1024, UNLIMITED))


def _number(text: str) -> int | None:
    if text == "unlimited":
        return UNLIMITED
    return min(int(text), UNLIMITED) if re.fullmatch("[0-9]{1,20}", text) else None


SESSION = Section("limits", "process limits", ("session_limits",), parse_session_limits)
PROCESS = Section("process", "server process", ("cluster_process",), parse_process)

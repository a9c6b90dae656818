"""The tools that a workload may name, each a module with a command and a parser."""

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from core.benchmarks import bonnie_work, dd, fio, fio_jobs, pg_test_fsync_work, pgbench_work, sysbench_work
from core.benchmarks.model import Workload
from core.benchmarks.work import Machine, Work
from core.errors import InputError

TOOLS: Mapping[str, Callable[[Workload, Machine], Work]] = {
    "bonnie": bonnie_work.work,
    "dd": dd.work,
    "fio": fio.work,
    fio_jobs.TOOL: fio_jobs.work,
    "pg_test_fsync": pg_test_fsync_work.work,
    "pgbench": pgbench_work.work,
    "sysbench": sysbench_work.work,
}

_PROGRAMS = ("bonnie++", "dd", "fio", "initdb", "pgbench", "sysbench")

PACKAGE_COMMANDS: Mapping[str, str] = {
    "debian": "apt-get install",
    "ubuntu": "apt-get install",
    "rhel": "dnf install",
    "rocky": "dnf install",
    "almalinux": "dnf install",
    "centos": "dnf install",
    "fedora": "dnf install",
    "ol": "dnf install",
    "amzn": "dnf install",
    "sles": "zypper install",
    "opensuse-leap": "zypper install",
    "opensuse-tumbleweed": "zypper install",
    "arch": "pacman -S",
    "alpine": "apk add",
}
"""os-release's ID -> how that distribution installs a package."""

_PACKAGES = {"dd": "coreutils"}
_OF_POSTGRESQL = {"initdb", "pg_test_fsync", "pgbench"}


def programs_of(machine: Machine) -> tuple[str, ...]:
    """Every program that a workload may need there; those of PostgreSQL by their paths."""
    own = [f"{folder}/{name}" for folder in machine.bin_directories for name in sorted(_OF_POSTGRESQL)]
    return (*_PROGRAMS, *own)


def work_of(workload: Workload, machine: Machine) -> Work:
    """What to run for the workload, from its tool's module.

    Raises:
        InputError: no such tool, a headline that the tool does not measure, or a wrong parameter; names the workload.
    """
    make = TOOLS.get(workload.tool)
    if make is None:
        raise InputError(f"workload {workload.name}: no tool {workload.tool!r}", f"choose one of {', '.join(TOOLS)}")
    try:
        work = make(workload, machine)
    except InputError as error:
        raise InputError(f"workload {workload.name}: {error.message}", error.hint) from error
    if workload.headline not in work.headlines:
        raise InputError(
            f"workload {workload.name}: {workload.tool} measures no {workload.headline!r} with this pattern",
            f"choose as headline one of {', '.join(work.headlines)}",
        )
    return work


def how_to_install(program: str, distribution: str | None) -> str:
    """What the DBA types to install a program, by os-release's ID; a plain sentence where that is not known."""
    name = PurePosixPath(program).name
    if name in _OF_POSTGRESQL:
        return f"{name} comes with the server or contrib package of PostgreSQL"
    package = _PACKAGES.get(name, name)
    manager = PACKAGE_COMMANDS.get(distribution or "")
    return f"install it with: {manager} {package}" if manager else f"install the package {package}"

"""The benchmark tools that there are, and how each comes onto a server."""

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from core.benchmarks.bonnie.tool import BONNIE
from core.benchmarks.dd import DD
from core.benchmarks.fio.job_tool import FIO_JOB
from core.benchmarks.fio.tool import FIO
from core.benchmarks.hammerdb import parse_hammerdb
from core.benchmarks.model import Output, Workload
from core.benchmarks.pg_test_fsync import PG_TEST_FSYNC
from core.benchmarks.pgbench.tool import PGBENCH
from core.benchmarks.phoronix import parse_phoronix
from core.benchmarks.sysbench.tool import SYSBENCH
from core.benchmarks.tool import Machine, Procedure, Reader, Tool
from core.errors import InputError

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (BONNIE, DD, FIO, FIO_JOB, PG_TEST_FSYNC, PGBENCH, SYSBENCH)}
"""By name. The command line, the suites, the comparison, the forecast and the documentation all ask here."""

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


_NEVER_RUN = (
    Reader("hammerdb", parse_hammerdb, repeats=True),
    Reader("phoronix", parse_phoronix, repeats=True),
)
"""Programs that pghaul does not run, whose outputs it reads."""


def readers() -> dict[str, Reader]:
    """By name: whose outputs can be read."""
    own = (
        Reader(tool.name, tool.parse, tool.repeats, tool.program if tool.named_after_host else None)
        for tool in TOOLS.values()
        if tool.parse is not None
    )
    return {reader.name: reader for reader in (*own, *_NEVER_RUN)}


def parsers() -> dict[str, Callable[[str], Output]]:
    """Tool -> its parser, of all whose outputs can be read."""
    return {name: reader.parse for name, reader in readers().items()}


def programs_of(machine: Machine) -> tuple[str, ...]:
    """Every program that a workload may need there; those of PostgreSQL by their paths too."""
    # fio and fio-job name one program
    programs = dict.fromkeys(tool.program for tool in TOOLS.values())
    own = [f"{folder}/{name}" for folder in machine.bin_directories for name in sorted(_of_postgresql())]
    return (*programs, *own)


def procedure_of(workload: Workload, machine: Machine) -> Procedure:
    """What to run for the workload, as its tool has it.

    Raises:
        InputError: no such tool, a headline that the tool does not measure, or a wrong parameter; names the workload.
    """
    tool = TOOLS.get(workload.tool)
    if tool is None:
        raise InputError(f"workload {workload.name}: no tool {workload.tool!r}", f"choose one of {', '.join(TOOLS)}")
    try:
        procedure = tool.procedure(workload, machine)
    except InputError as error:
        raise InputError(f"workload {workload.name}: {error.message}", error.hint) from error
    # found now, not after an hour of measuring
    if workload.headline not in procedure.headlines:
        raise InputError(
            f"workload {workload.name}: {workload.tool} measures no {workload.headline!r} with this pattern",
            f"choose as headline one of {', '.join(procedure.headlines)}",
        )
    return procedure


def how_to_install(program: str, distribution: str | None) -> str:
    """What the DBA types to install a program, by os-release's ID; a plain sentence where that is not known."""
    name = PurePosixPath(program).name
    if name in _of_postgresql():
        return f"{name} comes with the server or contrib package of PostgreSQL"
    packages = {tool.program: tool.package for tool in TOOLS.values()}
    # a program that is no tool's: its package most often has its name
    package = packages.get(name) or name
    manager = PACKAGE_COMMANDS.get(distribution or "")
    return f"install it with: {manager} {package}" if manager else f"install the package {package}"


def _of_postgresql() -> set[str]:
    return {tool.program for tool in TOOLS.values() if tool.package is None}

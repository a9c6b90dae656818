"""The list of the benchmark tools, how each is installed on a server, and which of them has printed a text."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from core.benchmarks.bonnie import BONNIE
from core.benchmarks.dd import DD
from core.benchmarks.fio.job import FIO_JOB
from core.benchmarks.fio.output import parse_fio_log
from core.benchmarks.fio.tool import FIO
from core.benchmarks.hammerdb import parse_hammerdb
from core.benchmarks.hdparm import parse_hdparm
from core.benchmarks.ioping import parse_ioping
from core.benchmarks.model import Output, Workload
from core.benchmarks.pg_test_fsync import PG_TEST_FSYNC
from core.benchmarks.pgbench.tool import PGBENCH
from core.benchmarks.phoronix import parse_phoronix
from core.benchmarks.reading import WithoutResultError, unreadable
from core.benchmarks.sysbench import SYSBENCH
from core.benchmarks.tool import Machine, Procedure, Reader, Tool, with_prefix
from core.errors import InputError, ParseError
from core.pasted import plain
from core.text import first_line

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (BONNIE, DD, FIO, FIO_JOB, PG_TEST_FSYNC, PGBENCH, SYSBENCH)}
"""All tools by name. The command line, the suites, the comparison, the forecast and the documentation use this list."""

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
"""The command that installs a package, by the ID of the distribution in os-release."""


_NEVER_RUN = (
    Reader("hammerdb", parse_hammerdb, repeats=True),
    Reader("hdparm", parse_hdparm, repeats=True, common_name="hdparm"),
    Reader("ioping", parse_ioping, repeats=True, common_name="ioping"),
    Reader("phoronix", parse_phoronix, repeats=True),
)
"""Programs that pghaul does not run, but whose output it can parse."""


def readers() -> dict[str, Reader]:
    """Return all parsers with their properties, by name."""
    own = (
        Reader(tool.name, tool.parse, tool.repeats, tool.program if tool.named_after_host else None)
        for tool in TOOLS.values()
        if tool.parse is not None
    )
    return {reader.name: reader for reader in (*own, *_NEVER_RUN)}


def parsers() -> dict[str, Callable[[str], Output]]:
    """Return the parse functions by name."""
    return {name: reader.parse for name, reader in readers().items()}


def programs_of(machine: Machine) -> tuple[str, ...]:
    """Return all programs that a workload may need on the machine; those of PostgreSQL also by their paths."""
    # fio and fio-job have the same program.
    programs = dict.fromkeys(tool.program for tool in TOOLS.values())
    own = [f"{folder}/{name}" for folder in machine.bin_directories for name in sorted(_of_postgresql())]
    return (*programs, *own)


def procedure_of(workload: Workload, machine: Machine) -> Procedure:
    """Return what runs for the workload, as its tool declares it.

    Raises:
        InputError: the tool does not exist, does not measure the headline, or a parameter is wrong; the message names
            the workload.
    """
    tool = TOOLS.get(workload.tool)
    if tool is None:
        raise InputError(
            f"workload {workload.name}: the tool {workload.tool!r} is not known", f"choose one of {', '.join(TOOLS)}"
        )
    try:
        procedure = tool.procedure(workload, machine)
    except InputError as error:
        raise with_prefix(error, f"workload {workload.name}") from error
    # This is checked now, and not after an hour of measuring.
    if workload.headline not in procedure.headlines:
        raise InputError(
            f"workload {workload.name}: {workload.tool} does not measure {workload.headline!r} with these parameters",
            f"set headline to one of {', '.join(procedure.headlines)}",
        )
    return procedure


def how_to_install(program: str, distribution: str | None) -> str:
    """Return the command that installs a program, by the ID in os-release; a sentence if that is not known."""
    name = PurePosixPath(program).name
    if name in _of_postgresql():
        return f"{name} comes with the server or contrib package of PostgreSQL"
    packages = {tool.program: tool.package for tool in TOOLS.values()}
    # The program belongs to no tool. Most packages have the name of their program.
    package = packages.get(name) or name
    manager = PACKAGE_COMMANDS.get(distribution or "")
    return f"install it with: {manager} {package}" if manager else f"install the package {package}"


def _of_postgresql() -> set[str]:
    return {tool.program for tool in TOOLS.values() if tool.package is None}


# Recognising which tools have printed a text: by its contents and, for the logs of fio, by the name of its file.

_BINARY = "\ufffd"
_MOST_BINARY = 0.05
"""The largest share of binary characters at the beginning of a text. A crash may leave some in the output of a tool."""
_LOOKED_AT = 4096


def read_output(tool: str, text: str, file: str = "") -> Output:
    """Return the results in the output of the tool.

    Args:
        tool: the name of the tool.
        text: its output.
        file: the name of the file, because the logs of fio do not say themselves what they contain.

    Raises:
        ParseError: it contains no result of that tool.
    """
    return _read(tool, plain(text), file)


def _read(tool: str, text: str, file: str) -> Output:
    if tool == "fio" and file.endswith(".log"):
        with suppress(ParseError):
            return parse_fio_log(text, file)
    return readers()[tool].parse(text)


def recognised(text: str, file: str = "") -> tuple[Output, ...]:
    """Return the results of each tool in the text. Mostly there is one tool; a forum post may show several.

    Raises:
        ParseError: it contains no result of any tool.
    """
    beginning = text[:_LOOKED_AT]
    if beginning.count(_BINARY) > _MOST_BINARY * len(beginning):
        raise ParseError("the input is not a text", "give the output of a benchmark tool, or a file written by it")
    found = []
    incomplete: WithoutResultError | None = None
    printed = plain(text)
    for tool in readers():
        try:
            found.append(_read(tool, printed, file))
        except WithoutResultError as error:
            incomplete = incomplete or error
        except ParseError:
            continue
    if not found:
        if incomplete is not None:
            raise incomplete
        raise unreadable("the output", f"that of {_listed(tuple(readers()))}", first_line(text))
    return tuple(found)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"

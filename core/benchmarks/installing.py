"""Installing tools that a server lacks: with the packages of its distribution, as root, and only on request.

None of these packages starts a service. Debian asks whether the service of iperf3 should start, and assumes "no" if
nobody can answer. Weak dependencies are installed too, because on Red Hat they include the engines of fio.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.benchmarks.tools import PACKAGE_COMMANDS, TOOLS, how_to_install
from core.errors import CommandError, InputError, ParseError
from core.jobs import Job
from core.servers.connection import Server
from core.servers.running import Completed
from core.servers.shell import Shell, call, command
from core.text import END_MARK, lines_of

OF_THE_COPY = ("iperf3", "lz4", "rsync", "socat", "zstd")
DEADLINE = 900.0

_ANY_STATUS = range(-1, 256)
_OPTIONS = {
    "apt-get": ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "--no-install-recommends", "install"),
    "dnf": ("dnf", "-q", "-y", "install"),
    "zypper": ("zypper", "--non-interactive", "install"),
    "pacman": ("pacman", "-S", "--noconfirm", "--needed"),
    "apk": ("apk", "add"),
}
_REFRESH = {
    "apt-get": command("apt-get", "-q", "update"),
    "zypper": command("zypper", "--non-interactive", "refresh"),
    "pacman": command("pacman", "-Sy", "--noconfirm"),
    "apk": command("apk", "update"),
}
"""The commands that fetch the list of packages. dnf does that itself."""
_HINTS = {"dnf": "enable the EPEL repository first: it contains bonnie++ and sysbench"}


@dataclass(frozen=True, slots=True)
class Installation:
    """The commands that would install the missing tools. `shell` is None if nothing is missing.

    `refresh` fetches the list of packages, for a server whose list is old or was never fetched. It is None if `shell`
    does that itself.
    """

    server: str
    missing: tuple[str, ...]
    shell: Shell | None
    refresh: Shell | None = None
    manager: str = ""
    """The package manager, a key of `_OPTIONS`; empty if nothing is missing."""


def installable() -> tuple[str, ...]:
    """Return the tools that can be installed: benchmark tools with a package of their name, and tools for the copy."""
    tools = [tool.program for tool in TOOLS.values() if tool.program == tool.package]
    return tuple(sorted({*tools, *OF_THE_COPY}))


def installation(server: Server, tools: Sequence[str], job: Job) -> Installation:
    """Return which of the tools a server lacks, and how it installs them. Nothing is changed.

    Raises:
        InputError: a tool that is not among `installable()`, or a distribution whose packages are not known.
    """
    unknown = [tool for tool in tools if tool not in installable()]
    if unknown:
        raise InputError(
            f"pghaul cannot install {unknown[0]}",
            f"choose from {', '.join(installable())}; PostgreSQL's programs come with its server or contrib package",
        )
    look = call("missing_programs", *dict.fromkeys(tools))
    answer = lines_of(server.run(look, job, title="which tools are missing").stdout)
    if answer[-1:] != [END_MARK]:
        raise ParseError(f"{server.name}: the list of missing tools is not complete")
    first, *missing = answer[:-1]
    if not missing:
        return Installation(server.name, (), None)
    # its own ID first, then those that it is like
    distribution = next((name for name in first.split() if name in PACKAGE_COMMANDS), None)
    if distribution is None:
        raise InputError(
            f"the package manager of {server.name} is not known (os-release: {first.strip() or 'empty'!r})",
            "; ".join(how_to_install(tool, None) for tool in missing),
        )
    manager = PACKAGE_COMMANDS[distribution].split()[0]
    shell = command(*_OPTIONS[manager], *missing)
    return Installation(server.name, tuple(missing), shell, _REFRESH.get(manager), manager)


def install(server: Server, wanted: Installation, job: Job) -> None:
    """Install the missing tools as root, and verify that they are installed.

    Raises:
        AuthenticationError: the profile's rights do not reach root.
        CommandError: the packages could not be installed; the message is that of the package manager.
    """
    if wanted.shell is None:
        return
    title = f"install {', '.join(wanted.missing)}"
    ended = _as_root(server, wanted.shell, job, title)
    if ended.exit_status != 0 and wanted.refresh is not None:  # a package may not be known yet
        _as_root(server, wanted.refresh, job, "fetch the list of packages")
        ended = _as_root(server, wanted.shell, job, title)
    # package managers end with 0 for a package that they do not know, too
    absent = installation(server, wanted.missing, job).missing
    if absent:
        lines = [line.strip() for line in lines_of(ended.stderr + ended.stdout) if line.strip()]
        # each manager has its own way to begin the line that matters
        said = next((line for line in lines if line.startswith(("E:", "Error", "error", "ERROR", "No "))), "")
        why = said or (lines[-1] if lines else f"exit status {ended.exit_status}")
        raise CommandError(
            f"{', '.join(absent)} could not be installed on {server.name}: {why}",
            _HINTS.get(wanted.manager, "check the package sources of the server and its connection to them"),
            command=wanted.shell.shown,
            exit_status=ended.exit_status,
            stderr=ended.stderr,
        )


def _as_root(server: Server, shell: Shell, job: Job, title: str) -> Completed:
    return server.run(shell, job, user="root", deadline=DEADLINE, accept=_ANY_STATUS, title=title)

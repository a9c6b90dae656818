"""Install tools that a server lacks: by its own distribution's packages, as root, and only when asked.

None of these packages starts a service: Debian asks whether iperf3's shall, and takes no for the answer where nobody is
there to give one. Weak dependencies stay: on Red Hat fio's engines are among them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.benchmarks.tools import PACKAGE_COMMANDS, TOOLS, how_to_install
from core.errors import CommandError, InputError
from core.jobs import Job
from core.servers.connection import Server
from core.servers.shell import Shell, command, script, sequence

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
"""For a server whose list of packages is old or was never fetched; dnf does that itself."""
_HINTS = {"dnf": "bonnie++ and sysbench are in EPEL: enable it first"}


@dataclass(frozen=True, slots=True)
class Installation:
    """What would install the tools that are missing. `shell` None: nothing is missing."""

    server: str
    missing: tuple[str, ...]
    shell: Shell | None


def installable() -> tuple[str, ...]:
    """What can be installed: the benchmarks' tools whose package has their name, and what the copy uses."""
    tools = [tool.program for tool in TOOLS.values() if tool.program == tool.package]
    return tuple(sorted({*tools, *OF_THE_COPY}))


def installation(server: Server, tools: Sequence[str], job: Job) -> Installation:
    """Look which of the tools a server lacks, and how it installs them; changes nothing.

    Raises:
        InputError: a tool that is not among `installable()`, or a distribution whose packages are not known.
    """
    unknown = [tool for tool in tools if tool not in installable()]
    if unknown:
        raise InputError(
            f"{unknown[0]} is not installed by pghaul",
            f"choose of {', '.join(installable())}; PostgreSQL's programs come with its server or contrib package",
        )
    look = script(
        """PATH=$PATH:/usr/sbin:/sbin
( . /etc/os-release && echo "$ID $ID_LIKE" ) 2>/dev/null || echo
IFS=:
for tool in $(echo @tools@); do command -v "$tool" >/dev/null 2>&1 || echo "$tool"; done""",
        tools=":".join(dict.fromkeys(tools)),
    )
    first, *missing = server.run(look, job, title="which tools are missing").stdout.splitlines() or [""]
    if not missing:
        return Installation(server.name, (), None)
    distribution = next((name for name in first.split() if name in PACKAGE_COMMANDS), None)
    if distribution is None:
        raise InputError(
            f"how {server.name} installs packages is not known (its os-release says {first.strip() or 'nothing'!r})",
            "; ".join(how_to_install(tool, None) for tool in missing),
        )
    manager = PACKAGE_COMMANDS[distribution].split()[0]
    install = command(*_OPTIONS[manager], *missing)
    shell = _or_refreshed(install, _REFRESH[manager]) if manager in _REFRESH else install
    return Installation(server.name, tuple(missing), shell)


def install(server: Server, wanted: Installation, job: Job) -> None:
    """Install what is missing, as root, and see that it is there.

    Raises:
        AuthenticationError: the profile's rights do not reach root.
        CommandError: the packages could not be installed; in the package manager's words.
    """
    if wanted.shell is None:
        return
    ended = server.run(
        wanted.shell,
        job,
        user="root",
        deadline=DEADLINE,
        accept=_ANY_STATUS,
        title=f"install {', '.join(wanted.missing)}",
    )
    absent = installation(server, wanted.missing, job).missing
    if absent:
        lines = [line.strip() for line in (ended.stderr + ended.stdout).splitlines() if line.strip()]
        said = next((line for line in lines if line.startswith(("E:", "Error", "error", "ERROR", "No "))), "")
        why = said or (lines[-1] if lines else f"exit status {ended.exit_status}")
        manager = next((name for name in _OPTIONS if name in wanted.shell.text), "")
        raise CommandError(
            f"{', '.join(absent)} could not be installed on {server.name}: {why}",
            _HINTS.get(manager, "check the server's package sources and its way to them"),
            command=wanted.shell.shown,
            exit_status=ended.exit_status,
            stderr=ended.stderr,
        )


def _or_refreshed(install: Shell, refresh: Shell) -> Shell:
    """Install, and if a package is not known, again with a fresh list."""
    return script("sh -c @install@ || sh -c @again@", install=install, again=sequence(refresh, install))

"""The programs of a server: PostgreSQL's by major version, and the tools for benchmarks and copies.

What a cluster's owner says of its programs counts for that owner alone: any account of a host can put up what looks
like a cluster, and anybody else who ran its programs would run what that account has written. No such folder is ever
root's to search.
"""

import posixpath
import re
from pathlib import PurePosixPath

from core.errors import ParseError
from core.facts.model import Cluster, Facts, Tool
from core.facts.parsing import lines_of, unreadable_error
from core.facts.sections import Section
from core.facts.versions import parse_version

SERVER_TOOLS = ("postgres", "pg_test_fsync", "pgbench")
"""Tools that are installed with the server programs: they show the version if no cluster exists yet."""

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def programs_of(facts: Facts, cluster: Cluster, user: str) -> str:
    """Return the PATH for the programs of a cluster, its own first: others may lack its libraries."""
    path = program_path(facts, cluster.series, user).split(":")
    return ":".join(dict.fromkeys([*([cluster.bin_directory] if cluster.bin_directory else []), *path]))


def program_path(facts: Facts, major_version: str, user: str) -> str:
    """Return the PATH for the programs of a major version on a server, for a user of that server."""
    known = [each.bin_directory for each in facts.clusters if each.series == major_version and can_run(each, user)]
    tool = facts.tool("postgres")
    # its folder counts only where it is of this very major version; one that others can change was not asked for its
    # version
    if tool is not None and tool.path is not None and major_version_of(tool.version or "") == major_version:
        known.append(str(PurePosixPath(tool.path).parent))
    installed = (server_programs(facts) or {}).items()
    places = [
        *known,
        f"/usr/lib/postgresql/{major_version}/bin",
        f"/usr/pgsql-{major_version}/bin",
        *(posixpath.dirname(path) for path, version in installed if major_version_of(version) == major_version),
        *_SYSTEM_PATH.split(":"),
    ]
    return ":".join(dict.fromkeys(place for place in places if place))


def can_run(cluster: Cluster, user: str) -> bool:
    """Return whether the user may run the cluster's programs: they are its own, or come from packages."""
    place = posixpath.normpath(cluster.bin_directory or "")
    packaged = place.startswith("/usr/") and not place.startswith("/usr/local/")
    return bool(cluster.bin_directory) and (cluster.owner == user or packaged)


# Benchmark and copy tools: where they are and which version.

_DEFAULT = r"\b([0-9]+(?:\.[0-9]+)+[a-z0-9]*)"
_POSTGRESQL = r"\(PostgreSQL\) (\S+)"

_TOOLS: dict[str, tuple[str, str]] = {
    "fio": ("--version", r"fio-(\S+)"),
    "dd": ("--version", r"\bdd \(.*?\) (\S+)"),
    "bonnie++": ("-h", r"Version: *(\S+)"),
    "sysbench": ("--version", r"sysbench (\S+)"),
    "postgres": ("--version", _POSTGRESQL),
    "pgbench": ("--version", _POSTGRESQL),
    "pg_test_fsync": ("--version", _POSTGRESQL),
    "iperf3": ("--version", r"iperf (\S+)"),
    "find": ("--version", r"\(GNU findutils\) (\S+)"),
    "tar": ("--version", r"\(GNU tar\) (\S+)"),
    "rsync": ("--version", r"version v?([0-9]\S*)"),
    "ssh": ("-V", r"OpenSSH_([^\s,]+)"),
    "lz4": ("--version", r"\bv?([0-9]+(?:\.[0-9]+)+)"),
    "zstd": ("--version", r"\bv?([0-9]+(?:\.[0-9]+)+)"),
    "socat": ("-V", r"socat version (\S+)"),
    # its options differ from one netcat to the next: that it is there is enough
    "nc": ("", _DEFAULT),
    "perl": ("", _DEFAULT),
    "python3": ("", _DEFAULT),
    "openssl": ("", _DEFAULT),
    "mount.nfs": ("-V", r"nfs-utils ([0-9.]+)"),
    "exportfs": ("", _DEFAULT),
    "smartctl": ("--version", r"smartctl ([0-9.]+)"),
    "mdadm": ("--version", r"v([0-9]\S*)"),
    "systemctl": ("--version", r"systemd ([0-9]+\S*)"),
    "systemd-run": ("", _DEFAULT),
    "pg_ctlcluster": ("", _DEFAULT),
}
"""By name: the option that prints the version (empty: it has none, or it does not matter) and how it is told from the
rest."""


def parse_tools(text: str) -> tuple[Tool, ...]:
    """Every tool asked for, installed or not, from `tool NAME PATH` lines each followed by its version's output.

    Raises:
        ParseError: a line belongs to no tool.
    """
    found: list[tuple[str, str, list[str]]] = []
    for line in lines_of(text):
        if line.startswith("tool "):
            _, name, path = (line + " ").split(" ", 2)
            found.append((name, path.strip(), []))
        elif line.startswith(": ") and found:
            found[-1][2].append(line[2:])
        elif line.strip():
            raise unreadable_error("tools", "a line 'tool NAME PATH'", line)
    return tuple(Tool(name, path or None, _version(name, "\n".join(lines))) for name, path, lines in found)


def _version(name: str, output: str) -> str | None:
    pattern = _TOOLS[name][1] if name in _TOOLS else _DEFAULT
    match = re.search(pattern, output)
    return match[1] if match is not None else None


def parse_server_programs(text: str) -> dict[str, str]:
    """Path to version of each server program, from `server PATH` lines, each followed by what the program has printed.

    The version is empty if the program has told none, or was not run because other users can change it.

    Raises:
        ParseError: a line belongs to no program.
    """
    found: dict[str, str] = {}
    path = ""
    for line in lines_of(text):
        if line.startswith("server /"):
            path = line.removeprefix("server ")
            found.setdefault(path, "")
        elif line.startswith(": ") and path:
            version = re.search(_POSTGRESQL, line)
            found[path] = version[1] if version is not None else found[path]
        elif line.strip():
            raise unreadable_error("server programs", "a line 'server PATH'", line)
    return found


SERVER_PROGRAMS = Section(
    "server-programs", "PostgreSQL server programs", ("server_programs",), parse_server_programs, deadline=10
)
"""Of all major versions that are installed, whether or not they have a cluster."""


def major_versions(facts: Facts) -> frozenset[str]:
    """Return the major versions whose server programs are on a server, by its clusters, tools and programs."""
    tools = (facts.tool(name) for name in SERVER_TOOLS)
    told = [tool.version for tool in tools if tool is not None and tool.path is not None]
    told += (server_programs(facts) or {}).values()
    found = {major_version_of(version) for version in told if version}
    return frozenset({*(each.series for each in facts.clusters), *filter(None, found)})


def major_version_of(version: str) -> str | None:
    """Return the major version in a version such as `15.18` or `18beta1`; None if it is none."""
    try:
        return parse_version(version).series
    except ParseError:
        return None


def server_programs(facts: Facts) -> dict[str, str] | None:
    """Return the version of each server program by its path; None if they were not read."""
    return facts.further.get(SERVER_PROGRAMS.title)


TOOLS = Section(
    "tools",
    "tools",
    ("tool_facts", *(f"{name}={option}" for name, (option, _) in _TOOLS.items())),
    parse_tools,
    deadline=10,
    partly=True,
)

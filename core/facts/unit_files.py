"""Data directories and programs that systemd units name: `Environment=PGDATA=…`, `ExecStart=… -D …`, drop-ins.

Unit files are read as files, so units that never started are seen too, and a host whose process 1 is something else.
Syntax as in systemd.service(5) and systemd.syntax(7), as far as it bears on PGDATA.
"""

import posixpath
import re
from dataclasses import dataclass, field

_WORD = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')+""")
_ESCAPES = {"n": "\n", "t": "\t", "s": " "}


@dataclass(frozen=True, slots=True)
class Unit:
    """A service unit that names a data directory. `bin_directory` is that of its ExecStart, where it is absolute."""

    name: str
    folder: str
    bin_directory: str | None
    config_file: str | None


@dataclass(slots=True)
class _Lines:
    environment: dict[str, str] = field(default_factory=dict)
    start: list[str] = field(default_factory=list)


def parse_units(text: str) -> tuple[Unit, ...]:
    """The units that name a data directory, from `unit PATH` lines, each followed by its lines behind a colon.

    A directory that holds a specifier (%i) is left out: it stands for as many as there are instances.
    """
    units: dict[str, _Lines] = {}
    current = _Lines()
    for line in text.splitlines():
        if line.startswith("unit "):
            # a unit that comes again, of a folder with precedence or as a drop-in, goes on where it was
            current = units.setdefault(_unit_name(line.removeprefix("unit ")), _Lines())
        elif line.startswith(": Environment="):
            for word in words(line.partition("=")[2]):
                name, equals, value = word.partition("=")
                if equals:
                    current.environment[name] = value
        elif line.startswith(": ExecStart="):
            # the last wins; `ExecStart=` alone empties it, as systemd has it
            current.start = words(line.partition("=")[2])
    found = (_unit(name, lines) for name, lines in units.items())
    return tuple(unit for unit in found if unit is not None)


def _unit_name(path: str) -> str:
    """`postgresql.service` from its own path or from that of a drop-in, `…/postgresql.service.d/pgdata.conf`."""
    folder, file = posixpath.split(path.strip())
    return posixpath.basename(folder).removesuffix(".d") if file.endswith(".conf") else file


def _unit(name: str, lines: _Lines) -> Unit | None:
    start = [_expanded(word, lines.environment) for word in lines.start]
    folder, config_file = server_options(start)
    folder = folder or lines.environment.get("PGDATA")
    if folder is None or not folder.startswith("/") or "%" in folder.replace("%%", ""):
        return None
    # systemd's prefixes of a command: `-/usr/bin/…` may fail, `+` runs as root (systemd.service)
    program = start[0].lstrip("@-:+!") if start else ""
    server = posixpath.basename(program) in ("postgres", "postmaster", "pg_ctl", "edb-postgres")
    bin_directory = posixpath.dirname(program) if server and program.startswith("/") else None
    return Unit(name, folder.replace("%%", "%"), bin_directory, config_file)


def _expanded(word: str, environment: dict[str, str]) -> str:
    return re.sub(
        r"\$\{(\w+)\}|\$(\w+)", lambda found: environment.get(found[1] or found[2], found[0]), word.replace("$$", "$")
    )


def words(text: str) -> list[str]:
    """A line of systemd split into words, quotes and escapes undone."""
    return [_unquoted(found[0]) for found in _WORD.finditer(text)]


def _unquoted(word: str) -> str:
    def plain(found: re.Match[str]) -> str:
        if found["hex"]:
            return chr(int(found["hex"], 16))
        if found["escaped"]:
            return _ESCAPES.get(found["escaped"], found["escaped"])
        return ""

    return re.sub(r"""\\x(?P<hex>[0-9a-fA-F]{2})|\\(?P<escaped>.)|["']""", plain, word)


def server_options(arguments: list[str]) -> tuple[str | None, str | None]:
    """Data directory and configuration file among the arguments of postgres or pg_ctl: `-D`, `-c config_file=`…"""
    folder = config_file = None
    following = iter(arguments)
    for word in following:
        value = next(following, "") if word in ("-D", "--pgdata", "-c") else None
        if word in ("-D", "--pgdata"):
            folder = value
        elif word.startswith(("--pgdata=", "--data_directory=", "--data-directory=")):
            folder = word.partition("=")[2]
        elif word.startswith("-D"):
            folder = word[2:]
        option = value if word == "-c" else word.removeprefix("--").replace("config-file", "config_file", 1)
        if option is not None and option.startswith("config_file="):
            config_file = option.partition("=")[2]
    return folder or None, config_file or None

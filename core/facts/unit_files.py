"""Data directories and programs that systemd units name: `Environment=PGDATA=…`, `ExecStart=… -D …`, drop-ins.

Unit files are read as files, so units that never started are seen too, and a host whose process 1 is something else.
Syntax as in systemd.service(5) and systemd.syntax(7), as far as it bears on PGDATA.
"""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from core.facts.start_options import Options, options_of

_WORD = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')+""")
_PART = re.compile(r""""(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<bare>(?:[^"'\\]|\\.)+)""")
_ESCAPES = {"n": "\n", "t": "\t", "s": " "}


@dataclass(frozen=True, slots=True)
class Unit:
    """A service unit that names a data directory.

    Attributes:
        bin_directory: that of its ExecStart, where it is absolute.
        user: whose own systemd has it; None: the host's.
        enabled: of a user's unit, whether it comes up with the host.
        options: settings that its ExecStart gives; None: it does not tell.
    """

    name: str
    folder: str
    bin_directory: str | None
    config_file: str | None
    user: str | None = None
    enabled: bool | None = None
    options: Options | None = None


@dataclass(slots=True)
class _Account:
    """Whose units follow: nobody's are the host's own."""

    name: str | None = None
    home: str = ""
    lingers: bool = False
    enabled: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Lines:
    account: _Account
    environment: dict[str, str] = field(default_factory=dict)
    file: dict[str, str] = field(default_factory=dict)
    """Of an EnvironmentFile=, which goes before Environment=."""
    start: list[str] = field(default_factory=list)


def parse_units(text: str) -> tuple[Unit, ...]:
    """The units that name a data directory, from `unit PATH` lines, each followed by its lines behind a colon.

    Behind a line `user NAME HOME` stand those of that user: `linger` and `enabled UNIT`, then units. A line `instance
    UNIT` names an instance that runs or is enabled: of a template each instance that is known is a unit. A directory
    that holds another specifier than those of the name is left out; a user's %h is the home.
    """
    units: dict[tuple[str | None, str], _Lines] = {}
    account = _Account()
    instances: dict[tuple[str | None, str], None] = {}
    current = _Lines(account)
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "user":
            name, _, home = rest.partition(" ")
            account = _Account(name, home)
        elif word == "linger":
            account.lingers = True
        elif word == "enabled":
            account.enabled.add(rest)
            instances[account.name, rest] = None
        elif word == "instance":
            instances[None, rest] = None
        elif word == "unit":
            # a unit that comes again, of a folder with precedence or as a drop-in, goes on where it was
            current = units.setdefault((account.name, _unit_name(rest)), _Lines(account))
        elif line.startswith(": Environment="):
            current.environment |= _assigned(line.partition("=")[2])
        elif line.startswith(": EnvironmentFile="):
            current.file |= _assigned(line.partition("=")[2])
        elif line.startswith(": ExecStart="):
            # the last wins; `ExecStart=` alone empties it, as systemd has it
            current.start = split_words(line.partition("=")[2])
    for user, name in [*instances, *units]:
        template = units.get((user, _template(name)))
        if template is not None:
            units[user, name] = _instance(template, units.get((user, name)))
    # what no instance has is no unit: systemd starts none of that name
    found = (_unit(name, lines) for (_, name), lines in units.items() if not name.endswith("@.service"))
    return tuple(unit for unit in found if unit is not None)


def _template(name: str) -> str:
    """`pg@.service` of its instance `pg@data.service`; empty of what is none."""
    prefix, at, instance = name.removesuffix(".service").partition("@")
    return f"{prefix}@.service" if at and instance else ""


def _instance(template: _Lines, own: _Lines | None) -> _Lines:
    """What the template says, and what drop-ins of the instance say in its stead."""
    if own is None:
        return template
    environment, file = template.environment | own.environment, template.file | own.file
    return replace(template, environment=environment, file=file, start=own.start or template.start)


def _replace_specifiers(text: str, name: str) -> str:
    """Return the text with the specifiers that depend only on the unit's name replaced (systemd.unit)."""
    whole = name.removesuffix(".service")
    prefix, _, instance = whole.partition("@")
    values: Mapping[str, str] = {
        "i": instance,
        "I": _unescaped(instance),
        "n": name,
        "N": whole,
        "p": prefix,
        "j": prefix.rpartition("-")[2],
        "f": "/" + _unescaped(instance or prefix).removeprefix("/"),
    }
    return re.sub("%(.)", lambda found: values[found[1]].replace("%", "%%") if found[1] in values else found[0], text)


def _unescaped(instance: str) -> str:
    """As systemd-escape --unescape: a hyphen is a slash, `\\x2d` a hyphen."""
    octets = re.sub(
        rb"\\x([0-9a-fA-F]{2})", lambda found: bytes.fromhex(found[1].decode()), instance.replace("-", "/").encode()
    )
    return octets.decode(errors="surrogateescape")


def _assigned(text: str) -> dict[str, str]:
    pairs = (word.partition("=") for word in split_words(text))
    return {name: value for name, equals, value in pairs if equals}


def _unit_name(path: str) -> str:
    """`postgresql.service` from its own path or from that of a drop-in, `…/postgresql.service.d/pgdata.conf`."""
    folder, file = posixpath.split(path.strip())
    return posixpath.basename(folder).removesuffix(".d") if file.endswith(".conf") else file


def _unit(name: str, lines: _Lines) -> Unit | None:
    account = lines.account
    environment = {key: _replace_specifiers(value, name) for key, value in lines.environment.items()} | lines.file
    start = [each for word in lines.start for each in _expand_variables(_replace_specifiers(word, name), environment)]
    folder, config_file = server_options(start)
    if folder is None or "$" in folder:
        folder = environment.get("PGDATA", folder)
    if folder is not None and account.home:
        folder = folder.replace("%h", account.home)
    if folder is None or not folder.startswith("/") or "%" in folder.replace("%%", ""):
        return None
    # systemd's prefixes of a command: `-/usr/bin/…` may fail, `+` runs as root (systemd.service)
    program = start[0].lstrip("@-:+!") if start else ""
    server = posixpath.basename(program) in ("postgres", "postmaster", "pg_ctl", "edb-postgres")
    bin_directory = posixpath.dirname(program) if server and program.startswith("/") else None
    enabled = None if account.name is None else account.lingers and name in account.enabled
    folder = folder.replace("%%", "%")
    return Unit(name, folder, bin_directory, config_file, account.name, enabled, options_of(start))


def _expand_variables(word: str, environment: dict[str, str]) -> list[str]:
    """Return the word with known variables replaced; `$NAME` alone may become several words (systemd.service)."""
    if word.startswith("$") and word[1:] in environment:
        return split_words(environment[word[1:]])
    return [
        re.sub(
            r"\$\{(\w+)\}|\$(\w+)",
            lambda found: environment.get(found[1] or found[2], found[0]),
            word.replace("$$", "$"),
        )
    ]


def split_words(text: str) -> list[str]:
    """Return the words of a line of a systemd unit, without quotes and escapes."""
    return [_unquoted(found[0]) for found in _WORD.finditer(text)]


def _unquoted(word: str) -> str:
    def plain(found: re.Match[str]) -> str:
        return chr(int(found["hex"], 16)) if found["hex"] else _ESCAPES.get(found["escaped"], found["escaped"])

    # a quote of the other kind stands for itself between quotes
    parts = (found["double"] or found["single"] or found["bare"] or "" for found in _PART.finditer(word))
    return "".join(re.sub(r"\\(?:x(?P<hex>[0-9a-fA-F]{2})|(?P<escaped>.))", plain, part) for part in parts)


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

"""Where PostgreSQL data directories may lie: Debian's list, systemd's units, running servers, common folders, names.

What is found here is a candidate; whether it is a cluster is seen when it is looked into (clusters.py).
"""

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from core.facts.cluster_configuration import Options, options_of
from core.facts.parsing import lines_of, unreadable_error
from core.facts.sections import Section, decode_hexadecimal

# Data directories and programs that systemd units name: `Environment=PGDATA=…`, `ExecStart=… -D …`, drop-ins.
#
# Unit files are read as files, so units that never started are seen too, and a host whose process 1 is something else.
# Syntax as in systemd.service(5) and systemd.syntax(7), as far as it bears on PGDATA.

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
    for line in lines_of(text):
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


# Where PostgreSQL data directories may lie: Debian's list, systemd units, running servers, common folders, named ones.

_UNIT_FOLDERS = ("/lib/systemd/system", "/usr/lib/systemd/system", "/run/systemd/system", "/etc/systemd/system")
"""In the order of precedence, the last wins; /lib only where it is no link to /usr/lib."""
# /mnt stands last: a dead file server there costs the deadline, but nothing found before it.
_FOLDERS = (
    "/var/lib/pgsql/data /var/lib/pgsql/*/data /var/lib/pgsql/*/*/data /var/lib/postgresql/data "
    "/var/lib/postgresql/*/* /var/lib/postgres/data /var/lib/edb*/*/data "
    "/usr/local/pgsql*/data /usr/local/*/data /opt/*/data /opt/*/*/data /home/postgres/* "
    "/srv/* /srv/*/* /srv/*/*/* /data* /data*/* /data*/*/* /pg* /pg*/* /pg*/*/* "
    "/postgres*/* /postgres*/*/* /var/pgsql* /mnt/* /mnt/*/* /mnt/*/*/*"
)


# the folder may hold blanks: it ends where the log's column begins, which may be missing
_DEBIAN_LINE = re.compile(r"(\S+)\s+(\S+)\s+[0-9]+\s+\S+\s+\S+\s+(/.*)")
_DEBIAN_LOGS = ("/var/log/", "syslog", "journald", "custom")
_POSTMASTER = re.compile(
    r"postmaster (?P<pid>[0-9]{1,10}) (?P<seen>seen|unseen|foreign) =(?P<folder>[0-9a-f]*) =(?P<arguments>[0-9a-f]*)"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A folder that may be a data directory, with what is known from the ways in which it was found."""

    folder: str
    found_by: tuple[str, ...]
    name: str | None = None
    config_file: str | None = None
    bin_directory: str | None = None
    unit: str | None = None
    unit_user: str | None = None
    """Whose own systemd has the unit; None: the host's."""
    enabled: bool | None = None
    """Of a user's unit: it comes up with the host."""
    options: Options | None = None
    """Settings that the unit's command line gives; None: that is not known."""


def merge_candidates(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return one candidate for each folder, in order; the first candidate that knows a value wins."""
    found: dict[str, Candidate] = {}
    for candidate in candidates:
        # `/srv/pg/` of a unit and `/srv/pg` of a DBA are one; links are resolved on the server
        folder = posixpath.normpath(candidate.folder)
        known = found.get(folder)
        found[folder] = replace(candidate, folder=folder) if known is None else merge_two(known, candidate)
    return tuple(found.values())


def merge_two(first: Candidate, second: Candidate) -> Candidate:
    """Return what both candidates know, with the folder of the first one."""
    starts = first if first.unit is not None else second
    return Candidate(
        folder=first.folder,
        found_by=tuple(dict.fromkeys((*first.found_by, *second.found_by))),
        name=first.name or second.name,
        config_file=first.config_file or second.config_file,
        bin_directory=first.bin_directory or second.bin_directory,
        unit=starts.unit,
        unit_user=starts.unit_user,
        enabled=starts.enabled,
        options=starts.options,
    )


def parse_debian_clusters(text: str) -> tuple[Candidate, ...]:
    """The clusters of `pg_lsclusters -j`, or of `pg_lsclusters -h` where it is too old for that; empty text: none.

    Raises:
        ParseError: it is neither.
    """
    # JSON is told by its first sign, the table by its lines
    if text.lstrip().startswith("["):
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise unreadable_error("pg_lsclusters", "a JSON list", str(error)) from error
        return tuple(_debian_entry(entry) for entry in entries)
    return tuple(_debian_line(line) for line in lines_of(text) if line.strip())


def _debian_entry(entry: object) -> Candidate:
    if isinstance(entry, dict):
        folder, settings = entry.get("pgdata"), entry.get("configdir")
        if isinstance(folder, str) and folder.startswith("/") and isinstance(settings, str):
            return _debian(str(entry.get("version", "")), str(entry.get("cluster", "")), folder, settings)
    raise unreadable_error("pg_lsclusters", "a cluster with pgdata and configdir", str(entry))


def _debian_line(line: str) -> Candidate:
    """`15  main  5432 online postgres /var/lib/postgresql/15/main /var/log/…/postgresql-15-main.log`"""
    found = _DEBIAN_LINE.fullmatch(line)
    if found is None:
        raise unreadable_error("pg_lsclusters", "version, cluster, port, status, owner, folder, log", line)
    folder, _, log = found[3].rstrip().rpartition(" ")
    folder = folder.rstrip() if log.startswith(_DEBIAN_LOGS) else found[3].rstrip()
    return _debian(found[1], found[2], folder, f"/etc/postgresql/{found[1]}/{found[2]}")


def _debian(major_version: str, cluster: str, folder: str, settings: str) -> Candidate:
    return Candidate(
        folder=folder,
        found_by=("pg_lsclusters",),
        name=f"{major_version}/{cluster}",
        config_file=f"{settings}/postgresql.conf",
        unit=f"postgresql@{major_version}-{cluster}.service",
    )


def parse_unit_candidates(text: str) -> tuple[Candidate, ...]:
    """The data directories that systemd units name."""
    return tuple(
        Candidate(
            unit.folder,
            ("systemd",),
            name=unit.name.removesuffix(".service"),
            config_file=unit.config_file,
            bin_directory=unit.bin_directory,
            unit=unit.name,
            unit_user=unit.user,
            enabled=unit.enabled,
            options=unit.options,
        )
        for unit in parse_units(text)
    )


@dataclass(frozen=True, slots=True)
class Postmasters:
    """The running servers: their folders, all their process ids, and those whose folder is not to be seen from here."""

    candidates: tuple[Candidate, ...] = ()
    pids: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()


def parse_postmasters(text: str) -> Postmasters:
    """The running servers, from a line `postmaster PID seen =FOLDER =ARGUMENTS` each.

    Raises:
        ParseError: a line cannot be read.
    """
    found, pids, hidden = [], [], []
    for line in lines_of(text):
        match = _POSTMASTER.fullmatch(line)
        if match is None:
            raise unreadable_error("postmasters", "a line 'postmaster PID seen =FOLDER =ARGUMENTS'", line)
        # also of those whose folder is not seen: clusters are held against them later
        pids.append(int(match["pid"]))
        named, config_file = server_options(_decoded(match["arguments"], line).split("\0")[1:])
        folder = _decoded(match["folder"], line) if match["seen"] == "seen" else named
        # a relative -D means something else here than where the server was started
        if match["seen"] != "foreign" and folder is not None and folder.startswith("/"):
            found.append(Candidate(folder, ("postmaster",), config_file=config_file))
        else:
            hidden.append(int(match["pid"]))
    return Postmasters(tuple(found), tuple(pids), tuple(hidden))


def parse_folders(text: str) -> tuple[Candidate, ...]:
    """The common folders that look like a data directory, or that may not be looked into.

    Raises:
        ParseError: a line cannot be read.
    """
    found = []
    for line in lines_of(text):
        match = re.fullmatch(r"folder =([0-9a-f]+)", line)
        if match is None:
            raise unreadable_error("folders", "a line 'folder =PATH'", line)
        found.append(Candidate(_decoded(match[1], line), ("folder",)))
    return tuple(found)


def _decoded(digits: str, line: str) -> str:
    try:
        return decode_hexadecimal(digits)
    except ValueError as error:
        raise unreadable_error("paths", "hexadecimal digits", line) from error


DEBIAN = Section("debian-clusters", "pg_lsclusters", ("debian_clusters",), parse_debian_clusters, private=True)
UNITS = Section(
    "units", "systemd units", ("host_unit_facts", *_UNIT_FOLDERS), parse_unit_candidates, private=True, partly=True
)
USER_UNITS = Section(
    "user-units",
    "systemd units of user accounts",
    ("user_unit_facts",),
    parse_unit_candidates,
    private=True,
    partly=True,
)
POSTMASTERS = Section("postmasters", "running PostgreSQL servers", ("postmasters",), parse_postmasters, private=True)
# what was found before a dead file server in /mnt stopped it is used
FOLDERS = Section("folders", "common data directories", ("common_folders", _FOLDERS), parse_folders, partly=True)

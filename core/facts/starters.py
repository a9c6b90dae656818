"""What starts programs on a host: Debian's clusters, systemd's units, init scripts, cron and timers."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.facts.cluster_configuration import Options
from core.facts.discovery import Candidate
from core.facts.host_environment import Autostart, Scheduled
from core.facts.parsing import lines_of, unreadable_error
from core.facts.sections import Section
from core.redaction import without_secrets


@dataclass(frozen=True, slots=True)
class Service:
    """What starts a data directory, whether a cluster lies there yet or not.

    Attributes:
        name: Debian's `15/main`, else the unit without `.service`.
        user: whose own systemd has the unit; None: the host's.
        config_file: that it names, outside of the data directory.
        enabled: it comes up with the host; None: that was not read.
        options: settings that its command line gives, by name, None for one that may hold a secret; None as a whole:
            that is not known.
    """

    data_directory: str
    name: str
    unit: str
    debian: bool = False
    user: str | None = None
    config_file: str | None = None
    enabled: bool | None = None
    options: Options | None = None


def services(candidates: Iterable[Candidate], autostart: Autostart | None) -> tuple[Service, ...]:
    """The services among what was found, Debian's first, those that come up with the host ahead of others."""
    found = [_service(one, one.unit, autostart) for one in candidates if one.unit is not None]
    return tuple(sorted(found, key=lambda one: (not one.debian, not one.enabled)))


def _service(candidate: Candidate, unit: str, autostart: Autostart | None) -> Service:
    debian = "pg_lsclusters" in candidate.found_by
    name = candidate.name or unit
    enabled = candidate.enabled
    if candidate.unit_user is None and autostart is not None:
        starts = (autostart.start_conf or {}).get(name) == "auto" if debian else unit in autostart.enabled
        enabled = starts and unit not in autostart.masked
    return Service(
        posixpath.normpath(candidate.folder),
        name,
        unit,
        debian,
        candidate.unit_user,
        candidate.config_file,
        enabled,
        candidate.options,
    )


# What brings services up with the host or after a crash: enabled units, `Restart=`, Debian's start.conf, init scripts.
#
# Units are read as files, as a host may run without systemd, or in a container of its own.


def parse_autostart(text: str) -> Autostart:
    """What brings services up.

    Raises:
        ParseError: a line is none of ours.
    """
    enabled, masked, scripts = dict[str, None](), dict[str, None](), dict[str, None]()
    restart, start_conf = dict[str, str](), dict[str, str]()
    for line in lines_of(text):
        word, _, rest = line.strip().partition(" ")
        name, _, value = rest.partition(" ")
        match word:
            case "enabled":
                enabled[rest] = None
            case "masked":
                masked[rest] = None
            case "script":
                _, starts, script = rest.rpartition("/S")
                scripts[script.lstrip("0123456789") if starts else rest] = None
            case "restart":
                restart[_unit(name)] = value
            case "start":
                start_conf[name] = value.strip() or "auto"
            case "":
                continue
            case _:
                raise unreadable_error("autostart", "a line enabled, masked, restart, start or script", line)
    return Autostart(tuple(enabled), tuple(masked), restart, start_conf, tuple(scripts))


def _unit(path: str) -> str:
    folder, _, file = path.rpartition("/")
    return folder.rpartition("/")[2].removesuffix(".d") if file.endswith(".conf") else file


AUTOSTART = Section("autostart", "automatic start of services", ("autostart_facts",), parse_autostart)


# What cron and systemd's timers run on a host: jobs that know the cluster by its place must move with it.
#
# Whole crontabs are read, but kept is only what bears on PostgreSQL, with secrets masked.

_ABOUT = re.compile(
    r"\b(postgres\w*|psql|pg_\w+|pgbackrest|barman|wal-[eg]|vacuumdb|reindexdb|pgbench|repmgr|patroni\w*|PGDATA)\b"
)
# five fields of time or `@daily`, then the user: so in /etc/crontab and /etc/cron.d alone
_SYSTEM_LINE = re.compile(r"(?:@\w+|(?:\S+\s+){4}\S+)\s+(?P<user>[A-Za-z_][\w.-]*)\s+(?P<rest>\S.*)")
_VARIABLE = re.compile(r"\s*[A-Za-z_]\w*\s*=")
_PRESENT_OWNERS = {"postgres", "pgsql", "enterprisedb"}


def parse_schedules(text: str, folders: Sequence[str] = ()) -> tuple[Scheduled, ...]:
    """The jobs that run as a database user, name PostgreSQL, or name one of the folders.

    Raises:
        ParseError: a line is none of ours.
    """
    found, place, owner = [], "", ""
    for line in lines_of(text):
        if line.startswith("place "):
            place, _, owner = line.removeprefix("place ").rpartition(" ")
        elif line.startswith(": ") and place:
            job = _job(place, owner, line[2:], folders)
            found += [job] if job is not None else []
        elif line.strip() and line != ":":
            raise unreadable_error("crontabs", "a line 'place FILE USER'", line)
    return tuple(found)


def _job(place: str, owner: str, line: str, folders: Sequence[str]) -> Scheduled | None:
    # `MAILTO=dba`, `PGPASSWORD=…`: nothing that runs
    if _VARIABLE.match(line):
        return None
    system = _SYSTEM_LINE.fullmatch(line) if owner == "-" else None
    user = owner if owner != "-" else system["user"] if system is not None else None
    # not in the user's name: `postgres` there says who it is that runs anything
    names = _ABOUT.search(system["rest"] if system is not None else line) is not None
    if user not in _PRESENT_OWNERS and not names and not any(folder in line for folder in folders):
        return None
    return Scheduled(place, user, without_secrets(line.strip())[:500])


SCHEDULES = Section("schedules", "scheduled jobs", ("schedule_facts",), parse_schedules, private=True)

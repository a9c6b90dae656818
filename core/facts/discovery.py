"""Where PostgreSQL data directories may lie: Debian's list, systemd units, running servers, common folders, named ones.

What is found here is a candidate; whether it is a cluster is seen when it is looked into (clusters.py).
"""

import json
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.facts.sections import Section, decode_hexadecimal
from core.facts.start_options import Options
from core.facts.text import unreadable_error
from core.facts.unit_files import parse_units, server_options

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
    return tuple(_debian_line(line) for line in text.splitlines() if line.strip())


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
    for line in text.splitlines():
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
    for line in text.splitlines():
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

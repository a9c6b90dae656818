"""What only SQL tells of a running cluster: settings in force, databases with their sizes, and their catalogs.

What is asked goes ahead of the look into the clusters (`query_calls`); how: resources/sh/database_facts.sh.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from ipaddress import ip_address

from core.facts.catalog import (
    Bloated,
    BrokenMap,
    Catalogs,
    Certificate,
    ClosedDatabase,
    ClusterWide,
    Collation,
    Dictionary,
    Extension,
    ForeignFile,
    HbaRule,
    Library,
    Ordered,
    Receiver,
    RoleSetting,
    Setting,
    Slot,
    Subscription,
)
from core.facts.collation_order import parse_collation_order
from core.facts.model import Database, Gap
from core.facts.parsing import first_line, lines_of, unreadable_error
from core.facts.queries import (
    ACCESS_FILES,
    CERTIFICATE,
    CLUSTER_WIDE,
    CLUSTER_WIDE_KINDS,
    DATABASES,
    EACH_DATABASE,
    EACH_DATABASE_KINDS,
    TAKES_CONNECTIONS,
    UNSHOWN,
    Query,
    Row,
    as_line,
    escaped_name,
    parse_row,
)
from core.facts.sections import LOST, Section, decode_hexadecimal

# The server's certificate, as `openssl x509 -noout -enddate -subject -text` prints it.

# other parts of a certificate contain names, too: its issuer, constraints of an authority
_ALTERNATIVE_NAMES = re.compile(r"X509v3 Subject Alternative Name:[^\n]*\n([^\n]*)")
_SUBJECT = re.compile(r"^subject=[^\n]*\n((?: +\S+ *= [^\n]*\n?)*)", re.MULTILINE)
_COMMON_NAME = re.compile(r"^ *commonName *= (.*\S)", re.MULTILINE)


def parse_certificate(lines: Iterable[str]) -> Certificate | None:
    """The certificate from lines `certificate PATH` and `x509 …`; None where there is none or it could not be read."""
    file, lines_of_text = "", []
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "certificate":
            file = rest
        elif kind == "x509":
            lines_of_text.append(rest)
    text = "\n".join(lines_of_text)
    # openssl pads the day with a blank: `Mar  7`
    end = re.search(r"notAfter=(\w{3} +[0-9]{1,2} [0-9:]{8} [0-9]{4}) GMT", text)
    if end is None:
        return None
    try:
        not_after = datetime.strptime(" ".join(end[1].split()), "%b %d %H:%M:%S %Y").replace(tzinfo=UTC)
    except ValueError:
        return None
    names, addresses = _certified(text)
    return Certificate(file, not_after, names, addresses)


def _certified(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the DNS names and the IP addresses that a certificate is for."""
    found = _ALTERNATIVE_NAMES.search(text)
    alternative = [each.strip().partition(":") for each in found[1].split(",")] if found is not None else []
    names = dict.fromkeys(name for kind, _, name in alternative if kind == "DNS")
    addresses = dict.fromkeys(_compressed(name) for kind, _, name in alternative if kind == "IP Address")
    if not names:
        # only then a client looks at the common name, the first one (RFC 6125)
        subject = _SUBJECT.search(text)
        names = dict.fromkeys(_COMMON_NAME.findall(subject[1])[:1] if subject is not None else ())
    return tuple(names), tuple(addresses)


def _compressed(address: str) -> str:
    """Return an address as it is usually written; openssl prints those of IPv6 with all their zeros."""
    try:
        return str(ip_address(address))
    except ValueError:
        return address


# The rows of a running cluster's catalogs as facts; see queries and its two neighbours for what was asked.

PROVIDERS = {"c": "libc", "i": "icu", "b": "builtin", "d": "libc"}
"""`pg_database.datlocprovider` and `pg_collation.collprovider`."""
TRUE = ("t", "true", "on")


def cluster_wide(table: Sequence[Row]) -> ClusterWide | None:
    """What concerns the whole cluster; None where the last of its rows is missing: one query failed.

    Raises:
        ValueError: a number is none.
    """
    # the last row of its transaction: without it what came before is not whole
    if not _of(table, "wide"):
        return None
    return ClusterWide(
        in_recovery=_flag(table, "recovery"),
        exclusive_backup=_flag(table, "backup"),
        settings=tuple(_setting(values) for values in _of(table, "source")),
        closed=tuple(_closed(values) for values in _of(table, "closed")),
        hba=tuple(_rule(each) for each in _of(table, "hba")) or None,
        broken_maps=tuple(BrokenMap(int(line), error, file) for line, error, file in _of(table, "ident")),
        role_settings=tuple(RoleSetting(*each) for each in _of(table, "role")),
        slots=tuple(Slot(name, kind, database, active in TRUE) for name, kind, database, active in _of(table, "slot")),
        subscriptions=tuple(
            Subscription(database, name, enabled in TRUE) for database, name, enabled in _of(table, "subscription")
        ),
        receivers=tuple(Receiver(*each) for each in _of(table, "receiver")),
        prepared=tuple(f"{database}: {name}" for database, name in _of(table, "prepared")),
        workers=tuple(each[0] for each in _of(table, "worker")),
        programs=tuple(each[0] for each in _of(table, "program")),
        pgbackrest={each[0]: each[1] for each in _of(table, "pgbackrest")},
        pending=tuple(each[0] for each in _of(table, "pending")),
        kept_wal_bytes=_number(table, "kept") if _of(table, "kept") else None,
        idle_wal_bytes=_number(table, "idle") if _of(table, "idle") else None,
    )


def catalogs(table: Sequence[Row]) -> Catalogs | None:
    """What the catalogs of one database say; None where the last of its rows is missing: one query failed.

    Raises:
        ValueError: a number is none.
    """
    # as above, of one database
    if not _of(table, "whole"):
        return None
    counted = _of(table, "objects")
    tables, indexes, large_objects = map(int, counted[0]) if counted else (None, None, None)
    return Catalogs(
        extensions=tuple(Extension(*each) for each in _of(table, "extension")),
        libraries=tuple(Library(name, int(number), example) for name, number, example in _of(table, "library")),
        collations=tuple(_collation(each) for each in _of(table, "collation")),
        ordered=tuple(
            Ordered(kind, name, of, tuple(names.split(",")), int(size))
            for kind, name, of, names, size in _of(table, "ordered")
        ),
        unlogged=_number(table, "unlogged"),
        publications=_number(table, "publications"),
        tables=tables,
        indexes=indexes,
        large_objects=large_objects,
        toast_tables=_number(table, "toasted") if _of(table, "toasted") else None,
        dictionaries=tuple(Dictionary(*each) for each in _of(table, "dictionary")),
        foreign_files=tuple(ForeignFile(*each) for each in _of(table, "foreign")),
        bloated=tuple(Bloated(name, int(size), int(wasted)) for name, size, wasted in _of(table, "bloated")),
    )


def _collation(values: tuple[str, ...]) -> Collation:
    name, provider, locale, recorded, actual, objects, size = values
    return Collation(
        name,
        PROVIDERS.get(provider, provider),
        locale,
        recorded or None,
        actual or None,
        int(objects),
        int(size or 0),
    )


def _setting(values: tuple[str, ...]) -> Setting:
    name, value, hidden, source, file, line = values
    # a hidden value is not even empty: it is not known
    return Setting(name, None if hidden in TRUE else value, source, file or None, int(line) if line else None)


def _rule(values: tuple[str, ...]) -> HbaRule:
    line, kind, databases, users, address, method, error, options, file = values
    named = tuple(filter(None, options.split("\n")))
    return HbaRule(int(line), kind, databases, users, address, method, error, named, file)


def _closed(values: tuple[str, ...]) -> ClosedDatabase:
    name, size, encoding, collate, ctype, provider, locale, half_dropped = values
    of = PROVIDERS.get(provider, provider)
    return ClosedDatabase(name, int(size), encoding, collate, ctype, of, locale or None, half_dropped in TRUE)


def _of(table: Sequence[Row], kind: str) -> list[tuple[str, ...]]:
    return [values for each, values in table if each == kind]


def _flag(table: Sequence[Row], kind: str) -> bool:
    return any(values[0] in TRUE for values in _of(table, kind))


def _number(table: Sequence[Row], kind: str) -> int:
    return sum(int(values[0]) for values in _of(table, kind))


FILE_SETTINGS = (
    "data_directory",
    "config_file",
    "hba_file",
    "ident_file",
    "external_pid_file",
    "port",
    "listen_addresses",
    "unix_socket_directories",
    "shared_buffers",
    "huge_pages",
    "huge_page_size",
    "max_connections",
    "wal_level",
    "archive_mode",
    "archive_library",
    "shared_preload_libraries",
    "dynamic_library_path",
    "temp_tablespaces",
    "ssl",
    "ssl_cert_file",
    "ssl_key_file",
    "ssl_ca_file",
    "cluster_name",
)
"""Settings that matter for a move, asked by `postgres -C` where a cluster is stopped; each costs a program's start.
None whose value may hold a password; none that it computes by locking the data directory (data_checksums,
wal_segment_size: the control file has them)."""

SETTINGS = (
    *FILE_SETTINGS,
    "shared_memory_size",
    "max_prepared_transactions",
    "max_wal_senders",
    "max_worker_processes",
    "max_locks_per_transaction",
    "track_commit_timestamp",
    "full_page_writes",
    "fsync",
    "log_directory",
    "timezone",
)
"""Those asked by SQL, where one more costs nothing."""

_NAMES = ", ".join(f"'{name}'" for name in (*SETTINGS, "server_version"))
_SETTINGS = Query(
    f"select {as_line('setting', 'name', 'setting')} from pg_settings where name in ({_NAMES}) order by name;"
)
# reset_val is as `postgres -C` prints it: it counts the setting's own unit, which is told beside it. The prefilter
# leaves few to be asked of `postgres -C`, each of which costs a program's start; of more than 60 none is. Settings of
# extensions, of which it does not know the units, are left out.
# Options of a session would stand in the place of what the files gave. So SET does here what other sessions of ours
# have by options: reset_val is as it was then, and the source is the session.
_PLAINLY = (
    Query("set search_path = pg_catalog; set role none; set statement_timeout = 10000;"),
    Query("set lock_timeout = 1000;", since=903),
    Query("set jit = off;", since=1100),
)
_EDITED = (
    "select s.name || ' ' || case when s.name ~ '{hidden}' then 't' else 'f' end || ' ' || "
    "coalesce(s.unit, '-') || ' ' || "
    "encode(textsend(coalesce(s.reset_val, '')), 'hex') from pg_settings s "
    "where s.context <> 'internal' and s.name ~ '^[a-zA-Z0-9_]+$' and {changed} order by s.name limit 61;"
)
_OF_THE_SESSION = (
    "exists (select 1 from pg_db_role_setting d, pg_database b, pg_roles r, unnest(d.setconfig) c "
    "where b.datname = current_database() and r.rolname = session_user "
    "and d.setdatabase in (0, b.oid) and d.setrole in (0, r.oid) and split_part(c, '=', 1) = s.name)"
)
_BY_FILES = f"(s.source in ('default', 'configuration file') or s.source = 'session' and not {_OF_THE_SESSION})"
_FILES = (
    Query(
        _EDITED.format(
            hidden=UNSHOWN,
            changed=f"{_BY_FILES} and (exists (select 1 from pg_file_settings f where lower(f.name) = lower(s.name) "
            "and f.setting is distinct from s.reset_val) or s.source <> 'default' "
            "and s.reset_val is distinct from s.boot_val and not exists "
            "(select 1 from pg_file_settings f where lower(f.name) = lower(s.name)))",
        ),
        since=905,
    ),
    Query(
        _EDITED.format(
            hidden=UNSHOWN,
            changed=f"{_BY_FILES} and s.name in ({', '.join(repr(name) for name in FILE_SETTINGS)})",
        ),
        since=902,
        before=905,
    ),
)
# max_stack_depth counts as given by the environment until 14: the server works it out from a limit of its process.
_GIVEN = "s.source in ('command line', 'environment variable') and s.name <> 'max_stack_depth'"
_OPTIONS = (Query(_EDITED.format(hidden=UNSHOWN, changed=_GIVEN), since=902),)
# Templates are left alone: a session there blocks CREATE DATABASE.
_CONNECT = (
    f"select {escaped_name('datname')} from pg_database where {TAKES_CONNECTIONS} and not datistemplate "
    "order by datname limit 1000;"
)
_ENTERED = Query(f"select {as_line('entered', 'current_database()')};")
_BEGIN, _END = Query("begin isolation level repeatable read read only;"), Query("commit;")


def query_calls() -> Iterator[tuple[str, ...]]:
    """Yield the calls that store the queries of `cluster_sql`, by group."""
    groups = {
        "known": (_SETTINGS, *DATABASES, CERTIFICATE),
        "databases": (Query(_CONNECT),),
        "wide": (_ENTERED, _BEGIN, *CLUSTER_WIDE, _END, *ACCESS_FILES),
        "edited": (*_PLAINLY, *_FILES),
        "option": _OPTIONS,
        "each": (_ENTERED, _BEGIN, *EACH_DATABASE, _END),
    }
    for group, queries in groups.items():
        yield from (("cluster_query", group, str(one.since), str(one.before), one.sql) for one in queries)


_LOST = "lost"
_SAID = re.compile("(?:ERROR|FATAL|pghaul): (.*)")
_FOR_OTHERS = ("sorted ", "libc ", "certificate ", "x509 ", _LOST)
"""Lines that are no rows."""
_KINDS = {"entered": 1, "setting": 2, "database": 10, **CLUSTER_WIDE_KINDS, **EACH_DATABASE_KINDS}


@dataclass(frozen=True, slots=True)
class Answers:
    """Settings as pg_settings has them (raw, in their own units), `server_version` among them, and the databases.

    Attributes:
        wide: None where one of its queries failed.
        collation_order: sums of the sorted list by libc locale (see collation_order).
        lost: the server ended a session in the middle.
    """

    settings: dict[str, str]
    databases: tuple[Database, ...]
    wide: ClusterWide | None = None
    collation_order: dict[str, str] = field(default_factory=dict)
    lost: bool = False


def parse_sql(text: str) -> Answers:
    """Settings, databases and what the catalogs say; a database that could not be entered has its size alone.

    Raises:
        ParseError: a line cannot be read, or there is not one setting.
    """
    lines = lines_of(text)
    # lines of the shell stand between psql's rows: what was sorted, and the certificate
    sums = parse_collation_order("\n".join(line for line in lines if line.startswith("sorted ")))
    table = [parse_row(line, _KINDS) for line in lines if line.strip() and not line.startswith(_FOR_OTHERS)]
    settings = {values[0]: values[1] for kind, values in table if kind == "setting"}
    if not settings:
        raise unreadable_error("psql", "a line 'setting|NAME|VALUE'", first_line(text))
    try:
        databases = {values[0]: _database(values) for kind, values in table if kind == "database"}
        for part in _rows_by_database(table):
            _add_details(databases, part)
        wide = cluster_wide(table)
        if wide is not None:
            wide = replace(wide, certificate=parse_certificate(lines))
        return Answers(settings, tuple(databases.values()), wide, sums, lost=_LOST in lines)
    except ValueError as error:
        raise unreadable_error("psql", "a number", str(error)) from error


def catalog_gaps(answers: Answers, complaint: str, folder: str) -> tuple[Gap, ...]:
    """Return the gaps of a running cluster whose catalogs could not be read by SQL.

    Args:
        answers: what was read.
        complaint: the error output; its first error is the reason.
        folder: the data directory.
    """
    # the first one: those behind it say that the transaction is aborted
    message = next((found[1].strip() for found in map(_SAID.search, lines_of(complaint)) if found), "")
    missing = [f"catalogs of {each.name}" for each in answers.databases if each.catalogs is None and not each.template]
    missing += ["catalogs of the whole cluster"] if answers.wide is None else []
    why = message or "pghaul could not connect to it"
    if answers.lost:
        lost = Gap(
            LOST, f"SQL of {folder}", f"the server ended pghaul's session{f' ({message})' if message else ''}", folder
        )
        return (
            lost,
            *(Gap(SQL.name, f"{each} of {folder}", "the server ended the session", folder) for each in missing),
        )
    return tuple(Gap(SQL.name, f"{each} of {folder}", why, folder) for each in missing)


def _database(values: tuple[str, ...]) -> Database:
    name, size, encoding, collate, ctype, provider, locale, recorded, actual, template = values
    return Database(
        name,
        int(size),
        encoding=encoding,
        collate=collate,
        ctype=ctype,
        provider=PROVIDERS.get(provider, provider),
        locale=locale or collate,
        collation_version=recorded or None,
        actual_collation_version=actual or None,
        template=template in TRUE,
    )


def _rows_by_database(table: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows of each database: from one `detail` to the next."""
    part: list[Row] = []
    for kind, values in table:
        if kind == "detail":
            yield part
            part = []
        part.append((kind, values))
    yield part


def _add_details(databases: dict[str, Database], part: Sequence[Row]) -> None:
    """Put the rows of one database to it."""
    # rows ahead of the first database are the whole cluster's
    if not part or part[0][0] != "detail" or part[0][1][0] not in databases:
        return
    name, relations, table, index = part[0][1]
    databases[name] = replace(
        databases[name],
        relations=int(relations),
        largest_table_bytes=int(table),
        index_bytes=int(index),
        catalogs=catalogs(part),
    )


def parse_settings(text: str) -> dict[str, str]:
    """The settings of a stopped cluster, from lines `NAME=DIGITS` out of `postgres -C NAME`.

    Raises:
        ParseError: a line cannot be read.
    """
    settings = {}
    for line in lines_of(text):
        name, equals, value = line.partition("=")
        if not equals or name not in SETTINGS:
            raise unreadable_error("postgres -C", "a setting and its value", line)
        try:
            settings[name] = decode_hexadecimal(value)
        except ValueError as error:
            raise unreadable_error("postgres -C", "hexadecimal digits", line) from error
    return settings


SQL = Section("sql", "databases and settings in force", ("cluster_sql",), parse_sql, deadline=60, most=8 << 20)

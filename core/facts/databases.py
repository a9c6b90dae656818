"""What only SQL tells of a running cluster: settings in force, databases with their sizes, largest tables, indexes.

One psql as the cluster's owner, through its Unix socket, read-only, with a statement timeout, in the same round trip as
the rest; every value travels as hexadecimal digits, so that no name can garble a line.
"""

import re
from dataclasses import dataclass, replace

from core.facts.model import Database
from core.facts.sections import Section, hexadecimal
from core.facts.text import first_line, unreadable
from core.servers.shell import script

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
_GLOBAL = (
    "select 'setting|' || name || '|' || encode(textsend(coalesce(setting, '')), 'hex') "
    f"from pg_settings where name in ({_NAMES}) order by name; "
    "select 'database|' || encode(textsend(datname::text), 'hex') || '|' || pg_database_size(oid)::text "
    "from pg_database where datallowconn order by datname;"
)
_EACH = (
    "select 'detail|' || encode(textsend(current_database()::text), 'hex') || '|' || count(*)::text || '|' "
    "|| coalesce(max(case when c.relkind in ('r', 'm') then pg_relation_size(c.oid) "
    "+ coalesce(pg_relation_size(nullif(c.reltoastrelid, 0::oid)), 0) end), 0)::text || '|' "
    "|| coalesce(sum(case when c.relkind = 'i' then pg_relation_size(c.oid) end), 0)::text "
    "from pg_class c where c.relkind in ('r', 'i', 'm', 't', 'S');"
)
# A script for psql that goes from database to database. Names that psql would take for a connection string, or that
# break a line, stay without detail. Templates are left alone: a session there blocks CREATE DATABASE.
_SCRIPT = (
    "select chr(92) || 'connect ' || chr(34) || replace(datname, chr(34), chr(34) || chr(34)) || chr(34) "
    f"|| chr(10) || $detail${_EACH}$detail$ "
    "from pg_database where datallowconn and not datistemplate and datname::text !~ '[[:cntrl:]=]' "
    "and position(chr(92) in datname::text) = 0 and datname::text !~ '^postgres(ql)?://' "
    "order by datname limit 200;"
)
# $bin, $socket and $port come from the script around.
SECTION = Section(
    "sql",
    script(
        """client=$bin/psql
test -x "$client" || client=$(command -v psql) || { echo "psql is not installed" >&2; exit 3; }
test -z "$socket" || export PGHOST="$socket"
test -z "$port" || export PGPORT="$port"
export PGCONNECT_TIMEOUT=5 PGAPPNAME=pghaul
export PGOPTIONS="-c statement_timeout=20000 -c default_transaction_read_only=on"
ask() { "$client" -X -q -A -t -w -v ON_ERROR_STOP=1 -d postgres; }
printf "%s\\n" @settings@ | ask || exit
printf "%s\\n" @each@ | ask | ask""",
        settings=_GLOBAL,
        each=_SCRIPT,
    ),
    deadline=60,
)

_SETTING = re.compile(r"setting\|(?P<name>\w+)\|(?P<value>[0-9a-f]*)")
_DATABASE = re.compile(r"database\|(?P<name>[0-9a-f]+)\|(?P<bytes>[0-9]{1,20})")
_DETAIL = re.compile(
    r"detail\|(?P<name>[0-9a-f]+)\|(?P<relations>[0-9]{1,20})\|(?P<table>[0-9]{1,20})\|(?P<index>[0-9]{1,20})"
)


@dataclass(frozen=True, slots=True)
class Answers:
    """Settings as pg_settings has them (raw, in their own units), `server_version` among them, and the databases."""

    settings: dict[str, str]
    databases: tuple[Database, ...]


def parse_sql(text: str) -> Answers:
    """Settings and databases; a database that could not be entered has its size alone.

    Raises:
        ParseError: a line cannot be read, or there is not one setting.
    """
    settings: dict[str, str] = {}
    databases: dict[str, Database] = {}
    for line in text.splitlines():
        try:
            _read(line, settings, databases)
        except ValueError as error:
            raise unreadable("psql", "hexadecimal digits", line) from error
    if not settings:
        raise unreadable("psql", "a line 'setting|NAME|VALUE'", first_line(text))
    return Answers(settings, tuple(databases.values()))


def _read(line: str, settings: dict[str, str], databases: dict[str, Database]) -> None:
    setting, database, detail = _SETTING.fullmatch(line), _DATABASE.fullmatch(line), _DETAIL.fullmatch(line)
    if setting is not None:
        settings[setting["name"]] = hexadecimal(setting["value"])
    elif database is not None:
        name = hexadecimal(database["name"])
        databases[name] = Database(name, int(database["bytes"]))
    elif detail is not None and (name := hexadecimal(detail["name"])) in databases:
        databases[name] = replace(
            databases[name],
            relations=int(detail["relations"]),
            largest_table_bytes=int(detail["table"]),
            index_bytes=int(detail["index"]),
        )
    elif line.strip():
        raise unreadable("psql", "a line 'database|NAME|BYTES'", line)


def parse_settings(text: str) -> dict[str, str]:
    """The settings of a stopped cluster, from lines `NAME=DIGITS` out of `postgres -C NAME`.

    Raises:
        ParseError: a line cannot be read.
    """
    settings = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if not equals or name not in SETTINGS:
            raise unreadable("postgres -C", "a setting and its value", line)
        try:
            settings[name] = hexadecimal(value)
        except ValueError as error:
            raise unreadable("postgres -C", "hexadecimal digits", line) from error
    return settings

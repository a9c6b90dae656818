"""What SQL tells of the cluster just before the stop, held against what new says once it has started."""

from core.migration.model.plan import Phase, Step
from core.migration.plan.site import Site
from core.servers.shell import Shell, command, environment, script

INVENTORY = "stock"
"""The name of the step that asks old."""

_FIRST_START = "'listen_addresses', 'archive_mode', 'archive_library', 'port'"
_PLACES = "'data_directory', 'config_file', 'hba_file', 'ident_file', 'external_pid_file'"
_WHOLE = (
    "select 'setting ' || name || ' = ' || setting from pg_settings where source = 'configuration file' "
    f"and name not in ({_FIRST_START}, {_PLACES}) order by name"
)
DATABASES = "select datname from pg_database where datallowconn and not datistemplate order by datname"
_RELATIONS = (
    "select 'relations ' || c.relkind::text || ' ' || count(*)::text from pg_class c "
    "join pg_namespace n on n.oid = c.relnamespace where n.nspname !~ '^pg_(temp|toast_temp)' "
    "group by c.relkind order by c.relkind; "
    "select 'invalid index ' || indexrelid::regclass::text from pg_index where not indisvalid order by 1"
)
_COLLATIONS = (
    "select 'warning: the collation of database ' || datname || ' was ' || datcollversion || ' on old and is ' || "
    "coalesce(pg_database_collation_actual_version(oid), 'unknown') || ' here: rebuild its indexes on text' "
    "from pg_database where datcollversion is distinct from pg_database_collation_actual_version(oid) "
    "and datcollversion is not null order by datname"
)
_COLLATIONS_SINCE = (15,)


def take_inventory(site: Site) -> list[Step]:
    """On old, while it runs; nothing where facts could not ask it either."""
    if not _askable(site):
        return []
    return [
        Step(
            "take stock of old",
            "old",
            site.owner,
            str(_stock(site.old_path, site.cluster.socket_directory, site.cluster.port or 5432)),
            "databases, relations, invalid indexes and settings: new must have the same",
            "nothing to undo: it only looks",
            phase=Phase.STOP,
            name=INVENTORY,
            stopped=True,
            skippable=False,
        )
    ]


def compare_inventory(site: Site, socket: str | None) -> list[Step]:
    """On new, after its first start; then what SQL alone tells of sorting there."""
    asked = []
    if _askable(site):
        asked.append(
            Step(
                "compare new's stock with old's",
                "new",
                site.channel.writer,
                str(_stock(site.new_path, socket, site.port)),
                "this step prints what old said before its stop, or it has failed",
                "nothing to undo: it only looks",
                agrees_with=INVENTORY,
                phase=Phase.START,
                stopped=True,
                skippable=False,
            )
        )
    if site.series >= _COLLATIONS_SINCE:
        asked.append(
            Step(
                "compare the versions of collations",
                "new",
                site.channel.writer,
                str(
                    ask(site.new_path, socket, site.port, command("psql", "-XAtq", "-d", "postgres", "-c", _COLLATIONS))
                ),
                "where new sorts text otherwise than old did, an index on text finds less than there is",
                "nothing to undo: it only looks",
                phase=Phase.START,
                stopped=True,
            )
        )
    return asked


def _askable(site: Site) -> bool:
    return site.cluster.running and bool(site.cluster.databases)


def _stock(path: str, socket: str | None, port: int) -> Shell:
    asking = script(
        "set -e; psql -XAtq -d postgres -c @whole@; "
        "psql -XAtq -d postgres -c @databases@ | while IFS= read -r name; do "
        # by the variable, which is never taken for a connection string as -d would be
        'echo "database $name"; PGDATABASE=$name psql -XAtq -c @relations@ </dev/null; done',
        whole=_WHOLE,
        databases=DATABASES,
        relations=_RELATIONS,
    )
    return ask(path, socket, port, asking)


def ask(path: str, socket: str | None, port: int, asking: Shell) -> Shell:
    """SQL on a server, by psql and the programs beside it, at that socket and port."""
    where = {"PATH": path, "PGPORT": str(port), "PGAPPNAME": "pghaul"}
    return environment({**where, "PGHOST": socket} if socket is not None else where, asking)

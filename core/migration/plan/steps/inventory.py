"""The inventory of the old cluster, taken by SQL just before the stop, and its comparison with the new cluster.

The inventory is taken while clients work, and the old server need not run with what its files say. So the two
inventories may differ: what the work of clients explains is a note with numbers, and `compare_inventory` fails only for
what nothing explains. The settings in force are compared after the cutover, when the service of the new server has
started the cluster: the local-only start sets some of them itself, and PostgreSQL derives others from those.
"""

from collections.abc import Sequence
from typing import LiteralString

from core.migration.findings.edited import list_settings_from_files, list_settings_kept_in_force
from core.migration.findings.services import access_rule_paths
from core.migration.model import step_ids
from core.migration.model.plan import ONLY_LOOKS, Phase, RemoteCall, ResumePolicy, Step, Verification
from core.migration.plan.context import PlanContext
from core.servers.shell import call, command
from core.sides import Side

_ASKED: tuple[tuple[str, LiteralString], ...] = (
    ("postgres", "select name, setting, source from pg_settings where source <> 'default' order by name"),
    ("postgres", "select datname from pg_database"),
    ("DATABASE", "select relkind, count(*) from pg_class group by relkind"),
)
_CONNECTED: LiteralString = "select usename, datname, client_addr, application_name, state from pg_stat_activity"
_VERSIONS: LiteralString = "select datname, datcollversion, pg_database_collation_actual_version(oid) from pg_database"
_SETTINGS: LiteralString = "select name, setting, source, sourcefile from pg_settings where source <> 'default'"
_COLLATIONS_SINCE = (15,)
_SECONDS = 1800
"""The time limit for a few queries to the catalogs of every database, even with millions of relations."""
_SOON = 60
"""The time limit for a query to a server with clients, if nothing depends on the answer."""
_SLOWEST = 1_000_000
"""Bytes per second: slower than any disk and any comparison of texts."""
_LONGEST = 2_000_000
"""23 days in seconds; a timeout of PostgreSQL cannot be much longer."""


def list_clients(context: PlanContext) -> list[Step]:
    """Return the step that lists the clients of the old cluster before the operator is asked to stop it."""
    if not is_queryable(context):
        return []
    socket, port = context.cluster.socket_directory, context.cluster.port or 5432
    return [
        Step(
            id=step_ids.LIST_CLIENTS,
            title="List the clients of the old cluster",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(
                    call("list_clients", *connection_arguments(context.old_path, socket, port, context.cluster.series))
                ),
                native=(native_psql(socket, port, "postgres", _CONNECTED),),
            ),
            reason="Clients lose their connections when the cluster is stopped. Check whether anybody must be told "
            "first.",
            undo=ONLY_LOOKS,
            phase=Phase.BEFORE_STOP,
        )
    ]


def take_inventory(context: PlanContext) -> list[Step]:
    """Return the step that takes the inventory of the old cluster; none if it could not be queried for facts."""
    if not is_queryable(context):
        return []
    old = context.cluster.socket_directory, context.cluster.port or 5432
    return [
        Step(
            id=step_ids.TAKE_INVENTORY,
            title="Take the inventory of the old cluster (databases, relations, settings)",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(
                    call(
                        "take_inventory",
                        *connection_arguments(context.old_path, *old, context.cluster.series),
                        context.cluster.data_directory,
                    )
                ),
                native=native_inventory(*old),
            ),
            reason="It lists databases, relations, invalid indexes and settings. The new cluster is compared with it "
            "later.",
            undo=ONLY_LOOKS,
            phase=Phase.BEFORE_STOP,
            downtime=True,
            resume=ResumePolicy(required=True),
        )
    ]


def compare_inventory(context: PlanContext, socket: str | None, own_settings: Sequence[str]) -> list[Step]:
    """Return the steps that compare inventory and collation versions after the local-only start.

    Args:
        context: the move with everything that is known of both servers.
        socket: the directory of the new cluster's Unix socket; None for the default of its programs.
        own_settings: the settings that this start sets itself, `NAME=VALUE`.
    """
    steps = []
    # these settings are meant to differ from the files, because the plan has set them itself
    own_settings = (*own_settings, *list_settings_kept_in_force(context.move, context.cluster), "port=")
    if is_queryable(context):
        steps.append(
            Step(
                id=step_ids.COMPARE_INVENTORY,
                title="Compare the inventories of both clusters",
                action=RemoteCall(
                    side=Side.NEW,
                    user=context.channel.writer,
                    call=str(
                        call(
                            "compare_inventory",
                            *connection_arguments(context.new_path, socket, context.port, context.cluster.series),
                            context.move.target,
                            ",".join(dict.fromkeys(each.partition("=")[0] for each in own_settings)),
                        )
                    ),
                    native=native_inventory(socket, context.port),
                    reads=step_ids.TAKE_INVENTORY,
                ),
                reason="Clients may have changed numbers in the meantime, which is noted. The step fails if a "
                "database or the file of a relation is missing, or if the configuration files set something else.",
                undo=ONLY_LOOKS,
                phase=Phase.START,
                downtime=True,
                resume=ResumePolicy(required=True),
                verification=Verification(only_checks=True),
            )
        )
    if context.major_version >= _COLLATIONS_SINCE:
        steps.append(
            Step(
                id=step_ids.COMPARE_COLLATION_VERSIONS,
                title="Compare the collation versions",
                action=RemoteCall(
                    side=Side.NEW,
                    user=context.channel.writer,
                    call=str(
                        call(
                            "warn_of_collation_versions",
                            *connection_arguments(context.new_path, socket, context.port, context.cluster.series),
                        )
                    ),
                    native=(native_psql(socket, context.port, "postgres", _VERSIONS),),
                ),
                reason="Where the new server sorts text differently, an index on text does not find all rows.",
                undo=ONLY_LOOKS,
                phase=Phase.START,
                downtime=True,
            )
        )
    return steps


def compare_settings(context: PlanContext, socket: str | None) -> list[Step]:
    """Return the step that compares the settings in force after the cutover with those of the old cluster.

    It warns of differences and never fails.
    """
    if not is_queryable(context):
        return []
    return [
        Step(
            id=step_ids.COMPARE_SETTINGS,
            title="Compare the settings of both clusters",
            action=RemoteCall(
                side=Side.NEW,
                user=context.channel.writer,
                call=str(
                    call(
                        "compare_settings",
                        *connection_arguments(context.new_path, socket, context.port, context.cluster.series, _SOON),
                        context.move.target,
                        "cutover",
                        ",".join(list_settings_from_files(context.move, context.cluster)) or "-",
                        *_access_rule_arguments(context, context.move.target),
                    )
                ),
                native=(native_psql(socket, context.port, "postgres", _SETTINGS),),
                reads=step_ids.TAKE_INVENTORY,
            ),
            reason="The new cluster was started by its own service. An option on a command line, or a file that was "
            "edited and never loaded, gives it other settings than the old cluster had.",
            undo=ONLY_LOOKS,
            phase=Phase.AFTER,
        )
    ]


def compare_old_settings(context: PlanContext) -> list[Step]:
    """Return the step of a rollback that compares the old cluster's settings with those before the stop.

    It warns of differences and never fails.
    """
    if not is_queryable(context):
        return []
    socket, port = context.cluster.socket_directory, context.new_cluster.port or 5432
    data = context.cluster.data_directory
    chosen = ",".join(list_settings_from_files(context.move, context.cluster)) or "-"
    where = connection_arguments(context.old_path, socket, port, context.cluster.series, _SOON)
    return [
        Step(
            id=step_ids.COMPARE_OLD_SETTINGS,
            title="Compare the settings of the old cluster with those before the stop",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(
                    call("compare_settings", *where, data, "rollback", chosen, *_access_rule_arguments(context, data))
                ),
                native=(native_psql(socket, port, "postgres", _SETTINGS),),
                reads=step_ids.TAKE_INVENTORY,
            ),
            reason="The old cluster was started again. An option that its start lacks, or a file that was edited and "
            "never loaded, gives it other settings than before.",
            undo=ONLY_LOOKS,
        )
    ]


def _access_rule_arguments(context: PlanContext, data: str) -> list[str]:
    """Return the settings of the access rules, each followed by the file that it must name in the directory `data`."""
    return [word for name, path in access_rule_paths(data, context.cluster).items() for word in (name, path or "-")]


def is_queryable(context: PlanContext) -> bool:
    """Return whether the old cluster runs and could be queried by SQL for facts."""
    return context.cluster.running and bool(context.cluster.databases)


def native_inventory(socket: str | None, port: int) -> tuple[str, ...]:
    """Return the queries by which a person takes the inventory; the last one is for each database."""
    return tuple(native_psql(socket, port, database, statement) for database, statement in _ASKED)


def connection_arguments(
    path: str, socket: str | None, port: int, major_version: str, seconds: int = _SECONDS
) -> tuple[str, str, int, str, int]:
    """Return the arguments by which functions such as those of `inventory.sh` query a server.

    Args:
        path: the PATH of the cluster's programs.
        socket: the directory of the Unix socket; None for the default of the programs.
        port: the port of the server.
        major_version: its major version, such as `15` or `9.6`.
        seconds: the time limit for all queries together.
    """
    return path, socket or "-", port, major_version, seconds


def time_limit(size: int | None) -> int:
    """Return the time limit, in seconds, for reading or building `size` bytes: far more than a working server needs."""
    if size is None:
        return _LONGEST
    return min(_SECONDS + size // _SLOWEST, _LONGEST)


def native_psql(socket: str | None, port: int, database: str, statement: LiteralString) -> str:
    """Return the psql command that a person would type.

    Args:
        socket: the directory of the Unix socket; None for the default of psql.
        port: the port of the server.
        database: the database to connect to.
        statement: the SQL; it may contain nothing that the shell expands between double quotes.
    """
    host = ("-h", socket) if socket is not None else ()
    return f'{command("psql", *host, "-p", port, "-d", database)} -c "{statement}"'

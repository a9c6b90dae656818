"""What SQL tells of the cluster just before the stop, held against what the new server says later.

The inventory is taken while clients work, of a server that need not run with what its files say. So the two inventories
need not be equal: what the work of clients explains is a note with numbers. `compare_inventory` fails only for
what nothing explains. Settings in force are compared after the cutover, when the service of the new server has started
it: the local-only start sets some itself, and PostgreSQL derives others from those.
"""

from collections.abc import Sequence
from typing import LiteralString

from core.migration.findings.edited import from_files, kept_in_force
from core.migration.findings.services import rules_at
from core.migration.model.plan import ONLY_LOOKS, Phase, Step
from core.migration.plan.context import PlanContext
from core.servers.shell import call, command

CLIENTS = "clients"
INVENTORY = "stock"
"""The names of the steps that ask old, as plans in the history have them."""
OLD_SETTINGS = "old-settings"
"""The name of the step of the way back that compares the old server's settings with its inventory."""

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
"""For a few questions to the catalogs of every database, of millions of relations too."""
_SOON = 60
"""For a question to a server that has clients, on whose answer nothing depends."""
_SLOWEST = 1_000_000
"""Bytes in a second: less than any disk, and any comparison of texts, still gets done."""
_LONGEST = 2_000_000
"""23 days; what PostgreSQL takes for a timeout ends a little later."""


def see_clients(context: PlanContext) -> list[Step]:
    """Who is connected to old, before anybody is asked to stop it."""
    if not askable(context):
        return []
    socket, port = context.cluster.socket_directory, context.cluster.port or 5432
    return [
        Step(
            "List the clients of the old cluster",
            "old",
            context.owner,
            str(call("list_clients", *reached(context.old_path, socket, port, context.cluster.series))),
            "Clients lose their connections when the cluster is stopped. Check whether anybody must be told first.",
            ONLY_LOOKS,
            (native_psql(socket, port, "postgres", _CONNECTED),),
            phase=Phase.STOP,
            share=0.0,
            name=CLIENTS,
        )
    ]


def take_inventory(context: PlanContext) -> list[Step]:
    """On the old server, while it runs; nothing where facts could not ask it either."""
    if not askable(context):
        return []
    old = context.cluster.socket_directory, context.cluster.port or 5432
    return [
        Step(
            "Take the inventory of the old cluster",
            "old",
            context.owner,
            str(
                call(
                    "take_inventory",
                    *reached(context.old_path, *old, context.cluster.series),
                    context.cluster.data_directory,
                )
            ),
            "It lists databases, relations, invalid indexes and settings. The new cluster is compared with it later.",
            ONLY_LOOKS,
            native_inventory(*old),
            phase=Phase.STOP,
            name=INVENTORY,
            stopped=True,
            skippable=False,
        )
    ]


def compare_inventory(context: PlanContext, socket: str | None, own_settings: Sequence[str]) -> list[Step]:
    """On the new server, after its first start; then what SQL alone tells of sorting there.

    `own_settings`: the settings that this start sets itself, `NAME=VALUE`.
    """
    asked = []
    # what the plan has set in the place of what the files say differs from them, as it is meant to
    own_settings = (*own_settings, *kept_in_force(context.move, context.cluster), "port=")
    if askable(context):
        asked.append(
            Step(
                "Compare the inventories of both clusters",
                "new",
                context.channel.writer,
                str(
                    call(
                        "compare_inventory",
                        *reached(context.new_path, socket, context.port, context.cluster.series),
                        context.move.target,
                        ",".join(dict.fromkeys(each.partition("=")[0] for each in own_settings)),
                    )
                ),
                "Clients may have changed numbers in the meantime, which is noted. The step fails if a database or the "
                "file of a relation is missing, or if the configuration files set something else.",
                ONLY_LOOKS,
                native_inventory(socket, context.port),
                name="same-inventory",
                reads=INVENTORY,
                proves=True,
                phase=Phase.START,
                stopped=True,
                skippable=False,
            )
        )
    if context.major_version >= _COLLATIONS_SINCE:
        asked.append(
            Step(
                "Compare the collation versions",
                "new",
                context.channel.writer,
                str(
                    call(
                        "warn_of_collation_versions",
                        *reached(context.new_path, socket, context.port, context.cluster.series),
                    )
                ),
                "Where the new server sorts text differently, an index on text does not find all rows.",
                ONLY_LOOKS,
                (native_psql(socket, context.port, "postgres", _VERSIONS),),
                name="collation-versions",
                phase=Phase.START,
                stopped=True,
            )
        )
    return asked


def compare_settings(context: PlanContext, socket: str | None) -> list[Step]:
    """On the new server, after the cutover: what its own service has started it with. It warns, and never fails."""
    if not askable(context):
        return []
    return [
        Step(
            "Compare the settings of both clusters",
            "new",
            context.channel.writer,
            str(
                call(
                    "compare_settings",
                    *reached(context.new_path, socket, context.port, context.cluster.series, _SOON),
                    context.move.target,
                    "cutover",
                    ",".join(from_files(context.move, context.cluster)) or "-",
                    *_rules(context, context.move.target),
                )
            ),
            "The new cluster was started by its own service. An option on a command line, or a file that was edited "
            "and never loaded, gives it other settings than the old cluster had.",
            ONLY_LOOKS,
            (native_psql(socket, context.port, "postgres", _SETTINGS),),
            name="same-settings",
            reads=INVENTORY,
            phase=Phase.OPEN,
            timed_as=Phase.PREPARE,
            share=0.1,
        )
    ]


def compare_old_settings(context: PlanContext) -> list[Step]:
    """On the old server, which a rollback has started: what it ran with before the stop. It warns, and never fails."""
    if not askable(context):
        return []
    socket, port = context.cluster.socket_directory, context.new_cluster.port or 5432
    data = context.cluster.data_directory
    chosen = ",".join(from_files(context.move, context.cluster)) or "-"
    where = reached(context.old_path, socket, port, context.cluster.series, _SOON)
    return [
        Step(
            "Compare the settings of the old cluster with those before the stop",
            "old",
            context.owner,
            str(call("compare_settings", *where, data, "rollback", chosen, *_rules(context, data))),
            "The old cluster was started again. An option that its start lacks, or a file that was edited and never "
            "loaded, gives it other settings than before.",
            ONLY_LOOKS,
            (native_psql(socket, port, "postgres", _SETTINGS),),
            name=OLD_SETTINGS,
            reads=INVENTORY,
        )
    ]


def _rules(context: PlanContext, data: str) -> list[str]:
    """The settings of the access rules, each with the file to which it must lead where the cluster lies in `data`."""
    return [word for name, path in rules_at(data, context.cluster).items() for word in (name, path or "-")]


def askable(context: PlanContext) -> bool:
    """Whether it runs and was asked by SQL before."""
    return context.cluster.running and bool(context.cluster.databases)


def native_inventory(socket: str | None, port: int) -> tuple[str, ...]:
    """What a person would ask for it, the last of each database."""
    return tuple(native_psql(socket, port, database, statement) for database, statement in _ASKED)


def reached(
    path: str, socket: str | None, port: int, major_version: str, seconds: int = _SECONDS
) -> tuple[str, str, int, str, int]:
    """Where a server is asked, and for how long in all, as the functions of `inventory.sh` and their kin take it."""
    return path, socket or "-", port, major_version, seconds


def seconds_for(size: int | None) -> int:
    """How long what reads or builds that many bytes may take: far longer than it does where it gets on at all."""
    if size is None:
        return _LONGEST
    return min(_SECONDS + size // _SLOWEST, _LONGEST)


def native_psql(socket: str | None, port: int, database: str, statement: LiteralString) -> str:
    """What a person would type to ask a server; the statement holds nothing that double quotes leave to the shell."""
    host = ("-h", socket) if socket is not None else ()
    return f'{command("psql", *host, "-p", port, "-d", database)} -c "{statement}"'

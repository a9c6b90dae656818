"""The step that rebuilds indexes on text that the libraries of the new server sort differently.

The check `collation` decides which collations these are. The step asks the new cluster which indexes depend on them.
The recorded version of a collation is refreshed only where its indexes were rebuilt, because that silences PostgreSQL's
own warning. Sources: REINDEX, ALTER COLLATION and ALTER DATABASE in PostgreSQL's documentation.
"""

from collections.abc import Mapping, Sequence

from core import units
from core.migration.findings.collations import SortOrder, affected_collations
from core.migration.findings.finding import CheckContext
from core.migration.model import step_ids
from core.migration.model.plan import Phase, RemoteCall, Step
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.inventory import connection_arguments, native_psql, time_limit
from core.servers.shell import Shell, call
from core.sides import Side

_REBUILT = (SortOrder.DIFFERENT, SortOrder.UNSURE)


def reindex_steps(context: PlanContext, socket: str | None) -> list[Step]:
    """Return the step that rebuilds indexes before the cutover; none if text sorts alike or that is unknown."""
    found = affected_collations(CheckContext(context.move, context.old_facts, context.new_facts))
    if found is None:
        return []
    wrong = [each for each in found if each.order in _REBUILT]
    if not wrong:
        return []
    number, size = sum(each.collation.objects for each in wrong), sum(each.collation.size_bytes for each in wrong)
    collations = {
        name: [each.collation.name for each in wrong if each.database.name == name]
        for name in dict.fromkeys(each.database.name for each in wrong)
    }
    return [
        Step(
            id=step_ids.REBUILD_INDEXES,
            title="Rebuild the indexes whose text sorts differently on the new server",
            action=RemoteCall(
                side=Side.NEW,
                user=context.channel.writer,
                call=str(rebuild_indexes(context, socket, collations, time_limit(size))),
                native=native_rebuild_indexes(context, socket, collations),
                detached=True,
            ),
            reason=f"This concerns {units.counted(number, 'object')} in {', '.join(collations)}, {units.size(size)} of "
            "indexes. As they are, they do not find all rows and accept duplicates. Check range partitions and CHECK "
            "constraints on text yourself: the check `collation` names them.",
            undo="Nothing to undo: the libraries of the new server need the indexes as they are then.",
            phase=Phase.REINDEX,
            downtime=True,
        )
    ]


def rebuild_indexes(
    context: PlanContext, socket: str | None, collations: Mapping[str, Sequence[str]], seconds: int
) -> Shell:
    """Return the call that rebuilds the indexes of these collations and refreshes the collations' versions.

    Args:
        context: the move with everything that is known of both servers.
        socket: the directory of the new cluster's Unix socket; None for the default of its programs.
        collations: the names of the collations, by database.
        seconds: the time limit for all of it.
    """
    words = [word for database, each in collations.items() for word in (database, str(len(each)), *each)]
    connection = connection_arguments(context.new_path, socket, context.port, context.cluster.series, seconds)
    return call("rebuild_indexes", *connection, *words)


def native_rebuild_indexes(
    context: PlanContext, socket: str | None, collations: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Return the statements that a person would run; INDEX is each index that the check `collation` names."""
    return tuple(native_psql(socket, context.port, database, "reindex index INDEX") for database in collations)

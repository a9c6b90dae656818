"""The step that builds anew what lies in the order of text, where new's libraries sort text otherwise than old's.

Which collations these are is the check `collation`'s to say; which indexes lie in their order, new itself is asked when
the step runs. Only what was rebuilt has its recorded version refreshed, for that silences PostgreSQL's own warning.
Sources: REINDEX, ALTER COLLATION and ALTER DATABASE in PostgreSQL's documentation.
"""

from collections.abc import Mapping, Sequence

from core import units
from core.migration.findings.collations import SortOrder, affected
from core.migration.findings.finding import CheckContext, Finding
from core.migration.model.plan import Phase, Step
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.inventory import native_psql, reached, seconds_for
from core.servers.shell import Shell, call

_REBUILT = (SortOrder.DIFFERENT, SortOrder.UNSURE)


def reindex(context: PlanContext, socket: str | None) -> list[Step]:
    """On new, before anybody works there; nothing where text sorts the same, or nobody knows how it sorts."""
    found = affected(CheckContext(context.move, context.old_facts, context.new_facts))
    if isinstance(found, Finding):
        return []
    wrong = [each for each in found if each.order in _REBUILT]
    if not wrong:
        return []
    number, size = sum(each.collation.objects for each in wrong), sum(each.collation.size_bytes for each in wrong)
    names = {
        name: [each.collation.name for each in wrong if each.database.name == name]
        for name in dict.fromkeys(each.database.name for each in wrong)
    }
    return [
        Step(
            "Rebuild the indexes whose text sorts differently on the new server",
            "new",
            context.channel.writer,
            str(rebuild_indexes(context, socket, names, seconds_for(size))),
            f"This concerns {units.counted(number, 'object')} in {', '.join(names)}, {units.size(size)} of indexes. "
            "As they are, they do not find all rows and accept duplicates. Check range partitions and CHECK "
            "constraints on text yourself: the check `collation` names them.",
            "Nothing to undo: the libraries of the new server need the indexes as they are then.",
            native_rebuild_indexes(context, socket, names),
            name="reindex",
            phase=Phase.REINDEX,
            stopped=True,
            detached=True,
        )
    ]


def rebuild_indexes(
    context: PlanContext, socket: str | None, names: Mapping[str, Sequence[str]], seconds: int
) -> Shell:
    """Of each database the indexes in the order of these collations, then the collations' versions, in that time."""
    words = [word for database, each in names.items() for word in (database, str(len(each)), *each)]
    where = reached(context.new_path, socket, context.port, context.cluster.series, seconds)
    return call("rebuild_indexes", *where, *words)


def native_rebuild_indexes(
    context: PlanContext, socket: str | None, names: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """What a person would type for it: INDEX is each of those, which the check `collation` names."""
    return tuple(native_psql(socket, context.port, database, "reindex index INDEX") for database in names)

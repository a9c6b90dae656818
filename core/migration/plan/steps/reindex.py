"""The step that builds anew what lies in the order of text, where new's libraries sort text otherwise than old's.

Which collations these are is the check `collation`'s to say; which indexes lie in their order, new itself is asked when
the step runs. Only what was rebuilt has its recorded version refreshed, for that silences PostgreSQL's own warning.
Sources: REINDEX, ALTER COLLATION and ALTER DATABASE in PostgreSQL's documentation.
"""

from collections.abc import Sequence

from core import units
from core.facts.database_queries import INDEX_KEYS
from core.migration.findings.collations import Affected, Order, affected
from core.migration.findings.finding import Case, Finding
from core.migration.model.plan import Phase, Step
from core.migration.plan.site import Site
from core.migration.plan.steps.inventory import ask
from core.servers.shell import Shell, command, pipe, script, script_of

_REBUILT = (Order.DIFFERENT, Order.UNSURE)


def reindex(site: Site, socket: str | None) -> list[Step]:
    """On new, before anybody works there; nothing where text sorts the same, or nobody knows how it sorts."""
    found = affected(Case(site.move, site.old_facts, site.new_facts))
    if isinstance(found, Finding):
        return []
    wrong = [each for each in found if each.order in _REBUILT]
    if not wrong:
        return []
    number, size = sum(each.collation.objects for each in wrong), sum(each.collation.size_bytes for each in wrong)
    databases = dict.fromkeys(each.database.name for each in wrong)
    rebuilding = [_rebuilt(name, [each for each in wrong if each.database.name == name], site) for name in databases]
    return [
        Step(
            "rebuild the indexes whose text sorts differently on new",
            "new",
            site.channel.writer,
            str(ask(site.new_path, socket, site.port, script_of(script("set -e"), *rebuilding))),
            f"{units.counted(number, 'object')} in {', '.join(databases)}, {units.size(size)} of indexes: as they are "
            "they find less than there is and let duplicates in. Range partitions and CHECK constraints on text are "
            "yours to look after: the check `collation` names them",
            "nothing to undo: the indexes are as new's libraries need them",
            phase=Phase.REINDEX,
            stopped=True,
            detached=True,
        )
    ]


def _rebuilt(database: str, wrong: Sequence[Affected], site: Site) -> Shell:
    """In one database: the indexes, the largest first, then the versions of their collations."""
    names = [each.collation.name for each in wrong]
    variables = [word for number, name in enumerate(names) for word in ("-v", f"c{number}={name}")]
    of_names = "collname in (" + ", ".join(f":'c{number}'" for number in range(len(names))) + ")"
    asking = command("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", *variables)
    # by the variable, which is never taken for a connection string as -d would be
    inside = script("export PGDATABASE=@database@", database=database)
    return script_of(inside, *(_carried_out(each, asking) for each in _statements(of_names, names, site.series)))


def _statements(of_names: str, names: Sequence[str], series: tuple[int, ...]) -> list[str]:
    """Queries for the commands, to be carried out one after the other."""
    indexes = (
        "select format('reindex index %I.%I;', n.nspname, c.relname) from pg_class c "
        "join pg_namespace n on n.oid = c.relnamespace where c.oid in "
        f"(select id from ({INDEX_KEYS}) k where coll in (select oid from pg_collation where {of_names})) "
        "order by pg_relation_size(c.oid) desc;"
    )
    collations = (
        "select format('alter collation %I.%I refresh version;', n.nspname, collname) from pg_collation c "
        f"join pg_namespace n on n.oid = collnamespace where {of_names} "
        "and collversion <> pg_collation_actual_version(c.oid);"
    )
    database = (
        "select format('alter database %I refresh collation version;', datname) from pg_database "
        "where datname = current_database() and datcollversion <> pg_database_collation_actual_version(oid);"
    )
    since = ((indexes, ()), (collations, (10,)), *(((database, (15,)),) if "default" in names else ()))
    return [statement for statement, first in since if series >= first]


def _carried_out(query: str, asking: Shell) -> Shell:
    """Ask for commands, and run them, each shown before."""
    return script(
        'made=$(sh -c @asking@)\n[ -z "$made" ] || printf \'%s\\n\' "$made" | psql -Xe -v ON_ERROR_STOP=1',
        asking=pipe(command("printf", "%s\\n", query), asking),
    )

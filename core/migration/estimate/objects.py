"""What a dump, a restore or pg_upgrade takes for each object, whatever its size."""

from typing import TYPE_CHECKING

from core.migration.estimate import assumptions
from core.migration.estimate.basis import Basis
from core.migration.estimate.draws import drawn

if TYPE_CHECKING:
    from core.migration.estimate.draws import Draws
    from core.migration.estimate.rates import Figure


def dumped(known: Basis, *, data: bool = True) -> "Draws":
    """Seconds of pg_dump for its questions about each table, and for each large object where it dumps `data`."""
    cluster = known.spec.cluster
    newer = max(known.spec.old.version or 0, known.spec.new.version or 0) >= 15  # the pg_dump of the new server is used
    tables = assumptions.DUMP_A_TABLE_15 if newer else assumptions.DUMP_A_TABLE
    asked = (cluster.tables or 0) * drawn("dump a table", *tables)
    large = (cluster.large_objects or 0) * drawn("dump a large object", *assumptions.DUMP_A_LARGE_OBJECT)
    return asked + large if data else asked + large / 2


def created(known: Basis, processes: int = 1) -> "Draws":
    """Seconds until each table, index and large object is made anew: large objects by one process, whatever -j says."""
    cluster, dump = known.spec.cluster, known.spec.dump
    tables = (cluster.tables or 0) * _each("create a table", dump.table_seconds, assumptions.CREATE_A_TABLE)
    indexes = (cluster.indexes or 0) * _each("create an index", dump.index_seconds, assumptions.CREATE_AN_INDEX)
    if dump.index_seconds is not None:  # what is assumed of a table has its TOAST table in it, and that one's index
        beside = 2 * (cluster.toast_tables or 0)
        indexes = indexes + beside * _sampled("create a TOAST table", dump.index_seconds)
    large = (cluster.large_objects or 0) * drawn("create a large object", *assumptions.CREATE_A_LARGE_OBJECT)
    together: float = processes ** assumptions.SPEEDUP[1]
    return (tables + indexes) / together + large


def _each(name: str, measured: float | None, assumed: "Figure") -> "Draws":
    """As new made some, else as is assumed."""
    return drawn(name, *assumed) if measured is None else _sampled(name, measured)


def _sampled(name: str, measured: float) -> "Draws":
    return drawn(name, *(measured * each for each in assumptions.MADE_SAMPLED))

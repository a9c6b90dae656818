"""Which collations sort differently on the new server, and which objects depend on them.

The rule is PostgreSQL's own (https://wiki.postgresql.org/wiki/Locale_data_changes): if the C library or ICU changes,
rebuild every index on text, and examine range partitions and CHECK constraints. `C`, `POSIX` and builtin collations
never change.
"""

from dataclasses import dataclass
from enum import StrEnum

from core.facts.catalog import Collation, Ordered
from core.facts.collation_order import MISSING
from core.facts.model import Database, Facts
from core.migration.findings.catalogs import databases_with_catalogs
from core.migration.findings.finding import NOTHING, CheckContext


class SortOrder(StrEnum):
    """How a collation sorts on the new server, compared with the old one."""

    SAME = "the same"
    DIFFERENT = "differently"
    UNSURE = "perhaps differently"
    ABSENT = "not at all"
    UNREAD = "not known"


@dataclass(frozen=True, slots=True)
class AffectedCollation:
    """A collation of a database that sorts differently on the new server, or may do so.

    Attributes:
        database: the database.
        collation: the collation.
        order: how the new server sorts.
        old: what was compared on the old server.
        new: what was compared on the new server.
    """

    database: Database
    collation: Collation
    order: SortOrder
    old: str
    new: str

    @property
    def ordered(self) -> tuple[Ordered, ...]:
        """Return the objects that are ordered by the collation, the largest first."""
        catalogs = self.database.catalogs
        objects = catalogs.ordered if catalogs is not None else ()
        return tuple(each for each in objects if self.collation.name in each.collations)


def affected_collations(context: CheckContext) -> list[AffectedCollation] | None:
    """Return the used collations that may sort differently on the new server; None if the catalogs were not read."""
    found = databases_with_catalogs(context.cluster) if context.cluster is not None else None
    if found is None:
        return None
    compared = [
        _compare_collation(context, database, collation)
        for database, catalogs in found
        for collation in catalogs.collations
    ]
    return [each for each in compared if each.order is not SortOrder.SAME]


def reindex_bytes(context: CheckContext) -> int | None:
    """Return the bytes of the indexes that must be rebuilt on the new server; None if that is not known."""
    found = affected_collations(context)
    if found is None or any(each.order is SortOrder.UNREAD for each in found):
        return None
    return sum(each.collation.size_bytes for each in found)


def _compare_collation(context: CheckContext, database: Database, collation: Collation) -> AffectedCollation:
    if collation.provider == "libc":
        order, old, new = _compare_by_words(context, collation.locale)
    else:
        old = f"{collation.provider} {collation.actual or collation.recorded or 'of unknown version'}"
        order, new = _compare_by_version(context, collation)
    return AffectedCollation(database, collation, order, old, new)


def _compare_by_words(context: CheckContext, locale: str) -> tuple[SortOrder, str, str]:
    """Compare the list of words that both hosts have sorted, and the versions of their C libraries."""
    here, there = context.old.collation_order.get(locale), context.new.collation_order.get(locale)
    libraries = libc_version(context.old), libc_version(context.new)
    shown = f"{libraries[0]}, words {_shorten(here)}", f"{libraries[1]}, words {_shorten(there)}"
    if there == MISSING:
        return SortOrder.ABSENT, *shown
    if here is None or there is None or here == MISSING or NOTHING in libraries:
        return SortOrder.UNREAD, *shown
    if here != there:
        return SortOrder.DIFFERENT, *shown
    return SortOrder.SAME if libraries[0] == libraries[1] else SortOrder.UNSURE, *shown


def _compare_by_version(context: CheckContext, collation: Collation) -> tuple[SortOrder, str]:
    """Compare the ICU versions of the old cluster's database and of the trial cluster on the new server."""
    there = dict(context.binaries.icu).get(collation.locale) if context.binaries is not None else None
    here = collation.actual or collation.recorded
    if there is None or here is None:
        return SortOrder.UNREAD, there or NOTHING
    if there.startswith("!"):
        return SortOrder.ABSENT, there[1:]
    return SortOrder.SAME if here == there else SortOrder.UNSURE, f"{collation.provider} {there}"


def libc_version(facts: Facts) -> str:
    """Return the name and version of the host's C library, for display."""
    return (facts.system.libc if facts.system is not None else None) or NOTHING


def _shorten(checksum: str | None) -> str:
    return NOTHING if checksum is None else checksum[:8]

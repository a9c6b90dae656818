"""Which collations sort differently on the new server, and what is ordered by them.

The rule is PostgreSQL's own (https://wiki.postgresql.org/wiki/Locale_data_changes): when the C library or ICU is
another one, rebuild every index on text and look after range partitions and CHECK constraints. `C`, `POSIX` and builtin
collations never change.
"""

from dataclasses import dataclass
from enum import StrEnum

from core.facts.catalog import Collation, Ordered
from core.facts.collation_order import MISSING
from core.facts.model import Database, Facts
from core.migration.findings.catalogs import databases
from core.migration.findings.finding import NOTHING, CheckContext, Finding


class SortOrder(StrEnum):
    """How a collation sorts on the new server, compared with the old one."""

    SAME = "the same"
    DIFFERENT = "differently"
    UNSURE = "perhaps differently"
    ABSENT = "not at all"
    UNREAD = "not known"


@dataclass(frozen=True, slots=True)
class Affected:
    """A collation of a database that sorts differently on the new server, or may; `old`, `new`: what was compared."""

    database: Database
    collation: Collation
    order: SortOrder
    old: str
    new: str

    @property
    def ordered(self) -> tuple[Ordered, ...]:
        """What is ordered by it; the largest first."""
        catalogs = self.database.catalogs
        named = catalogs.ordered if catalogs is not None else ()
        return tuple(each for each in named if self.collation.name in each.collations)


def affected(context: CheckContext) -> list[Affected] | Finding:
    """Return the used collations that may sort differently on the new server, or a finding if they are not known."""
    found = databases(context)
    if isinstance(found, Finding):
        return found
    compared = [
        _compared(context, database, collation) for database, catalogs in found for collation in catalogs.collations
    ]
    return [each for each in compared if each.order is not SortOrder.SAME]


def reindex_bytes(context: CheckContext) -> int | None:
    """Return the bytes of the indexes that must be rebuilt on the new server; None if that is not known."""
    found = affected(context)
    if isinstance(found, Finding) or any(each.order is SortOrder.UNREAD for each in found):
        return None
    return sum(each.collation.size_bytes for each in found)


def _compared(context: CheckContext, database: Database, one: Collation) -> Affected:
    if one.provider == "libc":
        order, old, new = _by_words(context, one.locale)
    else:
        old = f"{one.provider} {one.actual or one.recorded or 'of unknown version'}"
        order, new = _by_version(context, one)
    return Affected(database, one, order, old, new)


def _by_words(context: CheckContext, locale: str) -> tuple[SortOrder, str, str]:
    """By the list of words that both hosts sorted, and by the versions of their C libraries."""
    here, there = context.old.collation_order.get(locale), context.new.collation_order.get(locale)
    libraries = libc_of(context.old), libc_of(context.new)
    shown = f"{libraries[0]}, words {_short(here)}", f"{libraries[1]}, words {_short(there)}"
    if there == MISSING:
        return SortOrder.ABSENT, *shown
    if here is None or there is None or here == MISSING or NOTHING in libraries:
        return SortOrder.UNREAD, *shown
    if here != there:
        return SortOrder.DIFFERENT, *shown
    return SortOrder.SAME if libraries[0] == libraries[1] else SortOrder.UNSURE, *shown


def _by_version(context: CheckContext, one: Collation) -> tuple[SortOrder, str]:
    """Compare the versions that ICU gives: of the old cluster's database, of the new server's trial cluster."""
    major_version = context.cluster.series if context.cluster is not None else None
    asked = next((each.binaries for each in context.new.trials if each.series == major_version), None)
    there = dict(asked.icu).get(one.locale) if asked is not None else None
    here = one.actual or one.recorded
    if there is None or here is None:
        return SortOrder.UNREAD, there or NOTHING
    if there.startswith("!"):
        return SortOrder.ABSENT, there[1:]
    return SortOrder.SAME if here == there else SortOrder.UNSURE, f"{one.provider} {there}"


def libc_of(facts: Facts) -> str:
    """The C library of a host by its version, for people."""
    return (facts.system.libc if facts.system is not None else None) or NOTHING


def _short(total: str | None) -> str:
    return NOTHING if total is None else total[:8]

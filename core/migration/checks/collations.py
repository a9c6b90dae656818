"""Whether text sorts the same on new: what lies in the order of a collation is wrong there, without an error, if not.

The rule is PostgreSQL's own (https://wiki.postgresql.org/wiki/Locale_data_changes): when the C library or ICU is
another one, rebuild every index on text and look after range partitions and CHECK constraints. `C`, `POSIX` and builtin
collations never change.
"""

from dataclasses import dataclass
from enum import StrEnum

from core import units
from core.facts.catalog import Collation, Ordered
from core.facts.collation_order import MISSING
from core.facts.model import Database, Facts
from core.migration.checks.declaration import Check, Declaration
from core.migration.checks.finding import NOTHING, Case, Finding, blocker, no_cluster, passed, reason, unknown, warning
from core.migration.checks.inside import age, databases, listed

_ALWAYS_THERE = ("C", "POSIX")


class Order(StrEnum):
    """How a collation sorts on new, against old."""

    SAME = "the same"
    DIFFERENT = "differently"
    UNSURE = "perhaps differently"
    ABSENT = "not at all"
    UNREAD = "not known"


@dataclass(frozen=True, slots=True)
class Affected:
    """A collation of a database that sorts otherwise on new, or may; `old`, `new`: what was compared."""

    database: Database
    collation: Collation
    order: Order
    old: str
    new: str

    @property
    def ordered(self) -> tuple[Ordered, ...]:
        """What is ordered by it; the largest first."""
        catalogs = self.database.catalogs
        named = catalogs.ordered if catalogs is not None else ()
        return tuple(each for each in named if self.collation.name in each.collations)


def affected(case: Case) -> list[Affected] | Finding:
    """Every collation that something is ordered by and that is not the same on new; a finding where none is known."""
    found = databases(case)
    if isinstance(found, Finding):
        return found
    compared = [
        _compared(case, database, collation) for database, catalogs in found for collation in catalogs.collations
    ]
    return [each for each in compared if each.order is not Order.SAME]


def reindex_bytes(case: Case) -> int | None:
    """Bytes of the indexes that must be built anew on new; None where that is not known."""
    found = affected(case)
    if isinstance(found, Finding) or any(each.order is Order.UNREAD for each in found):
        return None
    return sum(each.collation.size_bytes for each in found)


def collation(case: Case) -> Finding:
    """What is ordered by text lies in the order that new's libraries make."""
    found, cluster = affected(case), case.cluster
    if isinstance(found, Finding) or cluster is None:
        return found if isinstance(found, Finding) else no_cluster(case)
    libraries = _libc(case.old), _libc(case.new)
    if not found:
        return passed(
            *libraries, "text sorts the same on new: versions and a sorted list of words agree" + age(cluster)
        )
    unread = [each for each in found if each.order is Order.UNREAD]
    if unread:
        names = listed([f"{each.collation.locale} ({each.database.name})" for each in unread])
        return unknown(
            libraries[0],
            libraries[1],
            f"how {names} sorts is not known on both sides",
            "run the checks again: they sort a list of words on new; else plan a REINDEX of every index on text",
        )
    return _reindex(found, age(cluster))


def _reindex(found: list[Affected], when: str) -> Finding:
    number, size = sum(each.collation.objects for each in found), sum(each.collation.size_bytes for each in found)
    how = "sorts" if any(each.order is Order.DIFFERENT for each in found) else "may sort"
    return warning(
        "; ".join(_named(each) for each in found),
        "; ".join(dict.fromkeys(f"{each.collation.locale}: {each.new}" for each in found)),
        f"text {how} differently on new: {units.count(number)} {'object' if number == 1 else 'objects'} with "
        f"{units.size(size)} of indexes would be wrong without an error{when}",
        "after the first start on new, before anybody works there: REINDEX what is named (all: REINDEX DATABASE), "
        "look for rows in the wrong range partition and against CHECK constraints; only then ALTER DATABASE or ALTER "
        "COLLATION … REFRESH COLLATION VERSION, never before: it silences the warning and mends nothing",
    )


def _named(each: Affected) -> str:
    objects = [f"{one.kind} {one.name} {units.size(one.size_bytes)}" for one in each.ordered]
    return (
        f"{each.database.name}, {each.collation.locale} ({each.old}): {units.count(each.collation.objects)} "
        f"with {units.size(each.collation.size_bytes)}: {listed(objects)}"
    )


def _compared(case: Case, database: Database, one: Collation) -> Affected:
    if one.provider == "libc":
        order, old, new = _by_words(case, one.locale)
    else:
        old = f"{one.provider} {one.actual or one.recorded or 'of unknown version'}"
        order, new = _by_version(case, one)
    return Affected(database, one, order, old, new)


def _by_words(case: Case, locale: str) -> tuple[Order, str, str]:
    """By the list of words that both hosts sorted, and by the versions of their C libraries."""
    here, there = case.old.collation_order.get(locale), case.new.collation_order.get(locale)
    libraries = _libc(case.old), _libc(case.new)
    shown = f"{libraries[0]}, words {_short(here)}", f"{libraries[1]}, words {_short(there)}"
    if there == MISSING:
        return Order.ABSENT, *shown
    if here is None or there is None or here == MISSING or NOTHING in libraries:
        return Order.UNREAD, *shown
    if here != there:
        return Order.DIFFERENT, *shown
    return Order.SAME if libraries[0] == libraries[1] else Order.UNSURE, *shown


def _by_version(case: Case, one: Collation) -> tuple[Order, str]:
    """By the version of the collation that ICU gives: of old's database, of new's trial cluster."""
    series = case.cluster.series if case.cluster is not None else None
    asked = next((each.binaries for each in case.new.trials if each.series == series), None)
    there = dict(asked.icu).get(one.locale) if asked is not None else None
    here = one.actual or one.recorded
    if there is None or here is None:
        return Order.UNREAD, there or NOTHING
    if there.startswith("!"):
        return Order.ABSENT, there[1:]
    return Order.SAME if here == there else Order.UNSURE, f"{one.provider} {there}"


def locales(case: Case) -> Finding:
    """Every locale that a database or a collation of it names is there on new."""
    cluster = case.cluster
    found = databases(case)
    if isinstance(found, Finding) or cluster is None:
        return found if isinstance(found, Finding) else no_cluster(case)
    libc: dict[str, list[str]] = {}
    icu: dict[str, list[str]] = {}
    for database, catalogs in found:
        used = [(libc, database.collate), (libc, database.ctype)]
        used += [(icu, database.locale)] if database.provider == "icu" else []
        used += [(icu if each.provider == "icu" else libc, each.locale) for each in catalogs.collations]
        for known, locale in used:
            if locale and locale not in _ALWAYS_THERE and database.name not in known.setdefault(locale, []):
                known[locale].append(database.name)
    asked = next((each.binaries for each in case.new.trials if each.series == cluster.series), None)
    versions = dict(asked.icu) if asked is not None else {}
    there = case.new.collation_order
    absent = {name: users for name, users in libc.items() if there.get(name) == MISSING}
    absent |= {name: users for name, users in icu.items() if versions.get(name, "").startswith("!")}
    unread = [name for name in libc if name not in there] + [name for name in icu if name not in versions]
    encodings = sorted({database.encoding for database, _ in found if database.encoding})
    old = f"{listed(encodings)}; {listed(sorted({*libc, *icu}) or ['C'])}"
    if absent:
        return blocker(
            "; ".join(f"{name} ({listed(users)})" for name, users in sorted(absent.items())),
            f"missing: {listed(sorted(absent))}",
            f"new lacks {listed(sorted(absent))}: what uses them fails there, a database of that locale whole"
            + age(cluster),
            "make the locale on new (Debian: dpkg-reconfigure locales; Red Hat: dnf install glibc-langpack-…), or "
            "install binaries with ICU",
        )
    if unread:
        why = reason(case.new, "order of text", "trial cluster")
        return unknown(
            old,
            NOTHING,
            f"whether new has {listed(sorted(unread))} is not known: {why}",
            "run the checks again; or look with: locale -a",
        )
    return passed(old, "all there", "new has every locale of the databases" + age(cluster))


def _libc(facts: Facts) -> str:
    return (facts.system.libc if facts.system is not None else None) or NOTHING


def _short(total: str | None) -> str:
    return NOTHING if total is None else total[:8]


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "collation",
            "text sorts the same",
            False,
            "indexes, constraints and range partitions of every database on old; C library, ICU and a sorted list of "
            "words of both",
            "collation",
        ),
        collation,
    ),
    (
        Declaration(
            "locales", "locales of the databases", True, "locales of every database on old, those of new", "locale"
        ),
        locales,
    ),
)

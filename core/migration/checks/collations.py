"""Whether text sorts the same on new: what is ordered by a collation is wrong there, without an error, if not."""

from core import units
from core.facts.collation_order import MISSING
from core.facts.collation_order import SECTION as COLLATION_ORDER
from core.facts.sections import TRIAL
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.catalogs import age, cluster_wide, databases, listed
from core.migration.findings.collations import Affected, Order, affected, libc_of
from core.migration.findings.finding import (
    NOTHING,
    Case,
    Finding,
    blocker,
    no_cluster,
    passed,
    reason,
    unknown,
    warning,
)

_ALWAYS_THERE = ("C", "POSIX")


def collation(case: Case) -> Finding:
    """What is ordered by text lies in the order that new's libraries make."""
    found, cluster = affected(case), case.cluster
    if isinstance(found, Finding) or cluster is None:
        return found if isinstance(found, Finding) else no_cluster(case)
    libraries = libc_of(case.old), libc_of(case.new)
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
    for closed in cluster.wide.closed if cluster.wide is not None else ():
        used = [(libc, closed.collate), (libc, closed.ctype)]
        used += [(icu, closed.locale)] if closed.provider == "icu" else []
        for known, locale in used:
            if locale and locale not in _ALWAYS_THERE and closed.name not in known.setdefault(locale, []):
                known[locale].append(closed.name)
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
        why = reason(case.new, COLLATION_ORDER.name, TRIAL)
        return unknown(
            old,
            NOTHING,
            f"whether new has {listed(sorted(unread))} is not known: {why}",
            "run the checks again; or look with: locale -a",
        )
    return passed(old, "all there", "new has every locale of the databases" + age(cluster))


def closed_databases(case: Case) -> Finding:
    """Every database takes connections, so that it could be looked into."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    if not wide.closed:
        return passed("none", NOTHING, "every database takes connections and was looked into" + age(cluster))
    half = [each.name for each in wide.closed if each.half_dropped]
    names = listed([each.name for each in wide.closed])
    left = f" {listed(half)} was left by a DROP DATABASE that was interrupted." if half else ""
    return warning(
        names,
        NOTHING,
        f"databases that take no connections: {names}. Their locales are compared; their extensions, libraries and "
        f"indexes are not.{left}{age(cluster)}",
        "drop on the old server what nobody needs, and what was half dropped; let connections into the others for the "
        "checks: ALTER DATABASE … ALLOW_CONNECTIONS true",
    )


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "collation",
            "collations",
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
    (
        Declaration(
            "closed-databases",
            "databases that take no connections",
            False,
            "pg_database of old",
            "manage-ag-templatedbs",
        ),
        closed_databases,
    ),
)

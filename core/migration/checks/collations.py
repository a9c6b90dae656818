"""Checks of collations and locales: where text sorts differently, indexes are silently wrong."""

from core import units
from core.facts.catalog import ClusterWide
from core.facts.collation_order import MISSING
from core.facts.collation_order import SECTION as COLLATION_ORDER
from core.facts.model import Cluster
from core.facts.sections import TRIAL
from core.migration.checks import needs as need
from core.migration.checks.declaration import Check, check
from core.migration.checks.needs import Databases
from core.migration.findings.catalogs import age_note, format_list
from core.migration.findings.collations import AffectedCollation, SortOrder, libc_version
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    explain_gap,
    passed,
    unknown,
    warning,
)

_ALWAYS_THERE = ("C", "POSIX")


@check(
    "collation",
    "Sort order of text (collations)",
    compares="indexes, constraints and range partitions of every database of the old cluster; "
    "C library, ICU and a sorted list of words of both servers",
    page="collation",
    needs=(need.CLUSTER, need.COLLATIONS),
    uses=(need.BINARIES, need.OLD_LIBC, need.NEW_LIBC),
)
def check_collation(context: CheckContext, cluster: Cluster, found: list[AffectedCollation]) -> Finding:
    """Check that text sorts the same with the libraries of the new server."""
    libraries = libc_version(context.old), libc_version(context.new)
    if not found:
        return passed(
            *libraries,
            "Text sorts the same on both servers: the library versions and a sorted list of words "
            f"agree.{age_note(cluster)}",
        )
    unread = [each for each in found if each.order is SortOrder.UNREAD]
    if unread:
        names = format_list([f"{each.collation.locale} ({each.database.name})" for each in unread])
        return unknown(
            libraries[0],
            libraries[1],
            f"It is not known how {names} sorts on both servers.",
            "Run the checks again: they sort a list of words on the new server. If that does not "
            "help, plan a REINDEX of every index on text.",
        )
    return _reindex_needed(found, age_note(cluster))


def _reindex_needed(found: list[AffectedCollation], when: str) -> Finding:
    number, size = sum(each.collation.objects for each in found), sum(each.collation.size_bytes for each in found)
    how = "sorts" if any(each.order is SortOrder.DIFFERENT for each in found) else "may sort"
    return warning(
        "; ".join(_describe(each) for each in found),
        "; ".join(dict.fromkeys(f"{each.collation.locale}: {each.new}" for each in found)),
        f"Text {how} differently on the new server. There, {units.count(number)} "
        f"{'object' if number == 1 else 'objects'} with {units.size(size)} of indexes would "
        f"give wrong results without an error message.{when}",
        "After the first start on the new server, before any client works there, run REINDEX on "
        "the named indexes (all of them: REINDEX DATABASE). Look for rows in the wrong range "
        "partition and for rows that violate CHECK constraints. Only then run ALTER DATABASE or "
        "ALTER COLLATION … REFRESH COLLATION VERSION. Never run it before: it silences the "
        "warning and repairs nothing.",
    )


def _describe(each: AffectedCollation) -> str:
    objects = [f"{object_.kind} {object_.name} {units.size(object_.size_bytes)}" for object_ in each.ordered]
    return (
        f"{each.database.name}, {each.collation.locale} ({each.old}): {units.count(each.collation.objects)} "
        f"with {units.size(each.collation.size_bytes)}: {format_list(objects)}"
    )


@check(
    "locales",
    "Locales of the databases",
    blocking=True,
    compares="locales of every database of the old cluster, locales of the new server",
    page="locale",
    needs=(need.CLUSTER, need.DATABASES),
    uses=(need.BINARIES,),
)
def check_locales(context: CheckContext, cluster: Cluster, databases: Databases) -> Finding:
    """Check that the new server has every locale of the databases and their collations."""
    libc: dict[str, list[str]] = {}
    icu: dict[str, list[str]] = {}
    for database, catalogs in databases:
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
    versions = dict(context.binaries.icu) if context.binaries is not None else {}
    sorted_on_new = context.new.collation_order
    absent = {name: users for name, users in libc.items() if sorted_on_new.get(name) == MISSING}
    absent |= {name: users for name, users in icu.items() if versions.get(name, "").startswith("!")}
    unread = [name for name in libc if name not in sorted_on_new] + [name for name in icu if name not in versions]
    encodings = sorted({database.encoding for database, _ in databases if database.encoding})
    old = f"{format_list(encodings)}; {format_list(sorted({*libc, *icu}) or ['C'])}"
    if absent:
        return blocker(
            "; ".join(f"{name} ({format_list(users)})" for name, users in sorted(absent.items())),
            f"missing: {format_list(sorted(absent))}",
            f"The new server lacks these locales: {format_list(sorted(absent))}. Objects that use them "
            f"fail there. A database with such a locale fails as a whole.{age_note(cluster)}",
            "Create the locale on the new server (Debian: `dpkg-reconfigure locales`; Red Hat: `dnf "
            "install glibc-langpack-…`), or install binaries with ICU support.",
        )
    if unread:
        why = explain_gap(context.new, COLLATION_ORDER.name, TRIAL)
        return unknown(
            old,
            NOTHING,
            f"It is not known whether the new server has {format_list(sorted(unread))} ({why}).",
            "Run the checks again, or look with `locale -a`.",
        )
    return passed(old, "all present", f"The new server has every locale of the databases.{age_note(cluster)}")


@check(
    "closed-databases",
    "Databases that do not allow connections",
    compares="pg_database of the old cluster",
    page="manage-ag-templatedbs",
    needs=(need.CLUSTER, need.CLUSTER_WIDE),
)
def check_closed_databases(_context: CheckContext, cluster: Cluster, wide: ClusterWide) -> Finding:
    """Check that every database allows connections, so that it could be examined."""
    if not wide.closed:
        told = f"Every database allows connections and was examined, except template0.{age_note(cluster)}"
        return passed("none besides template0", NOTHING, told)
    half_dropped = [each.name for each in wide.closed if each.half_dropped]
    names = format_list([each.name for each in wide.closed])
    remark = f" {format_list(half_dropped)} was left by an interrupted DROP DATABASE." if half_dropped else ""
    return warning(
        names,
        NOTHING,
        f"These databases do not allow connections: {names}. Their locales are compared. Their "
        f"extensions, libraries and indexes are not.{remark}{age_note(cluster)}",
        "On the old server, drop the databases that nobody needs or that are half dropped. Allow "
        "connections to the others for the checks: `ALTER DATABASE … ALLOW_CONNECTIONS true`.",
    )


CHECKS: tuple[Check, ...] = (check_collation, check_locales, check_closed_databases)

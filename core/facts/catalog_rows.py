"""The rows of a running cluster's catalogs as facts; see queries and its two neighbours for what was asked."""

from collections.abc import Sequence

from core.facts.catalog import (
    Bloated,
    Catalogs,
    ClosedDatabase,
    ClusterWide,
    Collation,
    Dictionary,
    Extension,
    ForeignFile,
    HbaRule,
    Library,
    Ordered,
    Receiver,
    RoleSetting,
    Setting,
    Slot,
    Subscription,
)
from core.facts.queries import Row

PROVIDERS = {"c": "libc", "i": "icu", "b": "builtin", "d": "libc"}
"""`pg_database.datlocprovider` and `pg_collation.collprovider`."""
TRUE = ("t", "true", "on")


def cluster_wide(table: Sequence[Row]) -> ClusterWide | None:
    """What concerns the whole cluster; None where the last of its rows is missing: one query failed.

    Raises:
        ValueError: a number is none.
    """
    # the last row of its transaction: without it what came before is not whole
    if not _of(table, "wide"):
        return None
    return ClusterWide(
        in_recovery=_flag(table, "recovery"),
        exclusive_backup=_flag(table, "backup"),
        settings=tuple(_setting(values) for values in _of(table, "source")),
        closed=tuple(_closed(values) for values in _of(table, "closed")),
        hba=tuple(_rule(each) for each in _of(table, "hba")) or None,
        role_settings=tuple(RoleSetting(*each) for each in _of(table, "role")),
        slots=tuple(Slot(name, kind, database, active in TRUE) for name, kind, database, active in _of(table, "slot")),
        subscriptions=tuple(
            Subscription(database, name, enabled in TRUE) for database, name, enabled in _of(table, "subscription")
        ),
        receivers=tuple(Receiver(*each) for each in _of(table, "receiver")),
        prepared=tuple(f"{database}: {name}" for database, name in _of(table, "prepared")),
        workers=tuple(each[0] for each in _of(table, "worker")),
        programs=tuple(each[0] for each in _of(table, "program")),
        pgbackrest={each[0]: each[1] for each in _of(table, "pgbackrest")},
        pending=tuple(each[0] for each in _of(table, "pending")),
        kept_wal_bytes=_number(table, "kept") if _of(table, "kept") else None,
        idle_wal_bytes=_number(table, "idle") if _of(table, "idle") else None,
    )


def catalogs(table: Sequence[Row]) -> Catalogs | None:
    """What the catalogs of one database say; None where the last of its rows is missing: one query failed.

    Raises:
        ValueError: a number is none.
    """
    # as above, of one database
    if not _of(table, "whole"):
        return None
    counted = _of(table, "objects")
    tables, indexes, large_objects = map(int, counted[0]) if counted else (None, None, None)
    return Catalogs(
        extensions=tuple(Extension(*each) for each in _of(table, "extension")),
        libraries=tuple(Library(name, int(number), example) for name, number, example in _of(table, "library")),
        collations=tuple(_collation(each) for each in _of(table, "collation")),
        ordered=tuple(
            Ordered(kind, name, of, tuple(names.split(",")), int(size))
            for kind, name, of, names, size in _of(table, "ordered")
        ),
        unlogged=_number(table, "unlogged"),
        publications=_number(table, "publications"),
        tables=tables,
        indexes=indexes,
        large_objects=large_objects,
        toast_tables=_number(table, "toasted") if _of(table, "toasted") else None,
        dictionaries=tuple(Dictionary(*each) for each in _of(table, "dictionary")),
        foreign_files=tuple(ForeignFile(*each) for each in _of(table, "foreign")),
        bloated=tuple(Bloated(name, int(size), int(wasted)) for name, size, wasted in _of(table, "bloated")),
    )


def _collation(values: tuple[str, ...]) -> Collation:
    name, provider, locale, recorded, actual, objects, size = values
    return Collation(
        name,
        PROVIDERS.get(provider, provider),
        locale,
        recorded or None,
        actual or None,
        int(objects),
        int(size or 0),
    )


def _setting(values: tuple[str, ...]) -> Setting:
    name, value, hidden, source, file, line = values
    # a hidden value is not even empty: it is not known
    return Setting(name, None if hidden in TRUE else value, source, file or None, int(line) if line else None)


def _rule(values: tuple[str, ...]) -> HbaRule:
    line, kind, databases, users, address, method, error, options = values
    named = tuple(filter(None, options.split("\n")))
    return HbaRule(int(line), kind, databases, users, address, method, error, named)


def _closed(values: tuple[str, ...]) -> ClosedDatabase:
    name, size, encoding, collate, ctype, provider, locale, half_dropped = values
    of = PROVIDERS.get(provider, provider)
    return ClosedDatabase(name, int(size), encoding, collate, ctype, of, locale or None, half_dropped in TRUE)


def _of(table: Sequence[Row], kind: str) -> list[tuple[str, ...]]:
    return [values for each, values in table if each == kind]


def _flag(table: Sequence[Row], kind: str) -> bool:
    return any(values[0] in TRUE for values in _of(table, kind))


def _number(table: Sequence[Row], kind: str) -> int:
    return sum(int(values[0]) for values in _of(table, kind))

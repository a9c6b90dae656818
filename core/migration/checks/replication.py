"""Two servers with one identity: who receives from old, who is told by it, and what starts work by itself."""

from collections.abc import Sequence

from core.facts.model import Cluster
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.catalogs import age, binaries, cluster_wide, databases, listed
from core.migration.findings.finding import (
    NOTHING,
    Case,
    Finding,
    no_cluster,
    no_settings,
    passed,
    unknown,
    warning,
)
from core.migration.findings.pgbackrest import UNREADABLE, configuration_files, data_paths, same

_OFF = ("off", "")


def archiving(case: Case) -> Finding:
    """Old archives no WAL: a copy that is started beside it would write into the same archive."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    mode = cluster.settings.get("archive_mode")
    if mode is None:
        return unknown(
            NOTHING,
            NOTHING,
            f"archive_mode is not known: {no_settings(case)}",
            "read archive_mode in postgresql.conf",
        )
    if mode in _OFF:
        return passed(f"archive_mode {mode or 'off'}", NOTHING, "nothing is archived")
    programs = listed(list(cluster.wide.programs)) if cluster.wide is not None else ""
    library = cluster.settings.get("archive_library", "")
    how = ", ".join(word for word in (programs, library) if word)
    return warning(
        f"archive_mode {mode}" + (f": {how}" if how else ""),
        NOTHING,
        "old archives its WAL, and new will by the same command: both may write to one archive, or new cannot reach it",
        "the local-only start is without archiving; from the cutover on new archives as old did: see that the command "
        "works there and writes to a place of its own, and take a base backup then: the old ones end with old",
    )


def pgbackrest(case: Case) -> Finding:
    """PgBackRest on new is told the data directory that the cluster will have there."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    options = wide.pgbackrest
    if not options:
        return passed("none", NOTHING, "archive_command does not run pgBackRest" + age(cluster))
    stanza = options.get("stanza", "")
    old = " ".join(["pgBackRest", *(f"--{name}={value}" for name, value in sorted(options.items()) if name)])
    asked = binaries(case, old)
    if isinstance(asked, Finding):
        return asked
    target = case.move.target
    paths = data_paths(options, asked.pgbackrest)
    words = [f"{each.option}={each.path}, {each.place}" for each in paths]
    words += [f"{file}: unreadable for the owner" for file, text in asked.pgbackrest if text == UNREADABLE]
    new = "; ".join(words) or "none"
    if any(same(each.path, target) for each in paths):
        return passed(old, new, "pgBackRest on new has the data directory of the move" + age(cluster))
    if not paths:
        return warning(
            old,
            new,
            "pgBackRest on the new server is told no data directory for this cluster: archiving fails from the "
            "cutover on",
            f"before the cutover write pg1-path={target} into section [{stanza or 'STANZA'}] of "
            f"{configuration_files(options)[0]} on the new server, with the repository as on the old one",
        )
    return warning(
        old,
        new,
        f"pgBackRest on the new server has another data directory than {target}: archiving fails from the cutover on",
        f"before the cutover write {paths[0].option}={target} there ({paths[0].place}), and after it run pgbackrest "
        f"--stanza={stanza or 'STANZA'} check",
    )


def slots(case: Case) -> Finding:
    """No replication slots: they travel with the files, but who reads from them knows old alone."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    return _none(
        cluster,
        [f"{slot.name} ({slot.kind}, {'active' if slot.active else 'inactive'})" for slot in wide.slots],
        "replication slots",
        "they travel with the files and hold back WAL on new until somebody reads from them",
        "lead each consumer to new, or drop its slot there: select pg_drop_replication_slot('NAME')",
    )


def subscriptions(case: Case) -> Finding:
    """No subscriptions: started twice, two subscribers share one slot of the publisher."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    return _none(
        cluster,
        [
            f"{each.name} in {each.database} ({'enabled' if each.enabled else 'disabled'})"
            for each in wide.subscriptions
        ],
        "subscriptions",
        "new goes on with them once it is opened; with old running too, two subscribers would take from one slot",
        "have the publisher let new in (pg_hba.conf there); until new is opened they are held back, and old stays down",
    )


def publications(case: Case) -> Finding:
    """No publications: their subscribers are led to old."""
    found, cluster = databases(case), case.cluster
    if isinstance(found, Finding) or cluster is None:
        return found if isinstance(found, Finding) else no_cluster(case)
    return _none(
        cluster,
        [f"{database.name}: {catalogs.publications}" for database, catalogs in found if catalogs.publications],
        "publications",
        "they travel with the files, but their subscribers reach for old's address",
        "lead each subscriber to new: ALTER SUBSCRIPTION … CONNECTION; their slots travel too",
    )


def standbys(case: Case) -> Finding:
    """Nobody receives old's WAL: standbys, archivers, running base backups."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    backups = ["an exclusive backup"] if wide.exclusive_backup else []
    return _none(
        cluster,
        [*(f"{each.name} from {each.address or 'a socket'} ({each.state})" for each in wide.receivers), *backups],
        "receivers of its WAL",
        "standbys follow old's address, and a base backup that runs while old stops is lost",
        "let backups end first; give each standby new's address in primary_conninfo once new runs, or build it anew",
    )


def prepared_transactions(case: Case) -> Finding:
    """No prepared transactions: they travel, hold their locks, and wait for whoever prepared them."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    return _none(
        cluster,
        list(wide.prepared),
        "prepared transactions",
        "they survive the move with all their locks, until somebody commits them or rolls them back",
        "have their transaction manager end them before the stop: COMMIT PREPARED or ROLLBACK PREPARED",
    )


_SCHEDULERS = {"pg_cron": "pg_cron", "pgagent": "pgAgent", "pg_partman": "pg_partman", "timescaledb": "TimescaleDB"}


def schedulers(case: Case) -> Finding:
    """Nothing inside the cluster starts work by itself: it would as soon as new is opened."""
    found, whole = databases(case), cluster_wide(case)
    if isinstance(whole, Finding):
        return whole
    if isinstance(found, Finding):
        return found
    cluster, wide = whole
    names = [
        f"{_SCHEDULERS[extension.name]} in {database.name}"
        for database, catalogs in found
        for extension in catalogs.extensions
        if extension.name in _SCHEDULERS
    ]
    return _none(
        cluster,
        [*names, *wide.workers],
        "schedulers and background workers",
        "their jobs run on new once it is opened; until then the plan holds back every background worker",
        "read the jobs for what belongs to old's host; programs of their own, pgAgent's or pg_timetable's, start "
        "for new only after the opening",
    )


def unlogged(case: Case) -> Finding:
    """Unlogged tables: whole after a clean shutdown, empty after any other."""
    found, cluster = databases(case), case.cluster
    if isinstance(found, Finding) or cluster is None:
        return found if isinstance(found, Finding) else no_cluster(case)
    having = [f"{database.name}: {catalogs.unlogged}" for database, catalogs in found if catalogs.unlogged]
    if not having:
        return passed("none", NOTHING, "no database has unlogged tables" + age(cluster))
    return passed(
        listed(having),
        NOTHING,
        "unlogged tables come over whole, for old is shut down cleanly; a standby would have them empty" + age(cluster),
    )


def checksums(case: Case) -> Finding:
    """Data checksums travel with the cluster; without them nothing shows a page that was damaged on old's disk."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    state = cluster.settings.get("data_checksums")
    if state is None:
        return passed("none in this series", NOTHING, f"series {cluster.series} has no data checksums")
    return passed(
        f"data_checksums {state}",
        NOTHING,
        "they travel with the cluster, and are on"
        if state == "on"
        else "they are off: pg_checksums --enable turns them on while the cluster is stopped (series 12 and later)",
    )


def _none(cluster: Cluster, having: Sequence[str], what: str, why: str, hint: str) -> Finding:
    """Pass where there are none, else a warning that names them."""
    if not having:
        return passed("none", NOTHING, f"no {what}{age(cluster)}")
    return warning(listed(list(having)), NOTHING, f"{what}: {why}{age(cluster)}", hint)


CHECKS: tuple[Check, ...] = (
    (Declaration("archiving", "WAL archiving", False, "archive_mode of old", "continuous-archiving"), archiving),
    (
        Declaration(
            "pgbackrest",
            "data directory of pgBackRest",
            False,
            "archive_command of old, the configuration of pgBackRest on new, the target",
            "continuous-archiving",
        ),
        pgbackrest,
    ),
    (Declaration("slots", "replication slots", False, "pg_replication_slots of old", "warm-standby"), slots),
    (
        Declaration("subscriptions", "subscriptions", False, "pg_subscription of old", "logical-replication"),
        subscriptions,
    ),
    (
        Declaration("publications", "publications", False, "pg_publication of old", "logical-replication"),
        publications,
    ),
    (
        Declaration("standbys", "standbys and WAL receivers", False, "pg_stat_replication of old", "warm-standby"),
        standbys,
    ),
    (
        Declaration(
            "prepared-transactions",
            "prepared transactions",
            False,
            "pg_prepared_xacts of old",
            "sql-prepare-transaction",
        ),
        prepared_transactions,
    ),
    (
        Declaration("schedulers", "schedulers in the cluster", False, "extensions and workers of old", "bgworker"),
        schedulers,
    ),
    (
        Declaration("unlogged", "unlogged tables", False, "pg_class of every database on old", "sql-createtable"),
        unlogged,
    ),
    (
        Declaration("checksums", "data checksums", False, "pg_controldata of old", "app-initdb"),
        checksums,
    ),
)

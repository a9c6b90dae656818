"""What starts work by itself inside a cluster, and the isolation settings that hold it back in a local-only start.

Until the cutover, the copy may still be thrown away and the old cluster started again. Until then nothing in it may act
beyond it: take rows from a publisher, run jobs, hand out WAL, archive, call functions at logins. A setting on the
server's command line is stronger than every file and than ALTER SYSTEM; ALTER DATABASE and ALTER ROLE are stronger than
it, where they may change a setting at all.

Why each, from PostgreSQL's sources of the major version named:

- Subscriptions: without workers for them no launcher is there to start one (ApplyLauncherRegister); a publisher's slot
  stays where it is.
- Libraries loaded at the start register background workers. The server takes none beyond max_worker_processes, says so
  in its log and goes on (RegisterBackgroundWorker): so pg_cron, TimescaleDB, pg_partman_bgw, pglogical and all others
  stay still. The library itself is loaded: types and access methods of the cluster may need it. 9.3 has workers and no
  bound. Workers of a parallel query or index build count as well.
- Without WAL senders no consumer on new's own host moves a slot, of which old's would never learn.
- Where synchronous_standby_names is set, a commit would wait for a standby that is not there.
- Autovacuum calls users' functions, those of indexes, and takes from the disk what everybody waits for.
- What the control file demands of max_worker_processes and max_wal_senders binds in recovery alone
  (CheckRequiredParameterValues); a cluster that was shut down cleanly has none.

The start itself writes to pghaul-start.log, in English: why a server does not start must be seen where pghaul looks,
whatever log the cluster keeps, in whatever form and language.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

from core.facts.model import Cluster
from core.migration.findings.binaries import list_preloaded_libraries
from core.migration.findings.releases import numbers


@dataclass(frozen=True, slots=True)
class _Setting:
    text: str
    since: tuple[int, ...] = ()


_WORKERS = _Setting("max_worker_processes=0", (9, 4))
_SETTINGS = (
    _Setting("listen_addresses=localhost"),
    _Setting("autovacuum=off"),
    _Setting("local_preload_libraries="),
    _Setting("log_destination=stderr"),
    _Setting("logging_collector=off", (8, 3)),
    _Setting("lc_messages=C"),
    _Setting("archive_mode=off", (8, 3)),
    _Setting("max_wal_senders=0", (9, 0)),
    _Setting("synchronous_standby_names=", (9, 1)),
    _Setting("session_preload_libraries=", (9, 4)),
    _WORKERS,
    _Setting("max_logical_replication_workers=0", (10,)),
    _Setting("event_triggers=off", (17,)),
)
_WORKERS_WITHOUT_BOUND = ("9.3",)
_QUIET = frozenset(
    {
        *("auth_delay", "auto_explain", "passwordcheck", "pg_overexplain", "pg_stat_statements", "sepgsql"),
        *("pgaudit", "pg_hint_plan", "pg_stat_kcache"),
    }
)
"""Libraries that start no worker and call no function of a user when a session begins: contrib's, and some others."""


def list_isolation_settings(cluster: Cluster) -> tuple[str, ...]:
    """Return the isolation settings that the cluster's major version has, as `NAME=VALUE`. No value has a space."""
    major_version = numbers(cluster.series)
    return tuple(each.text for each in _SETTINGS if major_version >= each.since)


def list_isolation_settings_for_rebuild(cluster: Cluster) -> tuple[str, ...]:
    """The same for a start that builds indexes: with parallel workers, where nothing else would make use of them."""
    pending = cluster.wide is None or "shared_preload_libraries" in cluster.wide.pending
    if pending or list_libraries_that_may_start_work(cluster):
        return list_isolation_settings(cluster)
    return tuple(each for each in list_isolation_settings(cluster) if each != _WORKERS.text)


def list_unbound_worker_libraries(cluster: Cluster) -> tuple[str, ...]:
    """Libraries loaded at the start whose background workers nothing can hold back."""
    return list_libraries_that_may_start_work(cluster) if cluster.series in _WORKERS_WITHOUT_BOUND else ()


def list_session_libraries(cluster: Cluster) -> tuple[str, ...]:
    """Libraries that sessions of one role or database load, whatever the server's command line says."""
    settings = cluster.wide.settings if cluster.wide is not None else ()
    named = [each.value for each in settings if each.source == "database or role" and each.value]
    return _without_harmless_libraries(tuple(word.strip().strip('"') for value in named for word in value.split(",")))


def list_libraries_that_may_start_work(cluster: Cluster) -> tuple[str, ...]:
    """Libraries loaded at the start of which nobody knows that they start nothing."""
    return _without_harmless_libraries(list_preloaded_libraries(cluster)[0])


def _without_harmless_libraries(libraries: tuple[str, ...]) -> tuple[str, ...]:
    """Those of which nobody knows that they start nothing."""
    return tuple(each for each in libraries if PurePosixPath(each).name.removesuffix(".so") not in _QUIET | {""})

"""What starts work by itself inside a cluster, and the isolation settings that prevent it in a local-only start.

Until the cutover, the copy may still be discarded and the old cluster started again. Until then nothing in the copy may
have an effect elsewhere: receive rows from a publisher, run jobs, send or archive WAL, or call functions at logins. A
setting on the server's command line overrides every file and ALTER SYSTEM. ALTER DATABASE and ALTER ROLE override the
command line, if they can change a setting at all.

The reason for each setting, from PostgreSQL's sources of the major version:

- Subscriptions: if no worker is available, no launcher exists to start one (ApplyLauncherRegister), and the slot of the
  publisher does not move.
- Libraries loaded at the start register background workers. The server refuses workers above max_worker_processes, logs
  this and goes on (RegisterBackgroundWorker). So pg_cron, TimescaleDB, pg_partman_bgw, pglogical and all others do
  nothing. The library itself is loaded, because types and access methods of the cluster may need it. 9.3 has workers
  but no such limit. Workers of a parallel query or index build count, too.
- Without WAL senders no consumer on the new host can move a slot, of which the slot on the old server would not learn.
- If synchronous_standby_names is set, a commit would wait for a standby that is not connected.
- Whoever examines the copy must not write to it by mistake: a rollback would lose that.
- Autovacuum calls users' functions in indexes, and uses disk bandwidth while everybody waits.
- The values of max_worker_processes and max_wal_senders in the control file are required only in recovery
  (CheckRequiredParameterValues). A cluster that was shut down cleanly needs no recovery.

The start writes to pghaul-start.log, in English, whatever log the cluster has: pghaul must find there why a server does
not start.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

from core.facts.model import Cluster
from core.migration.findings.binaries import list_preloaded_libraries
from core.migration.findings.releases import version_numbers


@dataclass(frozen=True, slots=True)
class _Setting:
    text: str
    since: tuple[int, ...] = ()


_WORKERS = _Setting("max_worker_processes=0", (9, 4))
_SETTINGS = (
    _Setting("listen_addresses="),
    _Setting("default_transaction_read_only=on"),
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
_HARMLESS = frozenset(
    {
        *("auth_delay", "auto_explain", "passwordcheck", "pg_overexplain", "pg_stat_statements", "sepgsql"),
        *("pgaudit", "pg_hint_plan", "pg_stat_kcache"),
    }
)
"""Libraries that start no worker and call no user's function when a session begins: from contrib and elsewhere."""


def list_isolation_settings(cluster: Cluster) -> tuple[str, ...]:
    """Return the isolation settings that the cluster's major version has, as `NAME=VALUE`. No value has a space."""
    major_version = version_numbers(cluster.series)
    return tuple(each.text for each in _SETTINGS if major_version >= each.since)


def list_isolation_settings_for_rebuild(cluster: Cluster) -> tuple[str, ...]:
    """Return the isolation settings of a start that rebuilds indexes.

    Parallel workers are allowed if no library can use them for other work.
    """
    pending = cluster.wide is None or "shared_preload_libraries" in cluster.wide.pending
    if pending or list_libraries_that_may_start_work(cluster):
        return list_isolation_settings(cluster)
    return tuple(each for each in list_isolation_settings(cluster) if each != _WORKERS.text)


def list_unbound_worker_libraries(cluster: Cluster) -> tuple[str, ...]:
    """Return libraries loaded at the start whose background workers no setting can prevent."""
    return list_libraries_that_may_start_work(cluster) if cluster.series in _WORKERS_WITHOUT_BOUND else ()


def list_session_libraries(cluster: Cluster) -> tuple[str, ...]:
    """Return libraries that sessions of a role or database load; the command line cannot override them."""
    settings = cluster.wide.settings if cluster.wide is not None else ()
    named = [each.value for each in settings if each.source == "database or role" and each.value]
    return _without_harmless_libraries(tuple(word.strip().strip('"') for value in named for word in value.split(",")))


def list_libraries_that_may_start_work(cluster: Cluster) -> tuple[str, ...]:
    """Return libraries loaded at the start, except those known to start no work."""
    return _without_harmless_libraries(list_preloaded_libraries(cluster)[0])


def _without_harmless_libraries(libraries: tuple[str, ...]) -> tuple[str, ...]:
    """Return the libraries except those known to start no work."""
    return tuple(each for each in libraries if PurePosixPath(each).name.removesuffix(".so") not in _HARMLESS | {""})

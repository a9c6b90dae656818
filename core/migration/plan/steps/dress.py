"""The steps of a dress rehearsal: the copied cluster is started on the new server and examined.

The pass before it runs within a backup of the old server, which a session of `resources/sh/dress.sh` keeps open. The
copy stays in recovery, so that it begins no timeline and writes nothing but what it replays. Start, examination and
stop are one step: however it ends, the copy is stopped. The next execution compares byte by byte all files that the
start has changed, as it does with all files that none of its own passes has copied.
"""

from typing import LiteralString

from core import units
from core.migration.findings.data_roots import link_targets
from core.migration.findings.dress import backup_functions, list_recovery_isolation_settings
from core.migration.findings.local_start import list_libraries_that_may_start_work
from core.migration.findings.query_scripts import query_database
from core.migration.model import step_ids
from core.migration.model.dress import Queries, RehearsalOptions, Script
from core.migration.model.plan import (
    ONLY_LOOKS,
    ROOT_USER,
    ChannelUse,
    Phase,
    RemoteCall,
    ResumePolicy,
    Step,
    Verification,
)
from core.migration.plan import cluster_control
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.inventory import connection_arguments, native_psql, time_limit
from core.migration.transports import passes
from core.servers.shell import call, command
from core.sides import Side

_SOCKET = "/tmp/pghaul-dress.…"  # noqa: S108  only shown; dress.sh makes a directory that only this user can enter
_AMCHECK: LiteralString = (
    "select bt_index_check(c.oid), relname from pg_class c where relam = 403 and relkind = 'i' and relpersistence = 'p'"
)
_PROGRAMS = ("postgres", "psql", "pg_waldump")

_OF_THE_SERVER = ("configuration file", "command line", "environment variable")
"""The sources of the settings with which the copy runs. Settings of roles and databases are checked in the copy."""

_START_SECONDS, _FILES_A_SECOND = 900, 200
"""How long a start may take: after a backup the server first flushes every file (SyncDataDirectory, fd.c)."""


_CALM_SECONDS = 4, 30
"""For how many seconds the old server is watched before the backup: one for each gigabyte within these bounds."""


def prepare_rehearsal(context: PlanContext, queries: Queries | None) -> list[Step]:
    """Return the steps before the pre-copy passes of a dress rehearsal.

    They check that the required programs exist, check the role of the queries, and measure the queries on the old
    server if that was chosen.
    """
    if queries is None:
        return [_check_programs(context, _PROGRAMS)]
    checks = [_check_programs(context, (*_PROGRAMS, "pgbench")), _check_role(context, queries)]
    return [*checks, _measure_queries_on_old(context, queries)] if queries.on_old else checks


def rehearsal_steps(context: PlanContext, options: RehearsalOptions) -> list[Step]:
    """Return the steps after the pre-copy passes: one more pass as a backup, and the run of the copy."""
    drop_cache = [_drop_page_cache()] if options.queries is not None else []
    return [_backup_pass(context, options), *drop_cache, _run_copy(context, options), _stop_copy(context)]


def _check_programs(context: PlanContext, programs: tuple[str, ...]) -> Step:
    """Return the check that the required programs exist and load no library that other users can write."""
    wide = context.cluster.wide
    settings = (
        {each.name: each.value or "" for each in wide.settings if each.source in _OF_THE_SERVER}
        if wide is not None
        else {}
    )
    loaded = settings.get("shared_preload_libraries", ""), settings.get("dynamic_library_path", "")
    return Step(
        id=step_ids.CHECK_REHEARSAL_PROGRAMS,
        title="Check that the new server has the programs for the copy",
        action=RemoteCall(
            side=Side.NEW,
            user=context.channel.writer,
            call=str(call("dress_check_programs", context.new_path, *loaded, *programs)),
            native=(command("ls", *(cluster_control.program(context.new_path, each) for each in programs)).text,),
        ),
        reason="The step that needs them comes only after hours of copying.",
        undo=ONLY_LOOKS,
        phase=Phase.PREPARE,
        in_rehearsal=True,
        resume=ResumePolicy(required=True),
        verification=Verification(only_checks=True),
    )


def _check_role(context: PlanContext, queries: Queries) -> Step:
    socket, port = context.cluster.socket_directory, context.cluster.port or 5432
    where = connection_arguments(context.old_path, socket, port, context.cluster.series)
    return Step(
        id=step_ids.CHECK_QUERIES_ROLE,
        title=f"Check that the role {queries.role} has no administrator rights",
        action=RemoteCall(
            side=Side.OLD,
            user=context.owner,
            call=str(call("check_role", query_database(queries, context.cluster), queries.role, *where)),
            native=(native_psql(socket, port, "postgres", "table pg_auth_members"),),
        ),
        reason="The queries run as this role, as your application runs them. What its functions, views and foreign "
        "tables do for the application, they do here, too.",
        undo=ONLY_LOOKS,
        phase=Phase.PREPARE,
        in_rehearsal=True,
        resume=ResumePolicy(required=True),
        verification=Verification(only_checks=True),
    )


def _measure_queries_on_old(context: PlanContext, queries: Queries) -> Step:
    socket, port = context.cluster.socket_directory, context.cluster.port or 5432
    measured = (
        "run_while_followed",
        "measure_twice",
        "old",
        context.old_path,
        socket or "-",
        port,
        context.cluster.series,
    )
    # not detached: a detached job would store the password on disk, and the step must end with the workstation
    return Step(
        id=step_ids.MEASURE_QUERIES_OLD,
        title="Measure the queries on the old server",
        action=RemoteCall(
            side=Side.OLD,
            user=context.owner,
            call=str(call("run_with_queries", *_query_arguments(queries, context), *measured, context.move.cluster)),
            native=_native_pgbench(context.old_path, socket, port, queries, context),
        ),
        reason=f"They run as the role {queries.role}, in transactions that are read-only by default and have a time "
        "limit. The first run fills the caches, the second run counts.",
        undo="What functions of the role have done cannot be undone. The sessions end with the measurement.",
        phase=Phase.PREPARE,
        in_rehearsal=True,
    )


def _drop_page_cache() -> Step:
    return Step(
        id=step_ids.REHEARSE_DROP_CACHE,
        title="Drop the page cache of the new server",
        action=RemoteCall(
            side=Side.NEW,
            user=ROOT_USER,
            call=str(call("drop_cache_for_queries")),
            native=("sync", "echo 3 >/proc/sys/vm/drop_caches"),
            detached=True,
        ),
        reason="The files that were just copied are in its memory. The first run of the queries is to read them from "
        "disk.",
        undo="Nothing to undo: the cache fills again.",
        phase=Phase.DRESS,
        in_rehearsal=True,
    )


def script_arguments(script: Script) -> tuple[str | int, ...]:
    """Return the arguments of run_with_queries that hand over a script: its weight, and its lines with their number."""
    lines = script.text.removesuffix("\n").split("\n")
    return script.weight, len(lines), *lines


def _query_arguments(queries: Queries, context: PlanContext) -> tuple[str | int, ...]:
    """Return the arguments of run_with_queries that come before the function that measures the queries."""
    scripts = [word for each in queries.scripts for word in script_arguments(each)]
    where = query_database(queries, context.cluster), queries.role
    return *where, queries.clients, queries.seconds, len(queries.scripts), *scripts


def _native_pgbench(
    path: str, socket: str | None, port: int, queries: Queries, context: PlanContext
) -> tuple[str, ...]:
    """Return the command by which a person measures the queries once.

    Args:
        path: the PATH of the cluster's programs.
        socket: the directory of the Unix socket; None for the default of the programs.
        port: the port of the cluster.
        queries: the queries with their role and number of clients.
        context: the move with everything that is known of both servers.
    """
    limits = f"-c default_transaction_read_only=on -c statement_timeout={queries.seconds}s"
    files = [word for each in queries.scripts for word in ("-f", f"{each.name}@{each.weight}")]
    program = command(
        *("env", f"PGOPTIONS={limits}", cluster_control.program(path, "pgbench"), "-n"),
        *(
            "-U",
            queries.role,
            "-c",
            queries.clients,
            "-T",
            queries.seconds,
            *(("-h", socket) if socket else ()),
            "-p",
            port,
            *files,
        ),
        query_database(queries, context.cluster),
    )
    return (program.text,)


def _backup_pass(context: PlanContext, rehearsal: RehearsalOptions) -> Step:
    seconds, size = time_limit(context.cluster.size_bytes), context.cluster.size_bytes or 0
    calm = min(max(size // 10**9, _CALM_SECONDS[0]), _CALM_SECONDS[1])
    limit: int | str = "-"
    reason = (
        "A copy of a running cluster can be started only as a backup. The old server keeps the WAL of that time. If "
        "that were more than a quarter of its free space, the step ends."
    )
    if rehearsal.keep_wal_bytes is not None:
        limit = rehearsal.keep_wal_bytes
        reason = (
            "A copy of a running cluster can be started only as a backup. The old server keeps the WAL of that time. "
            f"If that were more than {units.size(limit)}, the step ends."
        )
    connection = connection_arguments(
        context.old_path,
        context.cluster.socket_directory,
        context.cluster.port or 5432,
        context.cluster.series,
        seconds,
    )
    roots = [
        word for root in context.roots for word in (root.label, root.source, root.target, passes.part_argument(root))
    ]
    # A copy of a running cluster can be started only as a base backup: all WAL from its start to its end must be
    # replayed (PostgreSQL's manual, chapter Making a Base Backup Using the Low Level API). A slot, if one is free,
    # keeps that WAL on the old server until the pass has copied it.
    begin, end = backup_functions(context.cluster)
    slot = "select pg_create_physical_replication_slot('pghaul_…', true, true)"
    return Step(
        id=step_ids.REHEARSE_PASS,
        title="Copy changed files within a backup",
        action=RemoteCall(
            side=Side.OLD,
            user=context.owner,
            call=str(call("run_beside_server", *context.lists, "dress_pass", *connection, limit, calm, *roots)),
            native=(
                f'psql -d postgres -c "select {begin}" -c "{slot}"',
                *(passes.native_rsync(context.channel, root, *passes.PRESENT) for root in context.roots),
                *(passes.native_rsync(context.channel, root, *passes.MISSING) for root in context.roots),
                f'psql -d postgres -c "select * from {end}" (in the same session)',
            ),
            detached=True,
        ),
        reason=reason,
        undo="Nothing to undo: the backup and its replication slot end with their session.",
        phase=Phase.DRESS,
        in_rehearsal=True,
        resume=ResumePolicy(required=True),
    )


def _run_copy(context: PlanContext, rehearsal: RehearsalOptions) -> Step:
    queries = rehearsal.queries
    user, target, isolation_settings = (
        context.channel.writer,
        context.move.target,
        list_recovery_isolation_settings(context.cluster),
    )
    libraries = list_libraries_that_may_start_work(context.cluster)
    file = f"{target}/pghaul-fence/dress/postgresql.conf"
    program = command(
        *(cluster_control.program(context.new_path, "postgres"), "-D", target),
        *("-c", f"port={context.port}", "-c", f"unix_socket_directories={_SOCKET}", "-c", f"config_file={file}"),
    )
    links = [word for link in link_targets(context.move, context.cluster) for word in link]
    server_options = cluster_control.as_options(isolation_settings)
    server = context.new_path, target, context.port, server_options, context.cluster.series
    wrappers: tuple[str | int, ...] = (
        () if rehearsal.amcheck_seconds is None else ("with_amcheck", rehearsal.amcheck_seconds)
    )
    if queries is not None:
        wrappers = "run_with_queries", *_query_arguments(queries, context), *wrappers
    words = *wrappers, "dress_run_copy", *server, _START_SECONDS + context.lists[0] // _FILES_A_SECOND, *links
    return Step(
        id=step_ids.REHEARSE_START,
        title="Start the copy on the new server, examine its databases, and stop it",
        action=RemoteCall(
            side=Side.NEW,
            user=user,
            call=str(call(str(words[0]), *words[1:])),
            native=(
                f"{program} {server_options}",
                *(
                    _native_pgbench(context.new_path, _SOCKET, context.port, queries, context)
                    if queries is not None
                    else ()
                ),
                native_psql(_SOCKET, context.port, "postgres", "select pg_is_in_recovery(), version()"),
                *(
                    ()
                    if rehearsal.amcheck_seconds is None
                    else (native_psql(_SOCKET, context.port, "DATABASE", _AMCHECK),)
                ),
                cluster_control.native_signal(target, "QUIT"),
            ),
            detached=True,
        ),
        reason="The copied cluster must start, and its databases, libraries and dictionaries must be usable. "
        "Meanwhile the old cluster serves its clients. The copy only replays WAL, and no client can reach it."
        + (f" What {', '.join(libraries)} start runs in it, too." if libraries else ""),
        undo="Nothing to undo: the copy is stopped and fenced again, however the step ends.",
        phase=Phase.DRESS,
        in_rehearsal=True,
        resume=ResumePolicy(required=True),
        verification=Verification(only_checks=True),
    )


def _stop_copy(context: PlanContext) -> Step:
    target = context.move.target
    return Step(
        id=step_ids.REHEARSE_STOP,
        title="Check that the copy is stopped",
        action=RemoteCall(
            side=Side.NEW,
            user=context.channel.writer,
            call=str(call("dress_stop_copy", target)),
            native=cluster_control.native_stop_and_fence(target),
        ),
        reason="Nobody may take the copy for the real cluster. If the step before was interrupted, this step stops the "
        "copy.",
        undo="Nothing to undo: the copy is to stay stopped.",
        phase=Phase.DRESS,
        in_rehearsal=True,
        resume=ResumePolicy(required=True, channel=ChannelUse.CLOSES),
    )

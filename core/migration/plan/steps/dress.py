"""The dress rehearsal: the copied cluster itself is started on the new server, and looked at.

Its pass runs inside a backup of the old server, which `resources/sh/dress.sh` holds; the copy stays in recovery, so
that it begins no timeline and writes nothing but what it replays. Start, look and stop are one step: whatever ends it,
the copy is stopped. What the start has touched is compared byte by byte by the next execution, as all that no pass of
its own has brought.
"""

from typing import LiteralString

from core import units
from core.migration.findings.data_roots import link_targets
from core.migration.findings.dress import backup_functions, list_recovery_isolation_settings
from core.migration.findings.local_start import list_libraries_that_may_start_work
from core.migration.findings.query_scripts import database_of
from core.migration.model.dress import Dressing
from core.migration.model.plan import ONLY_LOOKS, ROOT_USER, Phase, Step
from core.migration.model.queries import Queries
from core.migration.plan import cluster_control
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.inventory import native_psql, reached, seconds_for
from core.migration.transports import passes
from core.servers.shell import call, command

DRESSED, PASS = "dress-copy", "dress-pass"
"""The names of the steps in which the copy runs, and in which it is made."""
QUERIES_ON_OLD, QUERIES_COLD = "queries-old", "queries-cold"
"""The names of the steps that measure queries on the old server, and that drop the page cache of the new one."""

_SOCKET = "/tmp/pghaul-dress.…"  # noqa: S108  shown to people; dress.sh makes it for this account alone
_AMCHECK: LiteralString = (
    "select bt_index_check(c.oid), relname from pg_class c where relam = 403 and relkind = 'i' and relpersistence = 'p'"
)
_PROGRAMS = ("postgres", "psql", "pg_waldump")

_OF_THE_SERVER = ("configuration file", "command line", "environment variable")
"""Where the settings come from with which the copy runs; those of a role or of a database are looked at in it."""

_START_SECONDS, _FILES_A_SECOND = 900, 200
"""How long a start may take: behind a backup the server first flushes every file (SyncDataDirectory, fd.c)."""


_CALM_SECONDS = 4, 30
"""For how long the old server is watched before the backup: at least, and at most, a second for each gigabyte."""


def before_copying(context: PlanContext, queries: Queries | None) -> list[Step]:
    """Ahead of the warm passes: what the rest needs is there; and the queries on the old server, if asked for."""
    if queries is None:
        return [_programs(context, _PROGRAMS)]
    ahead = [_programs(context, (*_PROGRAMS, "pgbench")), _role(context, queries)]
    return [*ahead, _queries_on_old(context, queries)] if queries.on_old else ahead


def dress(context: PlanContext, asked: Dressing) -> list[Step]:
    """Behind the warm passes: one more pass, as a backup; the copy on the new server, from its start to its stop."""
    cold = [_cold()] if asked.queries is not None else []
    return [_pass(context, asked), *cold, _copy(context, asked), _end(context)]


def _programs(context: PlanContext, programs: tuple[str, ...]) -> Step:
    """What the copy needs is there, and it loads nothing that others could have written."""
    wide = context.cluster.wide
    settings = (
        {each.name: each.value or "" for each in wide.settings if each.source in _OF_THE_SERVER}
        if wide is not None
        else {}
    )
    loaded = settings.get("shared_preload_libraries", ""), settings.get("dynamic_library_path", "")
    return Step(
        "Check that the new server has the programs for the copy",
        "new",
        context.channel.writer,
        str(call("dress_check_programs", context.new_path, *loaded, *programs)),
        "The step that needs them comes only after hours of copying.",
        ONLY_LOOKS,
        (command("ls", *(cluster_control.program(context.new_path, each) for each in programs)).text,),
        phase=Phase.PREPARE,
        name="dress-programs",
        rehearsed=True,
        skippable=False,
        proves=True,
    )


def _role(context: PlanContext, queries: Queries) -> Step:
    socket, port = context.cluster.socket_directory, context.cluster.port or 5432
    where = reached(context.old_path, socket, port, context.cluster.series)
    return Step(
        f"Check that the role {queries.role} has no administrator rights",
        "old",
        context.owner,
        str(call("check_role", database_of(queries, context.cluster), queries.role, *where)),
        "The queries run as this role, as your application runs them. What its functions, views and foreign tables do "
        "for the application, they do here, too.",
        ONLY_LOOKS,
        (native_psql(socket, port, "postgres", "table pg_auth_members"),),
        phase=Phase.PREPARE,
        name="queries-role",
        rehearsed=True,
        skippable=False,
        proves=True,
    )


def _queries_on_old(context: PlanContext, queries: Queries) -> Step:
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
    # not detached: its job would keep the password on the disk, and without the workstation it is to end
    return Step(
        "Measure the queries on the old server",
        "old",
        context.owner,
        str(call("run_with_queries", *_with(queries, context), *measured, context.move.cluster)),
        f"They run as the role {queries.role}, in transactions that are read-only by default and have a time limit. "
        "The first run fills the caches, the second run counts.",
        "What functions of the role have done cannot be undone. The sessions end with the measurement.",
        _native_pgbench(context.old_path, socket, port, queries, context),
        phase=Phase.PREPARE,
        name=QUERIES_ON_OLD,
        rehearsed=True,
    )


def _cold() -> Step:
    return Step(
        "Drop the page cache of the new server",
        "new",
        ROOT_USER,
        str(call("drop_cache_for_queries")),
        "The files that were just copied are in its memory. The first run of the queries is to read them from disk.",
        "Nothing to undo: the cache fills again.",
        ("sync", "echo 3 >/proc/sys/vm/drop_caches"),
        phase=Phase.DRESS,
        name=QUERIES_COLD,
        detached=True,
        rehearsed=True,
    )


def _with(queries: Queries, context: PlanContext) -> tuple[str | int, ...]:
    """The words of run_with_queries ahead of the function that measures these queries."""
    scripts: list[str | int] = []
    for each in queries.scripts:
        lines = each.text.removesuffix("\n").split("\n")
        scripts += [each.weight, len(lines), *lines]
    where = database_of(queries, context.cluster), queries.role
    return *where, queries.clients, queries.seconds, len(queries.scripts), *scripts


def _native_pgbench(
    path: str, socket: str | None, port: int, queries: Queries, context: PlanContext
) -> tuple[str, ...]:
    """What a person would type for one run."""
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
        database_of(queries, context.cluster),
    )
    return (program.text,)


def _pass(context: PlanContext, asked: Dressing) -> Step:
    seconds, size = seconds_for(context.cluster.size_bytes), context.cluster.size_bytes or 0
    calm = min(max(size // 10**9, _CALM_SECONDS[0]), _CALM_SECONDS[1])
    limit: int | str = "-"
    reason = (
        "A copy of a running cluster can be started only as a backup. The old server keeps the WAL of that time. If "
        "that were more than a quarter of its free space, the step ends."
    )
    if asked.keep_wal_bytes is not None:
        limit = asked.keep_wal_bytes
        reason = (
            "A copy of a running cluster can be started only as a backup. The old server keeps the WAL of that time. "
            f"If that were more than {units.size(limit)}, the step ends."
        )
    old = reached(
        context.old_path,
        context.cluster.socket_directory,
        context.cluster.port or 5432,
        context.cluster.series,
        seconds,
    )
    roots = [word for root in context.roots for word in (root.label, root.source, root.target, passes.part_of(root))]
    begin, end = backup_functions(context.cluster)
    slot = "select pg_create_physical_replication_slot('pghaul_…', true, true)"
    return Step(
        "Copy changed files within a backup",
        "old",
        context.owner,
        str(call("run_beside_server", *context.lists, "dress_pass", *old, limit, calm, *roots)),
        reason,
        "Nothing to undo: the backup and its replication slot end with their session.",
        (
            f'psql -d postgres -c "select {begin}" -c "{slot}"',
            *(passes.native(context.channel, root, *passes.PRESENT) for root in context.roots),
            *(passes.native(context.channel, root, *passes.MISSING) for root in context.roots),
            f'psql -d postgres -c "select * from {end}" (in the same session)',
        ),
        phase=Phase.DRESS,
        name=PASS,
        detached=True,
        rehearsed=True,
        skippable=False,
    )


def _copy(context: PlanContext, asked: Dressing) -> Step:
    queries = asked.queries
    user, target, held = context.channel.writer, context.move.target, list_recovery_isolation_settings(context.cluster)
    started = list_libraries_that_may_start_work(context.cluster)
    file = f"{target}/pghaul-fence/dress/postgresql.conf"
    program = command(
        *(cluster_control.program(context.new_path, "postgres"), "-D", target),
        *("-c", f"port={context.port}", "-c", f"unix_socket_directories={_SOCKET}", "-c", f"config_file={file}"),
    )
    links = [word for link in link_targets(context.move, context.cluster) for word in link]
    options = cluster_control.as_options(held)
    where = context.new_path, target, context.port, options, context.cluster.series
    ahead: tuple[str | int, ...] = () if asked.amcheck_seconds is None else ("with_amcheck", asked.amcheck_seconds)
    if queries is not None:
        ahead = "run_with_queries", *_with(queries, context), *ahead
    words = *ahead, "dress_run_copy", *where, _START_SECONDS + context.lists[0] // _FILES_A_SECOND, *links
    return Step(
        "Start the copy on the new server, examine its databases, and stop it",
        "new",
        user,
        str(call(str(words[0]), *words[1:])),
        "The copied cluster must start, and its databases, libraries and dictionaries must be usable. Meanwhile the "
        "old cluster serves its clients. The copy only replays WAL, and no client can reach it."
        + (f" What {', '.join(started)} start runs in it, too." if started else ""),
        "Nothing to undo: the copy is stopped and fenced again, however the step ends.",
        (
            f"{program} {options}",
            *(
                _native_pgbench(context.new_path, _SOCKET, context.port, queries, context)
                if queries is not None
                else ()
            ),
            native_psql(_SOCKET, context.port, "postgres", "select pg_is_in_recovery(), version()"),
            *(() if asked.amcheck_seconds is None else (native_psql(_SOCKET, context.port, "DATABASE", _AMCHECK),)),
            f'kill -QUIT "$(head -n 1 {command(target)}/postmaster.pid)"',
        ),
        phase=Phase.DRESS,
        name=DRESSED,
        detached=True,
        rehearsed=True,
        skippable=False,
        proves=True,
    )


def _end(context: PlanContext) -> Step:
    target = context.move.target
    return Step(
        "Check that the copy is stopped",
        "new",
        context.channel.writer,
        str(call("dress_stop_copy", target)),
        "Nobody may take the copy for the real cluster. If the step before was interrupted, this step stops the copy.",
        "Nothing to undo: the copy is to stay stopped.",
        cluster_control.native_give_back(target),
        phase=Phase.DRESS,
        name="dress-end",
        rehearsed=True,
        skippable=False,
        closes=True,
    )

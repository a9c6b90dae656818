"""The dress rehearsal: the copied cluster itself is started on the new server, and looked at.

Its pass runs inside a backup of the old server, which `resources/sh/dress.sh` holds; the copy stays in recovery, so
that it begins no timeline and writes nothing but what it replays. Start, look and stop are one step: whatever ends it,
the copy is stopped. What the start has touched is compared byte by byte by the next execution, as all that no pass of
its own has brought.
"""

from typing import LiteralString

from core import units
from core.migration.findings.data_roots import link_targets
from core.migration.findings.dress import backup_functions, held_in_recovery
from core.migration.findings.local_start import loud
from core.migration.model.dress import Dressing
from core.migration.model.plan import ONLY_LOOKS, Phase, Step
from core.migration.plan import cluster_control
from core.migration.plan.site import Site
from core.migration.plan.steps.inventory import native_psql, reached, seconds_for
from core.migration.transports import passes
from core.servers.shell import call, command

DRESSED, PASS = "dress-copy", "dress-pass"
"""The names of the steps in which the copy runs, and in which it is made."""

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


def dress(site: Site, asked: Dressing) -> list[Step]:
    """Behind the warm passes: one more pass, as a backup; the copy on the new server, from its start to its stop."""
    return [_pass(site, asked), _copy(site, asked), _end(site)]


def ready_for_dress(site: Site) -> Step:
    """Ahead of all copying: what the copy needs is there, and it loads nothing that others could have written."""
    wide = site.cluster.wide
    settings = (
        {each.name: each.value or "" for each in wide.settings if each.source in _OF_THE_SERVER}
        if wide is not None
        else {}
    )
    loaded = settings.get("shared_preload_libraries", ""), settings.get("dynamic_library_path", "")
    return Step(
        "prove that the new server has the programs for the copy",
        "new",
        site.channel.writer,
        str(call("dress_needs", site.new_path, *loaded)),
        "the step that needs them comes behind hours of copying",
        ONLY_LOOKS,
        (command("ls", *(cluster_control.program(site.new_path, each) for each in _PROGRAMS)).text,),
        phase=Phase.PREPARE,
        name="dress-programs",
        rehearsed=True,
        skippable=False,
        proves=True,
    )


def _pass(site: Site, asked: Dressing) -> Step:
    seconds, size = seconds_for(site.cluster.size_bytes), site.cluster.size_bytes or 0
    calm = min(max(size // 10**9, _CALM_SECONDS[0]), _CALM_SECONDS[1])
    limit: int | str = "-"
    reason = (
        "a copy of a running server can be started only as a backup. The old server keeps the WAL of that time, but "
        "never more than a quarter of its free space: then the step ends"
    )
    if asked.keep_wal_bytes is not None:
        limit = asked.keep_wal_bytes
        reason = (
            "a copy of a running server can be started only as a backup. The old server keeps the WAL of that time, "
            f"but never more than {units.size(limit)}: then the step ends"
        )
    old = reached(site.old_path, site.cluster.socket_directory, site.cluster.port or 5432, site.cluster.series, seconds)
    roots = [word for root in site.roots for word in (root.label, root.source, root.target, passes.part_of(root))]
    begin, end = backup_functions(site.cluster)
    slot = "select pg_create_physical_replication_slot('pghaul_…', true, true)"
    return Step(
        "copy what has changed, inside a backup",
        "old",
        site.owner,
        str(call("beside_server", *site.lists, "dress_pass", *old, limit, calm, *roots)),
        reason,
        "nothing to undo: the backup and its slot end with their session",
        (
            f'psql -d postgres -c "select {begin}" -c "{slot}"',
            *(passes.native(site.channel, root, *passes.PRESENT) for root in site.roots),
            *(passes.native(site.channel, root, *passes.MISSING) for root in site.roots),
            f'psql -d postgres -c "select * from {end}" (in the same session)',
        ),
        phase=Phase.DRESS,
        name=PASS,
        detached=True,
        rehearsed=True,
        skippable=False,
    )


def _copy(site: Site, asked: Dressing) -> Step:
    user, target, held = site.channel.writer, site.move.target, held_in_recovery(site.cluster)
    started = loud(site.cluster)
    file = f"{target}/pghaul-fence/dress/postgresql.conf"
    program = command(
        *(cluster_control.program(site.new_path, "postgres"), "-D", target),
        *("-c", f"port={site.port}", "-c", f"unix_socket_directories={_SOCKET}", "-c", f"config_file={file}"),
    )
    links = [word for link in link_targets(site.move, site.cluster) for word in link]
    options = cluster_control.as_options(held)
    where = site.new_path, target, site.port, options, site.cluster.series
    ahead = () if asked.amcheck_seconds is None else ("with_amcheck", asked.amcheck_seconds)
    words = *ahead, "dress_copy", *where, _START_SECONDS + site.lists[0] // _FILES_A_SECOND, *links
    return Step(
        "start the copy on the new server, look at its databases, and stop it",
        "new",
        user,
        str(call(str(words[0]), *words[1:])),
        "the copied cluster itself shows that it starts, and that its databases, libraries and dictionaries can be "
        "used, while the old server serves its clients; it only replays, and no client reaches it"
        + (f". What {', '.join(started)} start runs in it too" if started else ""),
        "it is stopped and fenced again, however the step ends",
        (
            f"{program} {options}",
            native_psql(_SOCKET, site.port, "postgres", "select pg_is_in_recovery(), version()"),
            *(() if asked.amcheck_seconds is None else (native_psql(_SOCKET, site.port, "DATABASE", _AMCHECK),)),
            f'kill -QUIT "$(head -n 1 {command(target)}/postmaster.pid)"',
        ),
        phase=Phase.DRESS,
        name=DRESSED,
        detached=True,
        rehearsed=True,
        skippable=False,
        proves=True,
    )


def _end(site: Site) -> Step:
    target = site.move.target
    return Step(
        "prove that the copy is stopped",
        "new",
        site.channel.writer,
        str(call("dress_end", target)),
        "nobody may take it for the real one; where the step before it was broken off, this stops the copy",
        "nothing to undo",
        cluster_control.native_give_back(target),
        phase=Phase.DRESS,
        name="dress-end",
        rehearsed=True,
        skippable=False,
        closes=True,
    )

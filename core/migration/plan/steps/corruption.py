"""The steps that look for corruption on new: page checksums before its first start, tables and indexes after it.

Both read the whole cluster while it is stopped for its users. So they belong to a plan that compares everything
(`Verify.ALL`); of any other plan they are what the DBA may do later. They find what was broken on old already, which no
comparison of both sides can.

pg_checksums exists since 12, as pg_verify_checksums in 11; pg_amcheck since 14. Where a database does not have the
extension amcheck, it is put into a schema of its own for the time of the look, with no event trigger of the user's
called, and removed again. Nothing of the kind is ever done on old.
"""

from typing import LiteralString

from core.migration.model.move import Verify
from core.migration.model.plan import Phase, Step
from core.migration.plan.site import Site
from core.migration.plan.steps.inventory import DATABASES, ask
from core.servers.shell import Shell, command, environment, script

_ONLY_LOOKS = "nothing to undo: it only looks"
_SCHEMA = "pghaul_amcheck"

_AMCHECK: LiteralString = (
    "there=$(psql -XAtq -d postgres -c \"select 1 from pg_available_extensions where name = 'amcheck'\") || exit\n"
    'if [ -z "$there" ]; then echo \'warning: new has no extension amcheck: tables and indexes were not looked '
    "through'; exit 0; fi\n"
    "away() { PGOPTIONS='-c session_replication_role=replica -c client_min_messages=warning' "
    "psql -Xq -v ON_ERROR_STOP=1 -c @remove@ </dev/null; }\n"
    "trap 'exit 143' TERM INT HUP; trap '[ -z \"$ours\" ] || away' EXIT\n"
    "names=$(psql -XAtq -d postgres -c @databases@) || exit\n"
    "worst=0\n"
    'while IFS= read -r name; do [ -n "$name" ] || continue; export PGDATABASE="$name"; ours=\n'
    "had=$(psql -XAtq -c \"select 1 from pg_extension where extname = 'amcheck'\" </dev/null) || exit\n"
    'if [ -z "$had" ]; then ours=yes; away && '
    "PGOPTIONS='-c session_replication_role=replica' psql -Xq -v ON_ERROR_STOP=1 -c @add@ </dev/null || exit; fi\n"
    'echo "database $name"; pg_amcheck -j @threads@ </dev/null 2>&1 || worst=$?\n'
    '[ -z "$ours" ] || away || exit; ours=\n'
    "done <<NAMES\n$names\nNAMES\n"
    "[ \"$worst\" -eq 0 ] || echo 'corruption was found: the lines above name it'\n"
    'exit "$worst"'
)


def checksums(site: Site) -> list[Step]:
    """On new, before its first start: the checksum of every page; nothing where the cluster has none."""
    control = site.cluster.control
    if control is None or not control.data_checksums or site.series < (11,):
        return []
    program = ("pg_checksums", "--check", "--progress") if site.series >= (12,) else ("pg_verify_checksums",)
    checked = command(*program, "-D", site.move.target)
    look = script(
        "sh -c @checked@ || { status=$?; echo 'corruption was found, or not all was read: the lines above say where'; "
        'exit "$status"; }',
        checked=checked,
    )
    return [
        Step(
            "check the page checksums of new",
            "new",
            site.channel.writer,
            str(environment({"PATH": site.new_path, "LC_ALL": "C"}, look)),
            "a page that was broken on old before the copy is found by its checksum alone; new must be stopped for it",
            _ONLY_LOOKS,
            phase=Phase.VERIFY,
            stopped=True,
            detached=True,
            bytes=site.cluster.size_bytes,
        )
    ]


def tables_and_indexes(site: Site, socket: str | None, *, opened: bool = False) -> list[Step]:
    """On new, while it runs: tables and B-tree indexes by pg_amcheck; `opened`: clients work there."""
    if site.series < (14,):
        return []
    threads, port = (1, site.cluster.port or 5432) if opened else (_threads(site), site.port)
    return [
        Step(
            "look through new's tables and indexes",
            "new",
            site.channel.writer,
            str(ask(site.new_path, socket, port, _look(threads))),
            "pg_amcheck finds rows and index entries that contradict each other; where its extension is missing it is "
            "added for the time of the look",
            _ONLY_LOOKS,
            phase=Phase.VERIFY,
            stopped=True,
            detached=True,
        )
    ]


def later(site: Site, socket: str | None) -> list[Step]:
    """What looks for corruption when the plan itself does not: no part of it, to be done when it suits."""
    return [] if site.verify is Verify.ALL else [*tables_and_indexes(site, socket, opened=True), *checksums(site)]


def _look(threads: int) -> Shell:
    return script(
        _AMCHECK,
        databases=DATABASES,
        threads=threads,
        remove=f"drop schema if exists {_SCHEMA} cascade",
        add=f"create schema {_SCHEMA}; create extension amcheck schema {_SCHEMA}",
    )


def _threads(site: Site) -> int:
    processor = site.new_facts.processor
    return processor.threads if processor is not None else 1

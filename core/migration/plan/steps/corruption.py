"""The steps that look for corruption on the new server: page checksums before its first start, tables and indexes
after it.

Both read the whole cluster while it is stopped for its users. So they belong to a plan that compares everything
(`Verify.ALL`); of any other plan they are what the DBA may do later. They find what was broken on old already, which no
comparison of both sides can.

pg_checksums exists since 12, as pg_verify_checksums in 11; pg_amcheck since 14. Where a database does not have the
extension amcheck, it is put into a schema of its own for the time of the look, with no event trigger of the user's
called, and removed again. Nothing of the kind is ever done on the old server.
"""

from core.migration.model.move import Verify
from core.migration.model.plan import ONLY_LOOKS, Phase, Step
from core.migration.plan.cluster_control import program
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.inventory import reached, seconds_for
from core.servers.shell import call, command


def checksums(context: PlanContext) -> list[Step]:
    """On the new server, before its first start: the checksum of every page; nothing where the cluster has none."""
    control = context.cluster.control
    if control is None or not control.data_checksums or context.major_version < (11,):
        return []
    look = "pg_checksums" if context.major_version >= (12,) else "pg_verify_checksums"
    return [
        Step(
            "Check the page checksums of the new cluster",
            "new",
            context.channel.writer,
            str(call("check_pages", context.new_path, look, context.move.target)),
            "A page that was damaged on the old server before the copy is found by its checksum only. The new cluster "
            "must be stopped for this.",
            ONLY_LOOKS,
            native_check_pages(context, look),
            name="page-checksums",
            phase=Phase.VERIFY,
            timed_as=Phase.CHECKSUMS,
            stopped=True,
            detached=True,
            bytes=context.cluster.size_bytes,
        )
    ]


def tables_and_indexes(context: PlanContext, socket: str | None, *, opened: bool = False) -> list[Step]:
    """On the new server, while it runs: tables and B-tree indexes by pg_amcheck; `opened`: clients work there."""
    if context.major_version < (14,):
        return []
    threads, port = (1, context.new_cluster.port or 5432) if opened else (_threads(context), context.port)
    seconds = seconds_for(context.cluster.size_bytes)
    return [
        Step(
            "Check the tables and indexes of the new cluster",
            "new",
            context.channel.writer,
            str(
                call(
                    "check_relations",
                    *reached(context.new_path, socket, port, context.cluster.series, seconds),
                    threads,
                )
            ),
            "The program pg_amcheck finds rows and index entries that contradict each other. Where its extension is "
            "missing, it is added for the time of the check.",
            ONLY_LOOKS,
            native_check_relations(context, socket, port, threads),
            name="tables-and-indexes",
            phase=Phase.VERIFY,
            timed_as=Phase.AMCHECK,
            stopped=True,
            detached=True,
        )
    ]


def later(context: PlanContext, socket: str | None) -> list[Step]:
    """What looks for corruption when the plan itself does not: no part of it, to be done when it suits."""
    return (
        [] if context.verify is Verify.ALL else [*tables_and_indexes(context, socket, opened=True), *checksums(context)]
    )


def native_check_pages(context: PlanContext, look: str) -> tuple[str, ...]:
    """What a person would type for it."""
    options = ("--check", "--progress") if look == "pg_checksums" else ()
    return (command(program(context.new_path, look), *options, "-D", context.move.target).text,)


def native_check_relations(context: PlanContext, socket: str | None, port: int, threads: int) -> tuple[str, ...]:
    """What a person would type for it, once each database has the extension."""
    host = ("-h", socket) if socket is not None else ()
    return (command(program(context.new_path, "pg_amcheck"), *host, "-p", port, "-j", threads, "--all").text,)


def _threads(context: PlanContext) -> int:
    processor = context.new_facts.processor
    return processor.threads if processor is not None else 1

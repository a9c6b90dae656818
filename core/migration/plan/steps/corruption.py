"""Steps that look for corruption on the new server.

Page checksums are checked before the first start of the new cluster, tables and indexes after it. Both read the whole
cluster during the downtime. So they belong only to a plan that compares everything (`Verify.ALL`); for any other plan
they are optional checks after the move. They find damage that the old cluster had already, which no comparison of both
sides can find.

pg_checksums exists since 12, as pg_verify_checksums in 11; pg_amcheck exists since 14. Where a database lacks the
extension amcheck, it is created for the time of the check in a schema of its own, without firing the user's event
triggers, and then dropped. This is never done on the old server.
"""

from core.migration.model import step_ids
from core.migration.model.move import Verify
from core.migration.model.plan import ONLY_LOOKS, Phase, RemoteCall, Step
from core.migration.plan.cluster_control import program
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.inventory import connection_arguments, time_limit
from core.servers.shell import call, command
from core.sides import Side


def page_checksum_steps(context: PlanContext) -> list[Step]:
    """Return the step that checks all page checksums before the first start; none without data checksums."""
    control = context.cluster.control
    if control is None or not control.data_checksums or context.major_version < (11,):
        return []
    tool = "pg_checksums" if context.major_version >= (12,) else "pg_verify_checksums"
    return [
        Step(
            id=step_ids.CHECK_PAGE_CHECKSUMS,
            title="Check the page checksums of the new cluster",
            action=RemoteCall(
                side=Side.NEW,
                user=context.channel.writer,
                call=str(call("check_pages", context.new_path, tool, context.move.target)),
                native=native_check_pages(context, tool),
                detached=True,
            ),
            reason="A page that was damaged on the old server before the copy is found by its checksum only. The new "
            "cluster must be stopped for this.",
            undo=ONLY_LOOKS,
            phase=Phase.CHECKSUMS,
            downtime=True,
            size=context.cluster.size_bytes,
        )
    ]


def amcheck_steps(context: PlanContext, socket: str | None, *, opened: bool = False) -> list[Step]:
    """Return the step that checks tables and B-tree indexes with pg_amcheck while the new cluster runs.

    Args:
        context: the move with everything that is known of both servers.
        socket: the directory of the new cluster's Unix socket; None for the default of its programs.
        opened: whether the cutover is over; then one process is used, and the port of the clients.
    """
    if context.major_version < (14,):
        return []
    threads, port = (1, context.new_cluster.port or 5432) if opened else (_threads(context), context.port)
    seconds = time_limit(context.cluster.size_bytes)
    return [
        Step(
            id=step_ids.CHECK_TABLES_AND_INDEXES,
            title="Check the tables and indexes of the new cluster",
            action=RemoteCall(
                side=Side.NEW,
                user=context.channel.writer,
                call=str(
                    call(
                        "check_relations",
                        *connection_arguments(context.new_path, socket, port, context.cluster.series, seconds),
                        threads,
                    )
                ),
                native=native_check_relations(context, socket, port, threads),
                detached=True,
            ),
            reason="The program pg_amcheck finds rows and index entries that contradict each other. Where its "
            "extension is missing, it is added for the time of the check.",
            undo=ONLY_LOOKS,
            phase=Phase.AMCHECK,
            downtime=True,
        )
    ]


def optional_check_steps(context: PlanContext, socket: str | None) -> list[Step]:
    """Return the steps that look for corruption after the move, if the plan itself does not do so."""
    return (
        []
        if context.verify is Verify.ALL
        else [*amcheck_steps(context, socket, opened=True), *page_checksum_steps(context)]
    )


def native_check_pages(context: PlanContext, tool: str) -> tuple[str, ...]:
    """Return the command by which a person checks the page checksums."""
    options = ("--check", "--progress") if tool == "pg_checksums" else ()
    return (command(program(context.new_path, tool), *options, "-D", context.move.target).text,)


def native_check_relations(context: PlanContext, socket: str | None, port: int, threads: int) -> tuple[str, ...]:
    """Return the command by which a person runs pg_amcheck once each database has the extension."""
    host = ("-h", socket) if socket is not None else ()
    return (command(program(context.new_path, "pg_amcheck"), *host, "-p", port, "-j", threads, "--all").text,)


def _threads(context: PlanContext) -> int:
    processor = context.new_facts.processor
    return processor.threads if processor is not None else 1

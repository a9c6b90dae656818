"""Checkpoints while old still runs: what they write is sent by a pass, and need not be written in the stop."""

from core.migration.model.plan import Phase, Step
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.inventory import askable, native_psql, reached, seconds_for
from core.servers.shell import call


def before_the_last_pass(context: PlanContext) -> list[Step]:
    """Else what lies in memory alone would be written, and sent, in the stop."""
    return _checkpoint(
        context,
        Phase.WARM,
        "The last pre-copy pass then copies also what so far is only in the memory of the old server.",
    )


def before_the_stop(context: PlanContext) -> list[Step]:
    """Else the shutdown would write it, while clients wait."""
    return _checkpoint(
        context,
        Phase.STOP,
        "The shutdown has to write what is only in the memory of the old server, while clients wait.",
    )


def _checkpoint(context: PlanContext, phase: Phase, reason: str) -> list[Step]:
    if not askable(context):
        return []
    socket, port = context.cluster.socket_directory, context.cluster.port or 5432
    where = reached(context.old_path, socket, port, context.cluster.series, seconds_for(context.cluster.size_bytes))
    return [
        Step(
            f"Write a checkpoint before the {'last pre-copy pass' if phase is Phase.WARM else 'stop'}",
            "old",
            context.owner,
            str(call("write_checkpoint", context.cluster.data_directory, *where)),
            reason,
            "Nothing to undo: PostgreSQL writes a checkpoint every few minutes.",
            (native_psql(socket, port, "postgres", "checkpoint"),),
            phase=phase,
            name="checkpoint-pass" if phase is Phase.WARM else "checkpoint-stop",
            timed_as=Phase.CHECKPOINT,
            detached=True,
        )
    ]

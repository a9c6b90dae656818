"""Steps that write a checkpoint while the old cluster is still running.

What such a checkpoint writes is copied by a pre-copy pass. Otherwise the shutdown would write it during the downtime.
"""

from core.migration.model import step_ids
from core.migration.model.plan import Phase, RemoteCall, Step, Timing
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.inventory import connection_arguments, is_queryable, native_psql, time_limit
from core.servers.shell import call
from core.sides import Side


def checkpoint_before_last_pass(context: PlanContext) -> list[Step]:
    """Return the step that writes a checkpoint before the last pre-copy pass, which then copies what it has written."""
    return _checkpoint(
        context,
        Phase.WARM,
        "The last pre-copy pass then copies also what so far is only in the memory of the old server.",
    )


def checkpoint_before_stop(context: PlanContext) -> list[Step]:
    """Return the step that writes a checkpoint before the stop, so that the shutdown has less to write."""
    return _checkpoint(
        context,
        Phase.STOP,
        "The shutdown has to write what is only in the memory of the old server, while clients wait.",
    )


def _checkpoint(context: PlanContext, phase: Phase, reason: str) -> list[Step]:
    if not is_queryable(context):
        return []
    socket, port = context.cluster.socket_directory, context.cluster.port or 5432
    where = connection_arguments(
        context.old_path, socket, port, context.cluster.series, time_limit(context.cluster.size_bytes)
    )
    return [
        Step(
            id=step_ids.CHECKPOINT_BEFORE_LAST_PASS if phase is Phase.WARM else step_ids.CHECKPOINT_BEFORE_STOP,
            title=f"Write a checkpoint before the {'last pre-copy pass' if phase is Phase.WARM else 'stop'}",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(call("write_checkpoint", context.cluster.data_directory, *where)),
                native=(native_psql(socket, port, "postgres", "checkpoint"),),
                detached=True,
            ),
            reason=reason,
            undo="Nothing to undo: PostgreSQL writes a checkpoint every few minutes.",
            phase=phase,
            timing=Timing(stage=Phase.CHECKPOINT),
        )
    ]

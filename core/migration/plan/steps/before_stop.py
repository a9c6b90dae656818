"""The steps shortly before the stop of the old cluster, and the checks that are repeated in the downtime before it.

A checkpoint is written while the cluster is still running, so that a pre-copy pass copies what it writes. Otherwise the
shutdown would write it during the downtime. The checks look whether every file can be copied, and whether the old
cluster could be started again with its files as they are now.
"""

from dataclasses import replace
from typing import LiteralString

from core.migration.findings.data_roots import private_key_path
from core.migration.findings.layout import named_config_file
from core.migration.model import step_ids
from core.migration.model.plan import (
    ONLY_LOOKS,
    ChannelUse,
    Phase,
    RemoteCall,
    ResumePolicy,
    Step,
    Timing,
    Verification,
)
from core.migration.plan.cluster_control import program
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.inventory import connection_arguments, is_queryable, native_psql, time_limit
from core.servers.shell import call, command
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
        Phase.BEFORE_STOP,
        "The shutdown has to write what is only in the memory of the old server, while clients wait.",
    )


def _checkpoint(context: PlanContext, phase: Phase, reason: str) -> list[Step]:
    if not is_queryable(context):
        return []
    socket, port = context.cluster.socket_directory, context.cluster.port or 5432
    # The time limit grows with the cluster, because all changed pages of shared_buffers are written. A step that gave
    # up too early would only move this work into the downtime.
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
            timing=Timing(share=0.01 if phase is Phase.WARM else 1.0),
        )
    ]


def check_copyable(context: PlanContext) -> Step:
    """Return the check that every file can be copied. It runs in rehearsals too, because facts may be days old."""
    folders = [content for root in context.roots for content in root.contents]
    return Step(
        id=step_ids.CHECK_COPYABLE,
        title="Check that every file can be copied",
        action=RemoteCall(
            side=Side.OLD,
            user=context.owner,
            call=str(call("check_copyable", private_key_path(context.cluster) or "-", *folders)),
            native=(command("find", *folders, "-type", "f", "!", "-readable").text,),
        ),
        reason="A file that the owner of the cluster may not read would end the copy during the downtime.",
        undo=ONLY_LOOKS,
        phase=Phase.BEFORE_STOP,
        in_rehearsal=True,
        resume=ResumePolicy(required=True, channel=ChannelUse.OPENS),
        verification=Verification(only_checks=True),
    )


def check_copyable_in_downtime(context: PlanContext) -> Step:
    """Return the same check for the moment before the stop: a manual step may have taken long."""
    step = check_copyable(context)
    return replace(
        step,
        title="Check again that every file can be copied",
        id=step_ids.CHECK_COPYABLE_IN_DOWNTIME,
        downtime=True,
        in_rehearsal=False,
        resume=ResumePolicy(required=True),
    )


_RULES_SINCE = (10,)
_RULES: LiteralString = "select line_number, error from pg_hba_file_rules where error is not null"
_FILES_SINCE = (16,)
"""The first major version with included files of access rules."""
_RULES_WITH_FILES: LiteralString = "select file_name, line_number, error from pg_hba_file_rules where error is not null"


def check_restartable(context: PlanContext) -> Step:
    """Return the check of the configuration files. It runs in rehearsals too, because facts may be days old."""
    cluster = context.cluster
    config = named_config_file(cluster)
    arguments = [context.old_path, cluster.data_directory, config or "-", cluster.series]
    named = () if config is None else ("-c", f"config_file={config}")
    # With -C the server program reads the files as a start would read them, prints one value and ends. The view
    # pg_hba_file_rules shows the current contents of the file, not what the server has loaded (PostgreSQL's manual,
    # chapter System Views).
    native = [command(program(context.old_path, "postgres"), "-C", "port", "-D", cluster.data_directory, *named).text]
    connection: tuple[str | int, ...] = ()
    if is_queryable(context):
        _, socket, port, _, seconds = connection_arguments(
            context.old_path, cluster.socket_directory, cluster.port or 5432, cluster.series
        )
        connection = (socket, port, seconds)
        if context.major_version >= _RULES_SINCE:
            rules = _RULES_WITH_FILES if context.major_version >= _FILES_SINCE else _RULES
            native.append(native_psql(cluster.socket_directory, port, "postgres", rules))
    return Step(
        id=step_ids.CHECK_RESTARTABLE,
        title="Check that the old cluster could be restarted",
        action=RemoteCall(
            side=Side.OLD,
            user=context.owner,
            call=str(call("check_restartable", *arguments, *connection)),
            native=tuple(native),
        ),
        reason="A running server keeps using the files as it has read them. With an error in a file that was edited "
        "since, neither cluster would start, and a rollback would not help.",
        undo=ONLY_LOOKS,
        phase=Phase.BEFORE_STOP,
        in_rehearsal=True,
        resume=ResumePolicy(required=True),
        verification=Verification(only_checks=True),
    )


def check_restartable_in_downtime(context: PlanContext) -> Step:
    """Return the same check for the moment before the stop: a manual step may have taken long."""
    step = check_restartable(context)
    return replace(
        step,
        title="Check again that the old cluster could be restarted",
        id=step_ids.CHECK_RESTARTABLE_IN_DOWNTIME,
        downtime=True,
        in_rehearsal=False,
    )

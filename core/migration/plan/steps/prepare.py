"""The steps before the copy: the target is checked and created, and the copy channel is set up.

The check allows passes to delete only files of an earlier copy of the same cluster. `target.sh` says how that is
recognised.
"""

from core.migration.findings.data_roots import DataRoot, root_name_pattern
from core.migration.model import step_ids
from core.migration.model.plan import (
    ONLY_LOOKS,
    ROOT_USER,
    ChannelUse,
    RemoteCall,
    ResumePolicy,
    Step,
    Verification,
    undone,
)
from core.migration.plan import cluster_control
from core.migration.plan.cluster_control import program
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.configuration import check_configuration
from core.migration.plan.steps.verify import remove_lists
from core.migration.transports import copy_channel
from core.migration.transports.routes import route_steps
from core.servers.shell import Shell, call, command
from core.sides import Side


def prepare_steps(context: PlanContext) -> list[Step]:
    """Return the steps that check, create and fence the target and set up the copy channel."""
    return [
        # Nothing is created before it is known that the target holds nothing that anybody needs. The fence stands
        # before the first file arrives, so the copy cannot be started by accident at any moment, however the copying
        # ends.
        _check_target(context),
        *check_configuration(context),
        *_make_folders(context),
        _fence_new(context),
        *_open_channel(context),
    ]


def _check_target(context: PlanContext) -> Step:
    return Step(
        id=step_ids.CHECK_TARGET,
        title="Check that the target is empty or a copy made by pghaul",
        action=RemoteCall(
            side=Side.NEW, user=ROOT_USER, call=str(check_targets(context)), native=native_check_targets(context)
        ),
        reason="A later pass deletes files that the old cluster does not have. That must never happen to another "
        "cluster." + (f" {context.overwrite_waiver.description}" if context.overwrite_waiver is not None else ""),
        undo=ONLY_LOOKS,
        in_rehearsal=True,
        resume=ResumePolicy(required=True, channel=ChannelUse.OPENS),
        verification=Verification(only_checks=True),
    )


def _make_folders(context: PlanContext) -> list[Step]:
    user = context.channel.writer
    return [
        Step(
            id=step_ids.of_part(step_ids.CREATE_TARGET, root.label),
            title=f"Create {root.target} if it is missing",
            action=RemoteCall(
                side=Side.NEW,
                user=ROOT_USER,
                call=str(call("make_folder_for", user, root.target, *(["kept"] if root.parts else []))),
                native=(_native_folder(root, user),),
            ),
            reason=f"Files of {root.source} on the old server are copied to it. Its owner is set by name, because the "
            "numbers of users differ between hosts.",
            undo=undone(ROOT_USER, Side.NEW, command("rmdir", "--", root.target)) + " (as long as it is empty)",
            in_rehearsal=True,
        )
        for root in context.roots
    ]


def _native_folder(root: DataRoot, user: str) -> str:
    made = command("install", "-d", "-m", "0700", "-o", user, "-g", user, "--", root.target).text
    # a directory that others share keeps its mode
    return f"{command('test', '-d', root.target).text} || {made}" if root.parts else made


def _fence_new(context: PlanContext) -> Step:
    target, user = context.move.target, context.channel.writer
    fence = f"{target}/{cluster_control.FENCE}"
    return Step(
        id=step_ids.FENCE_NEW,
        title="Fence the new cluster (directory pghaul-fence), so that only this move can start it",
        action=RemoteCall(
            side=Side.NEW,
            user=user,
            call=str(cluster_control.fence_target(target, mark_of_copy(context))),
            native=cluster_control.native_fence_target(target),
        ),
        reason="Nobody can start the copy before the cutover, because no server starts without its control file. Only "
        "this move opens the fence, to start the copy without clients, and closes it again. The fence also marks the "
        "copy: a standby, a backup or a clone has the same system identifier.",
        undo=undone(user, Side.NEW, command("rm", "-r", "--", fence)) + " (and remove all copied files too)",
        in_rehearsal=True,
        resume=ResumePolicy(required=True, channel=ChannelUse.OPENS),
    )


def _open_channel(context: PlanContext) -> list[Step]:
    channel = context.channel
    # An earlier attempt may have left its lists of copied files. They would tell the passes that files are on the new
    # server which this execution has never sent.
    tidy = Step(
        id=step_ids.REMOVE_LEFTOVERS,
        title="Remove what an earlier attempt left on the old server",
        action=RemoteCall(
            side=Side.OLD,
            user=context.owner,
            call=str(copy_channel.remove_key(channel)),
            native=(f"rm -r {channel.folder}",),
        ),
        reason="A list of copied files is valid for one execution only.",
        undo="Nothing to undo: nobody needs these files any more.",
        in_rehearsal=True,
    )
    return [tidy, *route_steps(channel).opening_steps(channel, context.owner)]


def close_channel(context: PlanContext) -> list[Step]:
    """Return the steps that remove from both servers what only the copy needed."""
    return [*route_steps(context.channel).closing_steps(context.channel, context.owner), remove_lists(context)]


def check_targets(context: PlanContext) -> Shell:
    """Return the call that fails unless each target is empty, absent, or an earlier copy of this cluster."""
    data, *outside = context.roots
    # Only a data directory has a control file or a mark by which a copy can be recognised. A folder outside it is
    # judged by the names in it, so the call gets the names that a copy may have left there.
    names = [
        word for root in outside for word in (root.target, root.link, _allowed_names(root, context.cluster.series))
    ]
    others = [each.data_directory for each in context.new_facts.clusters if each.data_directory != context.move.target]
    cluster = (
        _system_identifier(context),
        "-" if context.overwrite_waiver is None else context.overwrite_waiver.checkpoint,
        data.target,
    )
    return call("check_targets", context.channel.writer, context.new_path, *cluster, len(outside), *names, *others)


def _allowed_names(root: DataRoot, major_version: str) -> str:
    return f"/{'/'.join(root.parts)}" if root.parts else root_name_pattern(root, major_version)


def mark_of_copy(context: PlanContext) -> tuple[str, ...]:
    """Return the lines of the mark by which a copy is recognised: its cluster, its move, and its other directories."""
    origin = (
        f"identifier {_system_identifier(context)}",
        f"move {context.move.name}",
        f"from {context.old_facts.server}:{context.cluster.data_directory}",
    )
    # a line break in a name would add a line to the mark
    return (
        *("".join(sign if sign.isprintable() else "?" for sign in line) for line in origin),
        *(f"folder {root.target}" for root in context.roots[1:]),
    )


def _system_identifier(context: PlanContext) -> str:
    """Return the system identifier; if it is not known, words that match no other cluster."""
    control = context.cluster.control
    return control.system_identifier if control is not None else f"of {context.old_facts.server}:{context.move.cluster}"


def native_check_targets(context: PlanContext) -> tuple[str, ...]:
    """Return the commands by which a person looks at the targets."""
    folders = [root.target for root in context.roots]
    controlled = command(program(context.new_path, "pg_controldata"), context.move.target)
    return (command("ls", "-A", "--", *folders).text, controlled.text)

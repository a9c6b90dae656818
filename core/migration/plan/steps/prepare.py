"""The steps before the copy: the target is checked and created, and the copy channel is set up."""

from core.migration.findings.data_roots import DataRoot
from core.migration.model.plan import ONLY_LOOKS, ROOT_USER, Step, undone
from core.migration.plan import cluster_control
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.configuration import check_configuration
from core.migration.plan.steps.targets import check_targets, mark_of_copy, native_check_targets
from core.migration.plan.steps.verify import remove_lists
from core.migration.transports import copy_channel
from core.migration.transports.routes import route_steps
from core.servers.shell import call, command


def prepare_steps(context: PlanContext) -> list[Step]:
    """Return the steps that check, create and fence the target and set up the copy channel."""
    return [
        _check_target(context),
        *check_configuration(context),
        *_make_folders(context),
        _fence_new(context),
        *_open_channel(context),
    ]


def _check_target(context: PlanContext) -> Step:
    return Step(
        "Check that the target is empty or a copy made by pghaul",
        "new",
        ROOT_USER,
        str(check_targets(context)),
        "A later pass deletes files that the old cluster does not have. That must never happen to another cluster."
        + (f" {context.overwrite_waiver.description}" if context.overwrite_waiver is not None else ""),
        ONLY_LOOKS,
        native=native_check_targets(context),
        name="target",
        skippable=False,
        renewed=True,
        rehearsed=True,
        proves=True,
    )


def _make_folders(context: PlanContext) -> list[Step]:
    user = context.channel.writer
    return [
        Step(
            f"Create {root.target}",
            "new",
            ROOT_USER,
            str(call("make_folder_for", user, root.target, *(["kept"] if root.parts else []))),
            f"Files of {root.source} on the old server are copied to it. Its owner is set by name, because the "
            "numbers of users differ between hosts.",
            undone(ROOT_USER, "new", command("rmdir", "--", root.target)) + " (as long as it is empty)",
            (_native_folder(root, user),),
            name=f"folder-{root.label}",
            rehearsed=True,
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
        "Fence the new cluster",
        "new",
        user,
        str(cluster_control.fence_target(target, mark_of_copy(context))),
        "Nobody can start the copy before the cutover, because no server starts without its control file. The fence "
        "also marks the copy: a standby, a backup or a clone has the same system identifier.",
        undone(user, "new", command("rm", "-r", "--", fence)) + " (and remove all copied files too)",
        native=cluster_control.native_fence_target(target),
        name="fence-new",
        skippable=False,
        renewed=True,
        rehearsed=True,
    )


def _open_channel(context: PlanContext) -> list[Step]:
    channel = context.channel
    tidy = Step(
        "Remove what an earlier attempt left on the old server",
        "old",
        context.owner,
        str(copy_channel.remove_key(channel)),
        "A list of copied files is valid for one execution only.",
        "Nothing to undo: nobody needs these files any more.",
        native=(f"rm -r {channel.folder}",),
        name="tidy-old",
        rehearsed=True,
    )
    return [tidy, *route_steps(channel).opening_steps(channel, context.owner)]


def close_channel(context: PlanContext) -> list[Step]:
    """Return the steps that remove from both servers what only the copy needed."""
    return [*route_steps(context.channel).closing_steps(context.channel, context.owner), remove_lists(context)]

"""The steps before anything is copied: the target proven and made, the key, the host keys."""

from core.migration.findings.data_roots import DataRoot
from core.migration.model.plan import ONLY_LOOKS, ROOT_USER, Step, undone
from core.migration.plan import cluster_control
from core.migration.plan.site import Site
from core.migration.plan.steps.configuration import room_for_configuration
from core.migration.plan.steps.targets import empty_or_ours, mark, native_empty_or_ours
from core.migration.plan.steps.verify import forget_lists
from core.migration.transports import copy_channel
from core.migration.transports.routes import route_of
from core.servers.shell import call, command


def prepare(site: Site) -> list[Step]:
    """Prove and make the target folders, then open the way for this copy alone."""
    return [_prove(site), *room_for_configuration(site), *_make_folders(site), _fence(site), *_open_channel(site)]


def _prove(site: Site) -> Step:
    return Step(
        "prove that the target is empty or ours",
        "new",
        ROOT_USER,
        str(empty_or_ours(site)),
        "a later pass removes what old does not have: that must never happen to another cluster"
        + (f"; {site.given_up.words}" if site.given_up is not None else ""),
        ONLY_LOOKS,
        native=native_empty_or_ours(site),
        skippable=False,
        renewed=True,
        rehearsed=True,
        proves=True,
    )


def _make_folders(site: Site) -> list[Step]:
    user = site.channel.writer
    return [
        Step(
            f"make {root.target}",
            "new",
            ROOT_USER,
            str(call("give_folder", user, root.target, *(["kept"] if root.parts else []))),
            f"{root.source} of old comes here; the owner goes by name, for numbers differ between hosts",
            undone(ROOT_USER, "new", command("rmdir", "--", root.target)) + " (while it is empty)",
            (_native_folder(root, user),),
            rehearsed=True,
        )
        for root in site.roots
    ]


def _native_folder(root: DataRoot, user: str) -> str:
    made = command("install", "-d", "-m", "0700", "-o", user, "-g", user, "--", root.target).text
    # what others share keeps its mode
    return f"{command('test', '-d', root.target).text} || {made}" if root.parts else made


def _fence(site: Site) -> Step:
    target, user = site.move.target, site.channel.writer
    fence = f"{target}/{cluster_control.FENCE}"
    return Step(
        "keep new from starting",
        "new",
        user,
        str(cluster_control.fence_target(target, mark(site))),
        "until it is opened nobody starts what lies there: without its control file no postmaster does; the mark tells "
        "a copy that is not opened from a standby, a backup or a clone, which have the same identifier",
        undone(user, "new", command("rm", "-r", "--", fence)) + " (with all that was copied)",
        native=cluster_control.native_fence_target(target),
        skippable=False,
        renewed=True,
        rehearsed=True,
    )


def _open_channel(site: Site) -> list[Step]:
    channel = site.channel
    tidy = Step(
        "remove what an earlier try left on old",
        "old",
        site.owner,
        str(copy_channel.remove_key(channel)),
        "lists of what was copied are good for one execution alone",
        "nothing to undo: it is of no use any more",
        native=(f"rm -r {channel.folder}",),
        rehearsed=True,
    )
    return [tidy, *route_of(channel).opening(channel, site.owner)]


def close_channel(site: Site) -> list[Step]:
    """Take away what the copy needed on both ends, once nothing is copied any more."""
    return [*route_of(site.channel).closing(site.channel, site.owner), forget_lists(site)]

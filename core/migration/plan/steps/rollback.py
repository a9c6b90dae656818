"""The way back before the point of no return: new stopped, fenced and kept, old let go and started, the key gone."""

from core.migration.findings.edited import given_back
from core.migration.findings.services import unit_at_work, unmatched_unit
from core.migration.model.plan import ONLY_LOOKS, Step
from core.migration.plan import cluster_control, service
from core.migration.plan.site import Site
from core.migration.plan.steps.configuration import restore_configuration
from core.migration.plan.steps.inventory import OLD_SETTINGS, compare_old_settings
from core.migration.plan.steps.prepare import close_channel

OLD_RUNS = "old-runs"
"""The name of the step that looks at the port and the unit in which the old server runs again."""

_KEPT = "nothing to undo: new's files stay for another try"


def rollback(site: Site) -> list[Step]:
    """From wherever the plan has got to: each step does nothing where there is nothing to undo."""
    return [
        *_never_opened(site),
        _unopened(site),
        _close_new(site),
        *_unregistered(site),
        *restore_configuration(site),
        *close_channel(site),
        *_old_again(site),
    ]


def back_with_loss(site: Site) -> list[Step]:
    """What makes old the only server again after new was opened, by hand: what clients wrote to new is lost on old."""
    stop = service.stop_new(site)
    close = cluster_control.fence_opened(site.move.target, site.channel.writer)
    only_one = "two servers with one identity must never both run"
    return [
        Step("stop new", "new", stop.user, str(stop.command), only_one, _KEPT, stop.native),
        Step("keep new from starting", "new", close.user, str(close.command), only_one, _KEPT, close.native),
        *(step for step in _old_again(site) if step.name != OLD_SETTINGS),
    ]


def _never_opened(site: Site) -> list[Step]:
    """Old itself knows: it may be another workstation, or another copy of the script, that goes back."""
    if site.cluster.fenced:
        return []
    data = site.cluster.data_directory
    return [
        Step(
            "prove that new was not opened to clients",
            "old",
            site.owner,
            str(cluster_control.never_opened(data)),
            "what they wrote since would be on new alone",
            ONLY_LOOKS,
            cluster_control.native_never_opened(data),
            proves=True,
        )
    ]


def _unopened(site: Site) -> Step:
    """An opening may have failed, and its host have started new since."""
    return Step(
        "prove that nobody has written to new",
        "new",
        site.channel.writer,
        str(cluster_control.unopened(site.move.target)),
        "no server has run there but the one that this copy started for itself",
        ONLY_LOOKS,
        cluster_control.native_unopened(site.move.target),
        proves=True,
    )


def _unregistered(site: Site) -> list[Step]:
    """New's host is told nothing of new any more, the last first."""
    changes = [*service.register(site), *service.enable(site)]
    return [
        Step(
            "let new's host be as it was",
            "new",
            change.undone.user,
            str(change.undone.command),
            "nothing on it leads to what nobody has opened",
            "nothing to undo: another try does it again",
            change.undone.native,
        )
        for change in reversed(changes)
        if change.undone is not None
    ]


def _close_new(site: Site) -> Step:
    target = site.move.target
    return Step(
        "stop new and keep it from starting",
        "new",
        site.channel.writer,
        str(cluster_control.give_back(target)),
        "two servers with one identity must never both run; what bears no mark of a copy is left alone",
        _KEPT,
        cluster_control.native_give_back(target),
        proves=True,
        detached=True,
    )


def _old_again(site: Site) -> list[Step]:
    cluster, owner = site.cluster, site.owner
    if cluster.fenced:
        return []  # an earlier move left it so: what it was
    unfence = cluster_control.unfence(cluster, owner)
    allow = Step(
        "let old start again",
        "old",
        unfence.user,
        str(unfence.command),
        "it is the only one again",
        "keep it from starting",
        unfence.native,
    )
    if not cluster.running:
        return [allow]
    start = service.start_old(site)
    where = site.old_path, cluster.data_directory
    # where the files are to hold, an edit may have been taken back since
    ports = tuple(dict.fromkeys(each.port for each in (site.coming, cluster) if each.port is not None))
    unit = unit_at_work(cluster, site.old_facts) or unmatched_unit(cluster, site.old_facts)
    return [
        allow,
        Step(
            "start old",
            "old",
            start.user,
            str(start.command),
            "as this host always starts it",
            "stop it",
            start.native,
            detached=True,
        ),
        Step(
            "prove that old runs",
            "old",
            owner,
            str(cluster_control.prove_running(site.old_path, cluster, ports, unit, given_back(site.move, cluster))),
            "clients may come back: it takes connections at the port that it had",
            "nothing to undo: it only looks",
            cluster_control.native_prove_running(*where),
            proves=True,
            name=OLD_RUNS,
        ),
        *compare_old_settings(site),
    ]

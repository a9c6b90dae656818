"""The way back before the point of no return: new stopped and kept, old let go and started, the key gone."""

from core.migration.model.plan import Step
from core.migration.plan import cluster_control
from core.migration.plan.site import Site
from core.migration.plan.steps.prepare import close_channel
from core.servers.shell import command, environment, script

_KEPT = "nothing to undo: new's files stay for another try"


def rollback(site: Site) -> list[Step]:
    """From wherever the plan has got to: each step does nothing where there is nothing to undo."""
    return [_stop_new(site), *close_channel(site), *_old_again(site)]


def _stop_new(site: Site) -> Step:
    stop = cluster_control.stop_locally(site.move.target, site.new_path)
    return Step(
        "stop new",
        "new",
        site.channel.writer,
        str(stop),
        "two servers with one identity must never both run",
        _KEPT,
        detached=True,
    )


def _old_again(site: Site) -> list[Step]:
    cluster, owner = site.cluster, site.owner
    unfence = cluster_control.unfence(cluster, owner)
    allow = Step(
        "let old start again",
        "old",
        unfence.user,
        str(unfence.command),
        "it is the only one again",
        "keep it from starting",
    )
    if not cluster.running:
        return [allow]
    start = cluster_control.start(cluster, owner)
    running = environment({"PATH": site.old_path, "PGDATA": cluster.data_directory}, command("pg_ctl", "status"))
    start_unless = script(
        "if [ ! -e @lock@ ]; then sh -c @start@; fi",
        lock=f"{cluster.data_directory}/postmaster.pid",
        start=start.command,
    )
    return [
        allow,
        Step(
            "start old", "old", start.user, str(start_unless), "as this host always starts it", "stop it", detached=True
        ),
        Step(
            "prove that old runs",
            "old",
            owner,
            str(running),
            "clients may come back",
            "nothing to undo: it only looks",
            proves=True,
        ),
    ]

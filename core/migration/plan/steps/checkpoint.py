"""Checkpoints while old still runs: what they write is sent by a pass, and need not be written in the stop."""

from core.migration.model.plan import Phase, Step
from core.migration.plan.site import Site
from core.migration.plan.steps.inventory import askable, native_psql, reached, seconds_for
from core.servers.shell import call


def before_the_last_pass(site: Site) -> list[Step]:
    """Else what lies in memory alone would be written, and sent, in the stop."""
    return _checkpoint(site, Phase.WARM, "the last warm pass then brings what so far is in old's memory alone")


def before_the_stop(site: Site) -> list[Step]:
    """Else the shutdown would write it, while clients wait."""
    return _checkpoint(site, Phase.STOP, "what is left in old's memory alone the shutdown writes while clients wait")


def _checkpoint(site: Site, phase: Phase, reason: str) -> list[Step]:
    if not askable(site):
        return []
    socket, port = site.cluster.socket_directory, site.cluster.port or 5432
    where = reached(site.old_path, socket, port, site.cluster.series, seconds_for(site.cluster.size_bytes))
    return [
        Step(
            f"write a checkpoint before the {'last warm pass' if phase is Phase.WARM else 'stop'}",
            "old",
            site.owner,
            str(call("write_checkpoint", site.cluster.data_directory, *where)),
            reason,
            "nothing to undo: old writes one every few minutes",
            (native_psql(socket, port, "postgres", "checkpoint"),),
            phase=phase,
            timed_as=Phase.CHECKPOINT,
            detached=True,
        )
    ]

"""Say what explains, or will make, poor results of the storages of a move."""

from collections.abc import Sequence

from core.actions.benchmarks import volume
from core.actions.desk import Desk, recorded
from core.actions.facts import facts_of
from core.benchmarks.model import Side
from core.comparison.diagnosis import diagnose as diagnose_volume
from core.comparison.model import Diagnosis
from core.jobs import Job
from core.reports.report import diagnoses


def diagnose(
    desk: Desk, move: str, job: Job, sides: Sequence[Side] = (Side.OLD, Side.NEW), *, refresh: bool = True
) -> tuple[Diagnosis, ...]:
    """The volumes of each side, from fresh facts (or the latest, without `refresh`) and the latest runs on them."""
    job = recorded(desk.store, job, move)
    found = desk.store.move(move)
    return tuple(
        diagnose_volume(
            facts_of(desk, found, side, job, refresh=refresh),
            volume(found, side).mount_point,
            desk.store.runs(found.name, side=side, latest_only=True),
        )
        for side in sides
    )


def known_diagnoses(desk: Desk, move: str) -> tuple[Diagnosis, ...]:
    """The same by the last facts of the history alone; of a server whose facts were never read nothing."""
    return diagnoses(desk.store, desk.store.move(move))

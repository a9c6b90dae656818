"""Diagnose the storage of a move: what explains poor results, or will cause them."""

from collections.abc import Sequence

from core.api.benchmarks import volume_of_side
from core.api.facts import get_facts
from core.api.session import Session, record_commands
from core.benchmarks.model import Side
from core.comparison.diagnosis import diagnose as diagnose_volume
from core.comparison.model import Diagnosis
from core.comparison.sets import Place, place_of, set_of
from core.jobs import Job
from core.reports.report import diagnoses


def diagnose(
    session: Session,
    move: str,
    job: Job,
    sides: Sequence[Side] = (Side.OLD, Side.NEW),
    *,
    places: Sequence[str] = (),
    refresh: bool = True,
) -> tuple[Diagnosis, ...]:
    """Return a diagnosis of each volume, from facts and its latest runs.

    Args:
        session: the history and the connections.
        move: the name of the move.
        job: the job that reports progress.
        sides: the sides whose volumes are diagnosed.
        places: other volumes of the two servers instead, such as `old:/mnt/a`.
        refresh: read the facts again instead of using the latest ones.

    Raises:
        InputError: a word does not name a volume.
    """
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    servers = {Side.OLD: found.old, Side.NEW: found.new}
    named = [place_of(word, servers, dated=False) for word in places]
    wanted = named or [Place(side, volume_of_side(found, side).mount_point) for side in sides]
    runs = session.store.runs(found.name, latest_only=not named)
    facts = {
        side: get_facts(session, found, side, job, refresh=refresh)
        for side in dict.fromkeys(place.side for place in wanted)
    }
    return tuple(diagnose_volume(facts[place.side], place.path, set_of(place, runs)) for place in wanted)


def diagnose_from_history(session: Session, move: str) -> tuple[Diagnosis, ...]:
    """Return diagnoses from the latest facts in the history; none of a server without facts."""
    return diagnoses(session.store, session.store.move(move))

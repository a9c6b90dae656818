"""Say what explains, or will make, poor results of the storages of a move."""

from collections.abc import Sequence

from core.actions.benchmarks import volume
from core.actions.facts import facts_of
from core.actions.session import Session, record_commands
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
    """The volumes of each side, from fresh facts (or the latest, without `refresh`) and the latest runs on them.

    Args:
        places: other volumes of the two servers instead, as `old:/mnt/a`.

    Raises:
        InputError: a word names no volume.
    """
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    servers = {Side.OLD: found.old, Side.NEW: found.new}
    named = [place_of(word, servers, dated=False) for word in places]
    wanted = named or [Place(side, volume(found, side).mount_point) for side in sides]
    runs = session.store.runs(found.name, latest_only=not named)
    facts = {
        side: facts_of(session, found, side, job, refresh=refresh)
        for side in dict.fromkeys(place.side for place in wanted)
    }
    return tuple(diagnose_volume(facts[place.side], place.path, set_of(place, runs)) for place in wanted)


def known_diagnoses(session: Session, move: str) -> tuple[Diagnosis, ...]:
    """The same by the last facts of the history alone; of a server whose facts were never read nothing."""
    return diagnoses(session.store, session.store.move(move))

"""Which runs make a set: those of one volume, as it was last measured, or as it had been by a date."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from core.benchmarks.model import ELSEWHERE, Outcome, Run, Volume
from core.errors import InputError
from core.sides import Side

_HINT = "write it as SIDE:PATH, old:/srv/pg say, or SIDE:PATH@2026-11-01 for what had been measured by that day (UTC)"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Place:
    """A volume or folder of one server of a move, in the DBA's words: `old:/mnt/a`, or by the server's name.

    `until`: runs that began before this instant count; None: all. `elsewhere`: what somebody else measured, of no side.
    """

    side: Side
    path: str
    until: datetime | None = None
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """What one start of a suite measured on one volume; `runs`: how many of its workloads are done."""

    move: str
    side: Side
    server: str
    mount_point: str
    folder: str
    began_at: datetime
    runs: int = field(compare=False)
    """It grows while the suite runs: the start is the same."""

    @property
    def place(self) -> str:
        """For people: `old: db1:/srv/pg`."""
        return Volume(self.side, self.server, self.mount_point, self.folder).words

    @property
    def title(self) -> str:
        """For people, in UTC as in `Place`."""
        return f"{self.server}:{self.mount_point} {self.began_at:%Y-%m-%d %H:%M}"


def place_of(word: str, servers: dict[Side, str], *, dated: bool = True) -> Place:
    """The place that a word names. `servers`: the names of the move's servers; `dated`: whether a date may follow.

    Raises:
        InputError: it is no such word.
    """
    side_word, colon, path = word.partition(":")
    elsewhere = side_word == ELSEWHERE
    sides = [Side.OLD] if elsewhere else [side for side, name in servers.items() if side_word in (side.value, name)]
    until = None
    # the last one: a folder's name may hold an @ of its own
    before, at, date = path.rpartition("@")
    if dated and at and before and _DATE.match(date):
        path, until = before, _end(date)
    if not colon or not sides or not path.startswith("/"):
        raise InputError(f"{word!r} is not a volume of the move", _HINT)
    return Place(sides[0], path.rstrip("/") or "/", until, elsewhere)


def _end(date: str) -> datetime:
    """The end of a day, or of a minute: `2026-11-01`, `2026-11-01T14:30`; UTC unless a zone is stated."""
    try:
        at = datetime.fromisoformat(date)
    except ValueError as error:
        raise InputError(f"{date!r} is not a date", _HINT) from error
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    # by that day means with that day
    return at + (timedelta(days=1) if _DATE.fullmatch(date) else timedelta(minutes=1))


def set_of(place: Place, runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs of the place, by its date; which of several of one workload counts, `compare` decides: the newest."""
    return tuple(
        run
        for run in runs
        if run.volume.mount_point == place.path
        and (run.volume.elsewhere if place.elsewhere else (run.volume.side is place.side and not run.volume.elsewhere))
        and (place.until is None or run.started_at < place.until)
    )


def over_time(place: Place, runs: Sequence[Run]) -> tuple[tuple[Run, ...], ...]:
    """Each benchmark of the place as a set of its own, the oldest first: what one start of a suite measured.

    The runs of one start share the folder that was made for it; those without a run that is done are left out.
    """
    found: dict[str, list[Run]] = {}
    for run in sorted(set_of(place, runs), key=lambda run: run.started_at):
        # its random name was made for one start alone
        found.setdefault(run.volume.folder, []).append(run)
    return tuple(tuple(group) for group in found.values() if any(run.outcome is Outcome.DONE for run in group))

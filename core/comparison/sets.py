"""Which runs make a set: those of one volume, as it was last measured, or as it had been by a date."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from core.benchmarks.model import ELSEWHERE, Outcome, Run, Volume
from core.errors import InputError
from core.language import tr
from core.sides import Side

_HINT = "write it as SIDE:PATH, old:/srv/pg say, or SIDE:PATH@2026-11-01 for what had been measured by that day (UTC)"
_SERVER_HINT = (
    "write it as SERVER:/PATH, db1:/srv/pg say, or SERVER:/PATH@2026-11-01 for what had been measured by that day (UTC)"
)
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

    def has(self, volume: Volume) -> bool:
        """Whether the volume is this one."""
        of_side = volume.elsewhere if self.elsewhere else (volume.side is self.side and not volume.elsewhere)
        return of_side and volume.mount_point == self.path


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """A volume or folder of any server, whether or not a move uses it: `db1:/mnt/a`, and `elsewhere:/NAME`."""

    server: str
    path: str
    until: datetime | None = None

    def has(self, volume: Volume) -> bool:
        """Whether the volume is this one."""
        return (volume.server, volume.mount_point) == (self.server, self.path)


@dataclass(frozen=True, slots=True)
class Start:
    """What one start of a suite measured on one volume; `runs`: how many of its workloads are done.

    `move` and `side` are None for a volume that was measured without a move.
    """

    move: str | None
    side: Side | None
    server: str
    mount_point: str
    folder: str
    began_at: datetime
    runs: int = field(compare=False)
    """It grows while the suite runs: the start is the same."""
    removed: bool = field(compare=False, default=False)
    """Whether its server has been removed from pghaul since."""

    @property
    def place(self) -> str:
        """For people: `old: db1:/srv/pg`, `db1:/srv/pg`, or `db1:/srv/pg (removed)`."""
        words = Volume(self.side, self.server, self.mount_point, self.folder).words
        return tr("{volume} (removed)").format(volume=words) if self.removed else words

    @property
    def title(self) -> str:
        """For people, in UTC as in `Place`."""
        return f"{self.server}:{self.mount_point} {self.began_at:%Y-%m-%d %H:%M}"


def place_of(word: str, servers: dict[Side, str], *, dated: bool = True) -> Place:
    """The place that a word names. `servers`: the names of the move's servers; `dated`: whether a date may follow.

    Raises:
        InputError: it is no such word.
    """
    side_word, _, path = word.partition(":")
    elsewhere = side_word == ELSEWHERE
    sides = [Side.OLD] if elsewhere else [side for side, name in servers.items() if side_word in (side.value, name)]
    path, until = _path_and_end(path, dated)
    if not sides or not path.startswith("/"):
        raise InputError(f"{word!r} is not a volume of the move", _HINT)
    return Place(sides[0], path, until, elsewhere)


def place_on_server(word: str, *, dated: bool = True) -> ServerPlace:
    """The place that a word such as `db1:/srv/pg` names, without a move. `dated`: whether a date may follow.

    Raises:
        InputError: it is no such word.
    """
    server, _, path = word.partition(":")
    path, until = _path_and_end(path, dated)
    if not server or not path.startswith("/"):
        raise InputError(f"{word!r} is not a volume of a server", _SERVER_HINT)
    return ServerPlace(server, path, until)


def is_place_on_server(word: str) -> bool:
    """Whether a word names a volume of a server. No name of a move does: `checked_name` refuses it."""
    return ":/" in word


def _path_and_end(path: str, dated: bool) -> tuple[str, datetime | None]:
    """The path and the end of the date behind it; None: there is none."""
    until = None
    # the last one: a folder's name may hold an @ of its own
    before, at, date = path.rpartition("@")
    if dated and at and before and _DATE.match(date):
        path, until = before, _end(date)
    return path.rstrip("/") or path[:1], until


def _end(date: str) -> datetime:
    """The end of a day, or of a minute: `2026-11-01`, `2026-11-01T14:30`; UTC unless a zone is stated."""
    try:
        at = datetime.fromisoformat(date)
    except ValueError as error:
        raise InputError(f"{date!r} is not a date", _HINT) from error
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    # by that day means with that day
    return at + (timedelta(days=1) if _DATE.fullmatch(date) else timedelta(minutes=1))


def set_of(place: Place | ServerPlace, runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs of the place, by its date; which of several of one workload counts, `compare` decides: the newest."""
    return tuple(run for run in runs if place.has(run.volume) and (place.until is None or run.started_at < place.until))


_OfPlace = TypeVar("_OfPlace", Place, ServerPlace)


def meant_place(read: Callable[[bool], _OfPlace], runs: Sequence[Run]) -> _OfPlace:
    """Return the place that a word names. A volume whose own name ends like a date is meant by the whole word.

    Args:
        read: reads the word, with or without a date at its end.
        runs: those on the place and on others.

    Raises:
        InputError: it is no such word.
    """
    whole = read(False)
    return whole if set_of(whole, runs) else read(True)


def over_time(place: Place | ServerPlace, runs: Sequence[Run]) -> tuple[tuple[Run, ...], ...]:
    """Each benchmark of the place as a set of its own, the oldest first: what one start of a suite measured.

    The runs of one start share the folder that was made for it; those without a run that is done are left out.
    """
    found: dict[str, list[Run]] = {}
    for run in sorted(set_of(place, runs), key=lambda run: run.started_at):
        # its random name was made for one start alone
        found.setdefault(run.volume.folder, []).append(run)
    return tuple(tuple(group) for group in found.values() if any(run.outcome is Outcome.DONE for run in group))

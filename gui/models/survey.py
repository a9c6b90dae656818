"""Many servers: the moves between them in the order in which they can be made, and what became of each server."""

from collections import Counter as Count
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from core import api, units
from core.jobs import Event, ServerState
from core.language import marked, tr, tr_counted
from core.migration.model.estimate import Span
from core.migration.model.fleet import FleetMove, MoveState
from core.servers.profiles import Nobody
from core.text import capital
from core.tones import Tone
from gui.models.explained import Explained, Paragraph, told
from gui.models.figures import Figure
from gui.models.sentences import compared, recorded
from gui.models.table import Column, Width
from gui.models.verdict import Counter, Verdict
from gui.models.words import counted, day, minute, moment

if TYPE_CHECKING:
    from core.api.reports import FleetReport
    from core.api.session import Session
    from core.api.survey import Refused, ServerList, Survey
    from core.jobs import Job


@dataclass(frozen=True, slots=True)
class SurveyRequest:
    """The survey that is asked for.

    Attributes:
        found: the list of servers; None: all servers of the history.
        at_once: how many servers are read at the same time.
        refresh: read also servers again that were read within the last hour.
        replacing: whether the list overrides servers and moves in the history.
        since: when the survey began that this one continues.
    """

    found: "ServerList | None"
    at_once: int
    refresh: bool = False
    replacing: bool = False
    since: datetime | None = None

    def run(self, session: "Session", job: "Job") -> "Survey":
        """Carry it out. Nobody is asked: a server that needs an answer is one that could not be read."""
        return api.survey.run_survey(
            session,
            self.found,
            Nobody(),
            job,
            at_once=self.at_once,
            refresh=self.refresh,
            since=self.since,
            replacing=self.replacing,
        )


# The moves, and clusters without a move.


NO_MOVE = "no-move"
"""The group of clusters that have no move. A move is in the group of its state."""
GROUPS: tuple[str, ...] = (*MoveState, NO_MOVE)
"""What the counters count."""
_NAMES: dict[str, str] = {
    MoveState.READY: marked("Possible"),
    MoveState.BLOCKED: marked("Blocked"),
    MoveState.UNKNOWN: marked("Not checked"),
    MoveState.DONE: marked("Done"),
    NO_MOVE: marked("Without a move"),
}
_TONES: dict[str, Tone] = {
    MoveState.READY: Tone.GOOD,
    MoveState.BLOCKED: Tone.BAD,
    MoveState.UNKNOWN: Tone.WARNING,
    MoveState.DONE: Tone.MUTED,
    NO_MOVE: Tone.ACCENT,
}


@dataclass(frozen=True, slots=True)
class MoveRow:
    """A move, or a cluster that has no move."""

    server: str
    cluster: str
    version: str = ""
    size_bytes: int | None = None
    move: FleetMove | None = None

    @property
    def group(self) -> str:
        """Return which counter counts it."""
        return NO_MOVE if self.move is None else self.move.state


def move_rows(report: "FleetReport") -> tuple[MoveRow, ...]:
    """Return the moves as they are ranked, then the clusters that no move takes or makes."""
    used = api.moves.used_clusters(report.moves)
    rows = [MoveRow(one.move.old, one.move.cluster, size_bytes=one.size_bytes, move=one) for one in report.moves]
    left = [
        MoveRow(each.profile.name, cluster.data_directory, cluster.version or cluster.series, cluster.size_bytes)
        for each in report.servers
        for cluster in (() if each.facts is None else each.facts.clusters)
        if (each.profile.name, cluster.data_directory) not in used
    ]
    return (*rows, *left)


def move_key(row: MoveRow) -> tuple[str, str, str]:
    """Return what a row is told apart by."""
    return "" if row.move is None else row.move.move.name, row.server, row.cluster


def counters(rows: Sequence[MoveRow]) -> tuple[Counter, ...]:
    """Return how many rows there are of each group."""
    found = Count(row.group for row in rows)
    return tuple(Counter(group, tr(_NAMES[group]), found[group], _TONES[group]) for group in GROUPS)


def verdict(rows: Sequence[MoveRow], unread: int) -> Verdict:
    """Return how many moves can be made, as a sentence; `unread`: how many servers could not be read."""
    moves = [row for row in rows if row.move is not None]
    left = sum(row.group != MoveState.DONE for row in moves)
    ready = sum(row.group == MoveState.READY for row in moves)
    if ready:
        said = (
            tr("The only move is possible, in this maintenance window:")
            if left == 1
            else tr("{number} of {all} moves are possible, in these maintenance windows:").format(
                number=units.count(ready), all=units.count(left)
            )
        )
        tone = Tone.GOOD
    elif left:
        said = (
            tr("The only move is not possible yet.")
            if left == 1
            else tr("None of the {number} moves is possible yet.").format(number=units.count(left))
        )
        tone = Tone.BAD
    elif moves:
        said, tone = tr("All moves are done."), Tone.GOOD
    else:
        said, tone = tr("There is no move yet."), Tone.MUTED
    if unread and not ready:
        said = f"{said} {_unread(unread)}"
    return Verdict(said, tone)


def _unread(number: int) -> str:
    return counted(number, "{number} server could not be read.", "{number} servers could not be read.")


def windows(rows: Sequence[MoveRow]) -> tuple[Figure, ...]:
    """Return for each window how many moves can be made in it, the shortest window first, and how large they are."""
    ready = [row.move for row in rows if row.move is not None and row.group == MoveState.READY]
    found: dict[tuple[float, str], list[FleetMove]] = {}
    for one in ready:
        if one.window_seconds is not None:
            key = one.window_seconds, units.about(one.window_seconds)
        elif one.downtime_seconds is not None:
            key = float("inf"), tr("Longer")
        else:
            key = float("inf"), tr("Unknown")
        found.setdefault(key, []).append(one)
    return tuple(_window_figure(name, found[seconds, name]) for seconds, name in sorted(found))


def _window_figure(name: str, moves: Sequence[FleetMove]) -> Figure:
    size = units.size(sum(one.size_bytes or 0 for one in moves))
    said = tr_counted("move, {size}", "moves, {size}", len(moves)).format(size=size)
    return Figure(name, units.count(len(moves)), said)


def second_line(row: MoveRow) -> str:
    """Return the state of a move and what stops it, else its servers."""
    detail = _detail(row)
    return f"{_state(row)}: {detail}" if detail else _state(row)


def tone_of(row: MoveRow) -> Tone:
    """Return the tone of its state."""
    return _TONES[row.group]


def _detail(row: MoveRow) -> str:
    if row.move is None:
        return tr("PostgreSQL {version}").format(version=row.version) if row.version else ""
    if row.group in {MoveState.BLOCKED, MoveState.UNKNOWN}:
        return reason(row)
    said = [f"{row.move.move.old} → {row.move.move.new}"]
    if row.move.warnings and row.group != MoveState.DONE:
        said.append(counted(row.move.warnings, "{number} warning", "{number} warnings"))
    if row.move.pending:
        said.append(tr("check it first"))
    return ", ".join(said)


def reason(row: MoveRow) -> str:
    """Return what stops a move, or why it was not checked; empty where nothing is known to stop it."""
    if row.move is None:
        return ""
    if row.move.unknown:
        return sentence(row.move.unknown, (row.move.move.old, row.move.move.new))
    return "; ".join(_stops(row.move))


def _stops(move: FleetMove) -> tuple[str, ...]:
    others = move.stops[len(move.failed_checks) :]
    return (*map(tr, move.failed_checks), *(capital(recorded(each)) for each in others))


def _to_do_first(move: FleetMove) -> str:
    """Return what must be done before the move is known to be possible; empty if it was checked."""
    if not move.pending:
        return ""
    said = tr(
        "Run the checks of this move. They create a temporary cluster on the new server, which these checks need:"
    )
    return "\n".join((said, *map(tr, move.pending)))


def _name(row: MoveRow) -> str:
    return f"{row.server}:{row.cluster}" if row.move is None else row.move.move.name


def _state(row: MoveRow) -> str:
    if row.move is not None and row.move.moved_at is not None:
        return tr("Done on {day}").format(day=day(row.move.moved_at))
    return tr(_NAMES[row.group])


def _window(row: MoveRow) -> str:
    return units.about(None if row.move is None else row.move.window_seconds)


def _stated(span: Span) -> str:
    return tr("{likely} (between {low} and {high})").format(
        likely=units.about(span.likely), low=units.about(span.low), high=units.about(span.high)
    )


def _likely(row: MoveRow) -> float | None:
    return None if row.move is None or row.move.downtime_seconds is None else row.move.downtime_seconds.likely


def _highest(row: MoveRow) -> float | None:
    return None if row.move is None or row.move.downtime_seconds is None else row.move.downtime_seconds.high


def _warnings(row: MoveRow) -> int | None:
    return None if row.move is None else row.move.warnings


def explain_move(row: MoveRow) -> Explained:
    """Return a row in full."""
    move = row.move
    down = None if move is None else move.downtime_seconds
    long = None if move is None else move.duration_seconds
    return Explained(
        title=_name(row),
        status=_state(row),
        tone=tone_of(row),
        lead=tr("No move takes this cluster to another server yet.") if move is None else "",
        paragraphs=told(
            Paragraph(
                tr("Reason") if row.group == MoveState.UNKNOWN else tr("Blocked by"),
                reason(row) if move is None or move.unknown else "\n".join(_stops(move)),
            ),
            Paragraph(tr("To do first"), "" if move is None else _to_do_first(move)),
            Paragraph(tr("Downtime"), "" if down is None else _stated(down)),
            Paragraph(tr("Recorded by"), "" if move is None else move.moved_by),
            Paragraph(tr("Window"), _window(row)),
            Paragraph(tr("Whole duration"), "" if long is None else _stated(long)),
            Paragraph(tr("Size"), units.size(row.size_bytes)),
            Paragraph(tr("Warnings"), units.count(move.warnings) if move is not None and move.warnings else ""),
            Paragraph(tr("Old server"), row.server),
            Paragraph(tr("New server"), "" if move is None else move.move.new),
            Paragraph(tr("Cluster"), row.cluster),
            Paragraph(tr("PostgreSQL"), row.version),
        ),
    )


MOVE_COLUMNS: tuple[Column[MoveRow], ...] = (
    Column("Move", _name, width=Width.REST, tip=second_line),
    Column("Size", lambda row: units.size(row.size_bytes), right=True, value=lambda row: row.size_bytes),
    Column("Downtime", lambda row: units.about(_likely(row)), right=True, value=_likely),
    Column(
        "Window",
        _window,
        right=True,
        value=lambda row: None if row.move is None else row.move.window_seconds,
    ),
    Column("State", _state, tone=tone_of),
    Column("Longest downtime", lambda row: units.about(_highest(row)), right=True, value=_highest),
    Column("Blocked by", reason),
    Column("Old server", lambda row: row.server),
    Column("New server", lambda row: "" if row.move is None else row.move.move.new),
    Column("Cluster", lambda row: row.cluster),
    Column("Warnings", lambda row: units.count(_warnings(row)), right=True, value=_warnings),
)
SHOWN_OF_MOVE = 4
"""How many of the columns the list shows. The others are found by the filter, stand beside it, and are saved as CSV."""


# The servers.


class Reading(StrEnum):
    """How far the reading of a server is."""

    FAILED = "failed"
    RUNNING = "running"
    WAITING = "waiting"
    NEVER = "never"
    READ = "read"


_READINGS = {
    Reading.FAILED: marked("Not read"),
    Reading.RUNNING: marked("Being read"),
    Reading.WAITING: marked("Waiting"),
    Reading.NEVER: marked("Not read yet"),
    Reading.READ: marked("Read"),
}
_READING_TONES = {Reading.FAILED: Tone.BAD, Reading.RUNNING: Tone.ACCENT, Reading.READ: Tone.GOOD}


@dataclass(frozen=True, slots=True)
class ServerLine:
    """A server of a survey.

    Attributes:
        address: empty while it is not known.
        taken_at: when its facts were read; None if they never were.
        failure, hint: why they could not be read since then, and what to do about it; empty if they could.
    """

    name: str
    reading: Reading
    address: str = ""
    clusters: int | None = None
    taken_at: datetime | None = None
    failure: str = ""
    hint: str = ""


def server_lines(report: "FleetReport", hints: Mapping[str, str]) -> tuple[ServerLine, ...]:
    """Return the servers, those that could not be read first; `hints`: what to do, by why it failed."""
    lines = []
    for each in report.servers:
        facts, failure = each.facts, "" if each.failed is None else each.failed[1]
        reading = Reading.FAILED if failure else Reading.NEVER if facts is None else Reading.READ
        lines.append(
            ServerLine(
                each.profile.name,
                reading,
                each.profile.address,
                None if facts is None else len(facts.clusters),
                None if facts is None else facts.taken_at,
                failure,
                hints.get(failure, ""),
            )
        )
    return tuple(sorted(lines, key=lambda line: line.reading is not Reading.FAILED))


def follow(lines: Sequence[ServerLine], events: Iterable[Event]) -> tuple[ServerLine, ...]:
    """Return the servers after these events of a survey, in the order in which the survey names them."""
    found = {line.name: line for line in lines}
    for event in events:
        if isinstance(event, ServerState):
            before = found.get(event.server, ServerLine(event.server, Reading.WAITING))
            found[event.server] = _line_now(before, event)
    return tuple(found.values())


def _line_now(before: ServerLine, event: ServerState) -> ServerLine:
    result = event.result
    if isinstance(result, api.survey.SurveyedServer):
        return ServerLine(
            result.server,
            Reading.FAILED if result.failure else Reading.READ,
            result.address,
            None if result.failure else len(result.clusters),
            result.taken_at,
            result.failure,
            result.hint,
        )
    reading = Reading.RUNNING if event.state == "running" else Reading.WAITING
    return ServerLine(before.name, reading, before.address, before.clusters, before.taken_at)


def come_to_rest(lines: Sequence[ServerLine]) -> tuple[ServerLine, ...]:
    """Return the servers of a survey that was cancelled: those that were being read wait again."""
    return tuple(replace(line, reading=Reading.WAITING) if line.reading is Reading.RUNNING else line for line in lines)


def running_verdict(lines: Sequence[ServerLine], *, cancelled: bool) -> Verdict:
    """Return how far a survey is, or was when it was cancelled."""
    done = sum(line.reading in {Reading.READ, Reading.FAILED} for line in lines)
    failed = sum(line.reading is Reading.FAILED for line in lines)
    numbers = {"done": units.count(done), "all": units.count(len(lines))}
    if cancelled:
        said = tr("The survey was cancelled at {done} of {all} servers.")
        return Verdict(said.format(**numbers), Tone.WARNING)
    said = tr("{done} of {all} servers are done.").format(**numbers)
    if failed:
        return Verdict(f"{said} {_unread(failed)}", Tone.WARNING)
    return Verdict(said, Tone.MUTED)


def explain_line(line: ServerLine) -> Explained:
    """Return a server in full."""
    asks = tr("Read facts connects to this server alone, asks for what is missing, and reads its facts.")
    hint = sentence(line.hint)
    remedy = "\n".join(part for part in (hint, asks) if part)
    return Explained(
        title=line.name,
        status=tr(_READINGS[line.reading]),
        tone=_READING_TONES.get(line.reading, Tone.MUTED),
        lead=line_reason(line),
        paragraphs=told(
            Paragraph(tr("What to do"), remedy if line.failure else ""),
            Paragraph(tr("Address"), line.address),
            Paragraph(tr("Clusters"), units.count(line.clusters)),
            Paragraph(tr("Facts read"), moment(line.taken_at)),
        ),
    )


def line_text(line: ServerLine) -> str:
    """Return why a server could not be read, else its address."""
    return line_reason(line) or line.address


def line_reason(line: ServerLine) -> str:
    """Return why a server could not be read, without its name; empty if it could."""
    return _as_sentence(recorded(line.failure).removeprefix(f"{line.name}: "))


def sentence(text: str, names: Sequence[str] = ()) -> str:
    """Return what core says as a sentence. One that begins with any of these names begins with it as it is."""
    return _as_sentence(recorded(text), names)


def _as_sentence(said: str, names: Sequence[str] = ()) -> str:
    begun = said if any(said.startswith(name) for name in names if name) else capital(said)
    return begun if not begun or begun.endswith((".", "?", "!")) else f"{begun}."


def _read(line: ServerLine) -> str:
    return "" if line.taken_at is None else minute(line.taken_at)


SERVER_COLUMNS: tuple[Column[ServerLine], ...] = (
    Column("Server", lambda line: line.name, width=Width.REST, tip=line_text),
    Column(
        "State",
        lambda line: tr(_READINGS[line.reading]),
        tone=lambda line: _READING_TONES.get(line.reading, Tone.MUTED),
    ),
    Column("Clusters", lambda line: units.count(line.clusters), right=True, value=lambda line: line.clusters),
    Column(
        "Facts read",
        _read,
        width=Width.WHOLE,
        tip=lambda line: moment(line.taken_at),
        value=lambda line: None if line.taken_at is None else line.taken_at.timestamp(),
    ),
    Column("Address", lambda line: line.address),
    Column("Reason", line_reason),
    Column("What to do", lambda line: sentence(line.hint)),
)
SHOWN_OF_SERVER = 4
"""As of moves."""


# What a list says.


def describe_list(found: "ServerList") -> str:
    """Return what is in a list, in a sentence or two."""
    moves = sum(one.move is not None for one in found.listed)
    numbers = {"moves": units.count(moves), "servers": units.count(len(found.profiles))}
    said = tr("Moves: {moves}, servers: {servers}").format(**numbers) + "."
    if not found.refused:
        return said
    more = counted(len(found.refused), "{number} entry cannot be used.", "{number} entries cannot be used.")
    return f"{said} {more}"


REFUSED_COLUMNS: "tuple[Column[Refused], ...]" = (
    Column("Entry", lambda row: compared(row.place)),
    Column("Server", lambda row: row.name),
    Column("Reason", lambda row: sentence(row.reason, (row.name,)), width=Width.REST),
    Column("What to do", lambda row: sentence(row.hint), width=Width.REST),
)

"""Many moves: what can be made this month and in which windows, what stops the others, what nobody knows yet."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core import units
from core.facts.model import Facts
from core.language import current, tr
from core.migration.estimate.night import WINDOWS
from core.migration.fleet import count_windows
from core.migration.model.fleet import FleetMove, MoveState
from core.reports.charts.axes import fraction
from core.reports.drawing import WIDTH, Box, Drawing, Mark, Words
from core.reports.model import Answer, Cell, Document, Item, Row, Section, Table, Text, Tone
from core.reports.options import Options
from core.reports.parts.method import method as method_section
from core.reports.recorded import recorded
from core.reports.words import about, counted, day, listed, moment
from core.servers.profiles import Profile

# How many moves fit into which window: those that nothing stops, and those that wait for something.

_LABEL, _ROW = 42.0, 6.4


def windows(found: Sequence[tuple[str, int, int]]) -> Drawing | None:
    """A bar a window: its name, the moves that can be made in it, and those that are stopped; None without any move."""
    most = max((ready + stopped for _, ready, stopped in found), default=0)
    if most == 0:
        return None
    made: list[Mark] = [
        Box(0, 0.6, 3, 2.6, "accent"),
        Words(4.5, 2, tr("possible"), 7.5),
        Box(44, 0.6, 3, 2.6, "planned", "muted"),
        Words(48.5, 2, tr("blocked"), 7.5),
    ]
    y, length = 8.5, WIDTH - _LABEL - 20
    for name, ready, stopped in found:
        first, second = (length * fraction(number, most) for number in (ready, stopped))
        made.append(Words(0, y, name, 8))
        made += [Box(_LABEL, y - 1.8, first, 3.6, "accent")] if ready else []
        made += [Box(_LABEL + first, y - 1.8, second, 3.6, "planned", "muted")] if stopped else []
        said = " + ".join(units.count(number) for number in (ready, stopped) if number) or units.ABSENT
        made.append(Words(_LABEL + first + second + 2, y, said, 7.5))
        y += _ROW
    alt = tr("Moves by the maintenance window that they need.") + " "
    alt += " ".join(
        tr("{window}: {ready} possible, {stopped} blocked.").format(
            window=name, ready=units.count(ready), stopped=units.count(stopped)
        )
        for name, ready, stopped in found
    )
    return Drawing("windows", alt, y, tuple(made))


_NIGHT = 8 * 3600.0
_MANY = 15
"""Moves of which a table is set small."""


@dataclass(frozen=True, slots=True)
class FleetServer:
    """A server of a fleet. `failed`: when and why it could not be read since its facts were; None: it could."""

    profile: Profile
    facts: Facts | None
    failed: tuple[datetime, str] | None = None


@dataclass(frozen=True, slots=True)
class FleetReport:
    """What a report of many moves rests on: the moves as they are ranked.

    Attributes:
        others: the servers of the history that it is not about; a masked report must not name them either.
    """

    moves: tuple[FleetMove, ...]
    servers: tuple[FleetServer, ...]
    made_at: datetime
    program_version: str
    others: tuple[Profile, ...] = ()

    @property
    def ready(self) -> tuple[FleetMove, ...]:
        """Those that nothing is known to stop."""
        return self._in(MoveState.READY)

    @property
    def stopped(self) -> tuple[FleetMove, ...]:
        """Those that a check stops."""
        return self._in(MoveState.BLOCKED)

    @property
    def unknown(self) -> tuple[FleetMove, ...]:
        """Those that could not be checked."""
        return self._in(MoveState.UNKNOWN)

    @property
    def over(self) -> tuple[FleetMove, ...]:
        """Those that were carried out."""
        return self._in(MoveState.DONE)

    @property
    def unread(self) -> tuple[FleetServer, ...]:
        """The servers that could not be read."""
        return tuple(each for each in self.servers if each.failed is not None)

    def _in(self, state: MoveState) -> tuple[FleetMove, ...]:
        return tuple(one for one in self.moves if one.state is state)


def fleet_report(report: FleetReport, options: Options) -> Document:
    """The moves of a fleet."""
    chart = windows(_by_window(report))
    return Document(
        kind="fleet",
        title=tr("Fleet overview"),
        subtitle=_subtitle(report),
        label=tr("Fleet"),
        language=current(),
        made_at=report.made_at,
        program=f"pghaul {report.program_version}",
        answers=_answers(report),
        charts=() if chart is None else (Section(tr("Moves by the maintenance window that they need"), (chart,)),),
        sections=tuple(section for section in _sections(report, options) if section),
    )


def _subtitle(report: FleetReport) -> str:
    if not report.moves:
        return counted(len(report.servers), "{number} server without a move", "{number} servers without a move")
    return tr("Moves: {moves}, servers: {servers}").format(
        moves=units.count(len(report.moves)), servers=units.count(len(report.servers))
    )


def _answers(report: FleetReport) -> tuple[Answer, ...]:
    if not report.moves:
        said = tr("Create moves one by one or from a list of servers. Then survey them.")
        none = Answer(tr("Which moves are possible?"), tr("There is no move yet"), (said,), Tone.MUTED)
        return (none, _unknown(report)) if report.unread else (none,)
    return _this_month(report), _windows(report), _stops(report), _unknown(report), _over(report)


def _part(number: int, report: FleetReport) -> str:
    return tr("{number} of {all}").format(number=units.count(number), all=units.count(len(report.moves)))


def _this_month(report: FleetReport) -> Answer:
    ready = report.ready
    tone = Tone.GOOD if ready else Tone.BAD if report.stopped else Tone.MUTED
    said = []
    if ready:
        sizes = [one.size_bytes for one in ready if one.size_bytes is not None]
        if len(sizes) == len(ready):
            said.append(
                tr("{size} in total: {moves}.").format(size=units.size(sum(sizes)), moves=listed(_names(ready)))
            )
        else:
            said.append(f"{listed(_names(ready))}.")
    if pending := sum(bool(one.pending) for one in ready):
        said.append(
            counted(
                pending,
                "{number} of them must be checked first, with a temporary cluster on the new server.",
                "{number} of them must be checked first, each with a temporary cluster on the new server.",
            )
        )
    return Answer(tr("Which moves are possible?"), _part(len(ready), report), tuple(said), tone)


def _names(moves: Sequence[FleetMove]) -> list[str]:
    return [one.move.name for one in moves]


def _windows(report: FleetReport) -> Answer:
    question = tr("Which maintenance windows do they need?")
    found = Counter(one.window_seconds for one in report.ready if one.window_seconds is not None)
    if not found:
        return Answer(
            question, tr("Not known") if report.ready else tr("No move is possible at present"), (), Tone.MUTED
        )
    words = "; ".join(f"{units.count(found[seconds])} × {about(seconds)}" for seconds in sorted(found))
    details = []
    if fill := count_windows(report.ready, _NIGHT):
        said = tr(
            "One after another, the moves that need up to {window} fit into {nights}, each including time for "
            "a rollback."
        )
        many = counted(fill, "{number} window", "{number} windows")
        details.append(said.format(window=about(_NIGHT), nights=many))
    if longer := len(report.ready) - found.total():
        details.append(tr("Longer than a day, or without an estimate: {number}.").format(number=units.count(longer)))
    return Answer(question, words, tuple(details))


def _stops(report: FleetReport) -> Answer:
    question = tr("Which moves are blocked?")
    if not report.stopped:
        return Answer(question, tr("No check blocks a move"), (), Tone.GOOD if report.ready else Tone.MUTED)
    said = listed(f"{title} ({units.count(number)})" for title, number in _most_stopping(report))
    return Answer(question, _part(len(report.stopped), report), (f"{said}.",), Tone.BAD)


def _most_stopping(report: FleetReport) -> list[tuple[str, int]]:
    found = Counter(tr(title) for one in report.stopped for title in one.failed_checks)
    if others := sum(bool(one.in_the_way) for one in report.stopped):
        found[tr("Another move has the same target")] = others
    return sorted(found.items(), key=lambda each: (-each[1], each[0]))


def _unknown(report: FleetReport) -> Answer:
    question = tr("What is not known?")
    unread = [each.profile.name for each in report.unread]
    said = (tr("Servers that could not be read: {servers}.").format(servers=listed(unread)),) if unread else ()
    if report.unknown:
        words = tr("{part} not checked").format(part=_part(len(report.unknown), report))
        return Answer(question, words, said, Tone.MIXED)
    if report.ready or report.stopped:
        return Answer(question, tr("Every move was checked"), said, Tone.MIXED if unread else Tone.GOOD)
    words = counted(len(unread), "{number} server not read", "{number} servers not read") if unread else tr("Nothing")
    return Answer(question, words, said, Tone.MIXED if unread else Tone.MUTED)


def _over(report: FleetReport) -> Answer:
    done = report.over
    said = (f"{listed(_names(done))}.",) if done else ()
    return Answer(tr("Which moves are done?"), _part(len(done), report), said, Tone.GOOD if done else Tone.MUTED)


def _by_window(report: FleetReport) -> list[tuple[str, int, int]]:
    """Of each window the moves that can be made in it and those that are stopped, and of those that fit into none."""

    def fitting(moves: Sequence[FleetMove], seconds: float | None) -> int:
        return sum(one.window_seconds == seconds for one in moves)

    found = [(about(each), fitting(report.ready, each), fitting(report.stopped, each)) for each in WINDOWS]
    return [*found, (tr("longer, or not known"), fitting(report.ready, None), fitting(report.stopped, None))]


def _sections(report: FleetReport, options: Options) -> tuple[Section, ...]:
    down = Item(
        tr("The likely downtime of the best method, and the downtime that nine of ten simulated nights do not exceed."),
        title=tr("Downtime"),
    )
    window = Item(
        tr(
            "The shortest of the usual windows that is long enough in nine of ten simulated nights, including "
            "time for a rollback."
        ),
        title=tr("Window"),
    )
    rank = Item(tr("Moves are sorted by what blocks them, then by size, then by downtime."), title=tr("Order"))
    items = (down, window, rank) if report.moves else ()
    return (
        Section(tr("Possible moves"), _ready_tables(report)),
        Section(tr("Blocked moves"), _stopped_tables(report)),
        Section(tr("Not checked"), _unknown_tables(report)),
        Section(tr("Finished moves"), _over_tables(report)),
        Section(tr("Servers that could not be read"), _unread_tables(report)),
        Section(tr("Servers"), _server_tables(report)),
        method_section(*items, masked=options.masked),
    )


def _ready_tables(report: FleetReport) -> tuple[Table | Text, ...]:
    if not report.ready:
        return (Text(tr("No move is possible at present."), Tone.MUTED),) if report.moves else ()
    head: tuple[str, ...] = (
        *(tr("Move"), tr("Old server"), tr("New server"), tr("Size"), tr("Downtime"), tr("At most"), tr("Window")),
        tr("Warnings"),
    )
    pending = any(one.pending for one in report.ready)
    head += (tr("Checks to run"),) if pending else ()
    rows: tuple[Row, ...] = tuple(
        (*_ends(one), *_times(one), _counted(one.warnings), *((_counted(len(one.pending)),) if pending else ()))
        for one in report.ready
    )
    widths = (1.75, 1.1, 0.75, *((0.0,) * (len(head) - 3)))
    return (Table("ready", head, rows, widths, frozenset(range(3, len(head))), dense=len(rows) > _MANY),)


def _counted(number: int) -> Cell:
    return Cell(units.count(number), number)


def _ends(one: FleetMove) -> Row:
    return one.move.name, one.move.old, one.move.new, Cell(units.size(one.size_bytes), one.size_bytes)


def _times(one: FleetMove) -> Row:
    down = one.downtime_seconds
    return (
        units.ABSENT if down is None else Cell(about(down.likely), down.likely),
        units.ABSENT if down is None else Cell(about(down.high), down.high),
        _window(one),
    )


def _window(one: FleetMove) -> str | Cell:
    return units.ABSENT if one.window_seconds is None else Cell(about(one.window_seconds), one.window_seconds)


def _stopped_tables(report: FleetReport) -> tuple[Table, ...]:
    if not report.stopped:
        return ()
    counts: tuple[Row, ...] = tuple(
        (title, Cell(units.count(number), number)) for title, number in _most_stopping(report)
    )
    rows: tuple[Row, ...] = tuple((*_ends(one), _reasons(one), _window(one)) for one in report.stopped)
    head = (tr("Move"), tr("Old server"), tr("New server"), tr("Size"), tr("Blocked by"), tr("Window"))
    return (
        Table("stops", (tr("Blocked by"), tr("Moves")), counts, (1, 0), frozenset({1})),
        Table("stopped", head, rows, (1.5, 1, 0.8, 0, 2, 0), frozenset({3, 5}), dense=len(rows) > _MANY),
    )


def _reasons(one: FleetMove) -> str:
    others = one.stops[len(one.failed_checks) :]
    return "\n".join(f"✕ {each}" for each in (*map(tr, one.failed_checks), *map(recorded, others)))


def _unknown_tables(report: FleetReport) -> tuple[Table, ...]:
    rows: tuple[Row, ...] = tuple(
        (one.move.name, one.move.old, one.move.new, recorded(one.unknown)) for one in report.unknown
    )
    head = (tr("Move"), tr("Old server"), tr("New server"), tr("Reason"))
    return (Table("unknown", head, rows, (1.3, 0.85, 0.65, 2.4), dense=len(rows) > _MANY),) if rows else ()


def _over_tables(report: FleetReport) -> tuple[Table, ...]:
    over = [(one, one.moved_at) for one in report.over if one.moved_at is not None]
    by_others = any(one.moved_by for one, _ in over)
    rows: tuple[Row, ...] = tuple((*_ends(one), day(at), *([one.moved_by] * by_others)) for one, at in over)
    head = (tr("Move"), tr("Old server"), tr("New server"), tr("Size"), tr("Time"))
    by, width = ((tr("Recorded by"),), (0.9,)) if by_others else ((), ())
    return (Table("over", (*head, *by), rows, (1.4, 0.9, 0.9, 0, 0, *width), frozenset({3})),) if rows else ()


def _unread_tables(report: FleetReport) -> tuple[Table, ...]:
    rows: tuple[Row, ...] = tuple(
        (each.profile.name, moment(each.failed[0]), recorded(each.failed[1]))
        for each in report.unread
        if each.failed is not None
    )
    return (Table("unread", (tr("Server"), tr("Time"), tr("Reason")), rows, (1, 0, 2.4)),) if rows else ()


def _server_tables(report: FleetReport) -> tuple[Table, ...]:
    rows: tuple[Row, ...] = tuple(_server(each) for each in report.servers)
    head = (tr("Server"), tr("System"), tr("Clusters"), tr("Read"))
    return (Table("servers", head, rows, (1, 1.4, 0, 0), frozenset({2}), dense=True),) if rows else ()


def _server(each: FleetServer) -> Row:
    facts = each.facts
    if facts is None:
        return each.profile.name, units.ABSENT, units.ABSENT, tr("never")
    system = facts.system.name if facts.system is not None else units.ABSENT
    clusters = Cell(units.count(len(facts.clusters)), len(facts.clusters))
    return each.profile.name, system, clusters, moment(facts.taken_at)

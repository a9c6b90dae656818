"""Capacity: how the cluster grows, when its file system is full, and which windows a move fits into then."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from core import units
from core.language import current, tr
from core.migration.estimate import simulated
from core.migration.estimate.assumptions import WAY_BACK
from core.migration.estimate.draws import span as span_of
from core.migration.estimate.growth import FULL, Later, later, monthly_growth, months_until_full
from core.migration.estimate.night import SURE, WINDOWS, Night, likelihood, start_by
from core.migration.estimate.planning import begins_with_a_precopy
from core.migration.estimate.spec import Spec
from core.migration.estimate.stages import Simulated
from core.migration.model.estimate import CARRIED_OUT, Span
from core.migration.model.move import Verify
from core.reports.charts.axes import Scale, size_marks
from core.reports.charts.duration_plots import Scheduled, window
from core.reports.drawing import WIDTH, Dot, Drawing, Line, Mark, Words
from core.reports.model import Answer, Block, Cell, Document, Item, Row, Section, Table, Text, Tone
from core.reports.options import Options
from core.reports.parts.method import method as method_section
from core.reports.parts.server_tables import servers
from core.reports.report import Report, spec
from core.reports.words import about, day, instant, method, missing, span
from core.servers import shell

# The size of a cluster over time, and on from there, against what its file system holds.

_MONTH = 30.44 * 86400.0
_AHEAD = 12 * _MONTH


def growth_chart(
    sizes: Sequence[tuple[datetime, float]], bytes_per_month: float | None, limits: Sequence[tuple[str, float]]
) -> Drawing | None:
    """Sizes as they were read, twelve months ahead by the growth, and each limit as a line with its name."""
    if not sizes:
        return None
    begun = sizes[0][0]
    points = [((at - begun).total_seconds(), size) for at, size in sizes]
    now, size = points[-1]
    later = size + 12 * (bytes_per_month or 0.0)
    most = 1.1 * max(later, *(value for _, value in limits), *(value for _, value in points))
    across, up = Scale(0, now + _AHEAD, 22, WIDTH - 34), Scale(0, most, 48, 3)
    made: list[Mark] = [Line(22, 48, across.end, 48, "muted"), Line(22, 3, 22, 48, "muted")]
    for mark, name in size_marks(most):
        y = up.at(mark)
        made += [Line(22, y, across.end, y, "rule", 0.4), Words(20.5, y, name, 7, "muted", "end")]
    for title, value in limits:
        y = up.at(value)
        made += [Line(22, y, across.end, y, "bad", 1.0, dashed=True), Words(across.end + 1.5, y, title, 7, "bad")]
    places = [(across.at(at), up.at(value)) for at, value in points]
    made += [Line(*one, *other, "accent", 1.3) for one, other in pairwise(places)]
    made += [Dot(x, y, 0.9, "accent") for x, y in places[-60:]]
    made += [
        Words(across.at(now), 51, day(sizes[-1][0]), 7, "muted", "middle"),
        Words(across.end, 51, tr("in 12 months"), 7, "muted", "middle"),
    ]
    if bytes_per_month:
        made.append(Line(across.at(now), up.at(size), across.end, up.at(later), "accent", 1.3, dashed=True))
        made.append(Words(across.end + 1.5, up.at(later), units.size(later), 7, bold=True))
    alt = tr("Size over time: {now} now, {later} in twelve months.").format(
        now=units.size(size), later=units.size(later)
    )
    return Drawing(
        "growth", alt + " " + " ".join(f"{title}: {units.size(value)}." for title, value in limits), 53.5, tuple(made)
    )


def capacity_report(report: Report, options: Options) -> Document:
    """The growth of a move's cluster."""
    known = spec(report)
    return Document(
        kind="capacity",
        title=tr("Capacity of {server}").format(server=report.old.name),
        subtitle=tr("{cluster}, to be moved to {new}").format(cluster=report.move.cluster, new=report.new.name),
        label=tr("Capacity"),
        language=current(),
        made_at=report.made_at,
        program=f"pghaul {report.program_version}",
        answers=_answers(report, known),
        charts=_charts(report, known),
        sections=tuple(section for section in _sections(report, known, options) if section),
    )


def _per_month(report: Report) -> float | None:
    return monthly_growth(report.sizes)


def _limits(report: Report, known: Spec | None) -> tuple[tuple[str, float], ...]:
    """What the file systems of both servers can hold of the cluster, four fifths full, beside what else lies there."""
    found: list[tuple[str, float]] = []
    if known is not None and known.old.capacity_bytes is not None:
        others = (known.old.used_bytes or known.cluster.size_bytes) - known.cluster.size_bytes
        found.append((tr("old disk full"), max(0.0, FULL * known.old.capacity_bytes - others)))
    system = report.new_facts.file_system_of(report.move.target) if report.new_facts is not None else None
    if system is not None and system.size_bytes and system.available_bytes is not None:
        found.append(
            (tr("new disk full"), max(0.0, FULL * system.size_bytes - (system.size_bytes - system.available_bytes)))
        )
    return tuple(found)


def _answers(report: Report, known: Spec | None) -> tuple[Answer, ...]:
    size = report.sizes[-1][1] if report.sizes else None
    now = Answer(
        tr("How large is the cluster?"),
        tr("Not known") if size is None else units.size(size),
        () if size is None else (tr("As read on {instant}.").format(instant=instant(report.sizes[-1][0])),),
        Tone.MUTED if size is None else Tone.PLAIN,
    )
    return now, _grows(report), *_full(report, known), _window(report, known)


def _grows(report: Report) -> Answer:
    question = tr("How fast does the cluster grow?")
    grown = _per_month(report)
    if grown is None:
        hint = tr("Its size has been read on one day only. Read the facts again in a week.")
        return Answer(question, tr("Not known"), (hint,), Tone.MUTED)
    words = tr("{size} a month").format(size=units.size(abs(grown)))
    since = tr("From {size} on {instant}.").format(
        size=units.size(report.sizes[0][1]), instant=instant(report.sizes[0][0])
    )
    return Answer(
        question, words if grown >= 0 else tr("It shrinks by {size} a month").format(size=units.size(-grown)), (since,)
    )


def _full(report: Report, known: Spec | None) -> tuple[Answer, ...]:
    """A line a side: when four fifths of the file system are used."""
    grown, size = _per_month(report), report.sizes[-1][1] if report.sizes else None
    questions = {
        tr("old disk full"): tr("When will the old disk be full?"),
        tr("new disk full"): tr("When will the new disk be full?"),
    }
    limits = dict(_limits(report, known))
    made = []
    for name, question in questions.items():
        if name not in limits or size is None:
            made.append(Answer(question, tr("Not known"), (), Tone.MUTED))
            continue
        months = months_until_full(size, limits[name], grown or 0.0, limit=1.0)
        room = tr("The cluster may grow to {size}. Its file system is then 80 % full.").format(
            size=units.size(limits[name])
        )
        if months is None:
            words = tr("Not known without the growth") if grown is None else tr("Never at the present growth")
            made.append(Answer(question, words, (room,), Tone.MUTED if grown is None else Tone.GOOD))
            continue
        tone = Tone.BAD if months < 3 else Tone.MIXED if months < 12 else Tone.GOOD
        words = (
            tr("In {months} months").format(months=units.count(round(months, 1))) if months else tr("It is full now")
        )
        made.append(Answer(question, words, (room,), tone))
    return tuple(made)


def _window(report: Report, known: Spec | None) -> Answer:
    question = tr("Which maintenance window is long enough?")
    possible = [] if known is None else _possible(known, _checking(report))
    rows = _fits(possible)
    for seconds, by_method in rows:
        sure = [one for one in possible if by_method[one.name] >= SURE]
        if sure:
            words = tr("{time}, with the method {method}").format(time=about(seconds), method=method(sure[0].name))
            said = tr("The move fits into it in nine of ten simulated nights, including time for a rollback.")
            return Answer(question, words, (said, *_ahead(sure[0])))
    return Answer(
        question, tr("None of up to 24 h") if rows else tr("Not known"), (), Tone.MIXED if rows else Tone.MUTED
    )


def _ahead(one: Simulated) -> tuple[str, ...]:
    """How long before the downtime the pre-copy must begin; nothing for a method without one."""
    if not begins_with_a_precopy(one.name):
        return ()
    said = tr("The pre-copy must begin at least {time} before the downtime.")
    return (said.format(time=units.duration(span_of(one.ahead).high)),)


def _checking(report: Report) -> Verify:
    return report.plan.verify if report.plan is not None else Verify.CHANGED


def _possible(known: Spec, checking: Verify) -> list[Simulated]:
    return [one for one in simulated(known, checking) if not one.ruled_out]


def _fits(possible: Sequence[Simulated]) -> list[tuple[float, dict[str, float]]]:
    """Each window with the likelihood of each method; empty without a method."""
    return [
        (seconds, {one.name: likelihood(one, Night(seconds, way_back=True)) for one in possible})
        for seconds in WINDOWS
        if possible
    ]


def _charts(report: Report, known: Spec | None) -> tuple[Section, ...]:
    drawing = growth_chart(report.sizes, _per_month(report), _limits(report, known))
    return () if drawing is None else (Section(tr("Size over time"), (drawing,)),)


def _sections(report: Report, known: Spec | None, options: Options) -> tuple[Section, ...]:
    if known is None:
        said = missing(tr("The size of the cluster is not known."), report.move, "check", "Checks")
        return (Section(tr("Growth"), (Text(said, Tone.MUTED),)), servers(report))
    nights = Item(
        tr(
            "A likelihood is the share of simulated nights in which the move ends in time, including time for "
            "a rollback."
        ),
        title=tr("Windows"),
    )
    return (
        Section(tr("Downtime of a later move"), _move_later(report, known)),
        Section(tr("Likelihood that the move fits into a window"), _fit(_possible(known, _checking(report)))),
        Section(tr("Recorded sizes"), (_sizes(report),)),
        servers(report),
        method_section(nights, masked=options.masked),
    )


def _move_later(report: Report, known: Spec) -> tuple[Block, ...]:
    """What it takes now and later; where nobody knows of any growth, now, and how to come to know."""
    grown, checking = _per_month(report), _checking(report)
    if grown is not None and grown > 0:
        return (_later(later(known, grown, checking)),)
    said = tr("The cluster does not grow. A later move takes no longer than one now.")
    if grown is None:
        said = tr(
            "The growth is not known, so the table uses the present size. Read the facts again in a week, "
            "or give the growth: {command}"
        ).format(command=shell.command("pghaul", "estimate", report.move.name, "--growth", "20GB"))
    return Text(said, Tone.MUTED), _later(later(known, 0.0, checking)[:1])


def _later(found: tuple[Later, ...]) -> Table:
    names = tuple(found[0].downtime_seconds) if found else ()
    head = (tr("In months"), tr("Size"), *(method(name) for name in names))
    rows: tuple[Row, ...] = tuple(
        (
            str(one.months),
            Cell(units.size(one.size_bytes), one.size_bytes),
            *(Cell(span(one.downtime_seconds[name]), one.downtime_seconds[name].likely) for name in names),
        )
        for one in found
    )
    return Table("later", head, rows, (0, 0, *(1.0 for _ in names)), frozenset({0, 1}))


def _fit(possible: Sequence[Simulated]) -> tuple[Block, ...]:
    """The likelihood of each window, and the schedule in the smallest one that is long enough for pghaul's methods."""
    found = _fits(possible)
    enough = (seconds for seconds, parts in found if max(parts.get(name, 0.0) for name in CARRIED_OUT) >= SURE)
    seconds = next(enough, WINDOWS[-1])
    scheduled = [Scheduled(one.name, span_of(one.ahead).high, span_of(one.downtime), start_by(one)) for one in possible]
    drawing = window(seconds, scheduled, Span(*WAY_BACK))
    if drawing is None:
        return (_windows(found),)
    said = tr("The latest schedule of each method in a window of {time}, from the beginning of the window:")
    return _windows(found), Text(said.format(time=about(seconds))), drawing


def _windows(found: list[tuple[float, dict[str, float]]]) -> Table:
    names = tuple(found[0][1]) if found else ()
    head = (tr("Window"), *(method(name) for name in names))
    rows: tuple[Row, ...] = tuple(
        (about(seconds), *(_likely(by_method[name]) for name in names)) for seconds, by_method in found
    )
    return Table("windows", head, rows, (0.8, *(1.0 for _ in names)), frozenset(range(1, len(names) + 1)))


def _likely(part: float) -> Cell:
    return Cell(units.share(part), part, Tone.GOOD if part >= SURE else Tone.PLAIN)


def _sizes(report: Report) -> Table:
    rows: tuple[Row, ...] = tuple((instant(at), Cell(units.size(size), size)) for at, size in report.sizes)
    return Table("sizes", (tr("Time"), tr("Size")), rows, (1, 0), frozenset({1}))

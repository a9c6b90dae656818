"""How long each way takes: methods side by side, what bounds the planned one, what would help, what is assumed."""

from collections.abc import Sequence

from core import units
from core.language import tr
from core.migration.estimate.planning import begins_with_a_precopy
from core.migration.execution.record import DOWNTIME, EstimateComparison, bias, by_stage
from core.migration.model.asked import NOTHING, Asked, window_text
from core.migration.model.estimate import Estimate, Fit, Help, Method
from core.migration.transports.choice import choose_transport, tried_routes
from core.reports.charts.duration_plots import chain, link_name, methods, stages
from core.reports.model import Block, Cell, Item, Items, Row, Section, Table, Text, Tone
from core.reports.recorded import compared, recorded
from core.reports.report import Report
from core.reports.words import about, bottleneck, instant, method, missing, span, stage_name, time_words
from core.text import capital

_MOST_HELPS = 4


def planned_method(report: Report) -> Method | None:
    """The method that the plan follows; without a plan the one to take."""
    if report.estimate is None:
        return None
    planned = report.estimate.method(report.plan.method) if report.plan is not None else None
    if planned is not None and not planned.ruled_out:
        return planned
    return report.estimate.method(report.estimate.to_take)


def planned_fit(report: Report) -> Fit | None:
    """How that method fits into the window and the downtime; None where nobody has asked."""
    made, chosen = report.estimate, planned_method(report)
    return None if made is None or chosen is None or made.asked == NOTHING else made.fit(chosen.method)


def window_words(window: tuple[float, float]) -> str:
    """`22:00 to 02:00`."""
    begin, end = window_text(window).split("-")
    return tr("{low} to {high}").format(low=begin, high=end)


def fit_words(fit: Fit, asked: Asked, old: str) -> tuple[str, ...]:
    """What was asked and how likely it is met, when the old server must be stopped, and what is needed."""
    return (_asked(fit, asked, old), *_latest(fit, asked), *_needed(fit))


def _asked(fit: Fit, asked: Asked, old: str) -> str:
    most, part = about(asked.seconds or 0.0), likelihood(fit.likelihood)
    if asked.window is None:
        return tr("The downtime is at most {time} with a likelihood of {part}.").format(time=most, part=part)
    said = tr("Window: {window}, by the clock of {server}.").format(window=window_words(asked.window), server=old)
    if asked.downtime_seconds is not None:
        said += " " + tr("Longest acceptable downtime: {time}.").format(time=about(asked.downtime_seconds))
    fits = tr("With a likelihood of {part}, the downtime and a rollback after it take at most {time} together.")
    return f"{said} {fits.format(time=most, part=part)}"


def _latest(fit: Fit, asked: Asked) -> tuple[str, ...]:
    """How long before the end of a window that is long enough the old cluster must be stopped."""
    if asked.window is None or asked.seconds is None or fit.start_by > asked.seconds:
        return ()
    said = tr("Stop the old cluster at least {time} before the end of the window, to leave time for a rollback.")
    begin = tr("The pre-copy must begin at least {time} before the downtime.")
    ahead = f" {begin.format(time=about(fit.begin_before))}" if begins_with_a_precopy(fit.method) else ""
    return (f"{said.format(time=about(fit.start_by))}{ahead}",)


def _needed(fit: Fit) -> tuple[str, ...]:
    said = tr("For a likelihood of 90 %: {condition}.")
    return (said.format(condition=recorded(fit.must_hold)),) if fit.must_hold else ()


def likelihood(part: float) -> str:
    """`97 %`."""
    return units.share(part)


def helping(report: Report) -> tuple[Help, ...]:
    """What would shorten the method to take, the least effort first."""
    return () if report.estimate is None else report.estimate.helps


def saving(one: Help) -> tuple[float, float]:
    """By what the best of them is found: the downtime that it saves, then the total time."""
    return one.downtime_seconds, one.duration_seconds


def durations(report: Report) -> Section:
    """The estimate with what it stands on."""
    if report.estimate is None or not report.estimate.methods:
        said = missing(tr("Nothing was estimated yet."), report.move, "estimate", "Estimate")
        return Section(tr("Durations"), (Text(said, Tone.MUTED), *_links(report)))
    blocks: list[Block] = []
    if report.estimate.made_at is not None:
        said = tr(
            "Estimated on {instant}. After each likely value, the low and the high one are in parentheses: the "
            "duration is between them with a probability of 80 %."
        )
        blocks.append(Text(said.format(instant=instant(report.estimate.made_at)), small=True))
    blocks.append(_side_by_side(report.estimate.methods))
    blocks += _space(report)
    chosen = planned_method(report)
    if chosen is not None:
        blocks.append(_chosen(chosen))
    parts = (
        *_links(report),
        _fits(report, report.estimate),
        _helps(helping(report)),
        _assumed(report.estimate.methods, chosen),
        _record(report),
    )
    return Section(tr("Durations"), (*blocks, *(part for part in parts if part)))


def methods_chart(report: Report) -> tuple[Block, ...]:
    """The plot of page one."""
    planned = planned_method(report) if report.plan is not None else None
    drawing = methods(report.estimate.methods, planned) if report.estimate is not None else None
    return () if drawing is None else (drawing,)


def _side_by_side(found: Sequence[Method]) -> Table:
    head = (
        tr("Method"),
        tr("Downtime"),
        tr("Total time"),
        tr("Longest stage"),
        tr("Bottleneck"),
        tr("Space needed"),
    )
    rows = []
    for one in found:
        longest = max(one.stages, key=lambda stage: stage.seconds.likely, default=None)
        rows.append(
            (
                method(one.method),
                Cell(span(one.downtime_seconds), one.downtime_seconds.likely),
                Cell(span(one.duration_seconds), one.duration_seconds.likely),
                stage_name(longest.name) if longest is not None else units.ABSENT,
                bottleneck(longest.bound_by) if longest is not None else units.ABSENT,
                Cell(units.size(one.bytes_on_new), one.bytes_on_new) if one.bytes_on_new else units.ABSENT,
            )
        )
    return Table("methods", head, tuple(rows), (1.35, 1.45, 1.45, 0.9, 1.5, 0), frozenset({5}))


def _space(report: Report) -> tuple[Block, ...]:
    """Why a cluster needs more space than is copied."""
    idle = report.idle_wal_bytes
    if not idle:
        return ()
    said = tr(
        "The column on space counts a complete new cluster on the new server. {size} of it are unused WAL segments of "
        "the old cluster: they are not copied, but the new cluster will create as many. "
        "Parallel dump & restore also needs space for the files of the dump."
    )
    return (Text(said.format(size=units.size(idle)), small=True),)


def _chosen(one: Method) -> Section:
    drawing = stages(one)
    sources: dict[str, list[str]] = {}
    for stage in one.stages:
        if stage.evidence:
            sources.setdefault(recorded(stage.evidence), []).append(stage_name(stage.name))
    evidence = [Item(source, title=", ".join(names)) for source, names in sources.items()]
    title = tr("{method}: stages and their bottlenecks").format(method=method(one.method))
    blocks: list[Block] = [drawing] if drawing is not None else []
    if evidence:
        blocks.append(Text(tr("The durations come from these sources:"), small=True))
        blocks.append(Items(tuple(evidence)))
    return Section(title, tuple(blocks))


def _links(report: Report) -> tuple[Section, ...]:
    if not report.probes:
        said = missing(
            tr("No link of the copy path has been measured, so all rates are assumptions."),
            report.move,
            "probe",
            "Transfer test",
        )
        return (Section(tr("Copy path"), (Text(said, Tone.MUTED),)),)
    head = (tr("Link"), tr("Rate"), tr("Amount"), tr("Method"), tr("Time"))
    at = time_words(probe.taken_at for probe in report.probes)
    rows = [
        (
            link_name(probe.quantity),
            Cell(units.rate(probe.bytes_per_second), probe.bytes_per_second),
            tr("{size} in {time}").format(size=units.size(probe.bytes), time=units.measured(probe.seconds)),
            recorded(probe.method),
            at(probe.taken_at),
        )
        for probe in report.probes
    ]
    drawing = chain(report.probes)
    table = Table("probes", head, tuple(rows), (1.2, 0, 0, 2.6, 0), frozenset({1}))
    chosen = _chosen_transport(report)
    return (Section(tr("Copy path"), (*(() if drawing is None else (drawing,)), table, *chosen)),)


def _chosen_transport(report: Report) -> tuple[Block, ...]:
    """With which of the transports that were tried the copy goes, and what its compression makes of the links."""
    choice = choose_transport(report.probes, tried_routes(report.probes))
    sample = choice.sample
    if sample is None:
        return ()
    said = tr("The copy uses {transport}, which reached {rate} end to end.").format(
        transport=compared(choice.transport.name), rate=units.rate(sample.bytes_per_second)
    )
    if sample.ratio is not None and sample.ratio > 1:
        packed = tr(
            "It compresses the files to {part} of their size: each byte that network and SSH carry stands for {times} "
            "bytes of the cluster."
        )
        said += " " + packed.format(part=units.percent(1 / sample.ratio), times=units.count(sample.ratio))
    said += " " + tr(
        "Each rate was measured separately on a small sample. It can be wrong by several percent, and differ from the "
        "rates in the section Storage, which were measured for longer."
    )
    return (Text(said, small=True),)


def _likelihood(part: float | None) -> Cell:
    return Cell(units.ABSENT if part is None else likelihood(part), part)


def _fits(report: Report, made: Estimate) -> Section:
    """How the planned method and each other one fits into the window or downtime that was asked about."""
    planned = planned_fit(report)
    words = () if planned is None else (Text(" ".join(fit_words(planned, made.asked, report.old.name))),)
    head = (
        tr("Method"),
        tr("Likelihood"),
        tr("Before the downtime"),
        tr("Downtime and rollback"),
        tr("Condition for 90 %"),
    )
    rows: tuple[Row, ...] = tuple(
        (
            method(one.method),
            _likelihood(one.likelihood),
            Cell(about(one.begin_before), one.begin_before) if one.begin_before >= 1 else units.ABSENT,
            Cell(about(one.start_by), one.start_by),
            Cell(capital(recorded(one.must_hold)) if one.must_hold else tr("none"), is_prose=True),
        )
        for one in sorted(made.fits, key=lambda fit: -fit.likelihood)
    )
    said = tr("The times are high values: 90 % of the simulated moves take less.")
    title = tr("Fit into the downtime") if made.asked.window is None else tr("Fit into the window")
    table = Table("fits", head, rows, (1.2, 0, 0.7, 0.7, 2.0), frozenset({1, 2, 3}))
    return Section(title, (*words, table, Text(said, small=True)) if rows else ())


def _helps(found: Sequence[Help]) -> Section:
    likely = any(one.likelihood is not None for one in found)
    head = (
        tr("Change"),
        tr("Downtime saved"),
        tr("Total time saved"),
        tr("Effort"),
        tr("Bottleneck after the change"),
        *([tr("Likelihood")] if likely else []),
    )
    best = sorted(found, key=saving, reverse=True)[:_MOST_HELPS]
    rows: tuple[Row, ...] = tuple(
        (
            capital(recorded(one.change)),
            Cell(_saved(one.downtime_seconds), one.downtime_seconds),
            Cell(_saved(one.duration_seconds), one.duration_seconds),
            units.ABSENT if one.effort is None else tr(one.effort.heading),
            bottleneck(one.then_bound_by),
            *([_likelihood(one.likelihood)] if likely else []),
        )
        for one in found
        if one in best
    )
    widths = (2.2, 0.8, 0.8, 0.6, 1.1, *([0.0] if likely else []))
    table = Table("helps", head, rows, widths, frozenset({1, 2, *([5] if likely else [])}))
    said = tr(
        "Each row changes one thing, and nothing else. The last column names what limits the longest stage after the "
        "change, which may be the same as before. An improvement of less than a second counts as none."
    )
    return Section(tr("Possible improvements"), (table, Text(said, small=True)) if rows else ())


def _saved(seconds: float) -> str:
    return tr("none") if seconds < 1 else about(seconds)


def _assumed(found: Sequence[Method], chosen: Method | None) -> Section:
    """All warnings, and what is assumed about the planned method. What is assumed about others is in an appendix."""
    title = tr("Assumptions and warnings")
    own, others = _sorted_assumptions(found, chosen)
    if not others:
        return Section(title, (Items(own),) if own else ())
    said = tr("With the raw values, an appendix lists what is assumed about methods that are not planned.")
    return Section(title, (*((Items(own),) if own else ()), Text(said, small=True)))


def assumed_about_others(report: Report) -> Section:
    """What is assumed only about methods that are not planned; false if nothing is."""
    methods = report.estimate.methods if report.estimate is not None else ()
    _, others = _sorted_assumptions(methods, planned_method(report))
    return Section(tr("Appendix: assumptions about the other methods"), (Items(others),) if others else ())


def _sorted_assumptions(found: Sequence[Method], chosen: Method | None) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Return the items for the evidence and those for an appendix, each text once with the methods it holds for."""
    said: dict[tuple[str, Tone], list[str]] = {}
    for one in found:
        for text in one.assumptions:
            said.setdefault((recorded(text), Tone.PLAIN), []).append(one.method)
        for text in one.warnings:
            said.setdefault((recorded(text), Tone.MIXED), []).append(one.method)
        if one.ruled_out:
            out = tr("Not possible: {reason}").format(reason=recorded(one.ruled_out))
            said.setdefault((out, Tone.BAD), []).append(one.method)
    own: list[Item] = []
    others: list[Item] = []
    for (text, tone), names in sorted(said.items(), key=lambda each: list(Tone).index(each[0][1]), reverse=True):
        title = tr("All methods") if len(names) == len(found) > 1 else ", ".join(map(method, names))
        concerns = tone is not Tone.PLAIN or chosen is None or chosen.method in names
        (own if concerns else others).append(Item(text, tone=tone, title=title))
    return tuple(own), tuple(others)


def _record(report: Report) -> Section:
    """Each execution and rehearsal of the move beside its estimate, then how good those of all moves were."""
    blocks = (*_of_this_move(report.record), *_by_stage(report.record_of_all))
    return Section(tr("Estimates and measured durations"), blocks) if blocks else Section("", ())


def _of_this_move(rows: Sequence[EstimateComparison]) -> tuple[Block, ...]:
    if not rows:
        return ()
    head = (
        tr("Start of the run"),
        tr("Run"),
        tr("Stage"),
        tr("Estimate"),
        tr("Duration"),
        tr("Ratio to likely value"),
    )
    at = time_words(row.began_at for row in rows)
    cells = tuple(
        (
            at(row.began_at),
            tr(row.name),
            stage_name(row.stage),
            Cell(span(row.estimated), row.estimated.likely),
            Cell(units.duration(row.seconds), row.seconds),
            Cell(units.ratio(row.factor) + ("" if row.inside else f" ({tr('outside the range')})"), row.factor),
        )
        for row in rows
    )
    said = tr("The downtime counts commands only: neither manual steps, nor the time between the steps.")
    table = Table("estimates-record", head, cells, (0, 0.7, 1.1, 1.3, 0, 0), frozenset({4, 5}), dense=True)
    return (table, Text(said, small=True)) if any(row.stage == DOWNTIME for row in rows) else (table,)


def _by_stage(rows: Sequence[EstimateComparison]) -> tuple[Block, ...]:
    """How good the estimates of each stage were, over all moves; of good ones 8 of 10 are inside."""
    off = bias(rows)
    if off is None:
        return ()
    head = (
        tr("Stage, all moves"),
        tr("Number"),
        tr("Within the range"),
        tr("Geometric mean of duration / likely value"),
    )
    cells = tuple(
        (
            stage_name(each.stage),
            Cell(units.count(each.times), each.times),
            Cell(units.percent(each.inside / each.times), each.inside / each.times),
            Cell(units.ABSENT if each.bias is None else units.ratio(each.bias), each.bias),
        )
        for each in by_stage(rows)
    )
    said = tr(
        "{inside} of {all} measured durations are within the estimated range. On (geometric) average, a measured "
        "duration was {factor} the likely value of its estimate."
    )
    inside = sum(row.inside for row in rows)
    text = Text(said.format(inside=inside, all=len(rows), factor=units.ratio(off)))
    if len({row.move for row in rows}) < 2:
        return (text,)  # the rows of one move stand above
    return Table("estimates-by-stage", head, cells, (1.4, 0, 0, 0), frozenset({1, 2, 3}), dense=True), text

"""The migration plan: go or no-go first, then its evidence, the worst first."""

import dataclasses
from pathlib import Path

from core.comparison.model import Finding, LeftOut
from core.facts.model import Gap
from core.migration.execution.record import EstimateComparison
from core.migration.model.asked import Asked
from core.migration.model.checks import Status, Waiver
from core.migration.model.estimate import Effort, Estimate, Help, Method, Span, Stage
from core.migration.model.execution import Execution, Kind, State
from core.migration.model.plan import Phase, PlanWarning
from core.reports.kinds.plan import plan_report
from core.reports.model import Document, Items, drawings
from core.reports.options import Options
from core.reports.parts.plan_table import plan as plan_section
from core.reports.report import Report, build
from tests.core.history import samples
from tests.core.reports.reading import answers, names, rows, titles, words
from tests.core.reports.test_summary import NIGHT, asked_of
from tests.histories import Histories


def _made(report: Report, options: Options | None = None) -> Document:
    return plan_report(report, options or Options())


def test_go_needs_checks_without_blockers_and_a_plan(full: Report) -> None:
    assert answers(_made(full))[0] == "No-go. Not yet: 1 blocker and 1 unknown"
    assert "text sorts differently" in _made(full).answers[0].details[0]
    fine = tuple(check for check in samples.checks() if not check.stops)
    assert answers(_made(dataclasses.replace(full, checks=fine)))[0] == "Go"
    assert answers(_made(dataclasses.replace(full, checks=fine, plan=None)))[0] == "Not yet"


def test_five_lines_and_two_charts_are_page_one(full: Report) -> None:
    made = _made(full)
    assert len(made.answers) == 5
    assert [chart.title for chart in made.charts] == [
        "Duration of each method",
        "Storage: new server compared with old server",
    ]
    assert made.answers[2].words == "Network"
    assert made.answers[4].words == "1 warning; 1 check without a result"
    warned = next(check for check in full.checks or () if check.status is Status.WARNING)
    assert made.answers[4].details[0] == f"{warned.title}: {warned.message}."


def test_page_one_says_whether_the_move_fits_and_a_table_says_it_of_each_method(full: Report) -> None:
    asked = asked_of(full, Asked(NIGHT), 0.75)
    made = _made(asked)
    assert len(made.answers) == 5
    assert made.answers[1].details[-1] == (
        "Does the move fit into the window? Probably. 22:00 to 02:00: likelihood 75 %."
    )
    assert "at least 20 min before the end of the window" in words(made.sections)
    assert asked.estimate is not None
    assert len(rows(made, "fits")) == len(asked.estimate.methods)
    assert {row[1] for row in rows(made, "fits")} == {"75 %"}
    assert "fits" not in names(_made(full))


def test_each_improvement_tells_how_likely_the_move_fits_with_it(full: Report) -> None:
    assert full.estimate is not None
    change = Help("4 streams", 600.0, 60.0, "wire", Effort.MINUTES)
    before, after = (
        rows(_made(dataclasses.replace(full, estimate=dataclasses.replace(full.estimate, helps=(each,)))), "helps")
        for each in (change, dataclasses.replace(change, likelihood=0.97))
    )
    assert after == [[*before[0], "97 %"]]


def test_page_one_tells_three_findings_and_how_many_more_there_are(full: Report) -> None:
    one = next(check for check in full.checks or () if check.status is Status.WARNING)
    warned = tuple(dataclasses.replace(one, id=f"check-{number}", message="word " * 99) for number in range(5))
    answer = _made(dataclasses.replace(full, checks=warned)).answers[4]
    assert answer.words == "5 warnings"
    assert [detail.endswith(" …") for detail in answer.details[:3]] == [True] * 3
    assert answer.details[3:] == ("2 more under Checks.",)


def test_page_one_names_the_cluster(full: Report) -> None:
    way = "from the server gannon-old to the server gannon-new"
    assert _made(full).subtitle == f"PostgreSQL 15.5 cluster (all databases), 1.1 TiB, {way}"
    for version, told in (("15.18", f"{way} with version 15.18"), ("15.5", way), ("15.18, postgres 16.2", way)):
        minor = dataclasses.replace((full.checks or ())[0], id="minor", new=version)
        assert _made(dataclasses.replace(full, checks=(minor,))).subtitle.endswith(told)
    assert (
        _made(dataclasses.replace(full, old_facts=None)).subtitle
        == "from the server gannon-old to the server gannon-new"
    )


def test_page_one_says_what_was_rehearsed(full: Report) -> None:
    fine = tuple(check for check in samples.checks() if not check.stops)

    def said(*rehearsals: Execution) -> str:
        return _made(dataclasses.replace(full, checks=fine, executions=rehearsals)).answers[0].details[1]

    done = dataclasses.replace(full.executions[0], kind=Kind.REHEARSAL, state=State.DONE, steps=())
    first, *others = done.plan.steps
    steps = dataclasses.replace(first, phase=Phase.DRESS), *others
    dressed = dataclasses.replace(done, plan=dataclasses.replace(done.plan, steps=steps))
    failed = dataclasses.replace(done, state=State.STOPPED)
    assert said() == said(failed) == "The move was not rehearsed yet."
    assert said(done).startswith("The copy was rehearsed on ")
    assert said(done).endswith(", but the copied cluster was not started on the new server (no dress rehearsal).")
    assert said(dressed).startswith("A dress rehearsal")
    assert "The copy was rehearsed on " in said(dressed, done)


def test_page_one_says_until_when_the_move_can_be_rolled_back(full: Report) -> None:
    fine = tuple(check for check in samples.checks() if not check.stops)
    assert full.plan is not None
    point = next(step.number for step in full.plan.steps if step.point_of_no_return)
    details = _made(dataclasses.replace(full, checks=fine)).answers[0].details
    assert details[-1].startswith(f"The move can be rolled back up to step {point - 1}. Step {point} ")
    steps = full.plan.steps[: point - 1]
    rehearsed = dataclasses.replace(full, checks=fine, plan=dataclasses.replace(full.plan, steps=steps))
    assert "rolled back" not in " ".join(_made(rehearsed).answers[0].details)


def test_page_one_names_the_longest_stage_of_the_downtime_where_another_is_longer(full: Report) -> None:
    plan, estimate = full.plan, full.estimate
    assert plan is not None
    assert estimate is not None
    steps = (dataclasses.replace(step, phase=Phase.COPY if step.downtime else Phase.WARM) for step in plan.steps)
    copied = dataclasses.replace(full, plan=dataclasses.replace(plan, steps=tuple(steps)))

    def details(seconds: float) -> str:
        ahead = Stage(Phase.WARM, Span(seconds, seconds, seconds), "new disk")
        methods = tuple(dataclasses.replace(one, stages=(ahead, *one.stages)) for one in estimate.methods)
        return (
            _made(dataclasses.replace(copied, estimate=dataclasses.replace(estimate, methods=methods)))
            .answers[2]
            .details[1]
        )

    assert details(1e9) == "The longest stage of the downtime: Copy. Its bottleneck: network."
    assert "of the downtime" not in details(0.1)


def test_evidence_comes_worst_first(full: Report) -> None:
    made = _made(full)
    assert titles(made) == ["Checks", "Durations", "Plan", "Storage", "Servers", "Method and units"]
    assert [row[0] for row in rows(made, "checks")] == ["✕ blocker", "? unknown", "! warning"]
    assert rows(made, "checks-passed")[0] == ["Same release series", "15.18 can open what 15.5 wrote", "15.5", "15.18"]
    assert "rebuild the 212 listed indexes" in rows(made, "checks")[0][2]


def test_evidence_of_what_passed_is_not_cut_before_it_is_long(full: Report) -> None:
    one = next(each for each in full.checks or () if each.status is Status.PASS)
    long, longer = " ".join(["word"] * 8), " ".join(["word"] * 9)
    made = _made(dataclasses.replace(full, checks=(dataclasses.replace(one, old=long, new=longer),)))
    assert rows(made, "checks-passed")[0][2:] == [long, f"{' '.join(['word'] * 7)} …"]


def test_appendices_come_on_request(full: Report) -> None:
    asked = _made(full, Options(raw=True, functions=True))
    appendices = [title for title in titles(asked) if title.startswith("Appendix")]
    assert appendices == [
        "Appendix: commands of each step",
        "Appendix: assumptions about the other methods",
        "Appendix: all other metrics",
        "Appendix: raw values",
        "Appendix: output of the tools",
    ]
    assert "/usr/pgsql-15/bin/pg_ctl" in words(asked.sections)
    assert "/usr/pgsql-15/bin/pg_ctl" not in words(_made(full).sections)
    assert "err= 0: pid=2447" not in words(_made(full).sections)


def test_every_empty_section_says_what_to_do(empty: Report) -> None:
    said = words(_made(empty).sections)
    for command in ("check", "estimate", "probe", "plan"):
        assert f"Run pghaul {command} 'gannon to the new storage', or open" in said
    assert "The facts of gannon-old have not been read yet. Run pghaul facts gannon-old" in said


def test_plots_say_the_same_in_words(full: Report) -> None:
    said = {one.name: one.alt for one in drawings(_made(full))}
    assert set(said) == {"methods", "ratios", "stages", "chain", "gantt"}
    assert "Pre-copy and final sync: downtime 42 min (24 min to 1 h 30 min)" in said["methods"]
    assert "Copy: 3 h 40 min (3 h 06 min to 4 h 42 min), bottleneck: network." in said["stages"]
    assert "Copy the files: planned 3 h 40 min" in said["gantt"]


def test_an_estimate_of_no_time_can_be_drawn(full: Report) -> None:
    nothing = Span(0, 0, 0)
    estimate = Estimate((Method("cold-copy", nothing, nothing, (Stage("copy", nothing, "files"),)),))
    assert "methods" in {one.name for one in drawings(_made(dataclasses.replace(full, estimate=estimate)))}


def _measured_badly(report: Report) -> Report:
    """One value of old was left out, old was disturbed, and one repetition is all that new has."""
    assert report.comparison is not None
    row, *others = report.comparison.rows
    assert row.old is not None
    old = dataclasses.replace(row.old, left_out=(LeftOut(3170.57, "outlier"),), disturbed=True, from_memory=True)
    changed = (dataclasses.replace(row, old=old, note="one value on a side cannot show the noise"), *others)
    return dataclasses.replace(report, comparison=dataclasses.replace(report.comparison, rows=changed))


def test_what_does_not_count_is_said(full: Report) -> None:
    made = _made(_measured_badly(full))
    assert rows(made, "storage")[0][2] == "7\u202f149 IOPS (disturbed, from memory, 1 excluded)"
    said = words(made.sections)
    assert "interval is a guess: Random writes, direct." in said
    assert "Excluded from Random writes, direct on gannon-old: 3\u202f171 IOPS (outlier)." in said
    assert "too few repetitions were undisturbed: Random writes, direct." in said
    assert "Left out of Random" not in words(_made(full).sections)


def test_a_diagnosis_with_its_evidence(full: Report) -> None:
    finding = Finding(
        "access-times", "Reads that update access times", ("/srv is mounted with rw",), ("mount it with noatime",)
    )
    found = dataclasses.replace(full.diagnoses[0], findings=(finding,))
    said = words(_made(dataclasses.replace(full, diagnoses=(found, *full.diagnoses[1:]))).sections)
    assert "Reads that update access times /srv is mounted with rw mount it with noatime" in said
    assert "11 values" in said


def test_an_empty_target_is_no_gap(full: Report) -> None:
    assert full.new_facts is not None
    gaps = (
        Gap("identity", f"version of {full.move.target}", "it is empty", full.move.target, absent=True),
        Gap("settings", f"settings of {full.move.target}", "permission denied", full.move.target),
    )
    said = words(_made(dataclasses.replace(full, new_facts=dataclasses.replace(full.new_facts, gaps=gaps))).sections)
    assert "permission denied" in said
    assert "it is empty" not in said


def test_a_waived_warning_says_who_waived_it_and_why(full: Report) -> None:
    waiver = Waiver("x", "only C collations", "dba@desk", samples.START, Status.WARNING, "a", "b")
    checks = tuple(
        dataclasses.replace(check, waiver=waiver if check.status is Status.WARNING else None)
        for check in full.checks or ()
    )
    made = _made(dataclasses.replace(full, checks=checks))
    assert rows(made, "checks")[2][2].endswith("Waived by dba@desk on 14 March 2026, 20:00 UTC: only C collations")
    assert made.answers[4].words == "1 warning, 1 of them waived; 1 check without a result"


def test_the_plan_repeats_no_warning_of_the_checks_beside_it(full: Report) -> None:
    plan, (check, *_) = full.plan, full.checks or ()
    assert plan is not None
    warnings = (
        PlanWarning(check.message, check.status, check.id),
        PlanWarning("Own: of the plan [x]"),
        PlanWarning(check.message, check.status, "another"),
        "an earlier plan's",
        str(PlanWarning(check.message, check.status, check.id)),
    )
    made = plan_section(dataclasses.replace(full, plan=dataclasses.replace(plan, warnings=warnings)))
    items = next(block for block in made.blocks if isinstance(block, Items))
    assert [item.words for item in items.entries] == ["Own: of the plan [x]", check.message, "an earlier plan's"]


def test_every_volume_side_by_side(histories: Histories, tmp_path: Path) -> None:
    with histories.open(tmp_path, samples.fill) as store:
        run = next(run for run in store.runs(samples.MOVE.name) if run.workload.title == "Random writes, direct")
        elsewhere = dataclasses.replace(run.volume, mount_point="/mnt/a", folder="/mnt/a/x")
        store.run_started(dataclasses.replace(run, volume=elsewhere, id=None))
        report = build(store, samples.MOVE.name)
    found = next(row for row in rows(_made(report), "volumes") if row[0] == "Random writes, direct")
    assert found[2:] == [
        "7\u202f149 IOPS",
        "7\u202f149 IOPS\n1.00 ×",
        "18\u202f279 IOPS\n2.56 ×",
        "no difference beyond noise; faster",
    ]


def test_two_volumes_need_no_further_table(full: Report) -> None:
    assert "volumes" not in names(_made(full))


def test_estimates_say_where_their_figures_come_from_and_are_held_against_the_clock(full: Report) -> None:
    stage = Stage("copy", Span(1, 2, 3), "wire", "timed 2 times in rehearsals and executions of this move")
    method = Method("cold-copy", Span(1, 2, 3), Span(1, 2, 3), (stage,))
    out = dataclasses.replace(method, method="warm-copy", ruled_out="another major version")
    record = tuple(
        EstimateComparison(7, "spring", Kind.REAL, full.made_at, name, Span(1, 2, 3), seconds)
        for name, seconds in (("copy", 2), ("downtime", 8))
    )
    others = tuple(dataclasses.replace(row, move="summer", seconds=2.0) for row in record)
    of_all = (*record, *others)
    made = _made(dataclasses.replace(full, estimate=Estimate((method, out)), record=record, record_of_all=of_all))
    said = words(made.sections)
    assert "Copy timed 2 times in rehearsals and executions of this move" in said
    assert "Not possible: another major version" in said
    assert [row[-1] for row in rows(made, "estimates-record")] == ["1.00 ×", "4.00 × (outside the range)"]
    assert rows(made, "estimates-by-stage") == [
        ["Copy", "2", "100 %", "1.00 ×"],
        ["Downtime", "2", "50.0 %", "2.00 ×"],
    ]
    assert "3 of 4 measured durations are within the estimated range." in said
    assert "a measured duration was 1.41 × the likely value of its estimate" in said
    assert "summer" not in said

"""`pghaul check`, `probe` and `plan`: problems, links, and every step with its commands."""

import argparse
import textwrap
from pathlib import Path

from core import documents, units
from core.cli import estimate, probing
from core.cli.context import Context, add_common, add_replace, print_document
from core.cli.own_settings import add_from_setting
from core.cli.terminal import say, show, table
from core.errors import InputError
from core.files import check_free
from core.migration.model.checks import CheckResult, Status, Waiver, tally
from core.migration.model.move import Verify
from core.migration.model.plan import Plan, Step
from core.text import lines_of, printable, sentence

_CHECK_DESCRIPTION = """\
Find out before the move what would fail. The exit code is 1 if there is a blocker, or if a
check is still to run after a survey.
A waiver accepts a warning. It is valid as long as the check finds the same evidence. Its reason, time and user are
recorded and printed. A blocker cannot be waived."""

_PROBE_DESCRIPTION = """\
Measure each link between the old and the new server. Then send a sample of the cluster's own files with different
ciphers, compression methods and numbers of streams. The plan uses the fastest combination."""

_PLAN_DESCRIPTION = """\
Show the transport, the expected downtime, what stands against the move, and a line for each step. With --all, each step
is shown with its reason, the commands that do the work, and the call of the shell function that runs them. The plan can
also be written as a POSIX shell script that does not need pghaul, or as a Markdown runbook."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommands."""
    check = nouns.add_parser(
        "check", help="check both servers for problems before the move", description=_CHECK_DESCRIPTION
    )
    check.add_argument("move", nargs="?", metavar="MOVE", help="name of the move")
    check.add_argument("--list", action="store_true", help="list all checks and what they compare")
    check.add_argument("--all", action="store_true", help="show passed checks with their values, too")
    check.add_argument(
        "--waive", metavar="ID", help="accept a warning of the latest checks, as long as its evidence stays the same"
    )
    check.add_argument("--unwaive", metavar="ID", help="remove a waiver")
    check.add_argument("--reason", metavar="TEXT", help="reason for --waive; it is recorded and printed in the report")
    add_common(check, server=True)
    check.set_defaults(run=_check)

    probe = nouns.add_parser("probe", help="measure each link between the servers", description=_PROBE_DESCRIPTION)
    probe.add_argument("move", metavar="MOVE", help="name of the move")
    probe.add_argument(
        "--thorough",
        action="store_true",
        help="measure all links again, and compare transports without the usual time limit (a tenth of the expected "
        "duration of the move)",
    )
    probe.add_argument(
        "--forecast",
        action="store_true",
        help="only show how long the probes will take, and how much they will write and send; connects to no server",
    )
    probing.register(probe)
    add_common(probe, server=True)
    probe.set_defaults(run=_probe)

    estimate.register(nouns)

    plan = nouns.add_parser(
        "plan", help="show every step of the move, with --all also its exact commands", description=_PLAN_DESCRIPTION
    )
    plan.add_argument("move", metavar="MOVE", help="name of the move")
    plan.add_argument("--all", action="store_true", help="show each step with its reason and its commands, too")
    plan.add_argument("--script", type=Path, metavar="FILE", help="write the plan as a POSIX shell script")
    plan.add_argument("--runbook", type=Path, metavar="FILE", help="write the plan as a Markdown runbook")
    add_replace(plan)
    add_from_setting(
        plan,
        "move.verify",
        "--verify",
        choices=[each.value for each in Verify],
        help="plan an execution with this --verify, see pghaul execute",
    )
    add_common(plan, server=True)
    plan.set_defaults(run=_plan)


def _check(context: Context, options: argparse.Namespace) -> int:
    from core.api import checks

    if options.list:
        declared = checks.list_checks()
        if options.json:
            listed = [{**documents.to_plain(each), "severity": each.severity} for each in declared]
            print_document({"checks": listed})
        else:
            rows = [(each.id, each.severity, each.title, each.compares) for each in declared]
            show(table(("id", "severity", "title", "compares"), rows))
        return 0

    if options.waive is not None and options.unwaive is not None:
        raise InputError("--waive and --unwaive cannot be combined", "use one of them at a time")
    if options.reason is not None and options.waive is None:
        raise InputError("--reason needs --waive", "name the check: --waive ID --reason TEXT")
    if options.waive is not None:
        results = checks.waive_check(context.session, _move(options), options.waive, options.reason or "")
    elif options.unwaive is not None:
        results = checks.unwaive_check(context.session, _move(options), options.unwaive)
    else:
        results = checks.run_checks(context.session, _move(options), context.job)
    if options.json:
        print_document({"checks": results})
    else:
        show(checks_text(results, passed=options.all))
    found = tally(results)
    return 1 if found.stopping or found.pending else 0


def checks_text(results: tuple[CheckResult, ...], *, passed: bool = False) -> str:
    """Return the checks for people, the worst first, each with its evidence; what several say alike, once.

    Args:
        results: the results of all checks.
        passed: whether passed checks are shown with their values; else they are only named.
    """
    alike: dict[tuple[object, ...], list[CheckResult]] = {}
    named_only = [result.id for result in results if result.status is Status.PASS and not passed]
    for result in results:
        if result.id in named_only:
            continue
        key = result.state, result.message, result.hint, result.waiver, result.old, result.new
        alike.setdefault(key, []).append(result)
    lines = []
    for result, *others in alike.values():
        word = result.state.upper()
        named = f"{result.title} [{result.id}]"
        if others:
            named = f"{len(others) + 1} checks [{', '.join(each.id for each in (result, *others))}]"
        lines.append(f"{word:8} {named}: {printable(result.message)}")
        lines.append(f"{'':8}   old server: {printable(result.old)}   new server: {printable(result.new)}")
        if result.hint and result.status is not Status.PASS:
            lines.append(f"{'':8}   hint: {printable(result.hint)}")
        if result.waiver is not None:
            lines.append(f"{'':8}   {printable(waiver_text(result.waiver))}")
    if named_only:
        ids = textwrap.fill(
            ", ".join(named_only),
            110,
            initial_indent=" " * 11,
            subsequent_indent=" " * 11,
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines.append(f"PASS     {units.counted(len(named_only), 'check')}. With their values: --all")
        lines.append(ids)
    lines.append(f"{units.counted(len(results), 'check')}, {_counts(results)}")
    return "\n".join(lines)


def _counts(results: tuple[CheckResult, ...]) -> str:
    """How many of each kind; of blockers also that there is none."""
    found = tally(results)
    kinds = (
        (found.unanswered, "unknown (each counts as a blocker)"),
        (found.pending, "to run first"),
        (found.warnings, "warning" if found.warnings == 1 else "warnings"),
        (found.unknown, "unknown (not a blocker)"),
        (found.waived, "waived"),
    )
    blockers = units.counted(found.blockers, "blocker")
    return ", ".join([blockers, *(f"{count} {kind}" for count, kind in kinds if count)])


def waiver_text(waiver: Waiver) -> str:
    """A waiver for people: who, when, why."""
    return f"{waiver.check} waived by {waiver.by} on {waiver.at:%Y-%m-%d %H:%M} UTC: {waiver.reason}"


def _probe(context: Context, options: argparse.Namespace) -> int:
    if probing.asked(options):
        return probing.run(context, options)
    from core.api import migration as actions

    if options.forecast:
        coming = actions.forecast_probes(context.session, options.move, thorough=options.thorough)
        if options.json:
            print_document({"forecast": coming})
        else:
            show(sentence(actions.forecast_text(coming)))
        return 0
    probes = actions.run_probes(context.session, options.move, context.job, thorough=options.thorough)
    choice = actions.choose_transport(probes)
    if options.json:
        chosen = {"transport": choice.transport, "why": choice.why, "bound_by": choice.bound_by or None}
        print_document({"probes": probes, "chosen": chosen})
    else:
        show(f"{probing.probes_text(probes)}\n\nTransport: {choice.transport.name}. {choice.why}")
    return 0


def _plan(context: Context, options: argparse.Namespace) -> int:
    from core.api import migration as actions

    files = [path for path in (options.script, options.runbook) if path is not None]
    for path in files:
        check_free(path, replacing=options.replace)
    made = actions.plan_move(context.session, options.move, context.job, verify=Verify(options.verify))
    if options.script is not None:
        actions.save_script(made, options.script, replacing=options.replace)
    if options.runbook is not None:
        actions.save_runbook(made, options.runbook, replacing=options.replace)
    if files and made.warnings:
        say("\n".join(("Warnings of the plan:", *(f"  {warning}" for warning in made.warnings))))
    if options.json:
        print_document(made)
    else:
        show("\n".join(map(str, files)) or (plan_text(made) if options.all else plan_summary(made)))
    return 0


_SIGNS = "$ is a command that does the work, > the call of the function that runs it: pghaul functions NAME shows it."


def plan_summary(plan: Plan) -> str:
    """A plan for people in short: what stands against it, its times, and a line for each step."""
    down = plan.downtime_steps
    rows = [
        (
            str(step.number),
            step.title,
            "operator" if step.by_person else f"{step.user}@{step.server}",
            "" if step.by_person else units.expected(step.expected_seconds),
            "yes, point of no return" if step.point_of_no_return else "yes" if step in down else "",
        )
        for step in plan.steps
    ]
    lines = [*_heading(plan), "", table(("step", "title", "where", "expected", "downtime"), rows, right=(0, 3)), ""]
    point = next((step.number for step in plan.steps if step.point_of_no_return), None)
    if plan.way_back and point is not None:
        lines.append(f"A rollback is possible before step {point}.")
    return "\n".join([*lines, "With the reason and the commands of each step: --all"])


def _heading(plan: Plan) -> list[str]:
    """What stands against a plan, its transport, its times, and the name that the operator has to type."""
    lines = [*map(str, plan.warnings), f"Plan of {plan.move}: copy with {plan.transport}.", sentence(plan.why)]
    counted = [step for step in plan.steps if step.expected_seconds is not None]
    down = plan.downtime_seconds
    if counted:
        total = units.duration(sum(step.expected_seconds or 0.0 for step in counted))
        times = f"Expected downtime: {units.duration(down)}. " if down else ""
        lines.append(f"{times}Expected total time: {total}. Manual steps are not included.")
    if any(step.downtime for step in plan.steps):
        lines.append(f"Before the cluster is stopped, you have to type its name: {printable(plan.cluster)}")
    return lines


def plan_text(plan: Plan) -> str:
    """A plan for people: every step, the commands that do its work, its call, its undo."""
    lines = _heading(plan)
    for step in plan.steps:
        marks = " [downtime]" * (step in plan.downtime_steps) + " [POINT OF NO RETURN]" * step.point_of_no_return
        lines += [
            "",
            f"{step.number}. {step.title} ({step.user}@{step.server}, {units.expected(step.expected_seconds)}){marks}",
            f"   {sentence(step.reason)}",
            *step_lines(step),
        ]
        if step.undo:
            lines.append(f"   {sentence(step.undo)}")
    if plan.later:
        lines += ["", "Follow-up, at any time (pghaul execute --verify all includes it in the move):"]
    for step in plan.later:
        lines += ["", f"   {step.title} ({step.user}@{step.server}): {sentence(step.reason)}", *step_lines(step)]
    if plan.functions:
        lines += ["", _SIGNS]
    return "\n".join(lines)


def step_lines(step: Step) -> list[str]:
    """What a step shows and runs: what a person needs for it, the native commands, the call."""
    native = [f"   $ {printable(line)}" for each in step.native for line in lines_of(each)]
    call = [f"   > {printable(line)}" for line in lines_of(step.call)]
    return [*(f"   {printable(line)}" for line in lines_of(step.table)), *native, *call]


def _move(options: argparse.Namespace) -> str:
    if options.move is None:
        raise InputError("no move is given", "list the moves with: pghaul move list")
    name: str = options.move
    return name

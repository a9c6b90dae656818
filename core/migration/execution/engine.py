"""The engine: runs the steps of a plan from the first one that is not done.

    new_execution      makes a new execution of a plan
    carry_out_plan     runs the steps that are not done yet, by the rows in the history
    remove_leftovers   removes what the copy needed on the servers

An execution ends in one of four ways. It is done. A step failed, or the operator cancelled it: pghaul removes what the
copy needed (key, locks, lists) and ends its own processes. The files that have arrived on the new server stay.
Or a server was lost, and the execution is interrupted: its processes on the servers go on, and what they need stays
until the operator resumes it, cancels it or rolls it back.
"""

import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from core import units
from core.errors import BlockedError, PghaulError, ServerError, UnreachableError
from core.jobs import Job, Note
from core.migration.execution import lock
from core.migration.execution.difference import Differences, compare_lists, describe_first_difference
from core.migration.execution.executor import (
    DEADLINE,
    Executor,
    end_detached_steps,
    follow_earlier_step,
    get_step_output,
    record_skipped_step,
    run_step,
)
from core.migration.execution.passes import (
    PrecopyPass,
    estimate_gain,
    is_another_pass_worthwhile,
    is_last_pass_outdated,
)
from core.migration.execution.recording import record_state, watch_progress
from core.migration.execution.resync import DIFFERS, find_failed_comparison, format_differing_files, mark_for_resync
from core.migration.execution.rsync_log import changed_meanwhile
from core.migration.execution.status import describe_status, suggest_next_commands
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State, StepRun, StopAnswer, lock_path
from core.migration.model.plan import SIDE_BY_SIDE, Plan, RemoteCall, Step, call_of
from core.migration.plan.steps.known_data_roots import are_same_roots
from core.servers.shell import call
from core.sides import Side
from core.text import counted
from core.this_workstation import whoami


def new_execution(plan: Plan, kind: Kind) -> Execution:
    """Return a new execution of a plan. It is not recorded yet."""
    return Execution(0, plan.move, kind, State.RUNNING, secrets.token_hex(4), whoami(), datetime.now(UTC), None, plan)


def carry_out_plan(executor: Executor) -> None:
    """Run the steps of the plan, from the first one that is not done.

    Raises:
        BlockedError: another workstation moves the cluster, a check failed, or the operator declined.
        CommandError: a step failed.
        UnreachableError: a server was lost. Its processes go on.
        Cancelled: the job was cancelled.
    """
    cleaned = executor.execution.state in {State.STOPPED, State.CANCELLED}
    with record_state(executor), watch_progress(executor):
        lock_both(executor)
        try:
            _run_remaining_steps(executor, cleaned=cleaned)
        except UnreachableError:
            raise
        except PghaulError:
            remove_leftovers(executor)
            _report_status(executor)
            raise
        remove_leftovers(executor)
    executor.job.report(Note("Every step is done."))


def _report_status(executor: Executor) -> None:
    stands = describe_status(replace(executor.execution, state=State.STOPPED))  # as it will be recorded
    executor.job.report(Note(stands, "warning"))


def remove_leftovers(executor: Executor) -> None:
    """Remove what the copy needed, and the locks. What cannot be removed is reported as a warning."""
    for side, _ in executor.sides:
        _try_to_remove(executor, f"What still runs on the {side} server", partial(end_detached_steps, executor, side))
    for step in executor.plan.steps:
        if step.remote is not None and step.resume.closes_channel and _needs_closing(executor.execution, step):
            _try_to_remove(executor, step.title, partial(_run_closing_step, executor, step, step.remote))
    for side, folder in executor.sides:
        _try_to_remove(
            executor,
            f"the lock {lock_path(folder)}-* on {side}",
            partial(_unlock, executor, side, folder),
        )


def cancel_abandoned_execution(executor: Executor) -> None:
    """Cancel an execution that no program carries out any more: end its processes and remove what the copy needed."""
    for side, _ in executor.sides:
        end_detached_steps(executor, side)
    remove_leftovers(executor)
    executor.journal.execution_changed(executor.id, State.CANCELLED, "cancelled")


def lock_both(executor: Executor) -> None:
    """Lock both data directories, or neither if the execution has not begun yet.

    Raises:
        BlockedError: another execution has one of the locks.
    """
    taken: list[tuple[Side, str]] = []
    try:
        for side, folder in executor.sides:
            lock_side(executor, side, folder)
            taken.append((side, folder))
    except PghaulError:
        if not executor.execution.steps:
            for side, folder in taken:
                _try_to_remove(
                    executor,
                    f"the lock {lock_path(folder)}-* on {side}",
                    partial(_unlock, executor, side, folder),
                )
        raise


def lock_side(executor: Executor, side: Side, folder: str) -> None:
    """Lock the data directory of one side.

    Raises:
        BlockedError: another execution has the lock.
    """
    lock.take(executor.connect(side), side, folder, executor.execution, executor.job)


def _unlock(executor: Executor, side: Side, folder: str) -> None:
    lock.release(executor.connect(side), side, folder, executor.execution, Job())


def _try_to_remove(executor: Executor, what: str, action: Callable[[], None]) -> None:
    try:
        action()
    except ServerError as error:
        executor.job.report(Note(f"{what} could not be removed: {error.message}", "warning"))


def _needs_closing(execution: Execution, closing: Step) -> bool:
    """Return whether a step has opened something since the closing step last succeeded."""
    opened = [
        run.id
        for step in execution.plan.steps
        if step.resume.opens_channel
        for run in execution.steps
        if run.number == step.number and not run.back
    ]
    closed = [run.id for run in execution.steps if run.number == closing.number and not run.back and run.done]
    return bool(opened) and max(closed, default=0) < max(opened)


def _run_closing_step(executor: Executor, step: Step, remote: RemoteCall) -> None:
    closing = call_of(executor.plan, remote.call)
    done = executor.connect(remote.side).run(closing, Job(), user=remote.user, title=step.title, deadline=DEADLINE)
    pass_on_warnings(executor, done.stdout)


def _run_remaining_steps(executor: Executor, *, cleaned: bool) -> None:
    execution = executor.execution
    if execution.steps:
        _follow_earlier_steps(executor)
        _prove_still_stopped(executor)
        if not _is_stopped(executor.execution) and not _stop_has_succeeded(executor) and cleaned:
            _repeat_from_precopy_passes(executor)
        failed = find_failed_comparison(executor.execution)
        if _changed_since_the_stop(executor) or failed is not None:
            executor.journal.steps_void(executor.id, execution.plan.first_copying)
        _renew_copy_channel(executor)
        if failed is not None:
            mark_for_resync(executor, failed)
        _start_locally_again(executor)
        _repeat_listen_check(executor)
        _prove_only_new_runs(executor)
    confirmed = False
    for group in _group_steps(executor.execution.steps_taken):
        execution = executor.execution
        todo = [step for step in group if not execution.done(step.number)]
        if not todo:
            continue
        if executor.operator.wants_to_end():
            what = f"The execution ended before step {todo[0].number} ({todo[0].title}), as you asked."
            raise BlockedError(what, suggest_next_commands(replace(execution, state=State.STOPPED)))
        if todo[0].downtime and execution.kind is Kind.REAL and not confirmed and not _is_stopped(execution):
            confirmed = True
            _confirm_stop(executor)
            _run_extra_pass_if_outdated(executor)
        if todo[0].id == step_ids.STOP_OLD_CLUSTER:
            _try_start(executor)
        if todo[0].point_of_no_return:
            _repeat_port_check(executor)
        if todo[0].precopy_pass:
            _run_precopy_pass(executor, group, todo)
        else:
            _run_group(executor, todo)


def _confirm_stop(executor: Executor) -> None:
    """Show the connected clients and ask whether the old cluster may be stopped.

    The operator may ask for another pre-copy pass first; then the question is asked again.

    Raises:
        BlockedError: the operator has declined.
    """
    plan = executor.plan
    look, warm = plan.step(step_ids.LIST_CLIENTS), any(step.precopy_pass for step in plan.steps)
    while True:
        if look is not None and look.number not in executor.outputs:
            run_step(executor, look)
        connected = executor.outputs[look.number].splitlines() if look is not None else []
        with executor.asking():
            said = executor.operator.confirm_stop(plan.cluster, connected, warm=warm)
        if said is StopAnswer.STOP:
            return
        if said is StopAnswer.DECLINED or not warm:
            raise BlockedError("The name of the cluster was not confirmed, so it was not stopped.", "see --confirm")
        _repeat_last_precopy_pass(executor)
        if look is not None:
            executor.outputs.pop(look.number)


def _try_start(executor: Executor) -> None:
    """The trial start of the checks once more, directly before the stop: the new server may have changed meanwhile.

    Raises:
        BlockedError: PostgreSQL would not start there, or systemd not its unit. The old cluster was not stopped.
    """
    if executor.try_start is None or _is_stopped(executor.execution):
        return
    made = executor.try_start(executor.job)
    if made is None:
        return
    if made.failed:
        raise BlockedError(
            "An empty cluster with the old cluster's configuration does not start on the new server any more: "
            f"{made.failed}. The old cluster was not stopped. If this takes long, start again what was stopped for the "
            "move.",
            "Correct what PostgreSQL names, on the new server or in the old cluster's configuration. Then go on with "
            "--resume, which tries the start again.",
        )
    if made.unmet:
        raise BlockedError(
            "On the new server systemd would not start the unit of the new cluster any more, because of unmet "
            f"conditions: {'; '.join(made.unmet)}. The old cluster was not stopped. If this takes long, start again "
            "what was stopped for the move.",
            "Make the conditions be met, or remove them from the unit. Then go on with --resume, which asks again.",
        )
    if made.not_tried:
        said = f"The start on the new server was not tried again before the stop, because {made.not_tried}."
        executor.job.report(Note(said, "warning"))


def _repeat_port_check(executor: Executor) -> None:
    """Check once more, directly before the cutover, that its port is free, if an earlier process has done so."""
    look = executor.plan.step(step_ids.CHECK_PORT_FREE_BEFORE_CUTOVER)
    if look is not None and look.number not in executor.outputs:
        run_step(executor, look)


def _group_steps(steps: Sequence[Step]) -> list[list[Step]]:
    """Return the steps in groups: a pre-copy pass over all data roots, or steps that run at the same time."""
    groups: list[list[Step]] = []
    for step in steps:
        joins = groups and (step.parallel or (step.precopy_pass and step.precopy_pass == groups[-1][-1].precopy_pass))
        if joins:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def _run_group(executor: Executor, steps: list[Step]) -> None:
    """Run the steps of one group, several at the same time, and compare the outputs that must agree."""
    if len(steps) == 1:
        run_step(executor, steps[0])
    else:
        with ThreadPoolExecutor(min(len(steps), SIDE_BY_SIDE)) as pool:
            running = [pool.submit(run_step, executor, step) for step in steps]
        for each in running:
            each.result()
    for step in steps:
        compare_step_outputs(executor, step)
        if step_ids.family_of(step.id, step_ids.LIST_DELETIONS):
            _show_deletions(executor, step)
        pass_on_warnings(executor, executor.outputs[step.number])


def pass_on_warnings(executor: Executor, output: str) -> None:
    """Report the lines of a step's output that begin with `warning: ` or `note: `."""
    for line in output.splitlines():
        level, said, text = line.partition(": ")
        if said and level in {"warning", "note"}:
            executor.job.report(Note(text, "warning" if level == "warning" else "info"))


def compare_step_outputs(executor: Executor, step: Step) -> None:
    """Compare the output of a step with the output that it must equal.

    Raises:
        BlockedError: they differ, and the step counts as failed.
    """
    other = executor.plan.step(step.verification.equals) if step.verification.equals else None
    if other is None:
        return
    expected, found = get_step_output(executor, other).strip(), executor.outputs[step.number].strip()
    if found == expected:
        return
    # in a plan of an earlier version, which took the work of clients for a difference
    if other.id == step_ids.TAKE_INVENTORY:
        executor.job.report(Note(_describe_inventory_difference(expected, found), "warning"))
        return
    differing = _find_differing_files(executor, other, step)
    problem = f"Step {step.number} ({step.title}) does not agree with step {other.number} ({other.title})"
    problem += f": {differing.description or describe_first_difference(expected, found)}"
    latest = executor.execution.latest(step.number)
    if latest is not None:
        executor.journal.step_ended(
            replace(latest, exit_status=DIFFERS, message=problem, output=format_differing_files(differing))
        )
    hint = (
        "Somebody has started the old cluster in the meantime. Go on with --resume, which stops it again."
        if other.id == step_ids.CHECK_STOPPED
        else "The new cluster runs for local connections only. Examine both servers. Then --resume compares again, "
        "and --rollback goes back to the old server."
        if _runs_locally(executor)
        else "The new cluster was not started. Examine both servers. Then --resume copies what differs, and compares "
        "again."
    )
    raise BlockedError(problem, hint)


_SHOWN = 20
"""Lines of an inventory that are shown: of a thousand that differ nobody would read the rest."""


def _describe_inventory_difference(expected: str, found: str) -> str:
    """Return a sentence that names the first lines that only one of the two inventories has."""
    before, now = expected.splitlines(), found.splitlines()
    gone, come = (
        "; ".join([line for line in these if line not in those][:_SHOWN]) or "nothing"
        for these, those in ((before, now), (now, before))
    )
    return (
        f"The inventories differ. Only the old cluster had: {gone}. Only the new cluster has: {come}. Such lines can "
        "come from clients that worked during the first inventory, or from the local-only start. Examine them before "
        "you decide."
    )


def _runs_locally(executor: Executor) -> bool:
    """Return whether this execution has started the new cluster for local connections only."""
    start = next((step for step in executor.plan.steps if step.id == step_ids.START_LOCALLY), None)
    return start is not None and executor.execution.done(start.number)


def _find_differing_files(executor: Executor, other: Step, step: Step) -> Differences:
    """Return the files that differ, if both steps have kept the lists behind their checksums."""
    lists = {Side.OLD: "", Side.NEW: ""}
    for each in (other, step) if other.verification.lists and step.verification.lists else ():
        if each.side is None:
            continue
        listing = call_of(executor.plan, each.verification.lists)
        with suppress(ServerError):
            lists[each.side] = (
                executor.connect(each.side)
                .run(listing, executor.job, user=each.user, title=f"Read the lists of files of {each.server}")
                .stdout
            )
    return compare_lists(lists[Side.OLD], lists[Side.NEW])


def _show_deletions(executor: Executor, step: Step) -> None:
    """Raises ParseError where the list is not whole: what follows removes what it should have named."""
    gone = counted(executor.outputs[step.number], "entries")
    shown = ", ".join(gone[:5]) + (", …" if len(gone) > 5 else "")
    executor.job.report(
        Note(
            f"{step.title}: {units.count(len(gone))} entries that the old server no longer has"
            + (f": {shown}" if gone else "")
        )
    )


def _run_precopy_pass(executor: Executor, group: list[Step], todo: list[Step]) -> None:
    """Run a pre-copy pass if it shortens the downtime, and the last one of the plan as often as it does."""
    last = max(step.precopy_pass for step in executor.plan.steps)
    number = group[0].precopy_pass
    if number > 1 and not is_another_pass_worthwhile(
        _list_passes(executor.execution), _seconds_since_last_pass(executor.execution)
    ):
        spared = estimate_gain(_list_passes(executor.execution), _seconds_since_last_pass(executor.execution))
        for step in todo:
            record_skipped_step(executor, step, f"It would shorten the downtime by only {units.duration(spared)}.")
        return
    _run_pass_steps(executor, todo)
    while number == last and is_another_pass_worthwhile(
        _list_passes(executor.execution), _seconds_since_last_pass(executor.execution)
    ):
        _run_pass_steps(executor, group)


def _run_pass_steps(executor: Executor, steps: list[Step]) -> None:
    """Copy one data root after the other. Then both servers compute checksums at the same time."""
    for step in steps:
        if step.root:
            run_step(executor, step)
    if behind := [step for step in steps if not step.root]:
        _run_group(executor, behind)


def _run_extra_pass_if_outdated(executor: Executor) -> None:
    """One more warm pass where people, or an interruption, let so much time go by that the stop would be longer."""
    execution = executor.execution
    waited = _seconds_since_last_pass(execution)
    if not is_last_pass_outdated(_list_passes(execution), waited):
        return
    executor.job.report(
        Note(f"The last pre-copy pass ended {units.duration(waited)} ago. One more is made before the stop.")
    )
    _repeat_last_precopy_pass(executor)


def _repeat_last_precopy_pass(executor: Executor) -> None:
    """Run the plan's last pre-copy pass once more."""
    steps = executor.plan.steps
    last = max(step.precopy_pass for step in steps)
    _run_pass_steps(executor, [step for step in steps if step.precopy_pass == last])


def _seconds_since_last_pass(execution: Execution) -> float:
    """Return the seconds since the last pre-copy pass ended."""
    ends = [run.ended_at for run in _finished_pass_runs(execution) if run.ended_at is not None]
    return (datetime.now(UTC) - max(ends)).total_seconds() if ends else 0.0


def _finished_pass_runs(execution: Execution) -> list[StepRun]:
    """The tries at warm passes that ended well and were no mere leaving out."""
    numbers = {step.number for step in execution.plan.steps if step.precopy_pass and step.root}
    return [run for run in execution.steps if run.number in numbers and run.done and not run.back and not run.message]


def _list_passes(execution: Execution) -> list[PrecopyPass]:
    """The warm passes that were made so far, each over all places, the tries of one number apart."""
    numbers = {step.number: step.precopy_pass for step in execution.plan.steps if step.precopy_pass}
    made: dict[tuple[int, int], list[StepRun]] = {}
    attempts: dict[int, int] = {}
    for run in _finished_pass_runs(execution):
        attempts[run.number] = attempts.get(run.number, 0) + 1
        made.setdefault((numbers[run.number], attempts[run.number]), []).append(run)
    runs = sorted(made.values(), key=lambda parts: parts[0].started_at)
    began = [parts[0].started_at for parts in runs]
    after = [None, *((one - other).total_seconds() for one, other in zip(began[1:], began, strict=False))]
    return [
        PrecopyPass(
            sum(map(_run_seconds, parts)),
            _sum_if_all_known([each.bytes for each in parts]),
            _sum_if_all_known([changed_meanwhile(each.output) for each in parts]),
            since,
        )
        for parts, since in zip(runs, after, strict=False)  # without any pass there is none to follow
    ]


def _run_seconds(run: StepRun) -> float:
    return (run.ended_at - run.started_at).total_seconds() if run.ended_at is not None else 0.0


def _sum_if_all_known(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _follow_earlier_steps(executor: Executor) -> None:
    """Follow the detached steps of an earlier process to their end."""
    for step in executor.execution.steps_taken:
        follow_earlier_step(executor, step)


def _prove_still_stopped(executor: Executor) -> None:
    """Check that the old cluster is as it was when its stop was proven. If not, the steps from the stop run again."""
    execution = executor.execution
    proof = execution.plan.step(step_ids.CHECK_STOPPED)
    if proof is None or execution.past_return:
        return
    # a later look, that failed or found something else, must not be what the next one is held against
    known = next((run for run in execution.steps if run.number == proof.number and run.done and not run.back), None)
    if known is None:
        return
    stands = _prove_stop(executor, proof)
    if stands and executor.outputs[proof.number].strip() == known.output.strip():
        return
    if any(step.id == step_ids.START_LOCALLY and execution.latest(step.number) for step in execution.plan.steps):
        raise BlockedError(
            "The old cluster was started after its stop, and the new cluster was started since. Their contents differ.",
            f"Roll back to the old server: pghaul execute {execution.move} --rollback. Then begin again.",
        )
    if stands and execution.plan.step(step_ids.STOP_OLD_CLUSTER) is not None:
        raise BlockedError(
            "The old cluster was started after its stop, and does not run now.",
            "Start it, and go on with --resume, which stops it and copies it again. Or roll back to it: --rollback.",
        )
    executor.job.report(Note("The old cluster was started after its stop. It is stopped and copied again.", "warning"))
    _repeat_from_precopy_passes(executor)


def _changed_since_the_stop(executor: Executor) -> bool:
    """Whether files of the stopped old server were changed after they were summed up, so that all of the downtime's
    passes and their proof are made again.

    Before that an operator may mend them: what the old server is then is remembered anew, and the sums tell of it. What
    was remembered when they were made counts from then on, however often somebody looks. That nobody started the old
    server meanwhile, its control file has told.

    Raises:
        BlockedError: they were changed, and the new cluster was started since, so no pass may write there any more.
    """
    execution = executor.execution
    steps = {step.id: step for step in execution.plan.steps}
    remembered = steps.get(step_ids.CHECK_DATA_ROOTS_STOPPED)
    if remembered is None or execution.latest(remembered.number) is None or execution.past_return:
        return False
    before = _find_look_before_checksums(execution, remembered, steps.get(step_ids.CHECKSUMS_OLD))
    if before is None and not execution.done(remembered.number):
        return False
    run_step(executor, remembered)
    if before is None or are_same_roots(before.output, executor.outputs[remembered.number]):
        return False
    start = steps.get(step_ids.START_LOCALLY)
    if start is not None and execution.latest(start.number) is not None:
        raise BlockedError(
            "Files of the old cluster were changed after they were compared, and the new cluster was started since. It "
            "lacks these changes.",
            f"Roll back to the old server: pghaul execute {execution.move} --rollback. Then begin again.",
        )
    changed = (
        "Files of the old cluster were changed after their checksums were computed. They are copied and compared again."
    )
    executor.job.report(Note(changed, "warning"))
    return True


def _find_look_before_checksums(execution: Execution, remembered: Step, sums: Step | None) -> StepRun | None:
    """Return the run that examined the stopped old cluster before its checksums; None if these have not succeeded."""
    made = execution.latest(sums.number) if sums is not None else None
    if made is None or not made.done:
        return None
    looks = [run for run in execution.steps if run.number == remembered.number and run.done and run.id < made.id]
    return looks[-1] if looks else None


def _repeat_from_precopy_passes(executor: Executor) -> None:
    """Let the pre-copy passes run again, because their lists of copied files were removed."""
    steps = executor.plan.steps
    executor.journal.steps_void(executor.id, next(step.number for step in steps if step.precopy_pass or step.downtime))


def _start_locally_again(executor: Executor) -> None:
    """Repeat the local-only start, which a reboot of the new server has ended. It does nothing if the cluster runs."""
    execution = executor.execution
    named = {step.id: step for step in execution.plan.steps}
    start, lift = named.get(step_ids.START_LOCALLY), named.get(step_ids.LIFT_FENCE)
    if start is None or lift is None or not execution.done(start.number):
        return
    if execution.latest(lift.number) is None:
        run_step(executor, start)


def _repeat_listen_check(executor: Executor) -> None:
    """Look again where the new cluster listens, before the old server tries again to connect to it."""
    execution = executor.execution
    proof = execution.plan.step(step_ids.CHECK_LISTENERS)
    reach = next((step for step in execution.plan.steps if step.reads == step_ids.CHECK_LISTENERS), None)
    if proof is None or reach is None or execution.done(reach.number):
        return
    if execution.latest(reach.number) is not None and execution.done(proof.number):
        run_step(executor, proof)


def _is_stopped(execution: Execution) -> bool:
    """Return whether the stop of the old cluster is proven. Then the operator is not asked again."""
    return any(step.id == step_ids.CHECK_STOPPED and execution.done(step.number) for step in execution.plan.steps)


def _stop_has_succeeded(executor: Executor) -> bool:
    """Whether the stop has ended well on the old server, although the step that was to do it or to prove it failed.

    From the warm passes on a stopped server would be asked what only a running one can tell.
    """
    execution = executor.execution
    stop, proof = execution.plan.step(step_ids.STOP_OLD_CLUSTER), execution.plan.step(step_ids.CHECK_STOPPED)
    if stop is None or proof is None or execution.latest(stop.number) is None:
        return False
    return _prove_stop(executor, proof)


def _prove_stop(executor: Executor, proof: Step) -> bool:
    """Return whether the old cluster is proven to be stopped; False if its server runs.

    Raises:
        CommandError, BlockedError: it could not be examined, or it ended without a clean shutdown.
    """
    try:
        run_step(executor, proof)
    except BlockedError:
        if _old_cluster_runs(executor, proof):
            return False
        raise
    return True


def _old_cluster_runs(executor: Executor, proof: Step) -> bool:
    """Return whether a server runs in the old data directory."""
    looking = call("list_servers_in", executor.plan.data_directory)
    title = "Check whether the old cluster runs"
    return bool(executor.connect(Side.OLD).run(looking, executor.job, user=proof.user, title=title).stdout.strip())


def _prove_only_new_runs(executor: Executor) -> None:
    """Check after the cutover that the old cluster does not run: clients could write to both clusters."""
    execution = executor.execution
    proof = execution.plan.step(step_ids.CHECK_OLD_STAYS_STOPPED)
    if proof is not None and execution.done(proof.number):
        run_step(executor, proof)


def _renew_copy_channel(executor: Executor) -> None:
    """Check the target and open the copy channel again, as long as a step is left that copies."""
    execution = executor.execution
    closing = [step for step in execution.steps_taken if step.resume.closes_channel]
    if all(execution.done(step.number) for step in closing):
        return
    for step in execution.steps_taken:
        if step.resume.opens_channel and execution.done(step.number):
            run_step(executor, step)

"""The engine: a plan from its first step that is not done to its end, or to where it has to stop.

    begin       a new execution of a plan
    carry_out   go on from where the rows in the history say it stands
    clean       take away what an execution that stopped on its way has left on the servers

It ends in one of four ways. Done. Stopped by a failed step, or cancelled: what the copy needed (key, locks, lists) is
taken away, nothing of ours runs any more, and what has arrived on new stays. Interrupted, when a server was lost: what
runs there goes on, and all that it needs stays, until somebody resumes, cancels or takes it back.
"""

import getpass
import platform
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
from core.migration.execution.difference import Differences, differing_files, first_difference
from core.migration.execution.executor import DEADLINE, Executor, adopt, end_detached, leave_out, output_of, run_step
from core.migration.execution.mending import DIFFERS, differed, leave_to_passes, named
from core.migration.execution.passes import Pass, another, gain, outdated
from core.migration.execution.recording import recorded, watched
from core.migration.execution.rsync_log import changed_meanwhile
from core.migration.execution.status import status_sentence, ways_on
from core.migration.model.execution import Execution, Kind, State, StepRun, StopAnswer, lock_path
from core.migration.model.plan import SIDE_BY_SIDE, Plan, Step, call_of
from core.migration.plan.steps.copy import DELETIONS, STOP, STOPPED
from core.migration.plan.steps.inventory import CLIENTS, INVENTORY
from core.migration.plan.steps.known_data_roots import STOPPED_ROOTS, same_roots
from core.migration.plan.steps.opening import ALONE, LIFT_FENCE, START_NEW
from core.migration.plan.steps.reached import LISTENS
from core.migration.plan.steps.verify import SUMS
from core.servers.shell import call
from core.text import counted


def begin(plan: Plan, kind: Kind) -> Execution:
    """A new execution of a plan, not yet recorded."""
    owner = f"{getpass.getuser()}@{platform.node() or 'workstation'}"
    return Execution(0, plan.move, kind, State.RUNNING, secrets.token_hex(4), owner, datetime.now(UTC), None, plan)


def carry_out(executor: Executor) -> None:
    """Carry the plan out, from its first step that is not done.

    Raises:
        BlockedError: another workstation has the cluster, a proof failed, or the person declined.
        CommandError: a step failed.
        UnreachableError: a server was lost; what runs there goes on.
        Cancelled: the job was cancelled.
    """
    cleaned = executor.execution.state in {State.STOPPED, State.CANCELLED}
    with recorded(executor), watched(executor):
        lock_both(executor)
        try:
            _go_on(executor, cleaned=cleaned)
        except UnreachableError:
            raise
        except PghaulError:
            clean(executor)
            _tell_how_it_stands(executor)
            raise
        clean(executor)
    executor.job.report(Note("Every step is done."))


def _tell_how_it_stands(executor: Executor) -> None:
    stands = status_sentence(replace(executor.execution, state=State.STOPPED))  # as it will be recorded
    executor.job.report(Note(stands, "warning"))


def clean(executor: Executor) -> None:
    """Take away what the copy needed, and the locks; what cannot be removed is said, and the rest goes on."""
    for side, _ in executor.sides:
        _try(executor, f"What still runs on the {side} server", partial(end_detached, executor, side))
    for step in executor.plan.steps:
        if step.closes and _may_be_open(executor.execution, step):
            _try(executor, step.title, partial(_close, executor, step))
    for side, folder in executor.sides:
        _try(
            executor,
            f"the lock {lock_path(folder)}-* on {side}",
            partial(_unlock, executor, side, folder),
        )


def abandon(executor: Executor) -> None:
    """Cancel an execution that nobody carries out any more: end what still runs, take away what the copy needed."""
    for side, _ in executor.sides:
        end_detached(executor, side)
    clean(executor)
    executor.journal.execution_changed(executor.id, State.CANCELLED, "cancelled")


def lock_both(executor: Executor) -> None:
    """Take both locks or, in an execution that has not begun, none; raises BlockedError where somebody else has one."""
    taken: list[tuple[str, str]] = []
    try:
        for side, folder in executor.sides:
            lock.take(executor.connect(side), side, folder, executor.execution, executor.job)
            taken.append((side, folder))
    except PghaulError:
        if not executor.execution.steps:
            for side, folder in taken:
                _try(
                    executor,
                    f"the lock {lock_path(folder)}-* on {side}",
                    partial(_unlock, executor, side, folder),
                )
        raise


def _unlock(executor: Executor, side: str, folder: str) -> None:
    lock.release(executor.connect(side), side, folder, executor.execution, Job())


def _try(executor: Executor, what: str, action: Callable[[], None]) -> None:
    try:
        action()
    except ServerError as error:
        executor.job.report(Note(f"{what} could not be removed: {error.message}", "warning"))


def _may_be_open(execution: Execution, closing: Step) -> bool:
    """Whether something was opened since that closing step last ended well."""
    opened = [
        run.id
        for step in execution.plan.steps
        if step.renewed
        for run in execution.steps
        if run.number == step.number and not run.back
    ]
    closed = [run.id for run in execution.steps if run.number == closing.number and not run.back and run.done]
    return bool(opened) and max(closed, default=0) < max(opened)


def _close(executor: Executor, step: Step) -> None:
    closing = call_of(executor.plan, step.call)
    done = executor.connect(step.side).run(closing, Job(), user=step.user, title=step.title, deadline=DEADLINE)
    pass_on_warnings(executor, done.stdout)


def _go_on(executor: Executor, *, cleaned: bool) -> None:
    execution = executor.execution
    if execution.steps:
        _adopt(executor)
        _prove_still_stopped(executor)
        if not _is_stopped(executor.execution) and not _found_stopped(executor) and cleaned:
            _from_the_warm_passes(executor)
        failed = differed(executor.execution)
        if _changed_since_the_stop(executor) or failed is not None:
            executor.journal.steps_void(executor.id, execution.plan.first_copying)
        _renew(executor)
        if failed is not None:
            leave_to_passes(executor, failed)
        _start_locally_again(executor)
        _prove_again(executor)
        _prove_alone(executor)
    confirmed = False
    for group in _groups(executor.execution.steps_taken):
        execution = executor.execution
        todo = [step for step in group if not execution.done(step.number)]
        if not todo:
            continue
        if executor.people.ends_here():
            what = f"The execution ended before step {todo[0].number} ({todo[0].title}), as you asked."
            raise BlockedError(what, ways_on(replace(execution, state=State.STOPPED)))
        if todo[0].stopped and execution.kind is Kind.REAL and not confirmed and not _is_stopped(execution):
            confirmed = True
            _confirm_stop(executor)
            _catch_up(executor)
        if todo[0].name == STOP:
            _try_start(executor)
        if todo[0].warm_pass:
            _warm_pass(executor, group, todo)
        else:
            _run(executor, todo)


def _confirm_stop(executor: Executor) -> None:
    """Ask, under the names of who is connected, as often as one more warm pass is wanted first.

    Raises:
        BlockedError: the person has declined.
    """
    plan = executor.plan
    look, warm = plan.step(CLIENTS), any(step.warm_pass for step in plan.steps)
    while True:
        if look is not None and look.number not in executor.outputs:
            run_step(executor, look)
        connected = executor.outputs[look.number].splitlines() if look is not None else []
        with executor.asking():
            said = executor.people.confirm_stop(plan.cluster, connected, warm=warm)
        if said is StopAnswer.STOP:
            return
        if said is StopAnswer.DECLINED or not warm:
            raise BlockedError("The name of the cluster was not confirmed, so it was not stopped.", "see --confirm")
        _pass_before_the_stop(executor)
        if look is not None:
            executor.outputs.pop(look.number)


def _try_start(executor: Executor) -> None:
    """The trial start of the checks once more, directly before the stop: the new server may have changed meanwhile.

    Raises:
        BlockedError: PostgreSQL would not start there, or systemd its unit; old is not stopped.
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


def _groups(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps that belong together: a warm pass over all places, or what runs side by side."""
    groups: list[list[Step]] = []
    for step in steps:
        joins = groups and (step.beside or (step.warm_pass and step.warm_pass == groups[-1][-1].warm_pass))
        if joins:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def _run(executor: Executor, steps: list[Step]) -> None:
    """Steps of one group, side by side where there are several, then what must agree."""
    if len(steps) == 1:
        run_step(executor, steps[0])
    else:
        with ThreadPoolExecutor(min(len(steps), SIDE_BY_SIDE)) as pool:
            running = [pool.submit(run_step, executor, step) for step in steps]
        for each in running:
            each.result()
    for step in steps:
        hold_against(executor, step)
        if step.name.startswith(DELETIONS):
            _show_deletions(executor, step)
        pass_on_warnings(executor, executor.outputs[step.number])


def pass_on_warnings(executor: Executor, output: str) -> None:
    """What a step has to say to people stands in lines of its output that begin with `warning: ` or `note: `."""
    for line in output.splitlines():
        level, said, text = line.partition(": ")
        if said and level in {"warning", "note"}:
            executor.job.report(Note(text, "warning" if level == "warning" else "info"))


def hold_against(executor: Executor, step: Step) -> None:
    """Hold what a step printed against what it must equal; the step has failed where it does not."""
    other = executor.plan.step(step.agrees_with) if step.agrees_with else None
    if other is None:
        return
    expected, found = output_of(executor, other).strip(), executor.outputs[step.number].strip()
    if found == expected:
        return
    if other.name == INVENTORY:  # of an earlier version's plan, which took the work of clients for a difference
        executor.job.report(Note(_inventories_differ(expected, found), "warning"))
        return
    differing = _differing_files(executor, other, step)
    problem = f"Step {step.number} ({step.title}) does not agree with step {other.number} ({other.title})"
    problem += f": {differing.said or first_difference(expected, found)}"
    latest = executor.execution.latest(step.number)
    if latest is not None:
        executor.journal.step_ended(replace(latest, exit_status=DIFFERS, message=problem, output=named(differing)))
    hint = (
        "Somebody has started the old cluster in the meantime. Go on with --resume, which stops it again."
        if other.name == STOPPED
        else "The new cluster runs for local connections only. Examine both servers. Then --resume compares again, "
        "and --rollback goes back to the old server."
        if _runs_locally(executor)
        else "The new cluster was not started. Examine both servers. Then --resume copies what differs, and compares "
        "again."
    )
    raise BlockedError(problem, hint)


_SHOWN = 20
"""Lines of an inventory that are shown: of a thousand that differ nobody would read the rest."""


def _inventories_differ(expected: str, found: str) -> str:
    """The first lines that one of two inventories has alone, in words."""
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
    """Whether this execution has started new for local connections alone."""
    start = next((step for step in executor.plan.steps if step.name == START_NEW), None)
    return start is not None and executor.execution.done(start.number)


def _differing_files(executor: Executor, other: Step, step: Step) -> Differences:
    """Which files differ, where both steps kept the lists that they sum up and these can still be read."""
    lists = {"old": "", "new": ""}
    for each in (other, step) if other.listing and step.listing else ():
        listing = call_of(executor.plan, each.listing)
        with suppress(ServerError):
            lists[each.side] = (
                executor.connect(each.side)
                .run(listing, executor.job, user=each.user, title=f"Read the lists of files of {each.server}")
                .stdout
            )
    return differing_files(lists["old"], lists["new"])


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


def _warm_pass(executor: Executor, group: list[Step], todo: list[Step]) -> None:
    """A warm pass, if it shortens the stop; the last one of the plan as often as it does."""
    last = max(step.warm_pass for step in executor.plan.steps)
    number = group[0].warm_pass
    if number > 1 and not another(_passes(executor.execution), _waited(executor.execution)):
        spared = gain(_passes(executor.execution), _waited(executor.execution))
        for step in todo:
            leave_out(executor, step, f"It would shorten the downtime by only {units.duration(spared)}.")
        return
    _make_pass(executor, todo)
    while number == last and another(_passes(executor.execution), _waited(executor.execution)):
        _make_pass(executor, group)


def _make_pass(executor: Executor, steps: list[Step]) -> None:
    """A data root after the other; then, side by side, both sides read what has come."""
    for step in steps:
        if step.root:
            run_step(executor, step)
    if behind := [step for step in steps if not step.root]:
        _run(executor, behind)


def _catch_up(executor: Executor) -> None:
    """One more warm pass where people, or an interruption, let so much time go by that the stop would be longer."""
    execution = executor.execution
    waited = _waited(execution)
    if not outdated(_passes(execution), waited):
        return
    executor.job.report(
        Note(f"The last pre-copy pass ended {units.duration(waited)} ago. One more is made before the stop.")
    )
    _pass_before_the_stop(executor)


def _pass_before_the_stop(executor: Executor) -> None:
    """The plan's last warm pass, once more."""
    steps = executor.plan.steps
    last = max(step.warm_pass for step in steps)
    _make_pass(executor, [step for step in steps if step.warm_pass == last])


def _waited(execution: Execution) -> float:
    """Seconds since the last warm pass ended."""
    ends = [run.ended_at for run in _warm_runs(execution) if run.ended_at is not None]
    return (datetime.now(UTC) - max(ends)).total_seconds() if ends else 0.0


def _warm_runs(execution: Execution) -> list[StepRun]:
    """The tries at warm passes that ended well and were no mere leaving out."""
    numbers = {step.number for step in execution.plan.steps if step.warm_pass and step.root}
    return [run for run in execution.steps if run.number in numbers and run.done and not run.back and not run.message]


def _passes(execution: Execution) -> list[Pass]:
    """The warm passes that were made so far, each over all places, the tries of one number apart."""
    numbers = {step.number: step.warm_pass for step in execution.plan.steps if step.warm_pass}
    made: dict[tuple[int, int], list[StepRun]] = {}
    attempts: dict[int, int] = {}
    for run in _warm_runs(execution):
        attempts[run.number] = attempts.get(run.number, 0) + 1
        made.setdefault((numbers[run.number], attempts[run.number]), []).append(run)
    runs = sorted(made.values(), key=lambda parts: parts[0].started_at)
    began = [parts[0].started_at for parts in runs]
    after = [None, *((one - other).total_seconds() for one, other in zip(began[1:], began, strict=False))]
    return [
        Pass(
            sum(map(_seconds, parts)),
            _whole([each.bytes for each in parts]),
            _whole([changed_meanwhile(each.output) for each in parts]),
            since,
        )
        for parts, since in zip(runs, after, strict=False)  # without any pass there is none to follow
    ]


def _seconds(run: StepRun) -> float:
    return (run.ended_at - run.started_at).total_seconds() if run.ended_at is not None else 0.0


def _whole(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _adopt(executor: Executor) -> None:
    """What an earlier process began and nobody saw end: followed to its end."""
    for step in executor.execution.steps_taken:
        adopt(executor, step)


def _prove_still_stopped(executor: Executor) -> None:
    """Old is as it was when its stop was proven first, or all from the stop on is done again."""
    execution = executor.execution
    proof = execution.plan.step(STOPPED)
    if proof is None or execution.past_return:
        return
    # a later look, that failed or found something else, must not be what the next one is held against
    known = next((run for run in execution.steps if run.number == proof.number and run.done and not run.back), None)
    if known is None:
        return
    stands = _stop_stands(executor, proof)
    if stands and executor.outputs[proof.number].strip() == known.output.strip():
        return
    if any(step.name == START_NEW and execution.latest(step.number) for step in execution.plan.steps):
        raise BlockedError(
            "The old cluster was started after its stop, and the new cluster was started since. Their contents differ.",
            f"Roll back to the old server: pghaul execute {execution.move} --rollback. Then begin again.",
        )
    if stands and execution.plan.step(STOP) is not None:
        raise BlockedError(
            "The old cluster was started after its stop, and does not run now.",
            "Start it, and go on with --resume, which stops it and copies it again. Or roll back to it: --rollback.",
        )
    executor.job.report(Note("The old cluster was started after its stop. It is stopped and copied again.", "warning"))
    _from_the_warm_passes(executor)


def _changed_since_the_stop(executor: Executor) -> bool:
    """Whether files of the stopped old server were changed after they were summed up, so that all of the downtime's
    passes and their proof are made again.

    Before that an operator may mend them: what the old server is then is remembered anew, and the sums tell of it. What
    was remembered when they were made counts from then on, however often somebody looks. That nobody started the old
    server meanwhile, its control file has told.

    Raises:
        BlockedError: they were changed, and new was started since: no pass may go there any more.
    """
    execution = executor.execution
    steps = {step.name: step for step in execution.plan.steps}
    remembered = steps.get(STOPPED_ROOTS)
    if remembered is None or execution.latest(remembered.number) is None or execution.past_return:
        return False
    before = _remembered_for_the_sums(execution, remembered, steps.get(SUMS))
    if before is None and not execution.done(remembered.number):
        return False
    run_step(executor, remembered)
    if before is None or same_roots(before.output, executor.outputs[remembered.number]):
        return False
    start = steps.get(START_NEW)
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


def _remembered_for_the_sums(execution: Execution, remembered: Step, sums: Step | None) -> StepRun | None:
    """The look at the stopped old server that its sums followed; None where these have not ended well."""
    made = execution.latest(sums.number) if sums is not None else None
    if made is None or not made.done:
        return None
    looks = [run for run in execution.steps if run.number == remembered.number and run.done and run.id < made.id]
    return looks[-1] if looks else None


def _from_the_warm_passes(executor: Executor) -> None:
    """The lists of what earlier passes brought are gone: old is compared whole again, but not in its stop."""
    steps = executor.plan.steps
    executor.journal.steps_void(executor.id, next(step.number for step in steps if step.warm_pass or step.stopped))


def _start_locally_again(executor: Executor) -> None:
    """New's server for us alone, which a restart of its host ends; where it runs the step does nothing."""
    execution = executor.execution
    named = {step.name: step for step in execution.plan.steps}
    start, lift = named.get(START_NEW), named.get(LIFT_FENCE)
    if start is None or lift is None or not execution.done(start.number):
        return
    if execution.latest(lift.number) is None:
        run_step(executor, start)


def _prove_again(executor: Executor) -> None:
    """Where the new cluster listens is looked at anew before the old server tries again to reach it there."""
    execution = executor.execution
    proof = execution.plan.step(LISTENS)
    reach = next((step for step in execution.plan.steps if step.reads == LISTENS), None)
    if proof is None or reach is None or execution.done(reach.number):
        return
    if execution.latest(reach.number) is not None and execution.done(proof.number):
        run_step(executor, proof)


def _is_stopped(execution: Execution) -> bool:
    """Whether old's stop is proven: who confirmed it then is not asked again."""
    return any(step.name == STOPPED and execution.done(step.number) for step in execution.plan.steps)


def _found_stopped(executor: Executor) -> bool:
    """Whether the stop has ended well on the old server, although the step that was to do it or to prove it failed.

    From the warm passes on a stopped server would be asked what only a running one can tell.
    """
    execution = executor.execution
    stop, proof = execution.plan.step(STOP), execution.plan.step(STOPPED)
    if stop is None or proof is None or execution.latest(stop.number) is None:
        return False
    return _stop_stands(executor, proof)


def _stop_stands(executor: Executor, proof: Step) -> bool:
    """Prove the stop; False where a server runs there. A proof that fails for another reason tells nothing.

    Raises:
        CommandError, BlockedError: why it cannot be told, or that old has ended without a shutdown.
    """
    try:
        run_step(executor, proof)
    except BlockedError:
        if _runs(executor, proof):
            return False
        raise
    return True


def _runs(executor: Executor, proof: Step) -> bool:
    """Whether a server runs in old's data directory."""
    looking = call("servers_in", executor.plan.data_directory)
    title = "Check whether the old cluster runs"
    return bool(executor.connect("old").run(looking, executor.job, user=proof.user, title=title).stdout.strip())


def _prove_alone(executor: Executor) -> None:
    """Once new is open, old does not run, whatever happened since the last look: clients could write to both."""
    execution = executor.execution
    proof = execution.plan.step(ALONE)
    if proof is not None and execution.done(proof.number):
        run_step(executor, proof)


def _renew(executor: Executor) -> None:
    """The proof of the target and the way of the copy made anew, as long as something is left to copy."""
    execution = executor.execution
    closing = [step for step in execution.steps_taken if step.closes]
    if all(execution.done(step.number) for step in closing):
        return
    for step in execution.steps_taken:
        if step.renewed and execution.done(step.number):
            run_step(executor, step)

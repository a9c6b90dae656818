"""The plan of a move: the ordered steps with their exact commands, made from facts, checks and measurements alone.

Data goes from the old server to the new one, never through the workstation. The only writes to the old server are its
own shutdown, the folder of the copy's key in /tmp, and the fence. Each step says how to undo it. The point of no return
is one step.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core import units
from core.errors import InputError
from core.facts.model import Cluster, Facts
from core.migration.checks.state import TARGET_IDENTITY
from core.migration.estimate.copy_methods import planned
from core.migration.findings.cluster import find_cluster
from core.migration.findings.data_roots import data_roots, linked_folders
from core.migration.findings.dress import explain_no_dress_rehearsal
from core.migration.findings.query_scripts import query_database
from core.migration.model.checks import CheckResult, Status
from core.migration.model.dress import USUAL, RehearsalOptions
from core.migration.model.estimate import Estimate, Method, PassSeconds
from core.migration.model.move import HookCommand, Move, Verify
from core.migration.model.plan import Phase, Plan, PlanWarning, Step, functions_of, with_resume_policies
from core.migration.model.probe import Probe
from core.migration.model.transport import Transport
from core.migration.plan.context import OverwriteWaiver, PlanContext
from core.migration.plan.runbook import runbook
from core.migration.plan.script import login, script
from core.migration.plan.steps.copy import copy_steps
from core.migration.plan.steps.corruption import optional_check_steps
from core.migration.plan.steps.dress import prepare_rehearsal, rehearsal_steps
from core.migration.plan.steps.follow_up import list_follow_up_tasks, list_remaining_files
from core.migration.plan.steps.hooks import insert_hooks, warn_of_foreign_hooks
from core.migration.plan.steps.opening import cutover_steps, socket_directory
from core.migration.plan.steps.prepare import close_channel, prepare_steps
from core.migration.plan.steps.rollback import rollback_steps, rollback_steps_with_loss
from core.migration.plan.steps.verify import reads_every_file
from core.migration.transports.choice import allowed_routes, choose_transport
from core.migration.transports.copy_channel import make_copy_channel, new_server_address, unique_name
from core.migration.transports.passes import copy_settings
from core.migration.transports.rsync_versions import oldest_version
from core.servers.profiles import Profile
from core.sides import Side
from core.text import sentence

__all__ = ["make_plan", "runbook", "script"]


def make_plan(
    move: Move,
    old: Profile,
    new: Profile,
    old_facts: Facts,
    new_facts: Facts,
    checks: Sequence[CheckResult],
    probes: Sequence[Probe],
    estimate: Estimate,
    hooks: Sequence[HookCommand] = (),
    verify: Verify = Verify.CHANGED,
    *,
    seed: str,
    dressed: bool = False,
    asked: RehearsalOptions = USUAL,
) -> Plan:
    """Return the plan of the move. Blockers do not prevent a plan: its warnings name them.

    Args:
        move: the move.
        old: the profile of the old server.
        new: the profile of the new server.
        old_facts: the facts of the old server.
        new_facts: the facts of the new server.
        checks: the results of the checks on these facts.
        probes: the probes of the move, from which the transport is chosen.
        estimate: the estimate, from which each step gets its expected duration.
        hooks: the operator's own commands.
        verify: which files are compared by their checksums during the downtime.
        seed: a secret that nobody can guess; the copy's files on both servers are named by it.
        dressed: whether the plan is for a dress rehearsal, in which the copy is started.
        asked: the options of that dress rehearsal.

    Raises:
        InputError: the facts of the old server do not contain the cluster or an address of the server. For a dress
            rehearsal also: the copy cannot be started while the old cluster serves clients, or the database of the
            queries is not known.
    """
    choice = choose_transport(probes, allowed_routes(move, old_facts, new_facts, new))
    context = _plan_context(move, old, new, old_facts, new_facts, checks, choice.transport, verify, seed)
    if dressed and (why := explain_no_dress_rehearsal(move, context.cluster, old_facts, new_facts)):
        raise InputError(
            f"A dress rehearsal of {move.name} is not possible: {why}", "make a copy rehearsal: --rehearsal"
        )
    rehearsal_preparation, rehearsal = (
        (prepare_rehearsal(context, asked.queries), rehearsal_steps(context, asked)) if dressed else ([], [])
    )
    all_steps: list[Step] = [
        *prepare_steps(context),
        *rehearsal_preparation,
        *copy_steps(context, *rehearsal),
        # What only the copy needed is removed before the first start on the new server: from then on no pass may write
        # there any more, and nobody needs the key.
        *close_channel(context),
        *cutover_steps(context),
    ]
    # Hooks come before the resume policies. A hook may replace a step or add one, and a policy names the steps behind
    # its own.
    steps = with_resume_policies(_with_expected_seconds(insert_hooks(all_steps, context, hooks), context, estimate))
    variables = copy_settings(context.channel)
    rollback = [replace(step, phase=Phase.ROLLBACK) for step in rollback_steps(context)]
    rollback_with_loss = [replace(step, phase=Phase.ROLLBACK) for step in rollback_steps_with_loss(context)]
    optional_checks = [
        replace(step, phase=Phase.LATER) for step in optional_check_steps(context, socket_directory(context))
    ]
    return Plan(
        move=move.name,
        transport=choice.transport.name,
        why=choice.why,
        steps=_number_steps(steps, context),
        made_at=context.made_at,
        warnings=(*_warnings(context, checks, estimate), *warn_of_foreign_hooks(move.name, hooks)),
        logins=(replace(login(Side.OLD, old), database_user=context.owner), login(Side.NEW, new)),
        cluster=context.cluster.name or context.cluster.data_directory,
        data_directory=context.cluster.data_directory,
        target=move.target,
        way_back=_number_steps(rollback, context),
        back_with_loss=_number_steps(rollback_with_loss, context),
        later=_number_steps(optional_checks, context),
        remains=list_remaining_files(context),
        advice=list_follow_up_tasks(context),
        functions=functions_of([*steps, *rollback, *optional_checks], variables),
        settings=tuple(variables.items()),
        verify=verify,
        queries=replace(asked.queries, database=query_database(asked.queries, context.cluster))
        if dressed and asked.queries
        else None,
        old_folders=(context.cluster.data_directory, *(folder for _, folder in linked_folders(context.cluster))),
        new_folders=tuple(root.target for root in context.roots),
    )


def _plan_context(
    move: Move,
    old: Profile,
    new: Profile,
    old_facts: Facts,
    new_facts: Facts,
    checks: Sequence[CheckResult],
    transport: Transport,
    verify: Verify,
    seed: str,
) -> PlanContext:
    """Return the context from which every step is made. The arguments are those of `make_plan`.

    Raises:
        InputError: as make_plan does.
    """
    cluster = find_cluster(old_facts, move.cluster)
    roots = data_roots(move, cluster)
    made_at = datetime.now(UTC)
    channel = make_copy_channel(
        move,
        new,
        old_facts,
        [(root.label, root.target) for root in roots],
        seed=f"{seed} {made_at.isoformat()}",  # so that names of an earlier plan do not reveal those of this one
        purpose="copy",
        address=new_server_address(new),
        login=new.user,
        transport=transport,
        rsync=oldest_version(old_facts, new_facts),
    )
    waiver = _overwrite_waiver(new_facts.cluster(move.target), checks)
    context = PlanContext(
        *(move, old, new, old_facts, new_facts, cluster, channel, roots, verify, made_at),
        overwrite_waiver=waiver,
        # another name than that of the copy, which every account of the new server can see
        socket_name=unique_name(move, f"socket {seed} {made_at.isoformat()}"),
    )
    return replace(context, channel=replace(channel, control=(context.old_path, cluster.data_directory)))


def _overwrite_waiver(target: Cluster | None, checks: Sequence[CheckResult]) -> OverwriteWaiver | None:
    """Return the waiver for the cluster in the target, if the operator has waived exactly that state."""
    check = next((each for each in checks if each.id == TARGET_IDENTITY and each.waiver is not None), None)
    if check is None or check.waiver is None or target is None or target.control is None:
        return None
    words = f"{sentence(check.message)} {check.waiver.by} has given it up: {sentence(check.waiver.reason)}"
    return OverwriteWaiver(target.control.checkpoint_location, words)


def _with_expected_seconds(steps: Sequence[Step], context: PlanContext, estimate: Estimate) -> list[Step]:
    """Return the steps with their expected durations.

    Each gets its share of a stage of the estimate, so that plan and estimate name the same downtime. A manual step, and
    one that no stage counts, has no expected duration.
    """
    method = estimate.method(planned(context.cluster))
    expected = {stage.name: stage.seconds.likely for stage in method.stages} if method is not None else {}
    if method is not None and Phase.VERIFY in expected and estimate.checking is not Verify.ALL:
        expected[Phase.VERIFY] += _read_all_seconds(context, method)
    passes = method.passes if method is not None else ()
    shares: dict[str, float] = {}
    for step in steps:
        if step.remote is not None:
            shares[_stage_name(step)] = shares.get(_stage_name(step), 0.0) + _share(step, passes)
    return [
        _with_seconds(step, expected[_stage_name(step)] * _share(step, passes) / shares[_stage_name(step)])
        if step.remote is not None and step.timing.share and _stage_name(step) in expected
        else step
        for step in steps
    ]


def _share(step: Step, passes: Sequence[PassSeconds]) -> float:
    """Return the share of a step in its stage; that of a pre-copy pass is by how long the estimate says it takes."""
    if not 0 < step.precopy_pass <= len(passes):
        return step.timing.share
    seconds = passes[step.precopy_pass - 1]
    whole = sum(each.copy + each.read for each in passes) or 1.0
    return step.timing.share * (seconds.copy if step.root else seconds.read) / whole


def _with_seconds(step: Step, seconds: float) -> Step:
    return replace(step, timing=replace(step.timing, expected_seconds=seconds))


def _verify_all_seconds(context: PlanContext, method: Method) -> float:
    """Return how many seconds of the downtime reading every file takes."""
    corruption_checks = method.looks_seconds if context.verify is Verify.ALL else None
    return _read_all_seconds(context, method) + (corruption_checks.likely if corruption_checks is not None else 0.0)


def _read_all_seconds(context: PlanContext, method: Method) -> float:
    seconds = method.verify_all_seconds if reads_every_file(context) else None
    return seconds.likely if seconds is not None else 0.0


def _stage_name(step: Step) -> str:
    """Return the name of the estimate's stage to which the duration of the step belongs."""
    return step.timing.stage or step.phase


def _warnings(context: PlanContext, checks: Sequence[CheckResult], estimate: Estimate) -> tuple[PlanWarning, ...]:
    """Return the warnings of the plan: open findings of the checks first, then what follows from the plan."""
    open_checks = [check for check in checks if check.status is not Status.PASS and check.waiver is None]
    found = [PlanWarning(check.message, check.status, check.id) for check in open_checks]
    if not context.channel.transport.route.encrypted:
        found.append(PlanWarning("The files of the cluster cross the network unencrypted, as the move allows."))
    method = estimate.method(planned(context.cluster))
    verify_seconds = _verify_all_seconds(context, method) if method is not None else 0.0
    if verify_seconds:
        text = f"Every file is read during the downtime, which adds about {units.duration(verify_seconds)} to it."
        found.append(PlanWarning(text))
    return tuple(found)


def _number_steps(steps: Sequence[Step], context: PlanContext) -> tuple[Step, ...]:
    """Return the steps with their numbers and servers."""
    servers = {Side.OLD: context.old.name, Side.NEW: context.new.name, None: "workstation"}
    return tuple(replace(step, number=number, server=servers[step.side]) for number, step in enumerate(steps, 1))

"""The plan of a move: the ordered steps with their exact commands, made from facts, checks and figures alone.

Data goes from the old server to the new one, never through the workstation. Old is written to by its own shutdown
alone, but for the key's folder in /tmp and what keeps it from starting again; each step names its undo; the point of
no return is one step.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core import units
from core.errors import InputError
from core.facts.model import Cluster, Facts
from core.migration.checks.state import TARGET_IDENTITY
from core.migration.estimate.copy_methods import planned
from core.migration.findings.cluster import cluster_of
from core.migration.findings.data_roots import data_roots
from core.migration.findings.dress import no_dress_rehearsal
from core.migration.findings.query_scripts import database_of
from core.migration.model.checks import CheckResult, Status
from core.migration.model.dress import USUAL, Dressing
from core.migration.model.estimate import Estimate, Method
from core.migration.model.move import HookCommand, Move, Verify
from core.migration.model.plan import Phase, Plan, PlanWarning, Step, functions_of
from core.migration.model.probe import Probe
from core.migration.model.transport import Transport
from core.migration.plan.context import OverwriteWaiver, PlanContext
from core.migration.plan.runbook import runbook
from core.migration.plan.script import login, script
from core.migration.plan.steps.copy import copy
from core.migration.plan.steps.corruption import later
from core.migration.plan.steps.dress import before_copying, dress
from core.migration.plan.steps.follow_up import advice, remains
from core.migration.plan.steps.hooks import foreign, hooked
from core.migration.plan.steps.opening import opening, socket_of
from core.migration.plan.steps.prepare import close_channel, prepare
from core.migration.plan.steps.rollback import back_with_loss, rollback
from core.migration.plan.steps.verify import reads_all
from core.migration.transports.choice import allowed_routes, choose
from core.migration.transports.copy_channel import address_of, channel_of
from core.migration.transports.passes import settings
from core.migration.transports.rsync_versions import common_version
from core.servers.profiles import Profile
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
    asked: Dressing = USUAL,
) -> Plan:
    """The steps of the move. Blockers do not forbid a plan: they stand in its warnings.

    `seed`: what nobody else can guess; what the copy makes on both servers is named by it. `dressed`: it is for a dress
    rehearsal, in which the copy itself is started, and for which this is `asked`.

    Raises:
        InputError: the facts of old do not know the cluster, or hold no address of old; or it is `dressed`, and the
            copy of this cluster cannot be started while it serves its clients, or nothing tells in which database the
            queries run.
    """
    choice = choose(probes, allowed_routes(move, old_facts, new_facts, new))
    context = _plan_context(move, old, new, old_facts, new_facts, checks, choice.transport, verify, seed)
    if dressed and (why := no_dress_rehearsal(move, context.cluster, old_facts, new_facts)):
        raise InputError(
            f"A dress rehearsal of {move.name} is not possible: {why}", "make a copy rehearsal: --rehearsal"
        )
    ahead, tried = (before_copying(context, asked.queries), dress(context, asked)) if dressed else ([], [])
    made = [*prepare(context), *ahead, *copy(context, *tried), *close_channel(context), *opening(context)]
    steps = _timed(hooked(made, context, hooks), context, estimate)
    read = settings(context.channel)
    back = [replace(step, phase=Phase.ROLLBACK) for step in rollback(context)]
    lossy = [replace(step, phase=Phase.ROLLBACK) for step in back_with_loss(context)]
    rest = [replace(step, phase=Phase.LATER) for step in later(context, socket_of(context))]
    return Plan(
        move=move.name,
        transport=choice.transport.name,
        why=choice.why,
        steps=_numbered(steps, context),
        made_at=context.made_at,
        warnings=(*_warnings(context, checks, estimate), *foreign(move.name, hooks)),
        logins=(replace(login("old", old), database_user=context.owner), login("new", new)),
        cluster=context.cluster.name or context.cluster.data_directory,
        data_directory=context.cluster.data_directory,
        target=move.target,
        way_back=_numbered(back, context),
        back_with_loss=_numbered(lossy, context),
        later=_numbered(rest, context),
        remains=remains(context),
        advice=advice(context),
        functions=functions_of([*steps, *back, *rest], read),
        settings=tuple(read.items()),
        verify=verify,
        queries=replace(asked.queries, database=database_of(asked.queries, context.cluster))
        if dressed and asked.queries
        else None,
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
    """What every step is made from.

    Raises:
        InputError: as make_plan does.
    """
    cluster = cluster_of(old_facts, move.cluster)
    copied = data_roots(move, cluster)
    made_at = datetime.now(UTC)
    channel = channel_of(
        move,
        new,
        old_facts,
        [(root.label, root.target) for root in copied],
        seed=f"{seed} {made_at.isoformat()}",  # what somebody has read of an earlier plan's names is of no use
        purpose="copy",
        address=address_of(new),
        login=new.user,
        transport=transport,
        rsync=common_version(old_facts, new_facts),
    )
    waiver = _overwrite_waiver(new_facts.cluster(move.target), checks)
    context = PlanContext(
        move, old, new, old_facts, new_facts, cluster, channel, copied, verify, made_at, overwrite_waiver=waiver
    )
    return replace(context, channel=replace(channel, control=(context.old_path, cluster.data_directory)))


def _overwrite_waiver(target: Cluster | None, checks: Sequence[CheckResult]) -> OverwriteWaiver | None:
    """What lies in the target without a mark of a copy, where a waiver of that very state says that it may go."""
    check = next((each for each in checks if each.id == TARGET_IDENTITY and each.waiver is not None), None)
    if check is None or check.waiver is None or target is None or target.control is None:
        return None
    words = f"{sentence(check.message)} {check.waiver.by} has given it up: {sentence(check.waiver.reason)}"
    return OverwriteWaiver(target.control.checkpoint_location, words)


def _timed(steps: Sequence[Step], context: PlanContext, estimate: Estimate) -> list[Step]:
    """Each with what it is expected to take: its part of the estimate's stage, so that both say the same downtime.

    What a person does takes no time that anything could tell.
    """
    method = estimate.method(planned(context.cluster))
    expected = {stage.name: stage.seconds.likely for stage in method.stages} if method is not None else {}
    if method is not None and Phase.VERIFY in expected and estimate.checking is not Verify.ALL:
        expected[Phase.VERIFY] += _read_all_seconds(context, method)
    shares: dict[str, float] = {}
    for step in steps:
        if step.side != "you":
            shares[_stage(step)] = shares.get(_stage(step), 0.0) + step.share
    return [
        replace(step, expected_seconds=expected[_stage(step)] * step.share / shares[_stage(step)])
        if step.side != "you" and shares[_stage(step)] and _stage(step) in expected
        else step
        for step in steps
    ]


def _verify_all_seconds(context: PlanContext, method: Method) -> float:
    """What of the stop goes to all that is read then."""
    looks = method.looks_seconds if context.verify is Verify.ALL else None
    return _read_all_seconds(context, method) + (looks.likely if looks is not None else 0.0)


def _read_all_seconds(context: PlanContext, method: Method) -> float:
    every = method.verify_all_seconds if reads_all(context) else None
    return every.likely if every is not None else 0.0


def _stage(step: Step) -> str:
    """The stage of the estimate whose time the step takes a part of."""
    return step.timed_as or step.phase


def _warnings(context: PlanContext, checks: Sequence[CheckResult], estimate: Estimate) -> tuple[PlanWarning, ...]:
    """Return what the checks have found and nobody has waived, then what follows from the plan itself."""
    standing = [check for check in checks if check.status is not Status.PASS and check.waiver is None]
    found = [PlanWarning(check.message, check.status, check.id) for check in standing]
    port = context.new_cluster.port or 5432
    if context.port != port:
        found.append(
            PlanWarning(
                f"Port {port} is taken on the new server. The local-only start uses port {context.port}. Free port "
                f"{port} before the cutover."
            )
        )
    if not context.channel.transport.route.encrypted:
        found.append(PlanWarning("The files of the cluster cross the network unencrypted, as the move allows."))
    method = estimate.method(planned(context.cluster))
    every = _verify_all_seconds(context, method) if method is not None else 0.0
    if every:
        text = f"Every file is read during the downtime, which adds about {units.duration(every)} to it."
        found.append(PlanWarning(text))
    return tuple(found)


def _numbered(steps: Sequence[Step], context: PlanContext) -> tuple[Step, ...]:
    """As they stand in the plan: each with its number, a name and the server's."""
    servers = {"old": context.old.name, "new": context.new.name, "you": "workstation"}
    return tuple(
        replace(
            step, number=number, name=step.name or f"step-{number}", server=servers[step.side], user=step.user or "you"
        )
        for number, step in enumerate(steps, 1)
    )

"""The trial start on the new server. It is made for the checks, and removed before they get its result."""

from collections.abc import Sequence
from dataclasses import replace

from core.errors import Cancelled, CommandError, InputError, PghaulError
from core.facts.model import Cluster, Facts, TrialStart
from core.jobs import Job
from core.migration.findings.data_roots import data_roots
from core.migration.findings.layout import configuration_copied, configuration_not_copied
from core.migration.findings.services import service_of_target
from core.migration.findings.trial_start import TrialCommands, prepare_trial_start
from core.migration.model.move import Hook, HookCommand, Move
from core.servers.connection import Server
from core.servers.shell import Shell, call, lowered
from core.text import complaint

_PACK_SECONDS = 60.0
_START_SECONDS = 200.0
"""Longer than the time after which the shell function trial_start itself ends the trial."""
_STARTED, _REFUSED, _LACKS = "started", "refused ", "lacks "


def with_trial_start(
    old: Server,
    new: Server,
    old_facts: Facts,
    new_facts: Facts,
    move: Move,
    job: Job,
    holder: str = "-",
    *,
    hooks: Sequence[HookCommand] = (),
) -> Facts:
    """Return the facts of the new server with the result of a trial start.

    They are returned unchanged if the facts of the old server do not contain the cluster.

    Args:
        old: the old server.
        new: the new server.
        old_facts: the facts of the old server.
        new_facts: the facts of the new server.
        move: the move.
        job: receives progress, and can be cancelled.
        holder: the token of the execution that makes the trial; its own locks do not prevent it. `-`: it has none.
        hooks: the commands of the move that are still to run.

    Raises:
        Cancelled: the job was cancelled; nothing of the trial is left.
    """
    cluster = old_facts.cluster(move.cluster)
    if cluster is None:
        return new_facts
    chosen = "" if move.edited is None else move.edited.value
    # Only this hook runs before the stop of the old cluster, and the trial start is repeated just before that stop.
    ahead = (each.hook for each in hooks if each.hook is Hook.STOP_APPLICATIONS and not each.from_elsewhere)
    made = TrialStart(
        move.cluster, move.target, old_facts.taken_at.isoformat(), chosen, hook=next((each.value for each in ahead), "")
    )
    try:
        trial = prepare_trial_start(move, cluster, old_facts, new_facts, new.profile.database_user, holder)
    except InputError as error:  # a path that cannot be an argument of a command
        trial = error.message
    if isinstance(trial, str):
        made = replace(made, not_tried=trial)
    elif not new.can_become("root", job):
        made = replace(
            made,
            not_tried=f"pghaul may not run commands as root on {new.name}. A trial start needs that for its namespaces",
        )
    else:
        made = _tried(old, new, trial, made, cluster.owner or old.profile.database_user, job)
    service = service_of_target(move.target, cluster, new_facts)
    if service is not None and service.user is None and new.can_become("root", job):
        hinders = call("print_unit_obstacles", service.unit, new.profile.database_user, move.target)
        title = f"Check whether {service.unit} can start the new cluster"
        made = replace(made, hindering=_told(new, hinders, title, job))
        unmet = call("print_unmet_conditions", service.unit, *_brought(move, cluster))
        title = f"Check whether the conditions of {service.unit} are met"
        told = [line.partition(" ") for line in _told(new, unmet, title, job)]
        made = replace(
            made,
            unmet=tuple(line for kind, _, line in told if kind == "unmet"),
            unjudged=tuple(line for kind, _, line in told if kind == "unjudged"),
        )
    return replace(new_facts, trial_start=made)


def _brought(move: Move, cluster: Cluster) -> list[str]:
    """Return the paths on the new server to which the move copies something, as far as they are known before it."""
    data, left = cluster.data_directory, configuration_not_copied(cluster)
    read = [each.path for each in cluster.configuration_files or () if each.state == "file" and each.path not in left]
    read = [f"{move.target}{each.removeprefix(data)}" if each.startswith(f"{data}/") else each for each in read]
    roots = [root.target for root in data_roots(move, cluster)]
    brought = [f"{move.target}/PG_VERSION", *read, *roots, *configuration_copied(cluster)]
    return [each for each in brought if "\n" not in each]  # no command can name one, and neither does a unit


def _told(new: Server, asked: Shell, title: str, job: Job) -> tuple[str, ...]:
    """Return the lines that the command prints about the unit; none if it fails.

    Args:
        new: the new server.
        asked: the command.
        title: its title.
        job: receives progress, and can be cancelled.
    """
    try:
        done = new.run(asked, job, user="root", deadline=_PACK_SECONDS, title=title)
    except Cancelled:
        raise
    except PghaulError:
        return ()
    return tuple(done.stdout.splitlines())


def _tried(old: Server, new: Server, trial: TrialCommands, made: TrialStart, owner: str, job: Job) -> TrialStart:
    made = replace(made, lacking=trial.lacking)
    try:
        title = "Pack the configuration of the old cluster for a trial start"
        packed = old.run(lowered(trial.pack), job, user=owner, deadline=_PACK_SECONDS, title=title)
        title = "Start an empty cluster with the configuration of the old cluster, isolated from the host"
        given = packed.stdout.encode()
        done = new.run(trial.start, job, user="root", stdin=given, deadline=_START_SECONDS, title=title)
    except Cancelled:
        raise
    except CommandError as error:
        return replace(made, not_tried=complaint(error.stderr) or error.message)
    except PghaulError as error:
        return replace(made, not_tried=error.message)
    first, _, rest = done.stdout.partition("\n")
    if first == _STARTED:
        said = [line for line in rest.splitlines() if not line.startswith("note: ")]
        lacking = [line.removeprefix(_LACKS) for line in said if line.startswith(_LACKS)]
        listened = tuple(line for line in said if not line.startswith(_LACKS))
        return replace(made, listened=listened, lacking=(*made.lacking, *lacking))
    if first.startswith(_REFUSED):
        return replace(made, failed=first.removeprefix(_REFUSED))
    return replace(made, not_tried=f"it ended without a result: {first!r}")

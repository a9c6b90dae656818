"""The steps after the copy: the first start for local connections alone, the opening, the end."""

from typing import LiteralString

from core.migration.findings.edited import kept_in_force
from core.migration.findings.local_start import list_isolation_settings, list_isolation_settings_for_rebuild
from core.migration.findings.schedules import side_by_side
from core.migration.findings.services import rules_beside
from core.migration.findings.start_options import as_typed
from core.migration.model.move import Hook, Verify
from core.migration.model.plan import ONLY_LOOKS, Phase, Step, run_by_hand, undone
from core.migration.plan import cluster_control, service
from core.migration.plan.context import PlanContext
from core.migration.plan.service import Change
from core.migration.plan.steps.configuration import configuration
from core.migration.plan.steps.copy import STOPPED
from core.migration.plan.steps.corruption import tables_and_indexes
from core.migration.plan.steps.hooks import LEAD
from core.migration.plan.steps.inventory import compare_inventory, compare_settings, native_psql, reached
from core.migration.plan.steps.known_data_roots import prove_still_stopped
from core.migration.plan.steps.reached import reach
from core.migration.plan.steps.reindex import reindex
from core.migration.plan.steps.rollback import back_with_loss
from core.servers.shell import call, command

START_NEW = "start-new"
"""The name of the step that starts new for the first time."""

LIFT_FENCE = "lift-fence"
"""The name of the step that ends what that one started."""

ALONE = "alone"
"""The name of the step that proves, once new is open, that old does not run."""

IN_FORCE = "in-force"
"""The name of the step that sets on the new server what was in force on the old one, where its files say otherwise."""

DECIDE = "decide"
"""The name of the step at which a person opens new, or does not."""

OPEN = "open"
"""The name of the step that allows client connections."""

_LINE = "%s\\n"
_CAME_ALONG = "Nothing to undo: a rollback restores what the new server had there."

_ASK: LiteralString = "select version(), pg_is_in_recovery(), (select count(*) from pg_database)"


def opening(context: PlanContext) -> list[Step]:
    """From the first start on new to the opening, the one step that cannot be undone without loss."""
    return [
        *configuration(context),
        *_registered(context),
        *_in_force(context),
        *_first_start(context),
        *_open(context),
    ]


def _registered(context: PlanContext) -> list[Step]:
    """What starts new finds the configuration that came along, and starts it with the host."""
    register = "Register the new cluster with its host"
    by_files = "The service of the new cluster starts it by its configuration in /etc/postgresql."
    enable = "Enable the start of the new cluster at boot"
    at_boot = "The old cluster starts at boot, too. Until the cutover the fence keeps the new cluster from starting."
    return [
        *(
            _with_host(change, f"register-{at}", register, by_files)
            for at, change in enumerate(service.register(context))
        ),
        *(_with_host(change, f"enable-{at}", enable, at_boot) for at, change in enumerate(service.enable(context))),
    ]


def _with_host(change: Change, name: str, title: str, reason: str) -> Step:
    made, back = change.made, change.undone
    return Step(
        title,
        "new",
        made.user,
        str(made.command),
        reason,
        _CAME_ALONG if back is None else undone(back.user, "new", *(back.native or (back.command,))),
        made.native or (made.command.text,),
        name=name,
        phase=Phase.START,
        timed_as=Phase.VERIFY,
        stopped=True,
    )


def _in_force(context: PlanContext) -> list[Step]:
    """What was edited on the old server and not in force there is not in force on the new one either, if so chosen."""
    kept = kept_in_force(context.move, context.cluster)
    if not kept:
        return []
    user, file = context.channel.writer, f"{context.move.target}/postgresql.auto.conf"
    native = [f"{command('printf', _LINE, _line_of_conf(each))} >>{command(file)}" for each in kept]
    return [
        Step(
            f"Set what was in force on the old cluster: {', '.join(each.partition('=')[0] for each in kept)}",
            "new",
            user,
            str(call("append_settings", context.move.target, *kept)),
            "The files of the old cluster were edited and not loaded. As chosen, the values in force are kept. They go "
            "into postgresql.auto.conf, which overrides the other files. ALTER SYSTEM RESET removes them again.",
            "Nothing to undo: another attempt copies the file again. Until then nothing starts the new cluster.",
            tuple(native),
            phase=Phase.START,
            timed_as=Phase.VERIFY,
            name=IN_FORCE,
            stopped=True,
            skippable=False,
        )
    ]


def _line_of_conf(setting: str) -> str:
    name, _, value = setting.partition("=")
    quoted = value.replace("\\", "\\\\").replace("'", "''")
    return f"{name} = '{quoted}'"


def _first_start(context: PlanContext) -> list[Step]:
    user, target = context.channel.writer, context.move.target
    socket = socket_of(context)
    rebuilding = reindex(context, socket)
    alone = (
        list_isolation_settings_for_rebuild(context.cluster) if rebuilding else list_isolation_settings(context.cluster)
    )
    start = target, context.port, context.new_path, service.config_file(context)
    options = [*rules_beside(context.cluster), *alone]
    return [
        Step(
            "Start the new cluster for local connections only",
            "new",
            user,
            str(cluster_control.start_locally(*start, options)),
            "Clients must not reach it yet. Until the cutover it archives nothing, and runs no subscription, job or "
            "other background worker.",
            undone(user, "new", *cluster_control.native_give_back(target)),
            cluster_control.native_start_locally(*start, (*as_typed(context.cluster), *options)),
            phase=Phase.START,
            name=START_NEW,
            stopped=True,
        ),
        Step(
            "Query the new cluster",
            "new",
            user,
            str(call("query_new_cluster", *reached(context.new_path, socket, context.port, context.cluster.series))),
            "Look at your own tables, too, before anybody writes to them.",
            ONLY_LOOKS,
            (native_psql(socket, context.port, "postgres", _ASK),),
            name="query",
            phase=Phase.START,
            stopped=True,
            skippable=False,
        ),
        *compare_inventory(context, socket, alone),
        *rebuilding,
        *(tables_and_indexes(context, socket) if context.verify is Verify.ALL else []),
    ]


def _open(context: PlanContext) -> list[Step]:
    user, target = context.channel.writer, context.move.target
    return [
        _decide(context),
        prove_still_stopped(context),
        Step(
            "End the local-only start and lift the fence",
            "new",
            user,
            str(cluster_control.lift_fence(target)),
            "The server of the local-only start is stopped. The next step starts the new cluster as its host always "
            "starts it.",
            undone(user, "new", *cluster_control.native_give_back(target)),
            cluster_control.native_lift_fence(target),
            phase=Phase.OPEN,
            timed_as=Phase.START,
            name=LIFT_FENCE,
            stopped=True,
        ),
        _open_to_clients(context),
        *_said_on_old(context),
        Step(
            "Remove the empty fence of the new cluster",
            "new",
            user,
            str(cluster_control.unfence_target(target)),
            "From here on it is a cluster like any other.",
            "Nothing to undo: the fence no longer holds anything.",
            cluster_control.native_unfence_target(target),
            name="remove-fence-new",
            phase=Phase.OPEN,
            timed_as=Phase.PREPARE,
            share=0.1,
        ),
        _prove_alone(context),
        *compare_settings(context, socket_of(context)),
        *reach(context),
        *_cron_jobs(context),
        _lead_applications(),
    ]


def _decide(context: PlanContext) -> Step:
    return Step(
        "Decide: cut over or roll back",
        "you",
        "",
        "",
        "Examine the new cluster, which runs for local connections only. So far the old cluster has all data, and a "
        "rollback loses nothing. Next, clients can connect to the new cluster. What they write is then on the new "
        "server only.",
        f"To roll back, {_back(context)}",
        phase=Phase.OPEN,
        name=DECIDE,
        stopped=True,
        skippable=False,
    )


def _open_to_clients(context: PlanContext) -> Step:
    start = service.start_new(context)
    return Step(
        "Allow client connections (point of no return)",
        "new",
        start.user,
        str(start.command),
        "The new cluster is started in the way in which its host always starts it. What clients write from here on is "
        "on the new server only.",
        f"Undoing this loses what clients have written since. To undo it, {_back_with_loss(context)}",
        start.native,
        name=OPEN,
        phase=Phase.OPEN,
        timed_as=Phase.START,
        stopped=True,
        point_of_no_return=True,
    )


def _prove_alone(context: PlanContext) -> Step:
    data = context.cluster.data_directory
    return Step(
        "Check that the old cluster is still stopped",
        "old",
        context.owner,
        str(call("check_stays_stopped", data)),
        "If clients write to both clusters, their contents differ from then on.",
        ONLY_LOOKS,
        cluster_control.native_prove_stopped(context.old_path, data, fenced=True),
        phase=Phase.OPEN,
        timed_as=Phase.PREPARE,
        share=0.1,
        name=ALONE,
        reads=STOPPED,
        proves=True,
        skippable=False,
    )


def _lead_applications() -> Step:
    return Step(
        "Repoint the applications",
        "you",
        "",
        "",
        "This concerns the address, the DNS name or virtual IP, connection pools, monitoring, backups, and the start "
        "at boot.",
        "To undo, point them to the old server again. What was written to the new cluster is lost.",
        phase=Phase.OPEN,
        name=LEAD,
    )


def _said_on_old(context: PlanContext) -> list[Step]:
    """What an earlier move has left fenced is not this one's to let go again."""
    if context.cluster.fenced:
        return []
    data = context.cluster.data_directory
    return [
        Step(
            "Record the cutover in the fence of the old cluster",
            "old",
            context.owner,
            str(cluster_control.say_opened(data)),
            "Whoever tries to roll back from here on learns there what would be lost.",
            "Nothing to undo: the record is removed with the fence.",
            cluster_control.native_say_opened(data),
            name="record-cutover",
            phase=Phase.OPEN,
            timed_as=Phase.PREPARE,
            share=0.1,
        )
    ]


def _back(context: PlanContext) -> str:
    """The words of the way back to old from here on."""
    stop = cluster_control.native_give_back(context.move.target)
    free, start = cluster_control.unfence(context.cluster, context.owner), service.start_old(context)
    return _in_turn(
        (context.channel.writer, "new", tuple(stop)), (free.user, "old", free.native), (start.user, "old", start.native)
    )


def _back_with_loss(context: PlanContext) -> str:
    """The same once new is open, where its own host has started it."""
    return _in_turn(*((step.user, step.side, step.native) for step in back_with_loss(context)))


def _in_turn(*parts: tuple[str, str, tuple[str, ...]]) -> str:
    """What a person is to run on both servers, one after the other, within a sentence."""
    return "; then ".join(run_by_hand(user, side, *native) for user, side, native in parts)


def _cron_jobs(context: PlanContext) -> list[Step]:
    """What cron and timers do on both hosts; nothing where neither of them knows PostgreSQL."""
    jobs = side_by_side(context.old_facts, context.new_facts)
    if not jobs:
        return []
    return [
        Step(
            "Move the cron jobs",
            "you",
            "",
            "",
            "What the old server runs by crontabs and timers must run on the new server, with the paths of the new "
            "server, and no longer on the old server.",
            "To undo, move them back.",
            phase=Phase.OPEN,
            name=Hook.MOVE_CRON_JOBS,
            skippable=False,
            table=jobs,
        )
    ]


def socket_of(context: PlanContext) -> str | None:
    """The folder of new's socket, as its configuration says; None: where its programs look by themselves."""
    setting = context.new_cluster.settings.get("unix_socket_directories", "").split(",")[0].strip()
    return setting if setting.startswith("/") else None

"""The steps after the copy: the first start for local connections alone, the opening, the end."""

from typing import LiteralString

from core.migration.findings.edited import kept_in_force
from core.migration.findings.local_start import held, held_while_rebuilding
from core.migration.findings.schedules import side_by_side
from core.migration.findings.services import rules_beside
from core.migration.findings.start_options import as_typed
from core.migration.model.move import Hook, Verify
from core.migration.model.plan import ONLY_LOOKS, Phase, Step, run_by_hand, undone
from core.migration.plan import cluster_control, service
from core.migration.plan.service import Change
from core.migration.plan.site import Site
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
"""The name of the step that sets on new what was in force on old, where its files say otherwise."""

DECIDE = "decide"
"""The name of the step at which a person opens new, or does not."""

OPEN = "open"
"""The name of the step that allows client connections."""

_LINE = "%s\\n"
_CAME_ALONG = "Nothing to undo: a rollback restores what the new server had there."

_ASK: LiteralString = "select version(), pg_is_in_recovery(), (select count(*) from pg_database)"


def opening(site: Site) -> list[Step]:
    """From the first start on new to the opening, the one step that cannot be undone without loss."""
    return [*configuration(site), *_registered(site), *_in_force(site), *_first_start(site), *_open(site)]


def _registered(site: Site) -> list[Step]:
    """What starts new finds the configuration that came along, and starts it with the host."""
    register = "Register the new cluster with its host"
    by_files = "The service of the new cluster starts it by its configuration in /etc/postgresql."
    enable = "Enable the start of the new cluster at boot"
    at_boot = "The old cluster starts at boot, too. Until the cutover the fence keeps the new cluster from starting."
    return [
        *(_with_host(change, f"register-{at}", register, by_files) for at, change in enumerate(service.register(site))),
        *(_with_host(change, f"enable-{at}", enable, at_boot) for at, change in enumerate(service.enable(site))),
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


def _in_force(site: Site) -> list[Step]:
    """What was edited on the old server and not in force there is not in force on the new one either, if so chosen."""
    kept = kept_in_force(site.move, site.cluster)
    if not kept:
        return []
    user, file = site.channel.writer, f"{site.move.target}/postgresql.auto.conf"
    native = [f"{command('printf', _LINE, _line_of_conf(each))} >>{command(file)}" for each in kept]
    return [
        Step(
            f"Set what was in force on the old cluster: {', '.join(each.partition('=')[0] for each in kept)}",
            "new",
            user,
            str(call("keep_in_force", site.move.target, *kept)),
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


def _first_start(site: Site) -> list[Step]:
    user, target = site.channel.writer, site.move.target
    socket = socket_of(site)
    rebuilding = reindex(site, socket)
    alone = held_while_rebuilding(site.cluster) if rebuilding else held(site.cluster)
    start = target, site.port, site.new_path, service.config_file(site)
    options = [*rules_beside(site.cluster), *alone]
    return [
        Step(
            "Start the new cluster for local connections only",
            "new",
            user,
            str(cluster_control.start_locally(*start, options)),
            "Clients must not reach it yet. Until the cutover it archives nothing, and runs no subscription, job or "
            "other background worker.",
            undone(user, "new", *cluster_control.native_give_back(target)),
            cluster_control.native_start_locally(*start, (*as_typed(site.cluster), *options)),
            phase=Phase.START,
            name=START_NEW,
            stopped=True,
        ),
        Step(
            "Query the new cluster",
            "new",
            user,
            str(call("ask_new", *reached(site.new_path, socket, site.port, site.cluster.series))),
            "Look at your own tables, too, before anybody writes to them.",
            ONLY_LOOKS,
            (native_psql(socket, site.port, "postgres", _ASK),),
            name="query",
            phase=Phase.START,
            stopped=True,
            skippable=False,
        ),
        *compare_inventory(site, socket, alone),
        *rebuilding,
        *(tables_and_indexes(site, socket) if site.verify is Verify.ALL else []),
    ]


def _open(site: Site) -> list[Step]:
    user, target = site.channel.writer, site.move.target
    return [
        _decide(site),
        prove_still_stopped(site),
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
        _open_to_clients(site),
        *_said_on_old(site),
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
        _prove_alone(site),
        *compare_settings(site, socket_of(site)),
        *reach(site),
        *_cron_jobs(site),
        _lead_applications(),
    ]


def _decide(site: Site) -> Step:
    return Step(
        "Decide: cut over or roll back",
        "you",
        "",
        "",
        "Examine the new cluster, which runs for local connections only. So far the old cluster has all data, and a "
        "rollback loses nothing. Next, clients can connect to the new cluster. What they write is then on the new "
        "server only.",
        f"To roll back, {_back(site)}",
        phase=Phase.OPEN,
        name=DECIDE,
        stopped=True,
        skippable=False,
    )


def _open_to_clients(site: Site) -> Step:
    start = service.start_new(site)
    return Step(
        "Allow client connections (point of no return)",
        "new",
        start.user,
        str(start.command),
        "The new cluster is started in the way in which its host always starts it. What clients write from here on is "
        "on the new server only.",
        f"Undoing this loses what clients have written since. To undo it, {_back_with_loss(site)}",
        start.native,
        name=OPEN,
        phase=Phase.OPEN,
        timed_as=Phase.START,
        stopped=True,
        point_of_no_return=True,
    )


def _prove_alone(site: Site) -> Step:
    data = site.cluster.data_directory
    return Step(
        "Check that the old cluster is still stopped",
        "old",
        site.owner,
        str(call("stays_stopped", data)),
        "If clients write to both clusters, their contents differ from then on.",
        ONLY_LOOKS,
        cluster_control.native_prove_stopped(site.old_path, data, fenced=True),
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


def _said_on_old(site: Site) -> list[Step]:
    """What an earlier move has left fenced is not this one's to let go again."""
    if site.cluster.fenced:
        return []
    data = site.cluster.data_directory
    return [
        Step(
            "Record the cutover in the fence of the old cluster",
            "old",
            site.owner,
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


def _back(site: Site) -> str:
    """The words of the way back to old from here on."""
    stop = cluster_control.native_give_back(site.move.target)
    free, start = cluster_control.unfence(site.cluster, site.owner), service.start_old(site)
    return _in_turn(
        (site.channel.writer, "new", tuple(stop)), (free.user, "old", free.native), (start.user, "old", start.native)
    )


def _back_with_loss(site: Site) -> str:
    """The same once new is open, where its own host has started it."""
    return _in_turn(*((step.user, step.side, step.native) for step in back_with_loss(site)))


def _in_turn(*parts: tuple[str, str, tuple[str, ...]]) -> str:
    """What a person is to run on both servers, one after the other, within a sentence."""
    return "; then ".join(run_by_hand(user, side, *native) for user, side, native in parts)


def _cron_jobs(site: Site) -> list[Step]:
    """What cron and timers do on both hosts; nothing where neither of them knows PostgreSQL."""
    jobs = side_by_side(site.old_facts, site.new_facts)
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


def socket_of(site: Site) -> str | None:
    """The folder of new's socket, as its configuration says; None: where its programs look by themselves."""
    setting = site.coming.settings.get("unix_socket_directories", "").split(",")[0].strip()
    return setting if setting.startswith("/") else None

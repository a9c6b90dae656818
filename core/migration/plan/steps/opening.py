"""The steps after the copy: configuration, the first start for local connections alone, the opening, the end."""

from core.migration.findings.layout import configuration_folder
from core.migration.findings.schedules import side_by_side
from core.migration.model.move import Hook, Verify
from core.migration.model.plan import ROOT_USER, Phase, Step, undone
from core.migration.plan import cluster_control
from core.migration.plan.site import Site
from core.migration.plan.steps.corruption import tables_and_indexes
from core.migration.plan.steps.hooks import LEAD
from core.migration.plan.steps.inventory import compare_inventory
from core.migration.plan.steps.reindex import reindex
from core.migration.transports import copy_channel
from core.servers.shell import Shell, command, environment, redirect, script, sequence

START_NEW = "start-new"
"""The name of the step that starts new for the first time."""

_ASK = "select version(), pg_is_in_recovery(), (select count(*) from pg_database)"


def opening(site: Site) -> list[Step]:
    """From the first start on new to the opening, the one step that cannot be undone without loss."""
    return [*_configuration(site), *_first_start(site), *_free(site), *_open(site)]


def _configuration(site: Site) -> list[Step]:
    """Configuration outside the data directory: old's as an archive, put beside what new has there."""
    folder = configuration_folder(site.cluster)
    if folder is None:
        return []
    kept = f"{folder}{cluster_control.KEPT}"
    pack = script("cd -- @folder@ && tar -cf - . | base64" + copy_channel.SAY_WHOLE, folder=folder)
    unpack = script(
        copy_channel.TAKE_WHOLE + "if [ -e @folder@ ] && [ ! -e @kept@ ]; then mv -- @folder@ @kept@; fi && "
        "install -d -m 0755 -o @user@ -- @folder@ && "
        "printf '%s' \"$whole\" | base64 -d | tar -xf - -C @folder@ && chown -R @user@: -- @folder@",
        folder=folder,
        kept=kept,
        user=site.channel.writer,
    )
    restore = script("rm -rf -- @folder@ && if [ -e @kept@ ]; then mv -- @kept@ @folder@; fi", folder=folder, kept=kept)
    return [
        Step(
            f"pack old's configuration in {folder}",
            "old",
            ROOT_USER,
            str(pack),
            "it lies outside the data directory, so no pass has copied it",
            "nothing to undo: it only looks",
            name="configuration",
            phase=Phase.START,
            timed_as=Phase.VERIFY,
            private=True,
            stopped=True,
        ),
        Step(
            f"put old's configuration into {folder}",
            "new",
            ROOT_USER,
            str(unpack),
            f"what new has there is kept as {kept}; read it for paths, memory and addresses of old",
            undone(ROOT_USER, "new", restore),
            phase=Phase.START,
            timed_as=Phase.VERIFY,
            reads="configuration",
            stopped=True,
        ),
    ]


def _first_start(site: Site) -> list[Step]:
    user = site.channel.writer
    outside = configuration_folder(site.cluster)
    config_file = site.cluster.config_file if outside is not None else None
    start = cluster_control.start_locally(site.move.target, site.port, site.new_path, config_file)
    socket = socket_of(site)
    ask = environment(
        {"PATH": site.new_path},
        command(
            "psql", *(("-h", socket) if socket is not None else ()), "-p", site.port, "-d", "postgres", "-XAtc", _ASK
        ),
    )
    return [
        Step(
            "start new for local connections alone",
            "new",
            user,
            str(start),
            "nobody outside may take it for the real one yet; archiving is off",
            undone(user, "new", cluster_control.stop_locally(site.move.target, site.new_path)),
            phase=Phase.START,
            name=START_NEW,
            stopped=True,
        ),
        Step(
            "ask new",
            "new",
            user,
            str(ask),
            "look at your own tables too, before anybody writes",
            "nothing to undo: it only looks",
            phase=Phase.START,
            stopped=True,
            skippable=False,
        ),
        *compare_inventory(site, socket),
        *reindex(site, socket),
        *(tables_and_indexes(site, socket) if site.verify is Verify.ALL else []),
    ]


def _free(site: Site) -> list[Step]:
    """What a move fenced when new was old: at the next boot its service could not start the cluster."""
    known = site.new_facts.cluster(site.move.target)
    if known is None or cluster_control.fence_leaves(known) is None:
        return []
    user = site.channel.writer
    free, again = cluster_control.unfence(known, user), cluster_control.fence(known, user)
    return [
        Step(
            "let new's service start it",
            "new",
            free.user,
            str(free.command),
            "a move away from new, if there was one, kept it from starting; else nothing is done",
            undone(again.user, "new", again.command),
            phase=Phase.START,
            stopped=True,
        )
    ]


def _open(site: Site) -> list[Step]:
    user = site.channel.writer
    stop = cluster_control.stop_locally(site.move.target, site.new_path)
    return [
        Step(
            "decide",
            "you",
            "",
            "",
            "look at new, which runs for local connections alone; until here old has everything, and the way back "
            "loses nothing; the next step opens new to clients, and what they write is on new alone",
            _back(site, stop),
            phase=Phase.OPEN,
            stopped=True,
            skippable=False,
        ),
        Step(
            "open new to clients",
            "new",
            user,
            str(sequence(stop, _start_for_clients(site))),
            "with its own configuration; what clients write from here on is on new alone",
            f"only with the loss of what clients wrote: {_back(site, stop)}",
            phase=Phase.OPEN,
            timed_as=Phase.START,
            share=2.0,
            stopped=True,
            point_of_no_return=True,
        ),
        *_cron_jobs(site),
        Step(
            "lead the applications to new",
            "you",
            "",
            "",
            "address, DNS name or virtual IP, connection pools, monitoring, backups, the start at boot",
            "lead them back to old, with the loss of what was written to new",
            phase=Phase.OPEN,
            name=LEAD,
        ),
    ]


def _back(site: Site, stop: Shell) -> str:
    """The words of the way back to old from here on."""
    free, start = cluster_control.unfence(site.cluster, site.owner), cluster_control.start(site.cluster, site.owner)
    return "; ".join(
        (
            undone(site.channel.writer, "new", stop),
            undone(free.user, "old", free.command),
            undone(start.user, "old", start.command),
        )
    )


def _cron_jobs(site: Site) -> list[Step]:
    """What cron and timers do on both hosts; nothing where neither of them knows PostgreSQL."""
    jobs = side_by_side(site.old_facts, site.new_facts)
    if not jobs:
        return []
    return [
        Step(
            "move the cron jobs",
            "you",
            "",
            "",
            "what old runs by crontabs and timers must run on new, with new's paths, and on old no more",
            "take them back",
            phase=Phase.OPEN,
            name=Hook.MOVE_CRON_JOBS,
            skippable=False,
            table=jobs,
        )
    ]


def _start_for_clients(site: Site) -> Shell:
    outside = configuration_folder(site.cluster)
    settings = {"PATH": site.new_path, "PGDATA": site.move.target}
    if outside is None:
        start = environment(settings, command("pg_ctl", "-w", "-t", 600, "start"))
    else:
        options = cluster_control.words(
            "-c", f"config_file={site.cluster.config_file}", "-c", f"data_directory={site.move.target}"
        )
        start = environment(settings, command("pg_ctl", "-w", "-t", 600, "-o", options, "start"))
    return redirect(start, stdin="/dev/null", stdout=f"{site.move.target}/{cluster_control.LOG}", stderr_to_stdout=True)


def socket_of(site: Site) -> str | None:
    """The folder of new's socket, as its configuration says; None: where its programs look by themselves."""
    setting = site.cluster.settings.get("unix_socket_directories", "").split(",")[0].strip()
    return setting if setting.startswith("/") else None

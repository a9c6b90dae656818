"""The steps after the copy: the first start for local connections alone, the opening, the end."""

from typing import LiteralString

from core.migration.findings.layout import config_file_outside
from core.migration.findings.local_start import held, held_while_rebuilding
from core.migration.findings.schedules import side_by_side
from core.migration.model.move import Hook, Verify
from core.migration.model.plan import Phase, Step, undone
from core.migration.plan import cluster_control
from core.migration.plan.site import Site
from core.migration.plan.steps.configuration import configuration
from core.migration.plan.steps.corruption import tables_and_indexes
from core.migration.plan.steps.hooks import LEAD
from core.migration.plan.steps.inventory import compare_inventory, native_psql, reached
from core.migration.plan.steps.known_data_roots import prove_still_stopped
from core.migration.plan.steps.reindex import reindex
from core.servers.shell import call

START_NEW = "start-new"
"""The name of the step that starts new for the first time."""

_ASK: LiteralString = "select version(), pg_is_in_recovery(), (select count(*) from pg_database)"


def opening(site: Site) -> list[Step]:
    """From the first start on new to the opening, the one step that cannot be undone without loss."""
    return [*configuration(site), *_first_start(site), *_open(site)]


def _first_start(site: Site) -> list[Step]:
    user, target = site.channel.writer, site.move.target
    socket = socket_of(site)
    rebuilding = reindex(site, socket)
    alone = held_while_rebuilding(site.cluster) if rebuilding else held(site.cluster)
    start = target, site.port, site.new_path, config_file_outside(site.cluster), alone
    return [
        Step(
            "start new for local connections alone",
            "new",
            user,
            str(cluster_control.start_locally(*start)),
            "nobody outside may take it for the real one yet; until it is opened it archives nothing and runs no "
            "subscription, job or other background worker",
            undone(user, "new", *cluster_control.native_give_back(target)),
            cluster_control.native_start_locally(*start),
            phase=Phase.START,
            name=START_NEW,
            stopped=True,
        ),
        Step(
            "ask new",
            "new",
            user,
            str(call("ask_new", *reached(site.new_path, socket, site.port, site.cluster.series))),
            "look at your own tables too, before anybody writes",
            "nothing to undo: it only looks",
            (native_psql(socket, site.port, "postgres", _ASK),),
            phase=Phase.START,
            stopped=True,
            skippable=False,
        ),
        *compare_inventory(site, socket),
        *rebuilding,
        *(tables_and_indexes(site, socket) if site.verify is Verify.ALL else []),
    ]


def _open(site: Site) -> list[Step]:
    user = site.channel.writer
    start = site.move.target, site.new_path, config_file_outside(site.cluster)
    return [
        Step(
            "decide",
            "you",
            "",
            "",
            "look at new, which runs for local connections alone; until here old has everything, and the way back "
            "loses nothing; the next step opens new to clients, and what they write is on new alone",
            _back(site),
            phase=Phase.OPEN,
            stopped=True,
            skippable=False,
        ),
        prove_still_stopped(site, opened=False),
        Step(
            "open new to clients",
            "new",
            user,
            str(cluster_control.open_for_clients(*start)),
            "with its own configuration; what clients write from here on is on new alone",
            f"only with the loss of what clients wrote: {_back(site)}",
            cluster_control.native_open_for_clients(*start),
            phase=Phase.OPEN,
            timed_as=Phase.START,
            share=2.0,
            stopped=True,
            point_of_no_return=True,
        ),
        prove_still_stopped(site, opened=True),
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


def _back(site: Site) -> str:
    """The words of the way back to old from here on."""
    stop = cluster_control.native_give_back(site.move.target)
    free, start = cluster_control.unfence(site.cluster, site.owner), cluster_control.start(site.cluster, site.owner)
    return "; ".join(
        (
            undone(site.channel.writer, "new", *stop),
            undone(free.user, "old", *free.native),
            undone(start.user, "old", *start.native),
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


def socket_of(site: Site) -> str | None:
    """The folder of new's socket, as its configuration says; None: where its programs look by themselves."""
    setting = site.cluster.settings.get("unix_socket_directories", "").split(",")[0].strip()
    return setting if setting.startswith("/") else None

"""Steps that record where the old cluster listens, and check after the cutover that the new cluster listens there.

They go by the sockets of the processes, not by the files: a file may have been edited, and the command line overrides
every file. `reachability.sh` says how the cluster is recognised without a login.
"""

from dataclasses import replace
from ipaddress import IPv6Address, ip_address

from core.migration.findings.edited import SOCKETS, list_socket_folders
from core.migration.findings.hosts import Hosts, compare_hosts
from core.migration.findings.layout import configuration_not_copied, named_config_file
from core.migration.model import step_ids
from core.migration.model.move import EditedSettings
from core.migration.model.plan import ONLY_LOOKS, ROOT_USER, Phase, RemoteCall, ResumePolicy, Step, Verification
from core.migration.plan.cluster_control import program
from core.migration.plan.context import PlanContext
from core.migration.transports.copy_channel import new_server_address
from core.servers.shell import call, command
from core.sides import Side

_TOLD_SINCE = (9, 2)
"""The first major version whose server program prints settings of a stopped cluster."""


def list_listeners(context: PlanContext) -> list[Step]:
    """Return the step that records before the stop where the old server listens, or no step if that is unknown."""
    data, config = context.cluster.data_directory, named_config_file(context.cluster)
    from_files = context.move.edited is EditedSettings.FILE and bool(context.cluster.edited)
    if not _can_list_listeners(context):
        return []
    if context.cluster.running and not from_files:
        shell = call("record_listeners", context.old_path, data)
        native = "ss -lntxp"
    else:
        # a running server has options that override its files, and both servers are started with them
        shell = call(
            "print_configured_listeners",
            context.old_path,
            data,
            config or "-",
            "started" if context.cluster.running else "-",
        )
        native = command(program(context.old_path, "postgres"), "-C", "listen_addresses", "-D", data).text
    return [
        Step(
            id=step_ids.LIST_LISTENERS,
            title="List where the old cluster would listen by its files"
            if from_files
            else "List where the old cluster listens",
            action=RemoteCall(side=Side.OLD, user=context.owner, call=str(shell), native=(native,)),
            reason="After the cutover clients must reach the new cluster at each of these addresses and ports.",
            undo=ONLY_LOOKS,
            phase=Phase.BEFORE_STOP,
            resume=ResumePolicy(required=True),
        )
    ]


def check_port_is_free(context: PlanContext) -> list[Step]:
    """Return the step that checks, just before the stop of the old cluster, that the port of the new one is free.

    There is none if both may be on one host: there the old cluster has the port until its stop.
    """
    if compare_hosts(context.old_facts, context.new_facts) is not Hosts.TWO:
        return []
    return [
        _check_port_free(context, step_ids.CHECK_PORT_FREE, "Check that the new cluster can use its port and sockets")
    ]


def check_port_is_free_before_cutover(context: PlanContext) -> Step:
    """Return the same check for the moment before the cutover."""
    title = "Check again that the new cluster can use its port and sockets"
    step = _check_port_free(context, step_ids.CHECK_PORT_FREE_BEFORE_CUTOVER, title)
    return replace(step, phase=Phase.OPEN)


def _check_port_free(context: PlanContext, step_id: str, title: str) -> Step:
    cluster = context.new_cluster
    addresses = cluster.settings.get("listen_addresses", "localhost")
    # A unit and Debian's tools can create the folder when they start the cluster. pg_ctl does not. If the new server
    # has configuration of its own, that may name other folders.
    copied = not configuration_not_copied(context.cluster)
    by_pg_ctl = context.service is None and copied and not SOCKETS.isdisjoint(cluster.settings)
    user = context.channel.writer if by_pg_ctl else "-"
    return Step(
        id=step_id,
        title=title,
        action=RemoteCall(
            side=Side.NEW,
            user=ROOT_USER,
            call=str(call("check_port_free", cluster.port or 5432, addresses, user, *list_socket_folders(cluster))),
            native=("ss -lntxp",),
        ),
        reason="Since the checks, a program may have been started there, or a folder for Unix sockets removed. The new "
        "cluster would not start, or clients would reach that program.",
        undo=ONLY_LOOKS,
        phase=Phase.BEFORE_STOP,
        downtime=True,
        verification=Verification(only_checks=True),
    )


def check_new_is_reachable(context: PlanContext) -> list[Step]:
    """Return the steps that check that the new cluster listens as the old one did and can be reached."""
    if not _can_list_listeners(context):
        return []
    address, target = new_server_address(context.new), context.move.target
    own = [expand_address(each) for each in context.new_facts.addresses]
    return [
        Step(
            id=step_ids.CHECK_LISTENERS,
            title="Check that the new cluster listens where the old cluster did",
            action=RemoteCall(
                side=Side.NEW,
                user=context.channel.writer,
                call=str(call("compare_listeners", context.new_path, target, expand_address(address), *own)),
                native=("ss -lntxp",),
                reads=step_ids.LIST_LISTENERS,
            ),
            reason="A setting that was edited but not in force, or an option of the old start, can put it elsewhere.",
            undo=ONLY_LOOKS,
            phase=Phase.AFTER,
            verification=Verification(only_checks=True),
        ),
        Step(
            id=step_ids.CHECK_REACHABLE,
            title="Check that the old server reaches the new cluster",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(call("check_reachability", context.old_path)),
                native=(command("pg_isready", "-h", address, "-p", context.new_cluster.port or 5432).text,),
                reads=step_ids.CHECK_LISTENERS,
            ),
            reason="It connects as clients do. A firewall, or another server at that address, would keep them out.",
            undo=ONLY_LOOKS,
            phase=Phase.AFTER,
            verification=Verification(only_checks=True),
        ),
    ]


def expand_address(address: str) -> str:
    """Return an IPv6 address as `listeners` in `reachability.sh` prints it, and any other text unchanged."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return ":".join(f"{int(group, 16):x}" for group in parsed.exploded.split(":"))


def _can_list_listeners(context: PlanContext) -> bool:
    return context.cluster.running or context.major_version >= _TOLD_SINCE

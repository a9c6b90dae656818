"""`pghaul facts`: hardware, system and clusters of a server."""

import argparse
from typing import TYPE_CHECKING

from core import units
from core.cli.context import Context, add_common, print_document
from core.cli.sizes import size
from core.cli.terminal import show, table
from core.errors import InputError
from core.servers.shell import quoted
from core.text import printable

if TYPE_CHECKING:
    from core.facts.host_environment import HostEnvironment
    from core.facts.model import Cluster, Facts, Memory


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    facts = nouns.add_parser(
        "facts", help="read the hardware, the operating system and the PostgreSQL clusters of a server"
    )
    facts.add_argument("server", metavar="SERVER", help="name of the server")
    facts.add_argument(
        "--cluster",
        action="append",
        default=[],
        metavar="FOLDER",
        help="also examine this data directory; may be repeated",
    )
    facts.add_argument("--last", action="store_true", help="show the facts that were read last, without connecting")
    facts.add_argument(
        "--mask", action="store_true", help="replace the names of servers and people, and addresses, by neutral ones"
    )
    add_common(facts, server=True)
    facts.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    from core.api import facts as actions

    if options.last:
        known = context.store.facts(options.server)
        if known is None:
            raise InputError(
                f"no facts of {options.server} have been read yet", f"run: pghaul facts {quoted(options.server)}"
            )
        found = known
    else:
        found = actions.read_facts(context.session, options.server, context.job, options.cluster)
    if options.mask:
        found = actions.mask_facts(context.store, found)
    if options.json:
        print_document(found)
    else:
        show(text(found))
    return 0


def text(facts: "Facts") -> str:
    """The facts for people."""
    lines = [f"{facts.server}, read at {facts.taken_at:%Y-%m-%d %H:%M:%S} UTC in {facts.round_trips} round trips"]
    if facts.system is not None:
        system = facts.system
        lines.append(
            f"  system      {system.name}, {system.kernel}, {system.architecture}, {system.libc or 'libc unknown'}"
        )
    if facts.processor is not None:
        lines.append(f"  processor   {facts.processor.model or 'unknown model'}, {facts.processor.threads} threads")
    if facts.memory is not None:
        lines.append(f"  memory      {_memory(facts.memory)}")
    lines += [
        f"  array       {array.name} {array.level or ''} {array.state}{' DEGRADED' if array.degraded else ''}"
        for array in facts.arrays
    ]
    lines += [
        f"  network     {link.name} {link.state} {units.bits(link.bits_per_second)} {' '.join(link.addresses)}"
        for link in facts.network_links
        if link.name != "lo"
    ]
    tools = [f"{tool.name} {tool.version or ''}".strip() for tool in facts.tools if tool.path is not None]
    lines.append(f"  tools       {', '.join(tools) or 'none found'}")
    lines += _host_environment(facts.host_environment)
    for title, values in facts.further.items():
        lines += ["", title, *(f"  {name} {printable(value)}" for name, value in values.items())]
    systems = [
        (s.mount_point, s.device, s.kind, size(s.size_bytes), size(s.available_bytes), ",".join(s.options))
        for s in facts.file_systems
    ]
    lines += ["", table(("mount point", "device", "kind", "size", "available", "options"), systems, right=(3, 4))]
    for cluster in facts.clusters:
        lines += ["", *_cluster(cluster)]
    if not facts.clusters:
        lines += ["", "no PostgreSQL cluster was found; name its data directory with --cluster FOLDER"]
    lines += [f"could not be read: {printable(f'{gap.subject}: {gap.reason}')}" for gap in facts.gaps_besides("")]
    return "\n".join(lines)


def _memory(memory: "Memory") -> str:
    total = size(memory.total_bytes)
    if memory.limit_bytes is None:
        return total
    return f"{size(memory.limit_bytes)} of {total}, limited by its control group"


def _host_environment(found: "HostEnvironment") -> list[str]:
    """What starts, fronts or works on clusters, and what guards the host; what there is none of has no line."""
    lines = [
        f"  {each.role:11} {each.name}, {'running' if each.running else 'not running'}"
        f"{', starts at boot' if each.enabled else ''} {printable(' '.join(each.files))}".rstrip()
        for each in found.ha_and_poolers or ()
    ]
    lines += [f"  scheduled   {printable(f'{job.place}: {job.line}')}" for job in found.schedule or ()]
    lines += [f"  virtual IP  {address}" for address in found.virtual_addresses or ()]
    lines += [f"  disk        {disk.device} {printable(disk.said)}" for disk in found.disks or ()]
    if found.security_policy is not None and found.security_policy.selinux is not None:
        lines.append(f"  SELinux     {found.security_policy.selinux}")
    return lines


def _cluster(cluster: "Cluster") -> list[str]:
    state = "running" if cluster.running else (cluster.control.state if cluster.control else "stopped")
    written = (
        ""
        if cluster.written_bytes is None
        else f"; files of {size(cluster.written_bytes)} were written to within the last hour"
    )
    lines = [
        f"cluster {printable(cluster.data_directory)}: PostgreSQL {cluster.version or cluster.series}, {state}",
        f"  size        {size(cluster.size_bytes)} in {units.count(cluster.files)} files{written}",
        f"  owner       {cluster.owner or 'unknown'}, port {cluster.port or 'unknown'}",
        f"  binaries    {printable(cluster.bin_directory or 'not found')}; found by {', '.join(cluster.found_by)}",
    ]
    if cluster.process is not None and cluster.process.memory_limit_bytes is not None:
        lines.append(f"  memory      at most {size(cluster.process.memory_limit_bytes)}, limited by its control group")
    lines += [
        f"  started by  {name} = {printable(path)} (postmaster.opts)" for name, path in cluster.start_files.items()
    ]
    if cluster.control is not None:
        lines.append(f"  identifier  {cluster.control.system_identifier}, state: {cluster.control.state}")
    lines += [f"  tablespace  {printable(space.location)} {size(space.size_bytes)}" for space in cluster.tablespaces]
    lines += [
        f"  link        {printable(link.path)} -> {printable(link.target)}{' DANGLING' if link.dangling else ''}"
        for link in cluster.links
    ]
    if cluster.fenced:
        from core.api.facts import explain_fence  # brings what makes a plan with it

        lines.append(f"  fenced      pghaul keeps this cluster from starting: {printable(explain_fence(cluster))}")
    lines += [f"  leftover    {printable(name)}" for name in cluster.leftovers]
    lines += [f"  database    {printable(db.name)} {size(db.size_bytes)}" for db in cluster.databases]
    return lines

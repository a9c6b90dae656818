"""The check before a copy that its passes can delete only files of an earlier copy of the same cluster.

`target.sh` says how that is recognised.
"""

from core.migration.findings.data_roots import DataRoot, root_name_pattern
from core.migration.plan.cluster_control import program
from core.migration.plan.context import PlanContext
from core.servers.shell import Shell, call, command


def check_targets(context: PlanContext) -> Shell:
    """Return the call that fails unless each target is empty, absent, or an earlier copy of this cluster."""
    data, *outside = context.roots
    names = [
        word for root in outside for word in (root.target, root.link, _allowed_names(root, context.cluster.series))
    ]
    others = [each.data_directory for each in context.new_facts.clusters if each.data_directory != context.move.target]
    cluster = (
        _system_identifier(context),
        "-" if context.overwrite_waiver is None else context.overwrite_waiver.checkpoint,
        data.target,
    )
    return call("check_targets", context.channel.writer, context.new_path, *cluster, len(outside), *names, *others)


def _allowed_names(root: DataRoot, major_version: str) -> str:
    return f"/{'/'.join(root.parts)}" if root.parts else root_name_pattern(root, major_version)


def mark_of_copy(context: PlanContext) -> tuple[str, ...]:
    """Return the lines of the mark by which a copy is recognised: its cluster, its move, and its other directories."""
    origin = (
        f"identifier {_system_identifier(context)}",
        f"move {context.move.name}",
        f"from {context.old_facts.server}:{context.cluster.data_directory}",
    )
    # a line break in a name would add a line to the mark
    return (
        *("".join(sign if sign.isprintable() else "?" for sign in line) for line in origin),
        *(f"folder {root.target}" for root in context.roots[1:]),
    )


def _system_identifier(context: PlanContext) -> str:
    """Return the system identifier; if it is not known, words that match no other cluster."""
    control = context.cluster.control
    return control.system_identifier if control is not None else f"of {context.old_facts.server}:{context.move.cluster}"


def native_check_targets(context: PlanContext) -> tuple[str, ...]:
    """Return the commands by which a person looks at the targets."""
    folders = [root.target for root in context.roots]
    controlled = command(program(context.new_path, "pg_controldata"), context.move.target)
    return (command("ls", "-A", "--", *folders).text, controlled.text)

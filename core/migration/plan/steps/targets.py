"""The proof ahead of a copy: what its last pass removes from new's folders is nobody else's. `target.sh` says how."""

from core.migration.findings.data_roots import DataRoot, names_of
from core.migration.plan.cluster_control import program
from core.migration.plan.context import PlanContext
from core.servers.shell import Shell, call, command


def empty_or_ours(context: PlanContext) -> Shell:
    """On new, as root: ends well where every folder is empty or absent, or holds an earlier copy of this cluster."""
    data, *outside = context.roots
    names = [word for root in outside for word in (root.target, root.link, _names(root, context.cluster.series))]
    others = [each.data_directory for each in context.new_facts.clusters if each.data_directory != context.move.target]
    of = (
        _identifier(context),
        "-" if context.overwrite_waiver is None else context.overwrite_waiver.checkpoint,
        data.target,
    )
    return call("check_targets", context.channel.writer, context.new_path, *of, len(outside), *names, *others)


def _names(root: DataRoot, major_version: str) -> str:
    return f"/{'/'.join(root.parts)}" if root.parts else names_of(root, major_version)


def mark(context: PlanContext) -> tuple[str, ...]:
    """The lines by which a copy that is not opened is known for ours: of which cluster, and its folders outside."""
    named = (
        f"identifier {_identifier(context)}",
        f"move {context.move.name}",
        f"from {context.old_facts.server}:{context.cluster.data_directory}",
    )
    # a line break would make a line of its own
    return (
        *("".join(sign if sign.isprintable() else "?" for sign in line) for line in named),
        *(f"folder {root.target}" for root in context.roots[1:]),
    )


def _identifier(context: PlanContext) -> str:
    """The system identifier; where it is not known, words that are no other cluster's."""
    control = context.cluster.control
    return control.system_identifier if control is not None else f"of {context.old_facts.server}:{context.move.cluster}"


def native_empty_or_ours(context: PlanContext) -> tuple[str, ...]:
    """What a person would look at for it."""
    folders = [root.target for root in context.roots]
    controlled = command(program(context.new_path, "pg_controldata"), context.move.target)
    return (command("ls", "-A", "--", *folders).text, controlled.text)

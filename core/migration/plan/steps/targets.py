"""The proof ahead of a copy: what its last pass removes from new's folders is nobody else's. `target.sh` says how."""

from core.migration.findings.data_roots import DataRoot, names_of
from core.migration.plan.cluster_control import program
from core.migration.plan.site import Site
from core.servers.shell import Shell, call, command


def empty_or_ours(site: Site) -> Shell:
    """On new, as root: ends well where every folder is empty or absent, or holds an earlier copy of this cluster."""
    data, *outside = site.roots
    names = [word for root in outside for word in (root.target, root.link, _names(root, site.cluster.series))]
    others = [each.data_directory for each in site.new_facts.clusters if each.data_directory != site.move.target]
    of = (_identifier(site), "-" if site.given_up is None else site.given_up.checkpoint, data.target)
    return call("empty_or_ours", site.channel.writer, site.new_path, *of, len(outside), *names, *others)


def _names(root: DataRoot, series: str) -> str:
    return f"/{'/'.join(root.parts)}" if root.parts else names_of(root, series)


def mark(site: Site) -> tuple[str, ...]:
    """The lines by which a copy that is not opened is known for ours: of which cluster, and its folders outside."""
    named = (
        f"identifier {_identifier(site)}",
        f"move {site.move.name}",
        f"from {site.old_facts.server}:{site.cluster.data_directory}",
    )
    # a line break would make a line of its own
    return (
        *("".join(sign if sign.isprintable() else "?" for sign in line) for line in named),
        *(f"folder {root.target}" for root in site.roots[1:]),
    )


def _identifier(site: Site) -> str:
    """The system identifier; where it is not known, words that are no other cluster's."""
    control = site.cluster.control
    return control.system_identifier if control is not None else f"of {site.old_facts.server}:{site.move.cluster}"


def native_empty_or_ours(site: Site) -> tuple[str, ...]:
    """What a person would look at for it."""
    folders = [root.target for root in site.roots]
    controlled = command(program(site.new_path, "pg_controldata"), site.move.target)
    return (command("ls", "-A", "--", *folders).text, controlled.text)

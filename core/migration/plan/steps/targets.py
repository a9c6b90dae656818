"""The proof ahead of a copy: what its last pass removes from new's folders is nobody else's. `target.sh` says how."""

from core.migration.findings.data_roots import names_of
from core.migration.plan.cluster_control import program
from core.migration.plan.site import Site
from core.servers.shell import Shell, call, command


def empty_or_ours(site: Site) -> Shell:
    """On new, as root: ends well where every folder is empty or absent, or holds an earlier copy of this cluster."""
    data, *outside = site.roots
    control = site.cluster.control
    identifier, catalog = ("unknown", None) if control is None else (control.system_identifier, control.catalog_version)
    names = [
        word for root in outside for word in (root.target, root.link, names_of(root, site.cluster.series, catalog))
    ]
    others = [each.data_directory for each in site.new_facts.clusters if each.data_directory != site.move.target]
    return call("empty_or_ours", site.new_path, identifier, data.target, len(outside), *names, *others)


def native_empty_or_ours(site: Site) -> tuple[str, ...]:
    """What a person would look at for it."""
    folders = [root.target for root in site.roots]
    controlled = command(program(site.new_path, "pg_controldata"), site.move.target)
    return (command("ls", "-A", "--", *folders).text, controlled.text)

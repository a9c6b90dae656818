"""Check of the symbolic links in the data directory, on the old server now and on the new one after the copy."""

from core.facts.model import Cluster
from core.facts.sizes import LINKS
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.catalogs import binaries_or_finding, format_list
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    no_cluster_finding,
    passed,
    unknown,
    unread_finding,
)
from core.migration.findings.linked_files import links_leading_elsewhere, required_files


def check_links(context: CheckContext) -> Finding:
    """Check that no link leads nowhere, neither now nor after the copy."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    dangling = [link for link in cluster.links if link.dangling]
    if dangling:
        return blocker(
            ", ".join(f"{link.path} -> {link.target}" for link in dangling),
            NOTHING,
            "Links of the data directory lead nowhere. Something is not mounted, or was removed.",
            "Mount what is missing, or have the links removed by the one who made them, before the copy.",
        )
    followed = ", ".join(
        [
            *(f"{space.link} -> {space.location}" for space in cluster.tablespaces),
            *(f"{link.path} -> {link.target}" for link in cluster.links),
        ]
    )
    if not followed:
        return unread_finding(context, LINKS.name) or passed("none", NOTHING, "The data directory contains no links.")
    return _links_to_files(context, cluster, followed) or passed(
        followed,
        NOTHING,
        "Every link leads to a file or directory. The plan copies each directory, and sets the "
        "links whose target has another path.",
    )


def _links_to_files(context: CheckContext, cluster: Cluster, followed: str) -> Finding | None:
    """Return the finding for links to single files, which are copied unchanged and need the same targets."""
    wrong = links_leading_elsewhere(context.move, cluster)
    if wrong:
        return blocker(
            followed,
            format_list([f"{link} -> {there}" for link, there in wrong.items()]),
            f"Links to files would lead to another place on the new server: {format_list(list(wrong))}.",
            "Let each link name a path that is the same on both servers, or replace the link by the file itself.",
        )
    wanted = required_files(cluster)
    if not wanted:
        return None
    asked = binaries_or_finding(context, followed)
    if isinstance(asked, Finding):
        return asked
    answers = dict(asked.paths)
    missing = [path for path in wanted if answers.get(path)]
    if missing:
        return blocker(
            followed,
            f"missing: {format_list(missing)}",
            "Links to files would lead nowhere on the new server: "
            f"{format_list([f'{wanted[path]} to {path}' for path in missing])}.",
            "Put the files there, readable for the database user, or remove the links.",
        )
    silent = [path for path in wanted if path not in answers]
    if silent:
        return unknown(
            followed,
            format_list(silent),
            f"It is not known whether the new server has {format_list(silent)}.",
            "Run the checks again.",
        )
    return None


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "links",
            "Symbolic links",
            True,
            "tablespaces and other links in the old data directory",
            "manage-ag-tablespaces",
        ),
        check_links,
    ),
)

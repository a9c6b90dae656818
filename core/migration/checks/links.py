"""Whether every link of the data directory leads to the right place: on old now, and on new after the copy."""

from core.facts.model import Cluster
from core.facts.sizes import LINKS
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.catalogs import binaries, listed
from core.migration.findings.finding import (
    NOTHING,
    Case,
    Finding,
    blocker,
    no_cluster,
    passed,
    unknown,
    unread_of,
)
from core.migration.findings.linked_files import astray, wanted_files


def links(case: Case) -> Finding:
    """Every link of the data directory leads somewhere, on old now and on new after the copy."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    dangling = [link for link in cluster.links if link.dangling]
    if dangling:
        return blocker(
            ", ".join(f"{link.path} -> {link.target}" for link in dangling),
            NOTHING,
            "links of the data directory lead nowhere: something is not mounted, or was removed",
            "mount it, or have the link removed by whoever made it, before anything is copied",
        )
    followed = ", ".join(
        [
            *(f"{space.link} -> {space.location}" for space in cluster.tablespaces),
            *(f"{link.path} -> {link.target}" for link in cluster.links),
        ]
    )
    if not followed:
        return unread_of(case, LINKS.name) or passed("none", NOTHING, "the data directory holds no links")
    return _to_files(case, cluster, followed) or passed(
        followed,
        NOTHING,
        "every link leads somewhere; the plan copies each folder, and sets the links that lie elsewhere",
    )


def _to_files(case: Case, cluster: Cluster, followed: str) -> Finding | None:
    """Links to single files are copied as they stand: what they lead to must be on new, at that very path."""
    wrong = astray(case.move, cluster)
    if wrong:
        return blocker(
            followed,
            listed([f"{link} -> {there}" for link, there in wrong.items()]),
            f"links to files would lead elsewhere on new: {listed(list(wrong))}",
            "have each name a path that is the same on both servers, or put the file itself in its stead",
        )
    wanted = wanted_files(cluster)
    if not wanted:
        return None
    asked = binaries(case, followed)
    if isinstance(asked, Finding):
        return asked
    answers = dict(asked.paths)
    missing = [path for path in wanted if answers.get(path)]
    if missing:
        return blocker(
            followed,
            f"missing: {listed(missing)}",
            f"links to files would lead nowhere on new: {listed([f'{wanted[path]} to {path}' for path in missing])}",
            "put the files there, so that the database user may read them, or take the links away",
        )
    silent = [path for path in wanted if path not in answers]
    if silent:
        return unknown(
            followed, listed(silent), f"whether new has {listed(silent)} is not known", "run the checks again"
        )
    return None


CHECKS: tuple[Check, ...] = (
    (
        Declaration("links", "symbolic links", True, "tablespace and other links on old", "manage-ag-tablespaces"),
        links,
    ),
)

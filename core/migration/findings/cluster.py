"""The cluster of a move, in the facts of the old server."""

from core.errors import InputError
from core.facts.model import Cluster, Facts

_SHOWN = 5


def cluster_of(facts: Facts, folder: str) -> Cluster:
    """The cluster whose data directory that is.

    Raises:
        InputError: the facts know none there; it names those that they know.
    """
    found = facts.cluster(folder)
    if found is None:
        raise InputError(*no_cluster_in(facts, folder))
    return found


def no_cluster_in(facts: Facts, folder: str) -> tuple[str, str]:
    """That there is none, in a sentence, and what can be done."""
    known = [each.data_directory for each in facts.clusters]
    others = ", ".join(known[:_SHOWN]) + (", …" if len(known) > _SHOWN else "") or "none"
    return (
        (f"The facts of {facts.server} contain no cluster in {folder}. They contain: {others}."),
        (f"Read the facts again (`pghaul facts {facts.server}`), or name one of those (`pghaul move add --replace`)."),
    )

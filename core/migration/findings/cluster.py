"""The cluster of a move, in the facts of the old server."""

from core.errors import InputError
from core.facts.model import Cluster, Facts
from core.servers.shell import quoted

_SHOWN = 5


def find_cluster(facts: Facts, folder: str) -> Cluster:
    """Return the cluster with that data directory.

    Raises:
        InputError: the facts contain no cluster there; the message names those that they contain.
    """
    found = facts.cluster(folder)
    if found is None:
        raise InputError(*explain_missing_cluster(facts, folder))
    return found


def explain_missing_cluster(facts: Facts, folder: str) -> tuple[str, str]:
    """Return a sentence that there is no cluster in the folder, and a hint on what to do."""
    known = [each.data_directory for each in facts.clusters]
    others = ", ".join(known[:_SHOWN]) + (", …" if len(known) > _SHOWN else "") or "none"
    return (
        f"The facts of the server {facts.server} contain no cluster in {folder}. They contain: {others}.",
        (
            f"Read the facts again (`pghaul facts {quoted(facts.server)}`), or name one of those (`pghaul move add "
            "--replace`)."
        ),
    )

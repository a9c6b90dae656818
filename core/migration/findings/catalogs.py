"""The catalogs of the old cluster, and how they are shown."""

from core.facts.catalog import Catalogs
from core.facts.model import Cluster, Database

_SHOWN = 12


def databases_with_catalogs(cluster: Cluster) -> list[tuple[Database, Catalogs]] | None:
    """Return every database except templates with its catalogs; None if one of them was not read."""
    found = [each for each in cluster.databases if not each.template]
    known = [(each, each.catalogs) for each in found if each.catalogs is not None]
    return known if known and len(known) == len(found) else None


def age_note(cluster: Cluster) -> str:
    """Return, as a sentence to append, when the catalogs of a stopped cluster were read."""
    taken_at = cluster.wide.taken_at if cluster.wide is not None else None
    return f" (Read while the cluster was running, {taken_at:%Y-%m-%d %H:%M} UTC.)" if taken_at is not None else ""


def format_list(words: list[str]) -> str:
    """Return the first words, separated by commas, and how many more there are."""
    shown = ", ".join(words[:_SHOWN])
    return shown if len(words) <= _SHOWN else f"{shown} and {len(words) - _SHOWN} more"

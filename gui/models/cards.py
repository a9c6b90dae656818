"""A move as a card: its way, its cluster, how it stands, what is wrong, what comes next."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from core import units
from core.migration.model.standing import Condition, Mark
from gui.models.words import age

if TYPE_CHECKING:
    from core.actions import Standing


@dataclass(frozen=True, slots=True)
class Card:
    """What stands on it. `wrong`: empty where nothing is; `next_words`: of its button, `page`: where that leads."""

    move: str
    way: str
    cluster: str
    marks: tuple[Mark, ...]
    wrong: str
    last: str
    next_words: str
    page: str


def card(standing: "Standing", now: datetime) -> Card:
    """The card of a move."""
    move, last = standing.move, age(standing.last_at, now)
    wrong = [mark.said for mark in standing.marks if mark.condition is Condition.BLOCKED]
    return Card(
        move=move.name,
        way=f"{move.old}:{move.cluster}  →  {move.new}:{move.target}",
        cluster=_cluster(standing),
        marks=standing.marks,
        wrong="; ".join(f"{said[:1].upper()}{said[1:]}" for said in wrong),
        last=f"last worked on {last} ago" if last else "nothing done yet",
        next_words=standing.next.words,
        page=standing.next.milestone.title(),
    )


def _cluster(standing: "Standing") -> str:
    cluster = standing.cluster
    if cluster is None:
        return "the cluster was not read yet"
    version = cluster.version or cluster.series
    runs = {True: f"runs on port {cluster.port}" if cluster.port else "runs", False: "stopped"}[cluster.running]
    parts = (cluster.name, version and f"PostgreSQL {version}", units.size(cluster.size_bytes), runs)
    return ", ".join(part for part in parts if part and part != units.ABSENT)

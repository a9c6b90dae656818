"""A move as a card: its way, its cluster, how it stands, what is wrong, what comes next."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from core import units
from core.language import tr
from core.migration.model.standing import Condition, Mark
from gui.models.sentences import recorded
from gui.models.words import age, capital

if TYPE_CHECKING:
    from core.actions.standing import Standing


@dataclass(frozen=True, slots=True)
class Card:
    """What stands on it. `wrong`: empty where nothing is; `next_words`: of its button, `page`: where that leads.

    `last` changes as time passes: the card is the same.
    """

    move: str
    way: str
    cluster: str
    marks: tuple[Mark, ...]
    wrong: str
    last: str = field(compare=False)
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
        wrong="; ".join(capital(recorded(said)) for said in wrong),
        last=tr("last worked on {last} ago").format(last=last) if last else tr("nothing done yet"),
        next_words=recorded(standing.next.words),
        page=standing.next.milestone.title(),
    )


def _cluster(standing: "Standing") -> str:
    cluster = standing.cluster
    if cluster is None:
        return tr("the cluster was not read yet")
    version = cluster.version or cluster.series
    runs = {
        True: tr("runs on port {port}").format(port=cluster.port) if cluster.port else tr("runs"),
        False: tr("stopped"),
    }[cluster.running]
    parts = (
        cluster.name,
        version and tr("PostgreSQL {version}").format(version=version),
        units.size(cluster.size_bytes),
        runs,
    )
    return ", ".join(part for part in parts if part and part != units.ABSENT)

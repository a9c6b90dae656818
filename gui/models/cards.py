"""The card of a move: its servers, cluster, milestones, problems and next step."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from core import units
from core.language import tr
from core.migration.model.standing import Condition, Mark
from gui.destinations import page_of
from gui.models.sentences import recorded
from gui.models.words import age, capital

if TYPE_CHECKING:
    from core.api.model import Standing


@dataclass(frozen=True, slots=True)
class Card:
    """What a card shows.

    Attributes:
        wrong: what is wrong; empty where nothing is.
        last: when the move was worked on; it changes as time passes, and the card is the same.
        next_words: of its button; `page`: the PageId to which that leads.
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
    """Return the card of a move."""
    move, last = standing.move, age(standing.last_at, now)
    wrong = [mark.said for mark in standing.marks if mark.condition is Condition.BLOCKED]
    return Card(
        move=move.name,
        way=f"{move.old}:{move.cluster}  →  {move.new}:{move.target}",
        cluster=_cluster(standing),
        marks=standing.marks,
        wrong="; ".join(capital(recorded(said)) for said in wrong),
        last=tr("Last change: {last} ago").format(last=last) if last else tr("Not started yet"),
        next_words=recorded(standing.next.words),
        page=page_of(standing.next.milestone),
    )


def _cluster(standing: "Standing") -> str:
    cluster = standing.cluster
    if cluster is None:
        return tr("The facts of the cluster have not been read yet.")
    version = cluster.version or cluster.series
    runs = {
        True: tr("running on port {port}").format(port=cluster.port) if cluster.port else tr("running"),
        False: tr("stopped"),
    }[cluster.running]
    parts = (
        cluster.name,
        version and tr("PostgreSQL {version}").format(version=version),
        units.size(cluster.size_bytes),
        runs,
    )
    return ", ".join(part for part in parts if part and part != units.ABSENT)

"""The card of a move: its servers, cluster, milestones, problems and next step."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from core import api, units
from core.language import tr
from core.migration.model.execution import Execution, State
from core.migration.model.standing import Condition, Mark
from core.text import capital
from gui.destinations import page_of
from gui.models.sentences import recorded
from gui.models.words import age

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
    """Return where the cluster is and what is known of it; nothing that a move can have changed since it was read."""
    if standing.over is not None and (standing.over.state is State.DONE or not standing.facts_hold):
        return _moved(standing, standing.over)
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
        runs if standing.facts_hold else "",
    )
    return ", ".join(part for part in parts if part and part != units.ABSENT)


def _moved(standing: "Standing", execution: Execution) -> str:
    """Return how the move has ended."""
    move, down = standing.move, api.execution.downtime(execution, execution.ended_at or execution.started_at)
    seconds = units.duration(down.seconds) if down is not None and down.ended_at is not None else ""
    if execution.state is State.DONE:
        said = tr("Moved to {server}, downtime {seconds}") if seconds else tr("Moved to {server}")
        return said.format(server=move.new, seconds=seconds)
    said = (
        tr("Rolled back: the cluster is running on {server} again, downtime {seconds}")
        if seconds
        else tr("Rolled back to {server}")
    )
    return said.format(server=move.old, seconds=seconds)

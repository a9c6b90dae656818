"""The answers of a move, and what would make them better."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.language import tr
from core.migration.model.standing import Condition, Mark, Milestone
from core.reports import model
from gui.appearance import Tone
from gui.models.sentences import recorded
from gui.models.words import in_window

_TONES = {
    model.Tone.GOOD: Tone.GOOD,
    model.Tone.BAD: Tone.BAD,
    model.Tone.MIXED: Tone.WARNING,
    model.Tone.MUTED: Tone.MUTED,
}
_RESTS_ON = {
    Milestone.FACTS,
    Milestone.MEASURE,
    Milestone.CHECK,
    Milestone.PROBE,
    Milestone.ESTIMATE,
    Milestone.REHEARSE,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A question of whoever decides, its answer, and what that rests on."""

    question: str
    text: str
    tone: Tone | None
    details: tuple[str, ...]


def answers(found: Sequence[model.Answer]) -> tuple[Answer, ...]:
    """Those of the report's first page."""
    return tuple(
        Answer(one.question, one.words, _TONES.get(one.tone), tuple(map(in_window, one.details))) for one in found
    )


def missing(marks: Sequence[Mark]) -> str:
    """What is not there, or out of date, of what the answers rest on; empty where nothing is."""
    lacking = [mark for mark in marks if mark.milestone in _RESTS_ON]
    said = [
        f"{tr(mark.milestone.title())}: {recorded(mark.said)}"
        for mark in lacking
        if mark.condition in {Condition.OPEN, Condition.STALE, Condition.BLOCKED}
    ]
    return tr("For a better answer: {said}.").format(said="; ".join(said)) if said else ""

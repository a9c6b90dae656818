"""The answers of a move, and what would make them better."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.migration.model.standing import Condition, Mark, Milestone
from gui.appearance import Tone
from gui.models.words import in_window

_TONES = {"good": Tone.GOOD, "bad": Tone.BAD, "mixed": Tone.WARNING, "unknown": Tone.MUTED}
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


def answers(summary: dict[str, Any]) -> tuple[Answer, ...]:
    """Those of the report's first page."""
    return tuple(
        Answer(one["question"], one["answer"], _TONES.get(one["tone"]), tuple(map(in_window, one["details"])))
        for one in summary["answers"]
    )


def missing(marks: Sequence[Mark]) -> str:
    """What is not there, or out of date, of what the answers rest on; empty where nothing is."""
    lacking = [mark for mark in marks if mark.milestone in _RESTS_ON]
    said = [
        f"{mark.milestone.title()}: {mark.said}"
        for mark in lacking
        if mark.condition in {Condition.OPEN, Condition.STALE, Condition.BLOCKED}
    ]
    return f"For a better answer: {'; '.join(said)}." if said else ""

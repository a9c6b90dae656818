"""The answers on a move, and the data that would make them more certain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import api
from core.language import tr
from core.migration.model.standing import Condition, Mark, Milestone
from core.reports import model
from core.tones import Tone
from gui.destinations import milestone_title
from gui.models.sentences import recorded
from gui.models.words import use_window_terms

if TYPE_CHECKING:
    from core.api.session import Session
    from core.comparison.model import Comparison
    from core.migration.model.estimate import Estimate

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
    """A question, its answer, and the evidence for it.

    Attributes:
        figure: the answer at a glance; `line`: what belongs to that figure.
    """

    question: str
    text: str
    tone: Tone | None
    details: tuple[str, ...]
    figure: str = ""
    line: str = ""


def answers(found: Sequence[model.Answer]) -> tuple[Answer, ...]:
    """Return the answers of the first page of the report."""
    return tuple(
        Answer(
            one.question,
            one.words,
            _TONES.get(one.tone),
            tuple(map(use_window_terms, one.details)),
            one.figure,
            use_window_terms(one.line),
        )
        for one in found
    )


@dataclass(frozen=True, slots=True)
class Overview:
    """The answers on a move, their evidence, and its milestones."""

    answers: tuple[Answer, ...]
    comparison: "Comparison | None"
    estimate: "Estimate | None"
    marks: tuple[Mark, ...]


def read_overview(move: str, session: "Session") -> Overview:
    """Return the overview of a move, in the language and the units of the thread that reads it."""
    found = api.reports.read_overview(session, move)
    return Overview(answers(found.answers), found.comparison, found.estimate, found.marks)


def missing(marks: Sequence[Mark]) -> str:
    """Return which data is missing or out of date; empty if none is."""
    lacking = [mark for mark in marks if mark.milestone in _RESTS_ON]
    said = [
        f"{milestone_title(mark.milestone)}: {recorded(mark.said)}"
        for mark in lacking
        if mark.condition in {Condition.OPEN, Condition.STALE, Condition.BLOCKED}
    ]
    return tr("More certain answers need more data. {said}.").format(said="; ".join(said)) if said else ""

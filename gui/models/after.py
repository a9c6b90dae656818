"""What is left to do behind a move that is done."""

from dataclasses import dataclass

from core.language import tr
from core.migration.execution.summary import follow_up
from core.migration.model.execution import Execution
from core.text import sentence
from gui.models.sentences import recorded


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing, with the commands for it where there are any."""

    text: str
    commands: str = ""


def things(execution: Execution) -> tuple[Thing, ...]:
    """What is to be followed up, the steps that may be done later, and what lies on the servers still."""
    plan = execution.plan
    advised = [Thing(sentence(recorded(text))) for text in follow_up(execution)]
    later = [
        Thing(
            tr("{title} on {server}: {reason}").format(
                title=recorded(step.title), server=step.server or tr(step.side), reason=sentence(recorded(step.reason))
            ),
            "\n".join(step.shown),
        )
        for step in plan.later
    ]
    remaining = [Thing(sentence(tr("Remaining: {text}").format(text=recorded(text)))) for text in plan.remains]
    return (*advised, *later, *remaining)

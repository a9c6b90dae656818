"""The follow-up tasks of a move that is done."""

from dataclasses import dataclass

from core import api
from core.language import tr
from core.migration.model.execution import Execution
from core.text import sentence
from gui.models.sentences import recorded
from gui.models.words import capital


@dataclass(frozen=True, slots=True)
class FollowUpTask:
    """A task after the cutover, and the commands for it, if there are any.

    Attributes:
        key: the id under which its tick is remembered, the same in every language.
    """

    key: str
    text: str
    commands: str = ""


def follow_up_tasks(execution: Execution) -> tuple[FollowUpTask, ...]:
    """Return the follow-up tasks, the steps that can be done later, and the files that are still on the servers."""
    plan = execution.plan
    advised = [FollowUpTask(text, sentence(recorded(text))) for text in api.execution.follow_up(execution)]
    later = [
        FollowUpTask(
            step.name or step.title,
            tr("{title} on {server}. {reason}").format(
                title=capital(recorded(step.title)),
                server=step.server or step.side,
                reason=sentence(recorded(step.reason)),
            ),
            "\n".join(step.shown),
        )
        for step in plan.later
    ]
    remaining = [
        FollowUpTask(text, sentence(tr("Still present: {text}").format(text=recorded(text)))) for text in plan.remains
    ]
    return (*advised, *later, *remaining)

"""What an execution waits for a person to do, and what the button says by which they say it is done."""

from collections.abc import Sequence
from dataclasses import dataclass

from core import units
from core.language import marked, tr
from core.migration.model.execution import Execution
from core.migration.model.move import Hook
from core.text import sentence
from gui.asker import Question, StepQuestion, StopQuestion
from gui.models.sentences import recorded
from gui.models.words import counted

DONE = {
    Hook.STOP_APPLICATIONS: marked("The applications are stopped"),
    Hook.MOVE_CRON_JOBS: marked("The cron jobs are moved"),
    Hook.MOVE_ADDRESS: marked("The address is moved"),
    Hook.TELL_POOLER: marked("The pooler is told"),
    "lead": marked("The applications use new"),
}
"""What the button says of each step of a person's, by the step's name."""
DECIDE = "decide"
"""The name of the step in which a person opens new, or goes back."""
OPEN_NEW = marked("&Open new to clients")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What stands in the panel.

    Attributes:
        table: lines to look at, each letter of one width.
        typed: what has to be typed before the button may be pressed; empty: nothing.
        way_back: it can be answered by going back to old.
        warm: it can be answered by one more warm pass.
    """

    title: str
    text: str
    table: str
    button: str
    typed: str = ""
    way_back: bool = False
    warm: bool = False


def prompt_for(question: Question, execution: Execution | None) -> Prompt:
    """The panel for a question; `execution`: what is known of it."""
    if isinstance(question, StopQuestion):
        return Prompt(
            tr("Stop {cluster}").format(cluster=question.cluster),
            tr("{stop_text}{clients} Type {cluster} to stop it.").format(
                stop_text=_stop_text(execution), clients=_clients(question.connected), cluster=question.cluster
            ),
            "\n".join(question.connected),
            tr("&Stop it"),
            typed=question.cluster,
            warm=question.warm,
        )
    if isinstance(question, StepQuestion):
        decides = question.name == DECIDE
        title = tr("Open new to clients?") if decides else recorded(question.title)
        button = tr(OPEN_NEW) if decides else f"&{tr(DONE.get(question.name, marked('It is done')))}"
        return Prompt(title, sentence(recorded(question.reason)), question.table, button, way_back=decides)
    raise TypeError(type(question))


def waits_for(question: Question) -> str:
    """The same in a few words."""
    if isinstance(question, StopQuestion):
        return tr("type the name of {cluster} before it is stopped").format(cluster=question.cluster)
    return recorded(question.title) if isinstance(question, StepQuestion) else ""


def _clients(connected: Sequence[str]) -> str:
    """Who loses what."""
    if not connected:
        return tr("Its clients lose their connections.")
    return tr("{connected} below lose their connections.").format(
        connected=counted(len(connected), "{number} client", "{number} clients")
    )


def _stop_text(execution: Execution | None) -> str:
    """Which host, for how long by the plan, and which warnings are open."""
    if execution is None:
        return ""
    plan = execution.plan
    down = [step for step in plan.steps if step.stopped and step.side == "old"]
    on = (
        tr("Next, {cluster} is stopped on {server}. ").format(cluster=plan.cluster, server=down[0].server)
        if down
        else ""
    )
    seconds = [step.expected_seconds for step in plan.steps if step.stopped and step.expected_seconds]
    about = (
        tr("About {seconds} of downtime are expected; people come on top. ").format(
            seconds=units.duration(sum(seconds))
        )
        if seconds
        else ""
    )
    warnings = (
        tr("{warnings} of the plan stand: see Plan. ").format(
            warnings=counted(len(plan.warnings), "{number} warning", "{number} warnings")
        )
        if plan.warnings
        else ""
    )
    return f"{on}{about}{warnings}"

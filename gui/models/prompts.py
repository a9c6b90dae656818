"""What an execution waits for a person to do, and what the button says by which they say it is done."""

from dataclasses import dataclass

from core import units
from core.migration.model.execution import Execution
from core.migration.model.move import Hook
from gui.asker import Question, StepQuestion, StopQuestion

_DONE = {
    Hook.STOP_APPLICATIONS: "The applications are stopped",
    Hook.MOVE_CRON_JOBS: "The cron jobs are moved",
    Hook.MOVE_ADDRESS: "The address is moved",
    Hook.TELL_POOLER: "The pooler is told",
    "lead": "The applications use new",
}
DECIDE = "decide"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What stands in the panel.

    Attributes:
        table: lines to look at, each letter of one width.
        typed: what has to be typed before the button may be pressed; empty: nothing.
        way_back: it can be answered by going back to old.
    """

    title: str
    text: str
    table: str
    button: str
    typed: str = ""
    way_back: bool = False


def prompt_for(question: Question, execution: Execution | None) -> Prompt:
    """The panel for a question; `execution`: what is known of it."""
    if isinstance(question, StopQuestion):
        return Prompt(
            f"Stop {question.cluster}",
            f"{_stop_text(execution)}Its clients lose their connections. Type {question.cluster} to stop it.",
            "",
            "&Stop it",
            typed=question.cluster,
        )
    if isinstance(question, StepQuestion):
        decides = question.title == DECIDE
        title = "Open new to clients?" if decides else _capital(question.title)
        button = "&Open new to clients" if decides else f"&{_DONE.get(question.name, 'It is done')}"
        return Prompt(title, f"{_capital(question.reason)}.", question.table, button, way_back=decides)
    raise TypeError(type(question))


def waits_for(question: Question) -> str:
    """The same in a few words."""
    if isinstance(question, StopQuestion):
        return f"type the name of {question.cluster} before it is stopped"
    return question.title if isinstance(question, StepQuestion) else ""


def _stop_text(execution: Execution | None) -> str:
    """Which host, for how long by the plan, and which warnings are open."""
    if execution is None:
        return ""
    plan = execution.plan
    down = [step for step in plan.steps if step.stopped and step.side == "old"]
    on = f"Next, {plan.cluster} is stopped on {down[0].server}. " if down else ""
    seconds = [step.expected_seconds for step in plan.steps if step.stopped and step.expected_seconds]
    about = f"About {units.duration(sum(seconds))} of downtime are expected; people come on top. " if seconds else ""
    warnings = f"{units.counted(len(plan.warnings), 'warning')} of the plan stand: see Plan. " if plan.warnings else ""
    return f"{on}{about}{warnings}"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"

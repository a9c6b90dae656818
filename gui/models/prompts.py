"""The texts of the questions of an execution."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import api, units
from core.language import marked, tr
from core.migration.model import step_ids
from core.migration.model.execution import Execution, count_clients
from core.migration.model.move import Hook
from core.sides import Side
from core.text import sentence
from gui.asker import Question, StepQuestion, StopQuestion
from gui.models.execution import back_button
from gui.models.sentences import recorded
from gui.models.words import counted, escape_mnemonics, shortened

if TYPE_CHECKING:
    from core.api.execution import FinishedPasses

DONE: dict[str, str] = {
    Hook.STOP_APPLICATIONS: marked("The applications are stopped"),
    Hook.MOVE_CRON_JOBS: marked("The cron jobs are moved"),
    Hook.MOVE_ADDRESS: marked("The address is moved"),
    Hook.TELL_POOLER: marked("The pooler is switched"),
}
"""What the button of a manual step says, by the id of the step."""
LEAD_DONE = marked("The applications use the new server")
"""The button of the step in which the applications are repointed."""
OTHER_DONE = marked("It is done")
STOP = marked("Stop the old cluster {cluster}")
NAMED_WARNINGS = 5
"""So many warnings of the plan are named before the stop."""
CUTOVER = marked("Allow client connections on the new cluster?")
OPEN_NEW, OPEN_ON = marked("Allow cl&ient connections"), marked("Open {server} to cl&ients")
"""The button of the cutover, and with the name of the new server."""
EXAMINE = marked(
    "Examine the new cluster on {new}, which runs for local connections only. So far the old cluster on {old} has all "
    "data, and a rollback loses only what you write to the new cluster yourself. After the cutover, clients can "
    "connect to {new}, and what they write is there only."
)
"""What the operator reads before the cutover."""
STOP_IT, STOP_ON = marked("&Stop the cluster"), marked("&Shut down PostgreSQL on {server}")
"""The button that stops the old cluster, and with the name of the old server."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The contents of the panel that asks a question.

    Attributes:
        table: lines of information, in a fixed-width font.
        typed: the text that has to be typed before the button is enabled; empty: none.
        can_roll_back: the question can be answered by a rollback.
        warm: the question can be answered by one more pre-copy pass.
        can_look_again: the question can be answered by a new list of the connected clients.
        back: the text of the button for a rollback.
        finding: what speaks for the decision or against it, such as the result of the verification; `doubtful`: it
            speaks against it.
        command: a command with which the operator can see for themselves; `where`: where and as whom it runs.
    """

    title: str
    text: str
    table: str
    button: str
    typed: str = ""
    can_roll_back: bool = False
    warm: bool = False
    can_look_again: bool = False
    back: str = ""
    finding: str = ""
    doubtful: bool = False
    command: str = ""
    where: str = ""


def prompt_for(question: Question, execution: Execution | None, passes: "FinishedPasses | None" = None) -> Prompt:
    """Return the panel for a question.

    Args:
        question: the question.
        execution: the one that asks, if it is known.
        passes: its pre-copy passes, by which another one may come before the stop; None while they are not known.
    """
    old, new = ("", "") if execution is None else (execution.plan.server(side) for side in (Side.OLD, Side.NEW))
    back = back_button(old)
    if isinstance(question, StopQuestion):
        return Prompt(
            tr(STOP).format(cluster=question.cluster),
            tr("{stop_text}{clients} To stop the cluster, type {cluster}.").format(
                stop_text=_stop_text(execution, passes), clients=_clients(question.connected), cluster=question.cluster
            ),
            "\n".join((*question.connected, *_open_warnings(execution))),
            _named(STOP_ON, old) if old else tr(STOP_IT),
            typed=question.cluster,
            warm=question.warm,
            can_look_again=execution is None or execution.plan.step(step_ids.LIST_CLIENTS) is not None,
            back=back,
        )
    if isinstance(question, StepQuestion):
        decides = question.step_id == step_ids.DECIDE
        done = (
            LEAD_DONE if question.step_id == step_ids.REPOINT_APPLICATIONS else DONE.get(question.step_id, OTHER_DONE)
        )
        title = tr(CUTOVER) if decides else recorded(question.title)
        opens = _named(OPEN_ON, new) if new else tr(OPEN_NEW)
        button = opens if decides else f"&{tr(done)}"
        text = sentence(recorded(question.reason))
        asks = None if execution is None or not decides else execution.plan.step(step_ids.QUERY_NEW)
        if execution is None or asks is None or not asks.native:
            return Prompt(title, text, question.table, button, can_roll_back=decides, back=back)
        return Prompt(
            title,
            tr(EXAMINE).format(old=old, new=new),
            question.table,
            button,
            can_roll_back=True,
            back=back,
            finding=describe_verification(execution),
            doubtful=api.execution.files_verified(execution) is None,
            command="\n".join(asks.native),
            where=tr("Test command, on {server} as {user}").format(server=asks.server, user=asks.user),
        )
    raise TypeError(type(question))


def describe_verification(execution: Execution) -> str:
    """Return what was found when both sides were compared."""
    files = api.execution.files_verified(execution)
    if files is None:
        return tr("The files of both servers were not compared by checksum.")
    return counted(
        files,
        "{number} file verified by checksum, 0 differences.",
        "{number} files verified by checksum, 0 differences.",
    )


def waits_for(question: Question) -> str:
    """Return the question in a few words."""
    if isinstance(question, StopQuestion):
        return tr("the name of the cluster {cluster}, before it is stopped").format(cluster=question.cluster)
    return recorded(question.title) if isinstance(question, StepQuestion) else ""


def _named(button: str, server: str) -> str:
    return tr(button).format(server=escape_mnemonics(shortened(server)))


def _clients(connected: Sequence[str]) -> str:
    """Return how many clients lose their connections."""
    if not connected:
        return tr("Clients that are connected lose their connections.")
    return counted(
        count_clients(connected),
        "The {number} client that is listed below loses its connection.",
        "The {number} clients that are listed below lose their connections.",
    )


def _open_warnings(execution: Execution | None) -> tuple[str, ...]:
    """Return the lines that name the warnings of the plan, the first ones in full."""
    if execution is None or not execution.plan.warnings:
        return ()
    known = execution.plan.warnings
    named = [recorded(one if isinstance(one, str) else one.message) for one in known[:NAMED_WARNINGS]]
    left = len(known) - len(named)
    more = [tr("and {number} more: see the page Plan").format(number=left)] if left else []
    return (tr("Open warnings:"), *named, *more)


def _stop_text(execution: Execution | None, passes: "FinishedPasses | None") -> str:
    """Return the server that is stopped, the expected downtime, and the warnings of the plan.

    What comes first is left out while the passes are not known.
    """
    if execution is None:
        return ""
    plan = execution.plan
    down = [step for step in plan.steps if step.downtime and step.side is Side.OLD]
    extra = None if passes is None else passes.find_extra()
    begins = (
        tr("The cluster {cluster} on {server} will be stopped after one more pre-copy pass. ")
        if extra is not None and extra.due
        else tr("The downtime begins next: the cluster {cluster} on {server} will be stopped. ")
    )
    on = begins.format(cluster=plan.cluster, server=down[0].server) if down and passes is not None else ""
    if extra is not None and extra.due:
        on += tr(
            "The last pass ended {waited} ago and took {seconds}. One more is made first, because it shortens the "
            "downtime. The old cluster is running meanwhile. "
        ).format(waited=units.duration(round(extra.waited)), seconds=units.duration(extra.seconds))
    elif extra is not None:
        on += tr("If your answer comes late, one more pre-copy pass is made before the stop. ")
    seconds = plan.downtime_seconds
    about = (
        tr("The plan expects a downtime of about {seconds}. Time for manual steps is not included. ").format(
            seconds=units.duration(seconds)
        )
        if seconds
        else ""
    )
    warnings = (
        tr("The plan has {warnings}: see the list below. ").format(
            warnings=counted(len(plan.warnings), "{number} warning", "{number} warnings")
        )
        if plan.warnings
        else ""
    )
    return f"{on}{about}{warnings}"

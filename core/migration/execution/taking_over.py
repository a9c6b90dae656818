"""What an execution would run that the history alone vouches for: shown to a person before they take it over.

The history may come from somebody else, or its key may be lost, be another one, or younger than the execution: an
upgrade made it. Nothing in the file tells these apart, so a person does, who knows what they have begun.
"""

from core.migration.model.execution import Execution
from core.migration.model.plan import Step
from core.servers.functions import all_ours


def account(execution: Execution, servers: str) -> str:
    """What the history says of it, which `servers` it would reach, and what speaks for and against it: sentences."""
    plan = execution.plan
    ours = (
        "the functions that these call are word for word this pghaul's"
        if all_ours(plan.functions)
        else "the functions that these call are not this pghaul's: another version's, or somebody else's"
    )
    return (
        f"your pghaul has not recorded execution {execution.id} of {execution.move} as it stands, or has another key "
        f"now. The history says: {execution.kind}, begun {execution.started_at:%Y-%m-%d %H:%M} UTC by "
        f"{execution.owner}, {execution.state}; {servers}; its plan holds {len(commands(execution))} commands, and "
        f"{ours}. Take it over only if you know that it is your own and these are its servers: all of it may then run "
        "on both, as root too"
    )


def commands(execution: Execution) -> tuple[str, ...]:
    """A line for each command that it may run, with where and as whom, and for each variable that is set for them."""
    plan = execution.plan
    lines = [_line(step, call) for step in (*plan.steps, *plan.way_back) for call in _calls(step)]
    return (*lines, *(f"with {name}={value}" for name, value in plan.settings))


def _calls(step: Step) -> list[str]:
    return [call for call in (step.call, step.listing, step.mending) if call]


def _line(step: Step, call: str) -> str:
    whole = call.replace("\n", "\n     ")
    return f"{step.number}. on {step.server or step.side} as {step.user}: {whole}"

"""The calls of a plan as people read them, with variables for the PATHs of programs."""

from core.migration.model.plan import OPERATOR, Plan, Step
from core.servers.shell import quoted, words_of

Paths = dict[tuple[str, str], str]
"""The name of a variable by side and PATH."""


def path_variables(plan: Plan) -> Paths:
    """Return a variable for each PATH of programs that occurs in the calls of the plan."""
    found: Paths = {}
    for step in (*plan.steps, *plan.way_back):
        for word in words_of(step.call):
            if word.startswith("/") and ":/" in word:
                found.setdefault((step.side or OPERATOR, word), f"{step.side or OPERATOR}_path")
    return {key: name for key, name in found.items() if list(found.values()).count(name) == 1}


def call_line(step: Step, paths: Paths) -> str:
    """Return the call of the step with these variables; the operator's own command line stays unchanged."""
    named = [(word, paths.get((step.side or OPERATOR, word))) for word in words_of(step.call)]
    return " ".join(quoted(word) if name is None else f'"${name}"' for word, name in named) or step.call

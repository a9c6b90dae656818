"""A plan's calls as people read them: the PATHs of programs, which stand in many, by a name."""

from core.migration.model.plan import Plan, Step
from core.servers.shell import quoted, words_of

Paths = dict[tuple[str, str], str]
"""(side, PATH) -> the name of a variable for it."""


def paths_of(plan: Plan) -> Paths:
    """The PATHs of programs, which stand in many calls."""
    found: Paths = {}
    for step in (*plan.steps, *plan.way_back):
        for word in words_of(step.call):
            if word.startswith("/") and ":/" in word:
                found.setdefault((step.side, word), f"{step.side}_path")
    return {key: name for key, name in found.items() if list(found.values()).count(name) == 1}


def call_line(step: Step, paths: Paths) -> str:
    """The step's call with those names; a DBA's own command line as it is."""
    named = [(word, paths.get((step.side, word))) for word in words_of(step.call)]
    return " ".join(quoted(word) if name is None else f'"${name}"' for word, name in named) or step.call

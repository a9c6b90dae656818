"""What is left to do behind a move that is done."""

from dataclasses import dataclass

from core.migration.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing, with the commands for it where there are any."""

    text: str
    commands: str = ""


def things(plan: Plan) -> tuple[Thing, ...]:
    """What the plan advises, the steps that may be done later, and what lies on the servers still."""
    advised = [Thing(_sentence(text)) for text in plan.advice]
    later = [
        Thing(_sentence(f"{step.title} on {step.server or step.side}: {step.reason}"), "\n".join(step.shown))
        for step in plan.later
    ]
    remaining = [Thing(_sentence(f"still there: {text}")) for text in plan.remains]
    return (*advised, *later, *remaining)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."

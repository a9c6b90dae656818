"""After a comparison that failed: what differs is copied again, and the proof made anew."""

from core.jobs import Note
from core.migration.execution.difference import Differences
from core.migration.execution.executor import Executor
from core.migration.model import step_ids
from core.migration.model.execution import Execution, StepRun
from core.migration.model.plan import Plan, Step, call_of
from core.sides import Side
from core.text import END_MARK

DIFFERS = 65
"""Exit status of a step that ended well and printed something else than it must; as sysexits.h has EX_DATAERR."""


def format_differing_files(differences: Differences) -> str:
    """The files that differ, a line each, label and path with byte 2 between them; empty where they may not be all."""
    return "".join(f"{label}\2{path}\n" for label, path in differences.files) if differences.all else ""


def find_failed_comparison(execution: Execution) -> StepRun | None:
    """The comparison of files that failed and that nothing was done about yet."""
    compared = find_comparison_step(execution.plan)
    latest = execution.latest(compared.number) if compared is not None else None
    return latest if latest is not None and latest.exit_status == DIFFERS and not latest.void else None


def mark_for_resync(executor: Executor, failed: StepRun) -> None:
    """Tell old which files alone the passes are to bring; where that is not known they compare all of them."""
    compared = find_comparison_step(executor.plan)
    if compared is None or not compared.verification.resync or not failed.output:
        executor.job.report(Note("It is not known which files differ. All files are compared again."))
        return
    old = executor.connect(Side.OLD)
    call = call_of(executor.plan, compared.verification.resync)
    given = f"{failed.output}{END_MARK}".encode("utf-8", "surrogateescape")
    user = find_resync_user(executor.plan)
    old.run(
        call,
        executor.job,
        user=user,
        stdin=given,
        deadline=3600.0,
        title="Mark the files that differ for the next passes",
    )


def find_resync_user(plan: Plan) -> str | None:
    """The user of old as whom what differs is left to the passes: who has summed up; None: who logs in."""
    summed = plan.step(step_ids.CHECKSUMS_OLD)
    return summed.user if summed is not None else None


def find_comparison_step(plan: Plan) -> Step | None:
    """The step that holds the files of new against those of old."""
    return next((step for step in plan.steps if step.verification.equals == step_ids.CHECKSUMS_OLD), None)

"""The details of an entry of the history, as text."""

from pathlib import Path
from typing import TYPE_CHECKING

from core import api, units
from core.benchmarks.model import Run
from core.facts.model import Facts
from core.language import marked, tr
from core.migration.model.checks import Waiver
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution
from core.migration.model.move import EditedSettings, Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from core.text import capital
from gui.models.comparison import run_text
from gui.models.execution import outcome, state_name
from gui.models.facts import side_by_side
from gui.models.migration import check_text, commands, estimate_text, plan_summary, plan_warnings, probe_text
from gui.models.sentences import recorded
from gui.models.words import moment

if TYPE_CHECKING:
    from core.history.store import Detail


NO_CHECKS = marked("No checks have been run.")
HOLDS = {
    EditedSettings.IN_FORCE: marked(
        "For settings that are edited and not loaded, the values that are in effect are used."
    ),
    EditedSettings.FILE: marked("For settings that are edited and not loaded, the values in the files are used."),
}


def detail_text(detail: "Detail") -> str:
    """Return the details of an entry that a reader needs. All of them are in its JSON."""
    match detail:
        case Run():
            return run_text(detail)
        case Facts():
            return _facts(detail)
        case Probe():
            return probe_text(detail)
        case Estimate():
            return estimate_text(detail)
        case Plan():
            return "\n\n".join([plan_summary(detail), *plan_warnings(detail), commands(detail)])
        case Execution():
            return _execution(detail)
        case Move():
            return _move(detail)
        case Waiver():
            return tr("{check}: waived by {by} on {at}\n{reason}").format(
                check=detail.check, by=detail.by, at=moment(detail.at), reason=detail.reason
            )
        case Path():
            return str(detail)
        case _:
            return "\n\n\n".join(map(check_text, detail)) or tr(NO_CHECKS)


def _facts(facts: Facts) -> str:
    rows = side_by_side(facts, None)
    heads = tr("Facts of {server}, read {taken_at}").format(server=facts.server, taken_at=moment(facts.taken_at))
    return "\n".join([heads, "", *(f"{row.subject:14} {row.name:24} {row.old}" for row in rows)])


def _execution(execution: Execution) -> str:
    what = tr("{executions} of {move}, {state}").format(
        executions=capital(tr(execution.name)),
        move=execution.move,
        state=state_name(execution.state),
    )
    lines = [
        *([" ".join(map(recorded, told))] if (told := api.execution.result_of(execution)) else []),
        tr("{what}, started {started_at}").format(what=what, started_at=moment(execution.started_at)),
        tr("Started by {owner}").format(owner=execution.owner),
        recorded(execution.message),
        "",
    ]
    lines += [f"{run.number:3}. {recorded(run.title)}: {outcome(run)}" for run in execution.steps]
    return "\n".join(lines)


def _move(move: Move) -> str:
    return "\n".join(
        [
            tr("From {old}:{cluster} to {new}:{target}").format(
                old=move.old, cluster=move.cluster, new=move.new, target=move.target
            ),
            tr("Volumes for benchmarks: {old_volume} on {old}, {new_volume} on {new}").format(
                old_volume=move.old_volume, old=move.old, new_volume=move.new_volume, new=move.new
            ),
            *(
                tr("Tablespace {here} moves to {there}").format(here=here, there=there)
                for here, there in move.tablespace_targets.items()
            ),
            *([tr("The data of the cluster may cross the network without encryption.")] if move.plain_text else []),
            *([tr(HOLDS[move.edited])] if move.edited is not None else []),
            *(
                [tr("Pre-copy passes send at most {rate}.").format(rate=units.rate(move.precopy_limit))]
                if move.precopy_limit is not None
                else []
            ),
        ]
    )

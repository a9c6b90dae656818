"""The dry run of a plan's script: what each of its steps would run. No server is contacted."""

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core import this_workstation
from core.errors import InputError
from core.files import write_text
from core.jobs import Job
from core.migration.execution.step_runner import run_here
from core.migration.model.plan import Plan, Step
from core.migration.plan import script
from core.servers.shell import command
from core.text import first_line

_ROW = re.compile(r"^ {0,2}(?P<number>\d{1,3})  \S", re.MULTILINE)
"""The first line of a step; `print_row` of resources/script/runner.sh writes it."""

_NO_LOCALE = ": warning: setlocale: "
"""What bash says of a locale that this workstation names and lacks. It is no failure of the script."""


@dataclass(frozen=True, slots=True)
class ScriptCheck:
    """The output of a dry run.

    Attributes:
        steps: how many steps of the plan the script shows; `way_back`: of the rollback.
        exit_status: of the dry run that failed; 0: both ran.
        error: the first line of what it said of its failure.
        missing: the numbers of the steps that it does not show.
    """

    output: str
    steps: int
    way_back: int
    exit_status: int = 0
    error: str = ""
    missing: tuple[int, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the script shows all steps."""
        return self.exit_status == 0 and not self.missing


def check_script(plan: Plan, job: Job) -> ScriptCheck:
    """Run the script of a plan with --dry-run, for the move and for its rollback.

    Raises:
        InputError: this workstation has no `sh`.
    """
    if this_workstation.on_windows():
        raise InputError(
            "The script cannot be checked on this workstation, because Windows has no sh",
            "export the script, and check it on a computer with Linux or macOS",
        )
    outputs = list[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "move.sh"
        write_text(path, script(plan), executable=True)
        for options in ((), ("--back",)):
            ended = run_here(command("sh", str(path), "--dry-run", *options).text, job)
            outputs.append(ended.stdout)
            told = "".join(line for line in ended.stderr.splitlines(keepends=True) if _NO_LOCALE not in line)
            if ended.exit_status != 0 or told:
                said = first_line(told).replace(f"{path}: ", "")
                return ScriptCheck("\n".join([*outputs, told]), 0, 0, ended.exit_status or 1, said)
    move, back = outputs
    missing = (*_missing(move, plan.steps), *_missing(back, plan.way_back))
    return ScriptCheck("\n".join(outputs), len(plan.steps), len(plan.way_back), missing=missing)


def _missing(output: str, steps: Sequence[Step]) -> list[int]:
    shown = {int(found["number"]) for found in _ROW.finditer(output)}
    return [step.number for step in steps if step.number not in shown]

"""The main job, one function an action: connect, do the work, record it. The command line and the window call these.

Each action takes a Session (whose history, whose questions, which connections are open) and, where it reaches a server,
a Job. Results are the frozen dataclasses of the package that did the work, in the history when the action returns.
"""

from core.actions.benchmarks import compare, compare_sets, compare_two, forecast, run_benchmarks, volume
from core.actions.diagnosis import diagnose, known_diagnoses
from core.actions.execution import (
    cancel_execution,
    execute,
    execution_status,
    outcome,
    resume_execution,
    roll_back_execution,
)
from core.actions.facts import read_facts
from core.actions.migration import check, estimate, estimate_with_spec, plan, probe, record
from core.actions.reports import report
from core.actions.servers import Tried, install_tools, missing_tools, test_server, try_profile
from core.actions.session import Session, recorded
from core.actions.standing import Standing, standing, unfinished_executions
from core.actions.storage import Measured, WhatIf, what_if, what_if_of_move, write_preparation
from core.actions.waivers import unwaive_check, waive_check
from core.migration.execution.entry import what_is_left

__all__ = [
    "Measured",
    "Session",
    "Standing",
    "Tried",
    "WhatIf",
    "cancel_execution",
    "check",
    "compare",
    "compare_sets",
    "compare_two",
    "diagnose",
    "estimate",
    "estimate_with_spec",
    "execute",
    "execution_status",
    "forecast",
    "install_tools",
    "known_diagnoses",
    "missing_tools",
    "outcome",
    "plan",
    "probe",
    "read_facts",
    "record",
    "recorded",
    "report",
    "resume_execution",
    "roll_back_execution",
    "run_benchmarks",
    "standing",
    "test_server",
    "try_profile",
    "unfinished_executions",
    "unwaive_check",
    "volume",
    "waive_check",
    "what_if",
    "what_if_of_move",
    "what_is_left",
    "write_preparation",
]

"""What of the store is told by how it uses a file of SQLite's."""

import contextlib
import dataclasses
import sqlite3
from typing import Any

import pytest
from sqlalchemy import Engine, event

from core import documents
from core.history.store import Store
from core.jobs import CommandStarted
from core.migration.model.execution import State
from core.sides import Side
from tests.core.history import samples
from tests.core.history.samples import MOVE, OLD


def test_secrets_are_looked_for_before_the_history_is_held(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long output takes its time, in which other programs record on."""
    looked = []

    def filtered(text: str) -> str:
        with contextlib.closing(sqlite3.connect(filled.path, timeout=0)) as other:
            other.isolation_level = None
            other.execute("BEGIN IMMEDIATE")  # raises where the lock is held
        looked.append(text)
        return text

    monkeypatch.setattr(documents, "without_secrets", filtered)
    run = samples.step_run(2)
    number = filled.step_started(1, run)
    filled.step_ended(dataclasses.replace(run, id=number, output="it said so", message="why"))
    filled.execution_changed(1, State.STOPPED, "stopped")
    filled.repetition_ended(1, dataclasses.replace(samples.runs(Side.OLD)[0].repetitions[0], number=99, raw="raw said"))
    filled.probe_taken(MOVE.name, dataclasses.replace(samples.probes()[0], raw="probe said"))
    filled.record_command(MOVE.name, CommandStarted(OLD.name, "root", "true"))
    assert {"it said so", "why", "stopped", "raw said", "probe said", "true"} <= {*looked}


def test_starts_are_summed_up_from_an_index_alone(filled: Store) -> None:
    """A run's own row holds its parameters: to read all of them takes a third of a second where there are 100,000."""
    asked: list[tuple[str, Any]] = []

    def heard(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
        asked.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", heard)
    try:
        assert filled.starts()
    finally:
        event.remove(Engine, "before_cursor_execute", heard)
    with contextlib.closing(sqlite3.connect(filled.path)) as connection:
        plans = [
            line[-1]
            for statement, parameters in asked
            if "runs" in statement and statement.startswith("SELECT")
            for line in connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]
    assert any("USING COVERING INDEX ix_runs_starts" in line for line in plans), plans
    assert not any("GROUP BY" in line for line in plans)

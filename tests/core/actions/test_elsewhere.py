"""An execution that came with a history from elsewhere is shown, and none of its commands runs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.actions import Session
from core.actions.execution import cancel_execution, execution_status, resume_execution, roll_back_execution
from core.errors import InputError
from core.history.store import Store
from core.jobs import Job
from core.migration.execution.executor import People
from core.migration.model.execution import Execution, State
from core.servers import profiles
from tests.core.migration.execution.builders import STEP, Nobody, execution

Action = Callable[[Session, str, People, Job], Execution]


@pytest.mark.parametrize("action", [resume_execution, cancel_execution, roll_back_execution])
def test_nothing_of_it_runs(session: Session, action: Action, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    hook = replace(STEP, side="you", user="you", call=f"touch '{trace}'", closes=True)
    begun = execution(hook)
    begun = replace(begun, plan=replace(begun.plan, way_back=(hook,)))
    session.store.execution_changed(session.store.execution_started(begun), State.INTERRUPTED)
    session.store.close()
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "of another user"))
    with Store.open(session.store.path.parent) as store, Session(store, profiles.Nobody()) as given:
        with pytest.raises(InputError, match="not recorded by your pghaul: its commands are shown"):
            action(given, "spring", Nobody(), Job())
        shown, _ = execution_status(given, "spring")
    assert str(trace) in shown.plan.steps[0].call
    assert not trace.exists()

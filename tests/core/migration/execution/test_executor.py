"""What whoever listens to an execution gets to hear."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.history.store import Store
from core.jobs import CommandStarted, Event, Job, Note, Progress
from core.migration.execution.executor import Executor
from tests.core.migration.execution.builders import Nobody, unconnected
from tests.histories import Histories


@pytest.fixture
def store(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path) as made:
        yield made


def heard(store: Store) -> tuple[Executor, list[Event]]:
    events: list[Event] = []
    return Executor(1, store, unconnected, Nobody(), Job(events.append)), events


def test_no_progress_is_shown_over_a_question(store: Store) -> None:
    executor, events = heard(store)
    with executor.asking():
        executor.job.report(Progress("copy", 1, 2))
        executor.job.report(Note("the cable was cut"))
    executor.job.report(Progress("copy", 2, 2))
    assert events == [Note("the cable was cut"), Progress("copy", 2, 2)]


def test_by_what_a_detached_job_is_found_again_is_nobodys_news(store: Store) -> None:
    executor, events = heard(store)
    for title in ("warm pass 1 of 2: /srv/pg/data [c0ffee00 11]", "copy: /srv/it [is]"):
        executor.job.report(CommandStarted("old", "postgres", "rsync", title=title))
    titles = [event.title for event in events if isinstance(event, CommandStarted)]
    assert titles == ["warm pass 1 of 2: /srv/pg/data", "copy: /srv/it [is]"]

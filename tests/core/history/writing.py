"""A program that records into a history without end and says what it has recorded, and what holds of such a history.

Each text follows from its number, so that whoever finds a row knows whether it is whole.
"""

import itertools
import os
import random
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from sqlalchemy import text

from core.benchmarks.model import Outcome
from core.history.backup import restore
from core.history.damage import check
from core.history.store import Store
from core.migration.model.checks import CheckResult
from core.migration.model.execution import State
from core.sides import Side
from tests.core.history import samples
from tests.core.history.contents import looked_into
from tests.core.history.samples import MOVE, START

RESULTS, REPETITIONS = 40, 3


def text_of(number: int) -> str:
    """Up to 30 kB that compress little."""
    made = random.Random(number)
    return made.randbytes(made.randrange(15_000)).hex()


def results_of(number: int) -> tuple[CheckResult, ...]:
    """One pass of checks."""
    return tuple(replace(samples.checks()[0], id=f"{number}-{each}") for each in range(RESULTS))


def writes(store: Store, first: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """What is recorded, by what was then recorded: steps of an execution, passes of checks, runs."""
    execution = store.execution_started(samples.execution())
    template = samples.runs(Side.OLD)[0]
    for number in itertools.count(first):
        step = replace(samples.step_run(number), id=store.step_started(execution, samples.step_run(number)))
        store.step_progressed(step.id, number, None)
        ended = replace(step, ended_at=START + timedelta(days=1), exit_status=0, output=text_of(number))
        yield f"step {number}", partial(store.step_ended, ended)
        yield f"checks {number}", partial(store.save_checks, MOVE.name, results_of(number))
        run = store.run_started(replace(template, outcome=None, ended_at=None, repetitions=(), stopped=str(number)))
        for each in range(1, REPETITIONS + 1):
            repetition = replace(template.repetitions[0], number=each, raw=text_of(number + each))
            yield f"repetition {number} {each}", partial(store.repetition_ended, run, repetition)
        store.run_ended(run, Outcome.DONE, START + timedelta(days=1), None, str(number))


def begun(to: Connection, work: Callable[..., None], *words: object) -> None:
    """Say that this process runs, then work."""
    to.send("begun")
    work(*words)


def record(place: Path | str, config: Path, said: Path, first: int) -> None:
    """Record until somebody ends this process; a line for each thing once it is recorded."""
    os.environ["PGHAUL_CONFIG"] = str(config)
    with said.open("ab", buffering=0) as lines, Store.open(place) as store:
        for what, write in writes(store, first):
            write()
            lines.write(f"{what}\n".encode())


def carry_out(to: Connection, place: Path | str, config: Path) -> None:
    """Be at an execution, whose number is sent, until somebody ends this process."""
    os.environ["PGHAUL_CONFIG"] = str(config)
    with Store.open(place) as store:
        number = store.executions(MOVE.name)[0].id
        store.execution_changed(number, State.RUNNING)
        to.send(number)
        signal.pause()


def restored(folder: Path, config: Path, copy: Path) -> None:
    """Put a copy back again and again until somebody ends this process."""
    os.environ["PGHAUL_CONFIG"] = str(config)
    while True:
        restore(folder, copy)


def opened(folder: Path, config: Path) -> None:
    """Open a history, which is brought up thereby."""
    os.environ["PGHAUL_CONFIG"] = str(config)
    Store.open(folder).close()


def hold(place: Path | str, said: list[str], unsaid: int) -> None:
    """A history is whole, has all that was said to be in it, and nothing of which a part is missing.

    `place`: its folder, or its URL. `unsaid`: so many things may be in it of which nobody had the time to say that
    they are.
    """
    found: set[str] = set()
    with Store.open(place) as store:
        if isinstance(place, Path):
            assert check(store.path).damage == ()
        for execution in store.executions(MOVE.name):
            assert store.recorded_here(execution.id)  # the seal is of all its steps, as they are
            for step in execution.steps:
                if step.ended_at is not None:
                    assert step.output == text_of(step.number)
                    found.add(f"step {step.number}")
        for run in store.runs(MOVE.name):
            for repetition in run.repetitions if run.stopped.isdigit() else ():
                number = int(run.stopped)
                assert repetition.raw == text_of(number + repetition.number)
                assert repetition.metrics == samples.runs(Side.OLD)[0].repetitions[0].metrics
                found.add(f"repetition {number} {repetition.number}")
        for of, names in _passes(store).items():
            assert names == {f"{of}-{each}" for each in range(RESULTS)}
            found.add(f"checks {of}")
    assert set(said) - found == set()
    assert len(found - set(said)) <= unsaid


def _passes(store: Store) -> dict[str, set[str]]:
    """The checks of each pass, by its number."""
    found = defaultdict(set)
    with looked_into(store) as connection:
        for pass_id, name in connection.execute(text('SELECT pass_id, "check" FROM check_results')):
            if name[0].isdigit():
                found[pass_id].add(name)
        whole = connection.scalar(text("SELECT count(*) FROM check_passes")) or 0
        assert whole - len(found) <= 1  # that of the samples
    return {next(iter(names)).split("-")[0]: names for names in found.values()}

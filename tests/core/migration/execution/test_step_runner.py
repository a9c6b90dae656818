"""What whoever listens to an execution gets to hear."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from core.errors import BlockedError, Cancelled, CommandError
from core.history.store import Store
from core.jobs import CommandStarted, Event, Job, Note, Progress
from core.migration.execution.runner import Runner
from core.migration.execution.step_runner import KEPT, StepRunner
from core.migration.model import step_ids
from core.migration.model.execution import FOR_A_PERSON, State, StepRun
from core.migration.model.plan import OperatorTask
from core.redaction import CUT
from core.servers.connection import Server
from core.servers.shell import Shell
from core.sides import Side
from core.this_workstation import whoami
from tests.core.migration.builders import NOW, set_up
from tests.core.migration.execution.builders import STEP, Nobody, execution, unconnected
from tests.histories import Histories
from tests.steps import change_step


@pytest.fixture
def store(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path / "history", set_up) as made:
        yield made


def heard(store: Store) -> tuple[StepRunner, list[Event]]:
    events: list[Event] = []
    return StepRunner(store.execution_started(execution()), store, unconnected, Nobody(), Job(events.append)), events


def test_no_progress_is_shown_over_a_question(store: Store) -> None:
    steps, events = heard(store)
    with steps.asking():
        steps.job.report(Progress("copy", "copy", 1, 2))
        steps.job.report(Note("the cable was cut"))
    steps.job.report(Progress("copy", "copy", 2, 2))
    assert events == [Note("the cable was cut"), Progress("copy", "copy", 2, 2)]


def test_of_a_long_output_the_end_is_kept_and_the_step_runs_again_for_all_of_it(store: Store, tmp_path: Path) -> None:
    printing = change_step(
        STEP,
        action=OperatorTask(),
        command=f"echo x >>'{tmp_path / 'ran'}'; seq 100000; echo PGPASSWORD=geheim",
    )
    number = store.execution_started(execution(printing))
    whole = []
    for _ in range(2):
        steps = StepRunner(number, store, unconnected, Nobody(), Job())
        whole.append(steps.output_of(printing))
    (kept, _) = store.execution(number).steps
    assert len(kept.output) <= len(CUT) + KEPT < len(whole[0])
    assert kept.output.startswith(CUT)
    assert kept.output.endswith("\n100000\nPGPASSWORD=••••••\n")
    assert whole[0] == whole[1]
    assert whole[0].startswith("1\n2\n")
    assert (tmp_path / "ran").read_text() == "x\nx\n"


def test_of_a_failed_step_the_end_is_kept_and_no_secret_that_was_cut(store: Store) -> None:
    secret = "geh3im" * 40
    failing = change_step(
        STEP, action=OperatorTask(), command=f"{{ seq 100000; echo password={secret}; seq 44000; }} >&2; false"
    )
    number = store.execution_started(execution(failing))
    with pytest.raises(CommandError):
        StepRunner(number, store, unconnected, Nobody(), Job()).run(failing)
    (kept,) = store.execution(number).steps
    assert kept.output.endswith("\n44000\n")
    assert "geh3im" not in kept.output


@pytest.mark.slow
def test_a_wish_to_cancel_from_another_program_ends_the_command_that_runs(store: Store, tmp_path: Path) -> None:
    call = f"touch '{tmp_path / 'begun'}'; sleep 9; touch '{tmp_path / 'ended'}'"
    lasting = change_step(STEP, action=OperatorTask(), command=call)
    number = store.execution_started(execution(lasting))
    steps = StepRunner(number, store, unconnected, Nobody(), Job())

    def carried_out() -> None:
        with Runner(steps).recording(State.DONE):
            with Store.open(store.path.parent) as elsewhere:
                elsewhere.ask_cancel(number)
            steps.run(lasting)

    with pytest.raises(Cancelled):
        carried_out()
    found = store.execution(number)
    assert (found.state, [run.done for run in found.steps]) == (State.CANCELLED, [False])
    assert ((tmp_path / "begun").exists(), (tmp_path / "ended").exists()) == (True, False)


class Closed:
    """A server on which a command ends with the status of what a person may judge."""

    name = "old"

    def run(self, *_: object, **__: object) -> None:
        raise CommandError("ended with 68", exit_status=FOR_A_PERSON, stderr="The way is closed.")


class Judge(Nobody):
    def accept_finding(self, found: str) -> str:  # noqa: ARG002
        return "by the pooler"


@pytest.mark.slow
@pytest.mark.parametrize(("reads", "left_out"), [(step_ids.CHECK_LISTENERS, True), ("", False)])
def test_a_person_judges_the_look_at_the_way_and_no_other_step(store: Store, reads: str, left_out: bool) -> None:
    listens, looks = (
        change_step(STEP, action=OperatorTask(command="true"), id=step_ids.CHECK_LISTENERS),
        change_step(STEP, reads=reads),
    )
    made = execution(listens, looks)
    number = store.execution_started(made)
    steps = StepRunner(number, store, lambda _: cast("Server", Closed()), Judge(), Job())
    with nullcontext() if left_out else pytest.raises(CommandError):
        steps.run(made.plan.steps[1])
    said = [run.message for run in store.execution(number).steps if run.number == 2]
    assert said[-1].endswith(f" Accepted by {whoami()}: by the pooler") is left_out


class Restarted:
    """An old server whose cluster somebody has started; every other command fails by itself."""

    name = "old"

    def __init__(self, said: str) -> None:
        self.said = said

    def run(self, shell: Shell, *_: object, **__: object) -> None:
        if "refuse_running_server" in shell.text:
            raise CommandError("refused", exit_status=1, stderr=self.said)
        raise CommandError("rsync", exit_status=25, stderr="rsync error: the --max-delete limit stopped deletions")


_RUNS = "pghaul: a PostgreSQL server is running in /a (process 7)\n"


@pytest.mark.parametrize(
    ("stopped", "side", "said", "named"),
    [
        (True, Side.OLD, _RUNS, True),
        (True, Side.OLD, "sudo: a password is required\n", False),
        (True, Side.NEW, _RUNS, False),
        (False, Side.OLD, _RUNS, False),
    ],
    ids=["started", "not known", "another server", "not stopped yet"],
)
def test_a_restarted_old_cluster_is_named_as_the_cause(
    store: Store, stopped: bool, side: Side, said: str, named: bool
) -> None:
    proof = change_step(STEP, action=OperatorTask(command="true" if stopped else "false"), id=step_ids.CHECK_STOPPED)
    made = execution(proof, change_step(STEP, side=side))
    number = store.execution_started(made)
    steps = StepRunner(number, store, lambda _: cast("Server", Restarted(said)), Nobody(), Job())
    with nullcontext() if stopped else pytest.raises(CommandError):
        steps.run(made.plan.steps[0])
    with pytest.raises(CommandError) as failed:
        steps.run(made.plan.steps[1])
    assert ("is running in /a" in failed.value.message) is named
    assert store.execution(number).steps[-1].exit_status == (1 if named else 25)


class Failing:
    """A server on which every command fails, and says that on standard error."""

    name = "old"
    login = "dba"

    def __init__(self, said: str) -> None:
        self.said = said

    def become(self, user: str | None, shell: Shell) -> Shell:  # noqa: ARG002
        return shell

    def run(self, *_: object, **__: object) -> None:
        raise CommandError("`sudo …` failed", exit_status=1, stderr=self.said)


@pytest.mark.slow
@pytest.mark.parametrize("detached", [False, True])
@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            "sync: error syncing '/b': Input/output error\npghaul: /b cannot be written to disk\n",
            "/b cannot be written to disk (sync: error syncing '/b': Input/output error)",
        ),
        (
            "psql: error: connection failed: No such file\n\tIs it running locally?\npghaul: it could not be asked",
            "it could not be asked (psql: error: connection failed: No such file)",
        ),
        ("rm: no: gone\npghaul: it failed: rm: no: gone", "it failed: rm: no: gone"),
        ("12%\r 13%\npghaul: it failed", "it failed"),
        ("one\nkilled\n", "killed"),
    ],
)
def test_a_failed_step_is_told_by_its_title_with_the_words_of_the_program(
    store: Store, said: str, why: str, detached: bool
) -> None:
    failing = change_step(STEP, title="flush the disks", detached=detached)
    number = store.execution_started(execution(failing))
    steps = StepRunner(number, store, lambda _: cast("Server", Failing(said)), Nobody(), Job())
    with pytest.raises(CommandError) as caught:
        steps.run(failing)
    assert caught.value.message == f'old: the step "flush the disks" failed with exit status 1: {why}'


@pytest.mark.parametrize("detached", [False, True])
def test_of_a_proof_that_fails_all_that_it_printed_is_kept(store: Store, detached: bool) -> None:
    proving = change_step(STEP, only_checks=True, detached=detached)
    number = store.execution_started(execution(proving))
    said = "database shop: 3 relations\npghaul: not all works\n"
    with pytest.raises(BlockedError):
        StepRunner(number, store, lambda _: cast("Server", Failing(said)), Nobody(), Job()).run(proving)
    (kept,) = store.execution(number).steps
    assert (kept.output, kept.exit_status) == (said, 1)


def test_by_what_a_detached_job_is_found_again_is_nobodys_news(store: Store) -> None:
    steps, events = heard(store)
    for title in ("warm pass 1 of 2: /srv/pg/data [c0ffee00 11]", "copy: /srv/it [is]"):
        steps.job.report(CommandStarted("old", "postgres", "rsync", title=title))
    titles = [event.title for event in events if isinstance(event, CommandStarted)]
    assert titles == ["warm pass 1 of 2: /srv/pg/data", "copy: /srv/it [is]"]


@pytest.mark.slow
def test_what_is_held_in_memory_is_what_the_history_has(store: Store) -> None:
    """A step that copies and fails, one that is done, one that is left out, what a rollback runs, and what is void."""
    good = change_step(STEP, action=OperatorTask(command="echo password=geheim"))
    made = execution(good, change_step(good, command="false"), good, good)
    number = store.execution_started(made)
    steps = StepRunner(number, store, unconnected, Nobody(), Job())
    first, second, third, fourth = made.plan.steps
    steps.run(first)
    with pytest.raises(CommandError):
        steps.run(second)
    steps.skip(third, "not needed")
    steps.run(fourth, back=True)
    for later in (second.number, first.number):
        steps.void_from(later)
        steps.run(third)
        assert steps.execution.steps == store.execution(number).steps
    assert [run.void for run in steps.execution.steps] == [True, True, True, False, True, False]
    store.step_ended(replace(steps.execution.steps[-1], message="another program's"))
    assert steps.execution != steps.reload() == store.execution(number)


@pytest.mark.slow
def test_every_text_of_a_run_is_redacted_in_memory_as_in_the_history(store: Store) -> None:
    """Title, output and message, each with a secret, a byte that is no UTF-8, and a NUL."""
    odd = r"printf 'password=geh3im1 \377 \0 end'"
    titled = change_step(STEP, action=OperatorTask(command=odd), title="read password=geh3im2 \udcff \0 end")
    made = execution(titled, change_step(titled, command=f"{odd} >&2; false"), titled)
    number = store.execution_started(made)
    steps = StepRunner(number, store, unconnected, Nobody(), Job())
    first, second, third = made.plan.steps
    steps.run(first)
    with pytest.raises(CommandError):
        steps.run(second)
    steps.skip(third, "PGPASSWORD=geh3im3 \udcff \0 is not needed")
    assert steps.execution.steps == store.execution(number).steps
    for run in steps.execution.steps:
        texts = run.title, run.output, run.message
        assert not any("geh3im" in text or "\udcff" in text for text in texts), texts
        assert run.title == "read password=•••••• \\udcff \0 end"
    done, failed, skipped = steps.execution.steps
    assert done.output == "password=•••••• \ufffd \0 end"
    assert "password=••••••" in failed.message
    assert skipped.message == "PGPASSWORD=•••••• \\udcff \0 is not needed"


@pytest.mark.parametrize(("ended", "sent"), [(0, 7), (1, 30)], ids=["done", "failed"])
def test_the_bytes_of_a_failed_copy_stay_in_memory_as_in_the_history(store: Store, ended: int, sent: int) -> None:
    number = store.execution_started(execution())
    held = store.execution(number)
    run = StepRun(0, 1, "step", 1, NOW)
    run = replace(run, id=store.step_started(number, run))
    held = held.with_started(run).with_progress(run.id, 30, 60)
    store.step_progressed(run.id, 30, 60)
    end = replace(run, ended_at=NOW, exit_status=ended, bytes=7 if ended == 0 else None, output="out")
    store.step_ended(end)
    store.step_progressed(run.id, 31, 60)
    held = held.with_ended(end).with_progress(run.id, 31, 60)
    assert held.steps == store.execution(number).steps
    assert held.steps[0].bytes == sent

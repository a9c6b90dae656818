"""Sentences of core in the window: in its language, and with its buttons in place of commands to type."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from core import units
from core.api.model import ExecutionState
from core.errors import InputError
from core.language import languages, recorded_sentences, spoken
from core.migration.execution.outcome import outcome_of
from core.migration.execution.status import describe_both_clusters, known_downtime, sentence, unfinished
from core.migration.execution.timeline import make_progress_event, running_steps
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State, StepRun
from gui.models.execution import clock_figure, summary
from gui.models.progress import title
from gui.models.sentences import compared, error_text, recorded
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.steps import change_step

NOUNS = "bench|check|compare|diagnose|estimate|execute|facts|history|import|move|parse|plan|probe|report|server|survey"
TYPED = re.compile(rf"pghaul (?:{NOUNS})(?![\w-])|(?:^|[\s`])--?[a-z]")
"""A command of pghaul, or an option."""
PROGRAMS = re.compile(r"`(?!pghaul|--)[^`]*`|\bpsql .*|\bpg_upgrade --link|\(ssh-keygen [^)]*\)")
"""Other programs that a person runs."""
ONLY_TYPED = re.compile(r"--queries-\w|--from\b")
"""Options of a dress rehearsal with queries and of an exported script: the window has neither."""


@pytest.mark.parametrize("language", languages())
def test_no_sentence_of_core_tells_the_window_s_user_to_type_a_command(language: str) -> None:
    with spoken(language):
        shown = [recorded(template) for template in recorded_sentences("de")]
    assert len(shown) > 1000
    assert [one for one in shown if TYPED.search(PROGRAMS.sub("", one)) and not ONLY_TYPED.search(one)] == []


def test_the_outcome_of_a_move_names_pages() -> None:
    paragraphs = outcome_of(ran(execution(STEP, state=State.DONE), 1))
    shown = [recorded(sentence) for paragraph in paragraphs for sentence in paragraph.sentences]
    assert any("the page History" in one for one in shown)
    assert [one for one in shown if TYPED.search(one)] == []


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Read the facts again: `pghaul facts db1.example.org`.", "Read the facts again: Read facts."),
        ("read them with: pghaul facts 'my server'; then go on", "read them with: Read facts; then go on"),
        ("run: pghaul check spring", "run: Run the checks"),
        ("Choose another: `pghaul move add --replace … --tablespace /a=FOLDER`.", "Choose another: Edit the move."),
        ("run `systemctl status --full`, or `pghaul-session`", "run `systemctl status --full`, or `pghaul-session`"),
    ],
)
def test_a_command_of_pghaul_becomes_the_button_that_does_it(said: str, shown: str) -> None:
    assert recorded(said) == compared(said) == shown


def test_the_hint_of_an_error_names_buttons() -> None:
    error = InputError("there are no facts", "read the facts again: pghaul facts db1")
    assert error_text(error).splitlines() == ["there are no facts", "Hint: read the facts again: Read facts"]


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("run has not ended and cannot be removed", "end it first, then remove it"),
        (
            "the latest execution of a move cannot be removed: pghaul needs it to know the state of the clusters",
            "remove the whole move when you no longer need it",
        ),
        (
            "a probe whose watch is still running cannot be removed",
            "end the watch first: pghaul probe spring --watch --end",
        ),
        ("the move 'spring' exists already", "import it under another name with --name NAME"),
        ("the server 'db1' is used by the move 'spring'", "remove the move first, or give it another server"),
        ("the name of the server is empty", "give the server a name"),
        ("the server 'db1' does not exist", "add one with: pghaul server add"),
    ],
)
def test_what_the_history_refuses_is_told_in_the_language_of_the_window(message: str, hint: str) -> None:
    error = InputError(message, hint)
    assert TYPED.search(error_text(error)) is None
    with spoken("de"):
        said = error_text(error)
    assert TYPED.search(said) is None
    assert not ENGLISH.search(said), said


COPY = change_step(STEP, precopy_pass=1, in_rehearsal=True, title="Pre-copy pass 1 of 2: copy /srv/a")
STOP = change_step(STEP, id=step_ids.STOP_OLD_CLUSTER, downtime=True, title="Stop the old cluster")
FINAL = change_step(COPY, title="Final sync, changed files: /srv/a", downtime=True)
ENGLISH = re.compile(r"\b(the|of|is|was|has|been|step|steps|for|at|left|about|since|between|two)\b", re.IGNORECASE)


def running(*, final: bool = False) -> Execution:
    """Return an execution whose copy is running: before the stop, or since the stop 3.9 s ago."""
    copy = StepRun(2, 3 if final else 1, "copy", 1, NOW, bytes=10**9, total=3 * 10**9)
    stop = StepRun(1, 2, "stop", 1, NOW, NOW + timedelta(seconds=1), 0)
    return replace(execution(COPY, STOP, FINAL), steps=(stop, copy) if final else (copy,))


def shown_of(made: Execution, now: datetime, *, alive: bool) -> Iterator[str]:
    """Yield all that the strip, the page and the job bar say of an execution at one instant."""
    found = unfinished(made, now, alive=alive)
    if found is not None:
        yield recorded(sentence(found, now))
        yield recorded(found.at)
    yield summary(
        ExecutionState(
            made,
            alive=alive,
            running=running_steps(made, now),
            stands=describe_both_clusters(made),
        )
    )
    yield title("", make_progress_event(made, now))
    down = known_downtime(made, now, alive=alive)
    yield "" if down is None else clock_figure(down)


@pytest.mark.parametrize("alive", [True, False])
@pytest.mark.parametrize("state", [State.RUNNING, State.INTERRUPTED, State.STOPPED, State.PAUSED, State.CANCELLED])
@pytest.mark.parametrize("kind", Kind)
def test_where_an_execution_is_is_german_in_a_german_window(kind: Kind, state: State, alive: bool) -> None:
    with spoken("de"):
        for made in (running(), running(final=True), execution(COPY, STOP)):
            each = replace(made, kind=kind, state=state)
            for text in shown_of(each, NOW + timedelta(seconds=233), alive=alive):
                assert not ENGLISH.search(text.replace("spring", "")), text


@pytest.mark.parametrize("seconds", [3.9, 59.6, 119.96, 3599.99])
def test_the_downtime_is_the_same_figure_everywhere(seconds: float) -> None:
    made, now = running(final=True), NOW + timedelta(seconds=seconds)
    strip, at, page, job, clock = shown_of(made, now, alive=True)
    figure = units.clock(seconds)
    assert clock == figure
    assert all(figure in text for text in (strip, job)), (strip, job)
    assert figure not in at  # it stands beside the strip's own sentence
    assert figure not in page  # it stands above the clock

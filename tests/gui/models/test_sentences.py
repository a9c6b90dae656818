"""Sentences of core in the window: in its language, and with its buttons in place of commands to type."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from core import units
from core.api.model import ExecutionState
from core.benchmarks.model import Forecast, Outcome, Repetition, Run, Volume, Workload
from core.benchmarks.suites import Listed
from core.errors import InputError
from core.history.store import Store
from core.jobs import Note
from core.language import languages, recorded_sentences, spoken
from core.migration.execution.outcome import outcome_of
from core.migration.execution.status import describe_both_clusters, known_downtime, sentence, unfinished
from core.migration.execution.timeline import make_progress_event, running_steps
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.move import Hook, HookCommand
from core.migration.model.plan import PlanWarning
from core.reports.recorded import is_known
from core.sides import Side
from gui.models.benchmarks import REPETITION_COLUMNS, describe_suite, repetition_rows
from gui.models.commands import Line, add
from gui.models.comparison import run_text
from gui.models.details import detail_text
from gui.models.execution import clock_figure, summary
from gui.models.execution import run_text as attempt_text
from gui.models.migration import plan_warnings
from gui.models.progress import tell_execution, title
from gui.models.queue import FORECAST_COLUMNS, Entry, ForecastRow, MeasuredSides
from gui.models.sentences import compared, error_text, recorded
from gui.models.table import Column
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.steps import change_step

NOUNS = "bench|check|compare|diagnose|estimate|execute|facts|history|import|move|parse|plan|probe|report|server|survey"
TYPED = re.compile(rf"pghaul (?:{NOUNS})(?![\w-])|(?:^|[\s`])--?[a-z]")
"""A command of pghaul, or an option."""
PROGRAMS = re.compile(
    r"`(?!pghaul|--)[^`]*`|\bcreatedb .*|\bpsql .*|\bpg_upgrade --link|\(ssh-keygen [^)]*\)"
    r"|~/\.pgpass, curl --netrc, .* sshpass -f"
)
"""Other programs that a person runs."""
ONLY_TYPED = re.compile(
    r"--queries-\w|--from\b|--help\b|--host-key\b|--password\b|pghaul move list"
    r"|pghaul history (?:backup|check|export|grants|restore|use|where)\b"
)
"""What the window has not: options of a dress rehearsal with queries, of an exported script and of scripts without a
terminal; and the care of the history itself."""


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
        ('read them with: pghaul facts "dba\'s server"; then go on', "read them with: Read facts; then go on"),
        ("run: pghaul check spring", "run: Run the checks"),
        ("Choose another: `pghaul move add --replace … --tablespace /a=FOLDER`.", "Choose another: Edit the move."),
        ("add servers with a list: pghaul survey LIST", "add servers with a list: Choose a list"),
        ("add the move with: pghaul move add", "add the move on the page Moves"),
        (
            "let Ansible print it: `ansible-inventory -i 'a b' --list | pghaul server import -`",
            "let Ansible print it: `ansible-inventory -i 'a b' --list > inventory.json`",
        ),
        ("choose another name, or replace it with --replace", "choose another name"),
        ("list the numbers with: pghaul history list", "list the numbers with: the page History"),
        ("Give the reason with --reason. It is recorded.", "Give the reason. It is recorded."),
        ("change it with --replace", "survey the list again, and let it change known servers and moves"),
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
    found, steps = unfinished(made, now, alive=alive), running_steps(made, now)
    told = None if found is None else tell_execution(found, steps)
    if found is not None:
        yield recorded(sentence(found, now))
        yield recorded(found.at)
    yield summary(
        ExecutionState(
            made,
            alive=alive,
            running=steps,
            stands=describe_both_clusters(made),
        )
    )
    yield title("", make_progress_event(made, now), told)
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
    assert figure in strip
    assert not any(figure in text for text in (at, job))  # it stands beside the strip's own sentence
    assert figure not in page  # it stands above the clock


TOLD = "a hook on the workstation runs as yourself"
"""A sentence of core that has a German one; it stands for whatever the history has recorded there."""
RUN = Run(
    "spring",
    Volume(Side.OLD, "db1", "/srv", "/srv"),
    Workload("read", "random read", "fio", "read_iops"),
    datetime(2026, 7, 20, tzinfo=UTC),
    Outcome.FAILED,
    repetitions=(
        Repetition(1, datetime(2026, 7, 20, tzinfo=UTC), 1.0, Outcome.FAILED, {}, "fio", "raw", message=TOLD),
    ),
    stopped=TOLD,
)
FORECAST = Forecast(RUN.volume, 60.0, 1, 2, problems=(TOLD,), warnings=(TOLD,), left_out=(TOLD,))
ATTEMPT = StepRun(1, 1, TOLD, 1, RUN.started_at, message=TOLD)
PLAN = replace(execution(change_step(STEP, title=TOLD)).plan, warnings=(PlanWarning(TOLD, check="space"), TOLD))


Row = TypeVar("Row")


def shown_in(column: str, columns: Sequence[Column[Row]], row: Row) -> str:
    (found,) = (each for each in columns if each.title == column)
    return "\n".join(each(row) for each in (found.text, found.tip) if each is not None)


@pytest.mark.parametrize(
    ("times", "text"),
    [
        (2, lambda: shown_in("Result", REPETITION_COLUMNS, repetition_rows((RUN,))[0])),
        (1, lambda: describe_suite(Listed("own", own=True, problem=TOLD))),
        (2, lambda: run_text(RUN)),
        (2, lambda: attempt_text(ATTEMPT)),
        (
            6,
            lambda: shown_in(
                "Problems", FORECAST_COLUMNS, ForecastRow(Entry("quick", MeasuredSides.OLD_ONLY), FORECAST)
            ),
        ),
        (2, lambda: "\n".join(plan_warnings(PLAN))),
        (3, lambda: detail_text(PLAN)),
        (1, lambda: detail_text(replace(execution(STEP), message=TOLD))),
        (1, lambda: note_line(Note(TOLD))),
    ],
)
def test_a_recorded_sentence_is_german_wherever_a_german_window_shows_it(times: int, text: Callable[[], str]) -> None:
    with spoken("de"):
        said, german = text(), recorded(TOLD)
    assert german != TOLD
    assert (said.count(german), said.count(TOLD)) == (times, 0)


def note_line(note: Note) -> str:
    lines: list[Line] = []
    assert add(lines, [note])
    return lines[0].text


def test_a_secret_in_the_command_of_a_hook_is_refused_in_the_language_of_the_window(store: Store) -> None:
    hook = HookCommand(Hook.STOP_APPLICATIONS, Side.OLD, "tool --password=geheim")
    with pytest.raises(InputError) as refused:
        store.save_hook("spring", hook)
    english = error_text(refused.value)
    with spoken("de"):
        assert is_known(refused.value.message)
        assert is_known(refused.value.hint)
        assert error_text(refused.value) != english

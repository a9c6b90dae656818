"""`pghaul execute` without a server: what it refuses, what it asks, what it shows."""

import io
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.cli.execution import TerminalOperator, confirmed_until, text
from core.cli.main import main
from core.errors import Cancelled, InputError
from core.history.store import Store
from core.migration.execution.status import SENTENCES, MoveStatus
from core.migration.model import step_ids
from core.migration.model.execution import Kind, State, StopAnswer
from core.migration.model.move import EditedSettings
from core.migration.model.plan import Phase
from core.migration.model.schedule import UNSCHEDULED, Schedule
from tests.core.migration.builders import set_up
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.core.migration.execution.test_queries import BOTH, carried_out
from tests.histories import Histories
from tests.steps import change_step


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def store(histories: Histories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with histories.open(tmp_path, set_up) as made:
        yield made


def test_a_script_must_answer_beforehand(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["execute", "spring"]) == 2
    assert main(["execute", "spring", "--confirm", "15/main"]) == 2
    assert "add --confirm NAME and --manual-steps-done" in capsys.readouterr().err
    assert store.executions("spring") == ()


@pytest.mark.parametrize("option", ["--resume", "--status", "--cancel", "--rollback"])
def test_what_was_never_executed(option: str, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    del store
    assert main(["execute", "spring", option]) == 2
    said = capsys.readouterr().err
    assert "spring" in said
    assert said.endswith(": pghaul execute spring\n")


def test_options_that_exclude_each_other(store: Store) -> None:
    del store
    assert main(["execute", "spring", "--resume", "--rollback"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--keep-wal", "20GB"), "--keep-wal concerns a dress rehearsal"),
        (("--rehearsal", "--amcheck"), "--amcheck concerns a dress rehearsal"),
        (("--dress-rehearsal", "--amcheck-time", "5m"), "--amcheck-time needs --amcheck"),
        (("--dress-rehearsal", "--keep-wal", "20"), "20 is no size"),
        (("--dress-rehearsal", "--amcheck", "--amcheck-time", "soon"), "soon is no duration"),
    ],
)
def test_what_a_dress_rehearsal_is_asked_for(
    words: tuple[str, ...], said: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["execute", "spring", *words]) == 2
    assert said in capsys.readouterr().err
    assert store.executions("spring") == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--start-at", "25:00"), "25:00 is no time"),
        (("--ask-at", "2020-01-01T22:00"), "2020-01-01T22:00 is not after"),
        (("--rehearsal", "--ask-at", "23:30"), "--ask-at concerns a real move"),
        (("--resume", "--start-at", "22:00"), "--start-at and --ask-at concern a new execution"),
    ],
)
def test_times_are_looked_at_before_anything_runs(
    words: tuple[str, ...], said: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["execute", "spring", *words]) == 2
    assert said in capsys.readouterr().err
    assert store.executions("spring") == ()


def test_the_resolved_times_are_the_first_that_is_said(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    day = datetime.now().astimezone().date() + timedelta(days=1)
    times = ("--start-at", f"{day}T22:00", "--ask-at", "21:00")
    assert main(["execute", "spring", *times]) == 2
    first = capsys.readouterr().err.splitlines()[0]
    assert first == f"Start {day} 22:00, question {day + timedelta(days=1)} 21:00 (next day)"
    assert store.executions("spring") == ()


def test_a_status_leaves_out_the_texts_of_scripts_and_the_history_keeps_them(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    made = carried_out(old=BOTH["old"])
    assert made.plan.queries is not None
    scripts = (replace(made.plan.queries.scripts[0], text="select only_in_script;\n" * 5000),)
    made = replace(made, plan=replace(made.plan, queries=replace(made.plan.queries, scripts=scripts)))
    number = store.execution_started(made)
    assert main(["execute", "spring", "--status", "--json"]) == 0
    status = capsys.readouterr().out
    assert "only_in_script" not in status
    assert json.loads(status)["execution"]["plan"]["queries"]["scripts"][0]["name"] == scripts[0].name
    assert main(["history", "show", "execution", str(number), "--json"]) == 0
    assert capsys.readouterr().out.count("only_in_script") == 5000


_AS_READER = ("--dress-rehearsal", "--queries-as", "reader")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rehearsal", "--queries", "it.sql"], "add --dress-rehearsal"),
        (["--queries", "it.sql"], "add --dress-rehearsal"),
        (["--dress-rehearsal", "--queries-on-old"], "name a script: --queries FILE"),
        (["--dress-rehearsal", "--queries-clients", "2"], "name a script: --queries FILE"),
        (["--status", "--queries-in", "shop"], "name a script: --queries FILE"),
        (["--dress-rehearsal", "--queries", "it.sql"], "--queries needs a role"),
        ([*_AS_READER, "--queries", "none.sql"], "The script none.sql cannot be read"),
        ([*_AS_READER, "--queries", "it.sql", "--queries", "bad.sql"], "bad.sql, line 2: pgbench would run a program"),
        ([*_AS_READER, "--queries", "it.sql", "--queries-clients", "33"], "from 1 to 32"),
    ],
)
def test_queries_are_looked_at_before_anything_runs(
    options: list[str],
    said: str,
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("it.sql").write_text("select 1")
    Path("bad.sql").write_text("select 1;\n\\shell ls\n")
    assert main(["execute", "spring", *options]) == 2
    assert said in capsys.readouterr().err
    assert store.executions("spring") == ()


def test_what_queries_took_stands_side_by_side(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for made in (carried_out(**BOTH), carried_out(copy="queries new 1 not measured: ERROR:  no\x1b[2J\n")):
        number = store.execution_started(replace(made, move="spring", steps=()))
        for run in made.steps:
            store.step_ended(replace(run, id=store.step_started(number, run)))
        store.execution_changed(number, State.DONE)
        assert main(["execute", "spring", "--status"]) == 0
    shown = capsys.readouterr().out
    assert re.search(
        r"^all scripts +transactions a second +100 /s +50 /s +150 /s +1\.50 × \(1\.36 to 1\.65\)$", shown, re.MULTILINE
    )
    assert re.search(r"^two\.sql +latency p50 +400 µs +400 µs +200 µs", shown, re.MULTILINE)
    assert "New cold was not measured: ERROR:  no\\x1b[2J" in shown
    assert main(["execute", "spring", "--status", "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["queries"]["runs"]
    assert run["why"].startswith("ERROR:")


def test_status_for_people_and_programs(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    store.execution_started(replace(execution(), move="spring"))
    assert main(["execute", "spring", "--status"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^execution 1 of spring \(move\): running, .*dba@desk$", shown, re.MULTILINE)
    assert re.search(r"^  \w+ 1 of 1, .*about 1 s ", shown, re.MULTILINE)
    assert main(["execute", "spring", "--status", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["execution"]["state"], document["execution"]["plan"]["cluster"]) == ("running", "15/main")
    assert (document["account"]["stopped_at"], document["outcome"]) == (None, [])


def test_the_end_says_what_the_move_came_to(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    number = store.execution_started(replace(execution(), move="spring"))
    store.execution_changed(number, State.DONE)
    assert main(["execute", "spring", "--status"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^Details .*: pghaul execute spring --status --json$", shown, re.MULTILINE)
    assert main(["execute", "spring", "--status", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["account"]["stopped_at"] is None
    (downtime,) = (each["sentences"] for each in document["outcome"] if each["title"] == "Downtime")
    assert re.search(rf"^Downtime +{re.escape(downtime[0])}$", shown, re.MULTILINE)
    assert not re.search(r"\d", " ".join(downtime))


def test_a_name_given_beforehand_must_be_the_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    assert TerminalOperator("15/main", yes=True).confirm_stop("15/main", (), warm=True) is StopAnswer.STOP
    with pytest.raises(InputError, match=r"15/main.*15/other"):
        TerminalOperator("15/other", yes=True).confirm_stop("15/main", (), warm=True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("15/main\n"))
    with pytest.raises(InputError):
        TerminalOperator(None, yes=True).confirm_stop("15/main", (), warm=True)


def test_a_name_given_beforehand_counts_for_an_hour_beyond_the_time_of_the_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who wakes the workstation in the morning, or whose pre-copy lasts until then, is asked before the stop."""
    now = datetime.now(UTC)
    asks = Schedule(None, now + timedelta(hours=2))
    until = confirmed_until(asks, now)
    assert until == now + timedelta(hours=3)
    assert confirmed_until(asks, now + timedelta(hours=2)) is None  # who resumes it then knows how late it is
    assert confirmed_until(UNSCHEDULED, now) is None
    in_time = TerminalOperator("15/main", yes=True, confirmed_until=until)
    assert in_time.confirm_stop("15/main", (), warm=True) is StopAnswer.STOP
    late = replace(in_time, confirmed_until=now - timedelta(seconds=1))
    monkeypatch.setattr(sys, "stdin", Terminal("no\n"))
    assert late.confirm_stop("15/main", (), warm=True) is StopAnswer.DECLINED
    monkeypatch.setattr(sys, "stdin", Terminal("15/main\n"))
    assert late.confirm_stop("15/main", (), warm=True) is StopAnswer.STOP
    monkeypatch.setattr(sys, "stdin", io.StringIO("15/main\n"))
    assert late.confirm_stop("15/main", (), warm=True) is StopAnswer.DECLINED  # without a terminal it is paused


@pytest.mark.parametrize("stdin", [Terminal("no\n"), io.StringIO("15/main\n")], ids=["asked", "no terminal"])
def test_a_name_given_beforehand_counts_after_a_failure_only_within_the_hour_of_the_question(
    monkeypatch: pytest.MonkeyPatch, stdin: io.StringIO
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    open_end = TerminalOperator("15/main", yes=True)
    open_end.withdraw_confirmation()
    assert open_end.confirm_stop("15/main", (), warm=True) is StopAnswer.DECLINED
    in_time = TerminalOperator("15/main", yes=True, confirmed_until=datetime.now(UTC) + timedelta(minutes=1))
    in_time.withdraw_confirmation()
    assert in_time.confirm_stop("15/main", (), warm=True) is StopAnswer.STOP


def test_a_wrong_name_is_refused_before_anything_runs(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    number = store.execution_started(replace(execution(), move="spring"))
    store.execution_changed(number, State.STOPPED, "a step failed")
    assert main(["execute", "spring", "--resume", "--confirm", "15/other", "--manual-steps-done"]) == 2
    assert re.search("15/main.*15/other", capsys.readouterr().err)
    assert store.execution(number).state is State.STOPPED
    assert store.execution(number).steps == ()


@pytest.mark.parametrize(
    ("typed", "warm", "said"),
    [
        ("15/main\n", True, StopAnswer.STOP),
        ("15/Main\n", True, StopAnswer.DECLINED),
        ("yes\n", True, StopAnswer.DECLINED),
        ("", True, StopAnswer.DECLINED),
        ("copy\n", True, StopAnswer.WARM_FIRST),
        ("warm\n", True, StopAnswer.WARM_FIRST),
        ("copy\n", False, StopAnswer.DECLINED),
    ],
)
def test_the_name_is_typed(
    typed: str, warm: bool, said: StopAnswer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    connected = ["2 of app on shop from 10.0.0.7, web"]
    assert TerminalOperator(None, yes=False).confirm_stop("15/main", connected, warm=warm) is said
    shown = capsys.readouterr().err
    assert ":\n   2 of app on shop from 10.0.0.7, web\n" in shown
    assert bool(re.search(r"\bcopy\b", shown)) is warm


@pytest.mark.parametrize(
    ("given", "typed", "own"),
    [(None, "spring\n", True), (None, "yes\n", False), (None, "", False), ("spring", "", True), ("summer", "", False)],
)
def test_what_is_taken_over_is_shown_and_its_name_typed(
    given: str | None, typed: str, own: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    shown = "1. on old as root: evil\x1b[31m /srv\nthe end."
    assert TerminalOperator(None, yes=True, own=given).confirm_take_over("spring", shown) is own
    assert "\n1. on old as root: evil\\x1b[31m /srv\nthe end.\n" in capsys.readouterr().err


def test_a_move_that_was_changed_is_not_resumed(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    number = store.execution_started(execution())
    store.execution_changed(number, State.PAUSED)
    store.put_move(replace(store.move("spring"), target="/another"))
    assert main(["execute", "spring", "--resume", "--confirm", "15/main", "--manual-steps-done"]) == 2
    assert "pghaul execute spring --start-over" in capsys.readouterr().err
    assert (store.execution(number).state, store.execution(number).steps) == (State.PAUSED, ())


def test_a_word_to_take_over_what_is_not_there_is_refused(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["execute", "spring", "--rehearsal", "--take-over", "spring"]) == 2
    assert "--take-over " in capsys.readouterr().err
    assert store.executions("spring") == ()


@pytest.mark.parametrize(
    ("given", "yes", "typed", "said"),
    [
        (None, False, "by the pooler\n", "by the pooler"),
        (None, False, "\n", ""),
        (None, True, "never asked\n", ""),
        ("by DNS", True, "", "by DNS"),
    ],
)
def test_what_a_step_has_found_is_taken_on_by_the_option_or_at_the_terminal(
    given: str | None, yes: bool, typed: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    assert TerminalOperator(None, yes=yes, client_route=given).accept_finding("old: closed").strip() == said


@pytest.mark.parametrize(("words", "why"), [(["--cancel"], "--resume"), ([], "--client-route")])
def test_another_way_needs_a_move_and_words(
    words: list[str], why: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["execute", "spring", "--client-route", "by DNS" if words else " ", *words]) == 2
    assert why in capsys.readouterr().err
    assert store.executions("spring") == ()


def test_nobody_takes_over_what_nobody_can_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("spring\n"))
    with pytest.raises(InputError) as refused:
        TerminalOperator(None, yes=True).confirm_take_over("spring", "")
    assert refused.value.hint.endswith(" --take-over MOVE")


@pytest.mark.parametrize(
    ("typed", "done"), [("done\n", True), ("Yes\n", True), ("\n", False), ("", False), ("no\n", False)]
)
def test_a_persons_step_is_done_when_they_say_so(typed: str, done: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    assert TerminalOperator(None, yes=False).confirm_manual_step(STEP) is done
    assert TerminalOperator(None, yes=True).confirm_manual_step(STEP)


def test_while_old_is_stopped_the_status_says_so_and_for_how_long() -> None:
    """Also of an execution whose program was killed."""
    stops, proves = change_step(STEP, id=step_ids.STOP_OLD_CLUSTER), change_step(STEP, id=step_ids.CHECK_STOPPED)
    for state in (State.STOPPED, State.RUNNING):
        begun = ran(execution(stops, proves, STEP, state=state), 1)
        assert text(begun).splitlines()[1].strip() == SENTENCES[MoveStatus.STOPPING]  # systemd may undo a stop
        stands = text(ran(begun, 2)).splitlines()[1:3]
        assert stands[0].strip() == SENTENCES[MoveStatus.STOPPED]
        assert re.search(r" \d\d:\d\d:\d\d UTC ", stands[1])
    assert SENTENCES[MoveStatus.STOPPED] not in text(ran(execution(stops, state=State.DONE), 1))


def test_every_try_has_its_line_and_the_next_step_is_named() -> None:
    shown = ran(execution(STEP, replace(STEP, title="stop\x1b[31m old"), state=State.STOPPED), 1, sent=1 << 30)
    shown = replace(
        ran(shown, 2, status=1, note="it did not stop"), message="it did not stop", ended_at=datetime.now(UTC)
    )
    lines = text(shown).splitlines()
    assert lines[0].endswith(" 7 of spring (move): stopped")
    assert any("1.0 GiB" in line and line.endswith("done") for line in lines)
    assert any(line.endswith("it did not stop") for line in lines[4:])
    assert lines[-2].endswith(" 2, stop\\x1b[31m old.")
    assert lines[-1].startswith(
        "  hint: Go on with it, which is the shortest: pghaul execute spring --resume. Or begin"
    )
    back = replace(shown, state=State.ROLLED_BACK)
    assert "next step:" not in text(back)
    gone = replace(shown, state=State.RUNNING, ended_at=None)
    assert "The next step is 2, " in text(gone)
    assert "The next step" not in text(gone, alive=True)
    assert "\x1b" not in text(shown)
    assert "next" not in text(replace(shown, kind=Kind.REHEARSAL))


def test_a_step_that_was_repeated_is_told_from_one_that_must_be() -> None:
    made = ran(ran(execution(STEP, STEP), 1), 2).with_void(1)
    shown = text(ran(made, 1)).splitlines()
    results = [line.split("  ")[-1] for line in shown if line.lstrip()[:1] in {"1", "2"}]
    assert results == ["repeated later", "must be repeated", "done"]


def test_a_rehearsal_is_listed_by_its_kind() -> None:
    for phase, kind in ((Phase.DRESS, "dress rehearsal"), (Phase.WARM, "copy rehearsal")):
        rehearsed = execution(change_step(STEP, phase=phase), kind=Kind.REHEARSAL)
        assert f"({kind})" in text(rehearsed).splitlines()[0]


def test_a_wrong_name_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("main\n15/main\n"))
    assert TerminalOperator(None, yes=False).confirm_stop("15/main", (), warm=False) is StopAnswer.STOP


def test_an_empty_line_says_nothing_about_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("\n\ndone\n"))
    assert TerminalOperator(None, yes=False).confirm_manual_step(STEP)


@pytest.mark.slow
def test_an_interrupt_ends_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real signal while a real terminal is read; the program's own handler would only cancel the job."""
    main_end, terminal = os.openpty()
    before = signal.signal(signal.SIGINT, lambda *_: None)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with os.fdopen(terminal) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            timer.start()
            with pytest.raises(Cancelled):
                TerminalOperator(None, yes=False).confirm_manual_step(STEP)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
        os.close(main_end)


def test_what_holds_of_edits_is_chosen_shown_and_taken_back(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["move", "edited", "spring"]
    for said, kept in (["in-force"], EditedSettings.IN_FORCE), (["file"], EditedSettings.FILE), (["--none"], None):
        assert main([*words, *said]) == 0
        assert store.move("spring").edited is kept
        capsys.readouterr()
        assert main([*words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["edited"] == kept
    assert main([*words, "file", "--none"]) == 2
    assert main([*words, "other"]) == 2


def test_hooks_are_set_shown_and_taken_away(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["move", "hook", "spring"]
    assert main([*words, "tell-pooler", "--side", "new", "--command", "psql -c RELOAD", "--as", "pooler"]) == 0
    assert main([*words, "stop-applications", "--side", "workstation", "--command", "./stop"]) == 0
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    assert [hook["side"] for hook in json.loads(capsys.readouterr().out)["hooks"]] == ["workstation", "new"]
    assert [hook.command for hook in store.hooks("spring")] == ["./stop", "psql -c RELOAD"]
    assert main([*words, "tell-pooler", "--none"]) == 0
    assert [hook.hook for hook in store.hooks("spring")] == ["stop-applications"]
    for wrong in (
        ["tell-pooler"],
        ["tell-pooler", "--side", "old"],
        ["move-address", "--side", "workstation", "--command", "x", "--as", "y"],
    ):
        assert main([*words, *wrong]) == 2

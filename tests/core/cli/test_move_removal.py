"""`pghaul move remove`: the record of what was done on servers goes only after a question."""

import io
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.cli.main import main
from core.history.store import Store
from core.migration.model.execution import Kind, State
from tests.core.migration.builders import set_up
from tests.core.migration.execution.builders import execution
from tests.histories import Histories


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def store(histories: Histories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path))
    with histories.open(tmp_path, set_up) as made:
        yield made


def executed(store: Store, *kinds: Kind, state: State = State.DONE) -> None:
    for kind in kinds:
        number = store.execution_started(replace(execution(), kind=kind))
        store.execution_changed(number, state)


def test_a_move_that_was_never_executed_goes_without_a_question(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert main(["move", "remove", "spring"]) == 0
    assert store.moves() == ()


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ((Kind.REHEARSAL,), "1 execution, a rehearsal that began "),
        ((Kind.REHEARSAL, Kind.REAL), "2 executions, the latest of them a move that began "),
    ],
)
@pytest.mark.parametrize(
    ("typed", "gone"), [("yes\n", True), ("Yes\n", True), ("no\n", False), ("\n", False), ("", False)]
)
def test_what_was_executed_is_named_and_goes_after_a_yes(
    store: Store,
    kinds: tuple[Kind, ...],
    said: str,
    typed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    gone: bool,
) -> None:
    executed(store, *kinds)
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    assert (main(["move", "remove", "spring"]) == 0) is gone
    asked = capsys.readouterr().err
    assert said in asked
    assert " (done)" in asked
    assert (store.moves() == ()) is gone


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_without_a_terminal_only_an_option_removes_it(
    store: Store, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    executed(store, Kind.REAL)
    monkeypatch.setattr(sys, "stdin", io.StringIO("yes\n"))
    assert main(["move", "remove", "spring", *words]) == 2
    refused = capsys.readouterr().err
    assert "1 execution, a move that began " in refused
    assert "add --yes" in refused
    assert len(store.executions("spring")) == 1
    assert main(["move", "remove", "spring", "--yes", *words]) == 0
    assert store.moves() == ()


@pytest.mark.parametrize("words", [[], ["--yes"]])
@pytest.mark.parametrize("state", [None, State.INTERRUPTED])
def test_what_has_not_ended_is_refused_before_the_question(
    store: Store,
    state: State | None,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    number = store.execution_started(execution())
    if state is not None:
        store.execution_changed(number, state)
    monkeypatch.setattr(sys, "stdin", Terminal("yes\n"))
    assert main(["move", "remove", "spring", *words]) == 2
    refused = capsys.readouterr().err
    assert f"Execution {number} of the move has not ended" in refused
    assert "Type yes" not in refused
    assert len(store.executions("spring")) == 1

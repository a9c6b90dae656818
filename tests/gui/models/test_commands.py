from core.history.store import Command
from core.jobs import CommandEnded, CommandStarted, Note, Progress
from gui.models.commands import COLUMNS, MOST, Line, add, from_history
from gui.models.history import COMMAND_COLUMNS


def _texts(line: Line) -> dict[str, str]:
    return {column.title: column.text(line) for column in COLUMNS}


def test_a_command_runs_and_ends() -> None:
    lines: list[Line] = []
    add(lines, [CommandStarted("old", "dba", "uname -a"), Progress("x", "x", 1, 2)])
    assert _texts(lines[0])["Exit status"] == "running"
    add(lines, [CommandEnded("old", "uname -a", 0, 0.25)])
    assert len(lines) == 1
    assert _texts(lines[0])["Exit status"] == "0"
    assert _texts(lines[0])["Duration"] == "250 ms"


def test_the_end_goes_to_the_command_of_the_same_server() -> None:
    lines: list[Line] = []
    add(lines, [CommandStarted("old", "dba", "df"), CommandStarted("new", "dba", "df")])
    add(lines, [CommandEnded("old", "df", 1, 0.1), CommandEnded("old", "never seen", 1, 0.1)])
    assert [_texts(line)["Exit status"] for line in lines] == ["1", "running"]


def test_a_command_says_what_it_is_for_and_stays_whole() -> None:
    lines: list[Line] = []
    add(lines, [CommandStarted("old", "root", "sh -c 'sync'", title="drop caches")])
    assert (_texts(lines[0])["Purpose"], _texts(lines[0])["Command"]) == ("drop caches", "sh -c 'sync'")
    (earlier,) = from_history([Command(lines[0].at, "old", "root", "sh -c 'sync'", 0, 0.1, title="drop caches")])
    assert _texts(earlier)["Purpose"] == "drop caches"
    assert {column.title: column.text for column in COMMAND_COLUMNS}["Purpose"](
        Command(lines[0].at, "old", "root", "sync", 0, 0.1, title="flush")
    ) == "flush"


def test_a_command_that_was_cut_off() -> None:
    lines: list[Line] = []
    add(lines, [CommandStarted("old", "dba", "dd"), CommandEnded("old", "dd", None, 9.0)])
    assert _texts(lines[0])["Exit status"] == "no exit status"


def test_notes_stand_among_the_commands() -> None:
    lines: list[Line] = []
    add(lines, [Note("no fio on old", "warning")])
    assert _texts(lines[0])["Command"] == "no fio on old"
    assert _texts(lines[0])["Exit status"] == ""


def test_the_oldest_lines_go_when_there_are_too_many() -> None:
    lines: list[Line] = []
    add(lines, [CommandStarted("old", "dba", str(number)) for number in range(MOST + 1)])
    assert len(lines) < MOST
    assert lines[-1].text == str(MOST)

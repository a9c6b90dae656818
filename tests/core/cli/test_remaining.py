import io
import sys
import time

import pytest

from core.cli.terminal import Listener, remaining
from core.jobs import Progress


def copied(done: float, total: float | None = 1000.0) -> Progress:
    return Progress("copy", "copy", done, total, "bytes")


def test_the_pace_since_the_first_bytes_tells_what_is_left() -> None:
    assert remaining(copied(600), 10, first=100) == pytest.approx(8)
    assert remaining(copied(1000), 10, first=0) == 0
    assert remaining(copied(1100), 10, first=0) == 0


@pytest.mark.parametrize(
    ("progress", "seconds", "first"),
    [(copied(600), 1, 0), (copied(610), 60, 600), (copied(600, None), 60, 0), (copied(0, 0), 60, 0)],
)
def test_too_little_tells_nothing(progress: Progress, seconds: float, first: float) -> None:
    assert remaining(progress, seconds, first) is None


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, *events: tuple[float, Progress]) -> str:
    """What stands on the line after the last of the events, each at its second."""
    terminal, listener, now = Terminal(), Listener(), [0.0]
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for second, event in events:
        now[0] = second
        listener(event)
    return terminal.getvalue().rpartition("\r")[2].rstrip()


def test_a_log_has_a_line_a_minute_of_a_long_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listener, now = Listener(), [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for second in range(130):
        now[0] = 1000.0 + second
        listener(Progress("warm pass 1", "warm pass 1", second * 1e6, 400e6, "bytes", "step 11 of 43"))
        listener(Progress("copied beside", "copied beside", second, 130, "bytes"))
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" | ")[0] for line in lines] == ["step 11 of 43"] * 3
    assert lines[1].endswith("| 57.2 MiB of 381.5 MiB, 1.00 MB/s | warm pass 1")


def test_a_stage_says_its_pace_and_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    line = shown(monkeypatch, (1, copied(0, 400e6)), (11, copied(100e6, 400e6)))
    assert line == "copy: 95.4 MiB of 381.5 MiB, 10.0 MB/s, 30 s left"


def test_of_a_long_work_the_whole_stands_first(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = "step 24 of 43, old stopped 15 s ago, about 9 s left"
    copying = [Progress("final pass", "final pass", done, 400e6, "bytes", whole) for done in (0, 100e6)]
    line = shown(monkeypatch, (1, copying[0]), (11, copying[1]))
    assert line == f"{whole} | 95.4 MiB of 381.5 MiB, 10.0 MB/s | final pass"
    assert shown(monkeypatch, (1, Progress("stop old", "stop old", 17, 43, "steps", whole))) == f"{whole} | stop old"


def test_a_title_from_a_server_steers_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    line = shown(monkeypatch, (1, Progress("pass", "pass: /srv/\x1b]0;x\x07\u202e\r", 1, 9, "files")))
    assert line == "pass: /srv/\\x1b]0;x\\x07\\u202e\\r: 1 of 9"

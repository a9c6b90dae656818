import pytest

from core.cli.terminal import remaining
from core.jobs import Progress


def copied(done: float, total: float | None = 1000.0) -> Progress:
    return Progress("copy", done, total, "bytes")


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

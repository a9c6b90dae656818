"""What the benchmark of the estimate measures."""

from benchmarks.estimate import SETTINGS


def test_there_are_twelve_settings_each_with_a_title_of_its_own() -> None:
    assert len({each.title for each in SETTINGS}) == len(SETTINGS) >= 12

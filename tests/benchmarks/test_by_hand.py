"""The verdict of the benchmark of the estimated copy."""

import pytest

from benchmarks.by_hand import SETTINGS, ByHand, Row, table


@pytest.mark.parametrize(
    ("estimated", "right"), [(100.0, True), (75.5, True), (124.5, True), (74.0, False), (126.0, False)]
)
def test_the_copy_by_hand_until_it_is_on_disk_is_the_measure(estimated: float, right: bool) -> None:
    judged, unjudged = (Row(setting, estimated, 500.0, ByHand(50.0, 100.0)) for setting in (SETTINGS[0], SETTINGS[2]))
    assert judged.right is right
    assert ("WRONG" in table([judged])) is not right
    assert unjudged.right
    assert "not judged: by hand" in table([unjudged])


def test_both_settings_in_which_estimate_and_copy_mean_the_same_are_judged() -> None:
    assert [bool(setting.not_judged) for setting in SETTINGS] == [False, False, True]

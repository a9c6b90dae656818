"""The sample of a cluster, as far as the workstation reads it."""

from core.migration.probing.sampling import skipped


def test_what_the_holes_take_is_their_sum() -> None:
    assert skipped("25165824 ./base/1/large one\n8388608 ./2\n# whole\n") == 33554432
    assert skipped("# whole\n") == 0

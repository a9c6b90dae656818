import pytest

from core.migration.execution.difference import first_difference

SUMS = "data\naaaa  -\nbbbb  -\n16384\ncccc  -\ndddd  -\ncontrol\neeee  -"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (SUMS.replace("bbbb", "0000"), "data: bbbb  - there, 0000  - here"),
        (SUMS.replace("cccc", "0000"), "16384: cccc  - there, 0000  - here"),
        (SUMS.replace("eeee", "0000"), "control: eeee  - there, 0000  - here"),
        (SUMS.replace("16384", "16385"), "data: 16384 there, 16385 here"),
        ("", "data there, nothing here"),
        (SUMS + "\nmore", "control: nothing there, more here"),
    ],
)
def test_the_first_line_that_differs_is_said_with_what_it_is_about(found: str, said: str) -> None:
    assert first_difference(SUMS, found) == said

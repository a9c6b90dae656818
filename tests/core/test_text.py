"""What says that an answer came whole, and what went wrong."""

import pytest

from core.errors import ParseError
from core.text import complaint, counted


def test_a_list_says_how_long_it_is() -> None:
    assert counted("a\nb\n# 2 folders\n", "folders") == ("a", "b")
    assert counted("# 0 folders\n", "folders") == ()


@pytest.mark.parametrize("text", ["", "a\nb\n", "a\n# 2 folders\n", "a\nb\n# 2 fol", "a\n# 1 sessions\n"])
def test_a_list_that_was_cut_off_is_none(text: str) -> None:
    with pytest.raises(ParseError, match="the list of folders is not whole"):
        counted(text, "folders")


def test_the_sentence_of_a_function_counts_before_what_its_tools_said() -> None:
    assert complaint("mkdir: no\npghaul: no folder can be made\n") == "no folder can be made"
    assert complaint("\nmkdir: no\n") == "mkdir: no"

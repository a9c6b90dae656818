"""What the command line refuses."""

from collections.abc import Iterable

import pytest

from core.cli.main import main
from tests.figures import without


def reasons(cases: Iterable[tuple[list[str], str]], capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The sentences by which these words are refused, each without them; each says the text that stands beside it."""
    found = set()
    for words, said in cases:
        assert main(words) == 2, words
        err = capsys.readouterr().err
        assert said in err, words
        found.add(without(words, err.splitlines()[0]))
    return found

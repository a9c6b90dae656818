"""One flag, changed where the parser declares it and nowhere else, is another one in all that is made of the parser."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import main, parser
from installer import manual, site

BEFORE, AFTER = "--forecast", "--prophecy"
WORDS = "say only what the stars know"


@pytest.fixture
def anew() -> Iterator[None]:
    """The parser is made once a process: here what the change has made does not stay."""
    parser.cache_clear()
    yield
    parser.cache_clear()


def texts(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Help, manual page, the completion of each shell and the reference, as users get them."""
    assert main(["bench", "--help"]) == 0
    files = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in manual.write(folder, "1.0")}
    wanted = {"man/man1/pghaul-bench.1", *manual.COMPLETIONS.values()}
    return {
        "help": " ".join(capsys.readouterr().out.split()),
        "reference": site.reference()["pghaul-bench.md"],
        **{name: text.replace("\\-", "-") for name, text in files.items() if name in wanted},
    }


@pytest.mark.usefixtures("anew")
def test_a_flag_renamed_in_the_parser_is_renamed_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = texts(tmp_path / "before", capsys)
    add = argparse.ArgumentParser.add_argument

    def renamed(noun: argparse.ArgumentParser, *names: str, **words: Any) -> argparse.Action:
        if BEFORE in names:
            names, words = tuple(AFTER if name == BEFORE else name for name in names), {**words, "help": WORDS}
        return add(noun, *names, **words)

    monkeypatch.setattr(argparse.ArgumentParser, "add_argument", renamed)
    parser.cache_clear()
    after = texts(tmp_path / "after", capsys)
    assert set(before) == {"help", "reference", "man/man1/pghaul-bench.1", *manual.COMPLETIONS.values()}
    for place, text in before.items():
        old, new = (name.removeprefix("--") if "fish" in place else name for name in (BEFORE, AFTER))
        assert (place, old in text, new in text) == (place, True, False)
        assert (place, old in after[place], new in after[place]) == (place, False, True)
        if "bash" not in place:  # which shows no descriptions
            assert (place, WORDS in after[place]) == (place, True)

"""The manual page and the command line say the same."""

import argparse
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cli.main import parser
from core.servers.profiles import Rights
from core.servers.ssh_fallback import CONFIG_VARIABLE

PAGE = Path(__file__).parents[2] / "installer" / "pghaul.1"


def _actions(made: argparse.ArgumentParser) -> list[argparse.Action]:
    return made._actions  # noqa: SLF001  argparse lists them nowhere else


def subcommands(made: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers that do something: those of `server add`, not that of `server`."""
    nested = [action.choices for action in _actions(made) if isinstance(action.choices, dict)]
    if not nested:
        yield made
    for children in nested:
        for child in children.values():
            yield from subcommands(child)


def options(made: argparse.ArgumentParser) -> set[str]:
    return {
        name for child in (made, *subcommands(made)) for action in _actions(child) for name in action.option_strings
    }


@pytest.fixture(scope="module")
def page() -> str:
    """The page as a reader sees it: unfilled and unhyphenated, without fonts."""
    text = PAGE.read_text(encoding="utf-8").replace("\\-", "-").replace('"', "")
    return re.sub(r"\\f[A-Z]|\\fP", "", re.sub(r"^\.[A-Z]+ ", "", text, flags=re.MULTILINE))


@pytest.mark.parametrize("made", list(subcommands(parser())), ids=lambda made: made.prog)
def test_every_subcommand_has_its_line(page: str, made: argparse.ArgumentParser) -> None:
    noun, *verb = made.prog.split()[1:]
    alternatives = rf"(?:\w+ \| )*{verb[0]}\b" if verb else ""
    assert re.search(rf"pghaul {noun} {alternatives}", page), f"{made.prog} is missing from {PAGE.name}"


def test_the_options_are_those_of_the_command_line(page: str) -> None:
    written = set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", page))
    known = options(parser())
    assert known - {"--output"} <= written
    assert written - {"-J", "-F"} <= known


@pytest.mark.parametrize("word", [*Rights, CONFIG_VARIABLE, "PGHAUL_DATA"])
def test_the_rights_and_variables_are_explained(page: str, word: str) -> None:
    assert re.search(rf"(?<![\w-]){word}(?![\w-])", page)


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_finds_nothing_to_complain_about() -> None:
    command = ["groff", "-man", "-Tutf8", "-ww", "-z", str(PAGE)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    assert answer.stderr == ""

"""What is made of the parser says what the parser says, and no more has to be written for it."""

import argparse
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from core import errors
from core.cli.main import BUG, main, parser
from core.cli.manual import completion, markdown, roff
from core.cli.manual.outline import Command, outline
from core.cli.manual.surroundings import EXIT_CODES, VARIABLES

TOP = Path(__file__).parents[4]
SHELLS = sorted(completion.SHELLS)


@pytest.fixture(scope="module")
def program() -> Command:
    return outline(parser())


def toy(flag: str, said: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="pghaul", description="Move a cluster.")
    nouns = made.add_subparsers()
    noun = nouns.add_parser("weigh", help="say what a move weighs")
    noun.add_argument("move")
    noun.add_argument(flag, choices=("grams", "stones"), help=said)
    return made


def everything(made: argparse.ArgumentParser) -> dict[str, str]:
    found = outline(made)
    texts = {shell: completion.script(found, shell) for shell in SHELLS}
    page = roff.pages(found, "1.0")["pghaul-weigh.1"].replace("\\-", "-")
    help_text = "".join(each.format_help() for each in made._actions[-1].choices.values())  # type: ignore[union-attr]  # noqa: SLF001  nowhere else
    return texts | {
        "manual page": page,
        "reference": markdown.command_line(found)["pghaul-weigh.md"],
        "help": help_text,
    }


@pytest.mark.parametrize("place", [*SHELLS, "manual page", "reference", "help"])
def test_a_flag_that_changes_in_the_parser_changes_everywhere(place: str) -> None:
    before, after = (
        everything(toy("--unit", "in which unit"))[place],
        everything(toy("--scale", "by which scale"))[place],
    )
    flag, other = ("-l unit", "-l scale") if place == "fish" else ("--unit", "--scale")
    assert (flag in before, other in before) == (True, False)
    assert (flag in after, other in after) == (False, True)
    assert "stones" in before
    if place != "bash":  # which shows no descriptions
        assert "in which unit" in before
        assert "by which scale" in after


def test_every_command_and_option_has_its_words(program: Command) -> None:
    silent = [
        f"{each.name} {one.options or one.value}" for each in program.all() for one in each.arguments if not one.help
    ]
    assert silent + [each.name for each in program.all() if each.words and not each.help] == []


def test_every_command_and_option_is_in_every_page(program: Command) -> None:
    pages = {name: text.replace("\\-", "-").replace("…", "...") for name, text in roff.pages(program, "1.0").items()}
    reference = markdown.command_line(program)
    for command in program.all():
        described = reference["command-line.md"] + (reference[f"pghaul-{command.words[0]}.md"] if command.words else "")
        page = pages["pghaul.1" if not command.words else f"pghaul-{command.words[0]}.1"]
        missing = [name for option in command.options for name in option.options if f"\\fB{name}\\fR" not in page]
        missing += [name for option in command.options for name in option.options if f"`{name}`" not in described]
        assert (command.name, missing if command.words else []) == (command.name, [])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_finds_nothing_to_complain_about(program: Command, tmp_path: Path) -> None:
    for name, text in roff.pages(program, "1.0").items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        command = ["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", str(tmp_path / name)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        assert answer.stderr == ""


def test_a_page_shows_what_roff_would_read(tmp_path: Path) -> None:
    page = tmp_path / "pghaul.1"
    odd = outline(toy("--unit", "as in ~/.units: '.TH' and\n.SH \\fBnot bold\\fR"))
    page.write_text(roff.pages(odd, "1.0")["pghaul-weigh.1"], encoding="utf-8")
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    command = ["groff", "-man", "-Tascii", "-P-cbou", str(page)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "as in ~/.units: '.TH' and .SH \\fBnot bold\\fR" in " ".join(shown.split())


def test_the_exit_codes_are_those_of_the_errors() -> None:
    kinds = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.PghaulError)]
    assert {int(each.name) for each in EXIT_CODES} == {0, BUG, *(each.exit_code for each in kinds)}


def test_the_variables_are_those_that_are_read() -> None:
    sources = [path.read_text(encoding="utf-8") for folder in ("core", "gui") for path in (TOP / folder).rglob("*.py")]
    read = {name for text in sources for name in re.findall(r"\"(PGHAUL_[A-Z_]+)\"", text)}
    assert {each.name for each in VARIABLES if each.name.startswith("PGHAUL")} >= {"PGHAUL_DATA", "PGHAUL_CONFIG"}
    assert {name for name in read if name.startswith("PGHAUL_")} == {
        each.name for each in VARIABLES if each.name.startswith("PGHAUL")
    }


def test_names_that_a_shell_would_run_are_not_completed(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("db1", "$(reboot)", "old one", "gr\u00fcn-2.example"):
        assert main(["server", "add", name, "192.0.2.1"]) == 0
    capsys.readouterr()
    assert main(["completion", "servers"]) == 0
    assert capsys.readouterr().out.split() == ["db1", "gr\u00fcn-2.example"]


def test_commands_in_backticks_stay_code_and_other_marks_do_not() -> None:
    text = markdown.prose("Look with `ls -la *_<x>`. A [link] and 2 * 3 and a ` alone.")
    assert text == "Look with `ls -la *_<x>`. A \\[link\\] and 2 \\* 3 and a \\` alone."

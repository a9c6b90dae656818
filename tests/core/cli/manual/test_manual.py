"""What is made of the parser says what the parser says, and no more has to be written for it."""

import argparse
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

import pytest

from core import errors
from core.cli.main import BUG, main, parser
from core.cli.manual import completion, markdown, roff
from core.cli.manual.outline import Command, outline
from core.cli.manual.surroundings import EXIT_CODES, VARIABLES
from installer import manual

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


def said(words: tuple[str, ...]) -> str:
    """A word by which the changed help of a command's flags is found."""
    return "-".join(("--help-of", *words))


def rename(made: argparse.ArgumentParser, *words: str) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Rename each flag of a parser by its command, and change all that it says. Yield words, old and new name of each.

    A new name is that of one flag of one command: where it stands, it comes from this flag.
    """
    mark = "-".join(words)
    made.description, made.epilog = f"What {mark} does.", None
    for action in made._actions:  # noqa: SLF001  argparse lists them nowhere else
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  argparse has no public name for it
            for listed in action._choices_actions:  # noqa: SLF001  nowhere else
                listed.help = f"what {mark}-{listed.dest} does"
            for word, below in action.choices.items():
                yield from rename(below, *words, word)
        elif action.help != argparse.SUPPRESS:
            action.help = f"the value {said(words)}"
            flags = [name for name in action.option_strings if name.startswith("--")]
            changed = {name: f"{name}-of-{mark}" for name in flags}
            action.option_strings = [changed.get(name, name) for name in action.option_strings]
            yield from ((words, old, new) for old, new in changed.items())


@pytest.fixture(scope="module")
def renamed() -> tuple[argparse.ArgumentParser, list[tuple[tuple[str, ...], str, str]]]:
    """The parser of the program in which each flag of each command has another name, and these names."""
    made = parser.__wrapped__()
    return made, [*rename(made)]


@pytest.fixture
def read(
    renamed: tuple[argparse.ArgumentParser, object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[[tuple[str, ...]], dict[str, set[str]]]:
    """The flags that users read of a command in its help, and in what packages and the site have of it."""
    monkeypatch.setenv("COLUMNS", "1000")  # help breaks a line at a hyphen
    for module in ("core.cli.main", "installer.manual"):
        monkeypatch.setattr(f"{module}.parser", lambda: renamed[0])
    files = {path.name: path.read_text(encoding="utf-8") for path in manual.write(tmp_path, "1.0")}
    pages = {name: flags_in(text) for name, text in markdown.command_line(outline(renamed[0])).items()}
    completions = {shell: files[Path(name).name] for shell, name in manual.COMPLETIONS.items()}
    for shell, text in completions.items():
        assert main(["completion", shell]) == 0
        assert capsys.readouterr().out == text
    completions["fish"] = re.sub(r" -l (?=\S+ )", " --", completions["fish"])
    of_shells = {shell: flags_in(text) for shell, text in completions.items()}

    def of(words: tuple[str, ...]) -> dict[str, set[str]]:
        assert main([*words, "--help"]) == 0
        name = "-".join(("pghaul", *words[:1]))
        of_all = pages["command-line.md"]
        return of_shells | {
            "help": flags_in(capsys.readouterr().out),
            "manual page": flags_in(re.sub(r"\\f[BIR]", "", files[f"{name}.1"].replace("\\-", "-"))),
            "reference": of_all | pages.get(f"{name}.md", of_all),
        }

    return of


def flags_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def test_each_flag_that_changes_in_the_parser_changes_in_all_that_users_read(
    renamed: tuple[object, list[tuple[tuple[str, ...], str, str]]],
    read: Callable[[tuple[str, ...]], dict[str, set[str]]],
    program: Command,
) -> None:
    """Help, manual page, completion and reference, each as users get it: nothing beside the parser was edited."""
    assert {words for words, _, _ in renamed[1]} == {command.words for command in program.all()}
    wrong = []
    for words, flags in groupby(renamed[1], key=lambda flag: flag[0]):
        found = read(words)
        assert {*found} == {*SHELLS, "help", "manual page", "reference"}
        wrong += [
            (place, *words, old)
            for _, old, new in flags
            for place, shown in found.items()
            # bash shows no help
            if new not in shown or old in shown or (place != "bash" and said(words) not in shown)
        ]
    assert wrong == []


def test_every_command_and_option_has_its_words(program: Command) -> None:
    silent = [
        f"{each.name} {one.options or one.value}" for each in program.all() for one in each.arguments if not one.help
    ]
    assert silent + [each.name for each in program.all() if each.words and not each.help] == []


def test_every_value_is_named_as_in_the_usage(program: Command) -> None:
    wrong = [
        (command.name, one.options, one.value)
        for command in program.all()
        for one in command.options
        if one.value
        and not re.search(
            rf"{one.options[0]} (\[?{re.escape(one.value)}|{re.escape('{' + ','.join(one.choices) + '}')})",
            command.usage,
        )
    ]
    assert wrong == []


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

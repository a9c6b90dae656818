"""Every value reaches a real shell as the very same text, and no secret is ever shown."""

import re
import subprocess
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.redaction import MASK
from core.servers import shell
from core.servers.shell import Secret, Shell
from tests.shells import sh

WORDS = st.text(st.characters(exclude_characters="\0\n", exclude_categories=["Cs"]))
NASTY = 'it\'s $(touch x) "ö" `id` \\ * ~ !! #;&|<>\t-rf'


def run(made: Shell, stdin: bytes = b"") -> bytes:
    return subprocess.run(["/bin/sh", "-c", made.text], input=stdin, capture_output=True, check=True).stdout


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=4))
def test_any_text_arrives_as_it_is(words: list[str]) -> None:
    made = shell.command("printf", "%s\\n", "", *words)
    assert run(made).decode() == "".join(f"{word}\n" for word in ["", *words])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(WORDS, WORDS)
def test_any_text_arrives_through_every_layer(value: str, name: str) -> None:
    inner = shell.environment({"VALUE": value}, sh('printf %s "$VALUE"; printf %s @name@', name=name))
    layered = shell.command("sh", "-c", shell.command("sh", "-c", inner))
    assert run(layered).decode() == value + name


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(categories=["Ll"]), min_size=6))
def test_a_secret_runs_but_is_never_shown(value: str) -> None:
    made = shell.environment({"TOKEN": Secret(value)}, sh('printf %s "$TOKEN"'))
    assert run(made).decode() == value
    assert value not in made.shown
    assert value not in repr(Secret(value))
    assert MASK in made.shown


@pytest.mark.parametrize("value", ["two\nlines", "nul\0"])
def test_what_no_word_may_hold_is_refused(value: str) -> None:
    with pytest.raises(InputError, match="NUL"):
        shell.command("echo", value)


def test_numbers_and_paths_are_words() -> None:
    assert shell.command("dd", 5, 1.5, PurePosixPath("/a b")).text == "dd 5 1.5 '/a b'"


def test_a_call_takes_its_functions_along_and_any_words_as_they_are() -> None:
    made = shell.call("write_complete", "/dev/null", "printf", NASTY)
    assert made.text == made.shown
    assert made.text.startswith("write_complete /dev/null printf ")
    assert "fail() {" in made.functions
    with pytest.raises(KeyError):
        shell.call("no_such_function")
    with pytest.raises(InputError, match=re.escape(repr("a\nb"))):
        shell.call("enter_folder", "a\nb")


def test_settings_stand_ahead_of_a_call(tmp_path: Path) -> None:
    made = shell.with_settings({"copy_folder": NASTY}, shell.call("enter_folder", tmp_path))
    assert made.text.endswith(f"\nenter_folder {tmp_path}")
    shown = subprocess.run(
        ["dash", "-c", f'{made.functions}\n{made.text}\nprintf %s "$copy_folder"'], capture_output=True, check=True
    )
    assert shown.stdout.decode() == NASTY


def test_a_call_is_no_word_of_another_shell() -> None:
    """There its functions would be unknown."""
    with pytest.raises(InputError, match=r"^enter_folder /tmp "):
        shell.command("sh", "-c", shell.call("enter_folder", "/tmp"))


def test_sudo_never_asks_unless_told() -> None:
    assert shell.sudo(shell.command("id"), user="postgres").text == "sudo -n -u postgres -- id"
    assert shell.sudo(shell.command("id"), ask=True).text == "sudo -u root -- id"
    compound = shell.sudo(sh("cd @folder@ && ls", folder=NASTY))
    assert compound.text.startswith("sudo -n -u root -- sh -c ")


def test_nothing_else_that_runs_commands_quotes_for_a_shell() -> None:
    """The one builder."""
    core = Path(shell.__file__).parents[1]
    found = [path.name for path in core.rglob("*.py") if re.search(r"import shlex|shell=True", path.read_text())]
    assert found == ["shell.py"]


def test_an_environment_variable_needs_a_name() -> None:
    with pytest.raises(InputError, match="A B"):
        shell.environment({"A B": "x"}, shell.command("true"))


@settings(max_examples=30, deadline=None)
@given(WORDS)
def test_a_secret_of_the_environment_is_on_no_command_line(value: str) -> None:
    made = shell.with_secrets({"WORD": Secret(value)}, shell.command("sh", "-c", 'printf %s "$WORD"'))
    assert run(made).decode() == value
    assert made.shown == f"WORD={MASK}\nexport WORD\nsh -c 'printf %s \"$WORD\"'"
    assert shell.with_secrets({}, shell.command("true")) == shell.command("true")

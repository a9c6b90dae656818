"""Completion, by the shells themselves."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.benchmarks.suites import own_suites
from core.cli.main import main, parser
from core.cli.manual.completion import script
from core.cli.manual.outline import outline


def each(*marks: pytest.MarkDecorator) -> list[object]:
    """Each shell that is installed; those beside bash with these marks."""
    return [
        pytest.param(
            shell,
            marks=[
                pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed"),
                *(marks if shell != "bash" else ()),
            ],
        )
        for shell in ("bash", "fish", "zsh")
    ]


SECONDS = 200.0
END = "=="
"""Behind the answers to a line."""
LINES = {
    "pghaul diagn": {"diagnose"},
    "pghaul server a": {"add"},
    "pghaul bench spring --si": {"--side"},
    "pghaul bench spring --side o": {"old"},
    "pghaul bench spring --suite qui": {"quick"},
    "pghaul bench spring --suite own-s": {"own-suite"},
    "pghaul server add db1 192.0.2.1 --rights sudo-pa": {"sudo-password"},
    "pghaul move hook spring tell": {"tell-pooler"},
    "pghaul check summ": {"summer"},
    "pghaul report capa": {"capacity"},
    "pghaul report plan summ": {"summer"},
    "pghaul move add fall --old d": {"db9"},
    "pghaul parse pgb": {"pgbench"},
    "pghaul estimate --spec figu": {"figures.toml"},
}


@pytest.fixture
def complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, set[str]]]:
    """What a shell makes of each line, in a folder with one file, with a history that holds a server and a move."""
    assert main(["server", "add", "db9", "192.0.2.9"]) == 0
    assert (
        main(["move", "add", "summer", "--old", "db9", "--new", "db9", "--cluster", "/srv/pg", "--target", "/srv/new"])
        == 0
    )
    own_suites().mkdir(parents=True)
    (own_suites() / "own-suite.toml").touch()
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "pghaul").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gui.entry "$@"\n')
    (programs / "pghaul").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[4]))
    (tmp_path / "figures.toml").touch()

    def ask(shell: str) -> dict[str, set[str]]:
        made = tmp_path / "_pghaul"
        made.write_text(script(outline(parser()), shell), encoding="utf-8")
        return {"bash": _bash, "fish": _fish, "zsh": _zsh}[shell](made)

    return ask


def _bash(made: Path) -> dict[str, set[str]]:
    program = f"compopt() {{ :; }}\nsource '{made}'\n"
    for line in LINES:
        words = " ".join(f"'{word}'" for word in line.split(" "))
        program += f"COMP_WORDS=({words})\nCOMP_CWORD={line.count(' ')}\nCOMPREPLY=()\n_pghaul\n"
        program += f'printf "%s\\n" "${{COMPREPLY[@]}}" {END}\n'
    return _answers(["bash", "--norc", "-c", program], made.parent)


def _fish(made: Path) -> dict[str, set[str]]:
    asked = "".join(f"; complete -C '{line}'; echo {END}" for line in LINES)
    found = _answers(["fish", "--no-config", "-c", f"source '{made}'{asked}"], made.parent)
    return {line: {each.split("\t")[0] for each in answers} for line, answers in found.items()}


def _answers(command: list[str], folder: Path) -> dict[str, set[str]]:
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, timeout=SECONDS)
    assert done.stderr == ""
    *answers, rest = done.stdout.split(f"{END}\n")
    assert rest == ""
    return {line: set(answer.split("\n")) - {""} for line, answer in zip(LINES, answers, strict=True)}


def _zsh(made: Path) -> dict[str, set[str]]:
    """As typed: zsh completes within its line editor alone, so it gets a terminal and a tab."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(made.parent)
        os.execvp("zsh", ["zsh", "-f"])
    try:
        os.write(terminal, f"PS1='> '; autoload -Uz compinit; compinit -D -u; source '{made}'; echo rea''dy\n".encode())
        _read_until(terminal, rb"\nready")
        found = {}
        for line in LINES:
            os.write(terminal, f"{line}\t".encode())
            completed = re.escape(line) + r"(\S+) "
            text = _read_until(terminal, completed.encode()).decode()
            found[line] = {line.rpartition(" ")[2] + rest for rest in re.findall(completed, text)[-1:]}
            os.write(terminal, b"\x15")  # Ctrl-U: the line is typed anew
        return found
    finally:
        os.kill(child, 9)
        os.close(terminal)
        os.waitpid(child, 0)


def _read_until(terminal: int, wanted: bytes) -> bytes:
    """What the terminal shows, without its control sequences, once `wanted` is among it."""
    shown, end = b"", time.monotonic() + SECONDS
    while not re.search(wanted, shown):
        if not select.select([terminal], [], [], max(0.0, end - time.monotonic()))[0]:
            raise TimeoutError(f"zsh shows {shown!r}, and no {wanted!r}")
        shown = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r", b"", shown + os.read(terminal, 4096))
    return shown


@pytest.mark.slow
@pytest.mark.parametrize("shell", each(pytest.mark.long))
def test_each_line_is_completed(shell: str, complete: Callable[[str], dict[str, set[str]]]) -> None:
    assert complete(shell) == LINES


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes_each_line_by_the_names_that_are_printed(
    complete: Callable[[str], dict[str, set[str]]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As above, but pghaul, which fish starts for each name anew, has answered beforehand."""
    programs = tmp_path / "programs"
    for names in ("moves", "reports", "servers", "suites"):
        capsys.readouterr()
        assert main(["completion", names]) == 0
        (programs / names).write_text(capsys.readouterr().out)
    (programs / "pghaul").write_text(f'#!/bin/sh\n[ "$1" = completion ] && exec cat \'{programs}\'/"$2"\n')
    assert complete("fish") == LINES


@pytest.mark.parametrize("shell", each())
def test_the_shell_reads_the_script_without_a_word(shell: str, tmp_path: Path) -> None:
    made = tmp_path / "_pghaul"
    made.write_text(script(outline(parser()), shell), encoding="utf-8")
    done = subprocess.run([shell, "-n", str(made)], check=True, capture_output=True, text=True)
    assert done.stdout + done.stderr == ""

"""The name of a server where a move or a volume of a server is wanted."""

import pytest

from core.cli.main import main, parser
from core.cli.manual.outline import outline

COMMANDS = {
    "bench": (),
    "compare": (),
    "diagnose": (),
    "history export": ("-o", "archive"),
    "history runs": (),
    "storage what-if": ("--drives", "4"),
}
"""Each that takes a volume of a server, with the options that it needs."""


def test_every_command_that_takes_a_volume_is_here() -> None:
    taking = {
        " ".join(command.words)
        for command in outline(parser()).all()
        if any("SERVER:/PATH" in argument.value for argument in command.positionals)
    }
    assert taking == COMMANDS.keys()


@pytest.mark.parametrize(("server", "volume"), [("db1", "db1:/PATH"), ("my db", "'my db:/PATH'")])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_hint_says_how_a_volume_of_the_server_is_named(
    command: str, server: str, volume: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["server", "add", server, "192.0.2.1"]) == 0
    capsys.readouterr()
    assert main([*command.split(), server, *COMMANDS[command]]) == 2
    assert f" as {volume}, or a move" in capsys.readouterr().err


def test_a_move_that_is_called_like_a_server_is_the_move(capsys: pytest.CaptureFixture[str]) -> None:
    for server in ("db1", "db2"):
        assert main(["server", "add", server, "192.0.2.1"]) == 0
    words = ("--old", "db1", "--new", "db2", "--cluster", "/srv/pg", "--target", "/srv/new")
    assert main(["move", "add", "db1", *words]) == 0
    capsys.readouterr()
    assert main(["history", "runs", "db1"]) == 0
    assert "no benchmark of db1 has run yet" in capsys.readouterr().out

"""What commands print with --json of real servers; tests/contracts.py holds each document against its schema."""

import json

import pytest

from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live.command_line import CommandLine

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("clean_hosts")]

COMMANDS = (
    ("server", "test", "old"),
    ("server", "install", "old", "rsync"),
    ("facts", "old"),
    ("facts", "new"),
    ("bench", "m", "--suite", "quick", "--forecast"),
    ("diagnose", "m"),
    ("check", "m"),
    ("probe", "m"),
    ("estimate", "m", "--window", "22:00-02:00"),
    ("plan", "m"),
)


@pytest.mark.long
def test_what_is_printed_of_servers_has_its_schema(
    lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = CommandLine(lab, asker, capsys)
    cli.set_up()
    for words in COMMANDS:
        code, out, err = cli.connecting(*words, "--json")
        assert code in {0, 1}, err
        assert json.loads(out)

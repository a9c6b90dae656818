"""A rollback says "as before" only where it has looked at port, options, settings, limits and environment."""

import sys
from collections.abc import Iterator

import pytest

from core.errors import BlockedError
from core.migration.model import step_ids
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine, Terminal
from tests.live.test_start_options import Undecided, described, execute, restart, said

pytestmark = pytest.mark.lab

_OPTIONS = "-p 5483 -c max_connections=137"
_CHANGED = (
    'The setting work_mem is "8192 kB" on the old server now, and was at its default before the stop',
    'The setting statement_timeout is "7000 ms" on the old server now, and was at its default before the stop',
)
"""The second one is of those that sessions of ours set themselves."""


@pytest.fixture
def command(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    site.create(lab.old)
    yield CommandLine(lab, asker, capsys)
    site.remove(lab)


def rolled_back(command: CommandLine) -> str:
    """What a rollback says."""
    code, out, err = command("execute", "m", "--rollback")
    assert code == 0, err
    return out + err


@pytest.mark.long
def test_a_rollback_compares_the_settings_of_the_old_server(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was edited and never loaded is in force from the start on that the first rollback makes."""
    old, new = command.lab.old, command.lab.new
    with site.nothing_left(command.lab):
        restart(old, _OPTIONS)
        old.exec("tee", "-a", f"{site.DATA}/postgresql.conf", input="work_mem = 8MB\nstatement_timeout = 7s\n")
        described(command)
        monkeypatch.setattr(sys, "stdin", Terminal(lambda: None, "\n"))  # asked for the cluster's name
        code, _, err = command("execute", "m")
        assert "was not confirmed" in err, (code, err)
        told = rolled_back(command)
        assert "The old cluster was not stopped" in told
        assert "as before" not in told

        monkeypatch.setattr(sys, "stdin", Undecided(new))
        for settings_differ in (True, False):
            code, _, err = execute(command)
            assert (code, command.last_step()) == (BlockedError.exit_code, step_ids.DECIDE), err
            told = rolled_back(command)
            assert [each in told for each in _CHANGED] == [settings_differ] * 2
            assert ("not as before. See the warnings above" in told) is settings_differ
            assert ("runs again, with the same port, options and settings as before" in told) is not settings_differ
            assert said(old, "show work_mem; show max_connections") == "8MB\n137"


@pytest.mark.long
def test_a_rollback_names_what_the_start_of_the_old_server_gave_it(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a shell has given the server: a limit, a folder of programs, a secret, and the file of its messages."""
    old, new = command.lab.old, command.lab.new
    tools, log = f"{site.ROOT}/tools", f"{site.ROOT}/messages"
    start = (
        'mkdir "$1" && cd / && ulimit -n 5000 && PATH=$1:$PATH AWS_SECRET_ACCESS_KEY=none-of-yours TZ=UTC '
        '"$0" -D "$2" -w -s -l "$3" -o "$4" start'
    )
    with site.nothing_left(command.lab):
        site.pg_ctl(old, "-m", "fast", "stop")
        old.exec("sh", "-c", start, f"{site.SERVER}/bin/pg_ctl", tools, site.DATA, log, _OPTIONS, user="postgres")
        described(command)
        monkeypatch.setattr(sys, "stdin", Undecided(new))
        for differs in (True, False):
            code, _, err = execute(command)
            assert (code, command.last_step()) == (BlockedError.exit_code, step_ids.DECIDE), err
            told = rolled_back(command)
            for each in (
                "for open files is 1024 now, and was 5000 before the stop",
                f"wrote its messages to {log} before the stop",
                f"The PATH of the old server lacks {tools} now",
                "had other values before the stop: AWS_SECRET_ACCESS_KEY, TZ",
            ):
                assert (each in told) is differs, told
            assert "none-of-yours" not in told
            assert ("runs again as before" in told) is not differs

"""A lock that an execution has left, because its server could not be reached at the end, is in nobody's way."""

import json

import pytest

from core.errors import BlockedError
from core.migration.model.execution import lock_path
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine

pytestmark = pytest.mark.lab
_CONFIRMED = ("--confirm", site.DATA, "--manual-steps-done")


@pytest.mark.long
def test_a_move_begins_where_a_rehearsal_has_left_its_lock(
    lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its workstation is asked nothing; the lock of anybody else stops the move all the same, and the way back."""
    command = CommandLine(lab, asker, capsys)
    site.create(lab.old)
    try:
        with site.nothing_left(lab):
            command.set_up(site.DATA, target=site.TARGET)
            code, out, err = command.connecting("execute", "m", "--rehearsal", "--json", *_CONFIRMED)
            assert code == 0, err
            lock(lab, json.loads(out)["execution"]["token"])
            lock(lab, "c0ffee00")
            for words in (("--start-over", *_CONFIRMED), ("--resume", *_CONFIRMED), ("--rollback",)):
                code, _, err = command("execute", "m", *words)
                assert (code, "by dba@c0ffee00 since" in err) == (BlockedError.exit_code, True), err
            assert lab.new.exec("find", "/var/tmp", "-lname", "c0ffee00 *", "-delete", "-print").stdout
            code, _, err = command("execute", "m", "--resume", *_CONFIRMED)
            assert code == 0, err
    finally:
        site.remove(lab)


def lock(lab: Lab, token: str) -> None:
    text = f"{token} dba@{token} since 2026-11-29 05:10 UTC"
    lab.new.exec("ln", "-s", text, f"{lock_path(site.TARGET)}-{token}", user="postgres")

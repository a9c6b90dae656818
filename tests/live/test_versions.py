"""Clusters of other major releases than the lab's own: a dress rehearsal, then the move itself.

Of PostgreSQL 10 and 12 no registry has psql, pg_controldata and pg_waldump; of 9.6 none has a server.
"""

from collections.abc import Iterator

import pytest

from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live.command_line import CommandLine
from tests.live.released import DATA, TARGET, last_output, released, sql

pytestmark = [pytest.mark.lab, pytest.mark.long]


@pytest.fixture(params=["11.13", "13.16", "14.23", "16.2", "17.11", "18.6"])
def programs(lab: Lab, request: pytest.FixtureRequest) -> Iterator[str]:
    """The folder of that release's programs, on both hosts; on old its cluster runs."""
    with released(lab, request.param) as folder:
        yield folder


def test_a_dress_rehearsal_and_the_move(
    lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str], programs: str
) -> None:
    cli = CommandLine(lab, asker, capsys)
    cli.set_up(DATA, target=TARGET)
    code, _, err = cli.connecting("execute", "m", "--dress-rehearsal", "--manual-steps-done")
    assert code == 0, err + last_output(cli)
    assert sql(lab.old, programs, "select count(*) from pg_replication_slots") == "0"
    sql(lab.old, programs, "update kept set note = 'later' where n = 7")
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, err + last_output(cli)
    assert sql(lab.new, programs, "select count(*), pg_is_in_recovery() from kept") == "50000|f"
    assert (
        sql(lab.new, programs, "select note, current_setting('cluster_name') from kept where n = 7") == "later|it's one"
    )

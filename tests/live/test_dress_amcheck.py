"""amcheck in a dress rehearsal: an index whose page is damaged on the disk of the old server, then a sound one."""

from collections.abc import Iterator

import pytest

from core.migration.model import step_ids
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live.command_line import CommandLine
from tests.live.released import DATA, TARGET, last_output, released, sql
from tests.live.test_dress import output_of

pytestmark = [pytest.mark.lab, pytest.mark.long]

# behind the header of the first leaf: its line pointers, of which the first is the high key
_SWAP = """set -eu
at=$((8192 + 24 + 8))
dd if="$0" of=/tmp/pghaul-third bs=1 skip=$at count=4
dd if="$0" of=/tmp/pghaul-fourth bs=1 skip=$((at + 4)) count=4
dd if=/tmp/pghaul-fourth of="$0" bs=1 seek=$at conv=notrunc
dd if=/tmp/pghaul-third of="$0" bs=1 seek=$((at + 4)) conv=notrunc
rm /tmp/pghaul-third /tmp/pghaul-fourth
"""
"""Two entries of the index stand the wrong way round: no checksum tells that, as this cluster has none."""


_OF_USERS = """create type own as (n int);
create function own_order(own, own) returns int language sql immutable as 'select $1.n - $2.n';
create operator class own_operators default for type own using btree as function 1 own_order(own, own);
create table owns (one own, many own[]);
insert into owns select row(n)::own, array[row(n)::own] from generate_series(1, 100) n;
create index by_one on owns (one);
create index by_many on owns (many);
"""
"""Two indexes that compare by a function of a user, one of them by way of an array."""


@pytest.fixture
def programs(lab: Lab) -> Iterator[str]:
    with released(lab, "17.11") as folder:
        yield folder


def test_a_damaged_index_is_found_and_a_sound_one_is_counted(
    lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str], programs: str
) -> None:
    made = "create extension amcheck; create index sound on kept (n); create index broken on kept (note); checkpoint"
    sql(lab.old, programs, made)
    path = sql(lab.old, programs, "select pg_relation_filepath('broken')")
    lab.old.exec("sh", "-c", _SWAP, f"{DATA}/{path}", user="postgres")
    cli = CommandLine(lab, asker, capsys)
    cli.set_up(DATA, target=TARGET)
    asked = ("execute", "m", "--dress-rehearsal", "--amcheck", "--amcheck-time", "10m", "--manual-steps-done")
    code, _, err = cli.connecting(*asked)
    assert code == 1, err + last_output(cli)
    assert "public.broken: item order invariant violated" in err
    assert "public.sound" not in err
    sql(lab.old, programs, f"reindex index broken; {_OF_USERS}")
    code, _, err = cli.connecting(*asked, "--start-over")
    assert code == 0, err + last_output(cli)
    looked = output_of(cli("execute", "m", "--status", "--json")[1], step_ids.REHEARSE_START)
    assert " B-tree indexes were verified by amcheck" in looked
    assert (
        ": 2 indexes were not verified: they are unlogged or invalid, or their operator classes use functions of users"
        in looked
    )
    assert "warning: database odd name: its B-tree indexes were not verified: it does not have the extension" in looked

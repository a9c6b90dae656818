"""The log of a watch: whole, as far as it came, and what is none."""

from datetime import timedelta

import pytest

from core.errors import ParseError
from core.migration.model.watch import parse_watch
from tests.core.migration.builders import NOW
from tests.core.migration.watches import GIGA, log


def test_looks_come_in_old_s_own_time_with_what_was_written_between_them() -> None:
    seen = parse_watch(log(2, zone="+0530"))
    assert len(seen.looks) == 9
    assert seen.began_at == NOW
    assert (seen.began_at.hour, seen.began_at.minute) == (1, 30)
    assert seen.seconds == 7200
    assert sum(step[2] for step in seen.wal) == pytest.approx(2 * GIGA, abs=10)
    assert seen.looks[0].touched[3] == GIGA
    assert parse_watch(log(1, zone="-0330")).began_at.hour == 16


def test_a_position_passes_the_end_of_a_file_of_four_gigabytes() -> None:
    text = "look 1772913600 0/FFFFFFFF 1 0 0 0 0 0 0 0 0\nlook 1772913660 1/9 1 0 0 0 0 0 0 0 0\n"
    assert parse_watch(text).wal[0][1:] == (60, 10)


def test_a_watch_that_broke_off_tells_what_it_saw_and_why() -> None:
    lines = log(1).splitlines()[:3]
    said = ["psql: error: connection refused", "pghaul: not all of /srv may be read", "look 1"]
    seen = parse_watch("\n".join([*lines, *said]))
    assert len(seen.looks) == 2
    assert seen.complaint == "not all of /srv may be read"


def test_what_a_server_did_not_say_or_took_back_is_left_out() -> None:
    at = round(NOW.timestamp())
    text = "".join(
        f"look {at + 60 * number} {wal} 5 0 0 0 0 0 0 0 0\n"
        for number, wal in enumerate(("0/100", "-", "0/300", "0/50", "0/60"))
    )
    steps = parse_watch(text).wal
    assert [(step[1], step[2]) for step in steps] == [(120, 0x200), (60, 0x10)]
    assert steps[0][0] == NOW
    assert steps[1][0] == NOW + timedelta(minutes=3)


@pytest.mark.parametrize(
    "text", ["", "look\n", "begin 1772913600 +0000\npghaul: psql failed\n", "look 1 - 1 1 1 1 1 1 1 1 1", "\0" * 99]
)
def test_what_holds_no_look_is_said(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_watch(text)
    assert ("psql failed" in caught.value.message) is ("psql failed" in text)

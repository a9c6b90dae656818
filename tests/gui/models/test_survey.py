"""The rows of a survey: what can be made, what stops the others, and what became of each server."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.api.reports import FleetReport, make_fleet_report
from core.api.session import Session
from core.api.survey import SurveyedServer
from core.history.store import Store
from core.jobs import ServerState
from core.language import spoken
from core.migration.model.fleet import MoveState
from core.servers.lists.formats import read_list
from core.servers.profiles import Nobody
from core.tones import Tone
from gui.models import survey as rows
from gui.models.survey import NO_MOVE, MoveRow, Reading, ServerLine
from tests.figures import figures
from tests.gui import fleets
from tests.histories import Histories

HINT = "compare it with the fingerprint, then accept it"


@pytest.fixture
def store(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path / "history", fleets.fill) as made:
        yield made


@pytest.fixture
def report(store: Store) -> FleetReport:
    return make_fleet_report(Session(store, Nobody()), (), datetime.now(UTC))


def by_group(report: FleetReport) -> dict[str, list[MoveRow]]:
    found = rows.move_rows(report)
    return {group: [row for row in found if row.group == group] for group in rows.GROUPS}


def test_moves_stand_as_they_are_ranked_and_clusters_without_a_move_last(report: FleetReport) -> None:
    found = rows.move_rows(report)
    groups = [row.group for row in found]
    assert list(dict.fromkeys(groups)) == [MoveState.READY, MoveState.BLOCKED, MoveState.UNKNOWN, NO_MOVE]
    assert groups.count(NO_MOVE) == fleets.WITHOUT_MOVE
    assert groups.count(MoveState.UNKNOWN) == len(fleets.UNREAD)
    assert [row.move.move.name for row in found if row.move is not None] == [one.move.name for one in report.moves]
    assert len({rows.move_key(row) for row in found}) == len(found)
    numbers = {counter.id: counter.number for counter in rows.counters(found)}
    assert numbers == {group: groups.count(group) for group in rows.GROUPS}


def test_the_cluster_that_a_move_has_made_is_none_without_a_move(report: FleetReport) -> None:
    moved = next(one.move for one in report.moves if one.state is MoveState.READY)
    server = next(each for each in report.servers if each.profile.name == moved.new)
    source = next(each for each in report.servers if each.profile.name == moved.old)
    assert server.facts is not None
    assert source.facts is not None
    copy = replace(source.facts.clusters[0], data_directory=moved.target)
    other = replace(copy, data_directory="/srv/pg/other")
    holding = replace(server, facts=replace(server.facts, clusters=(copy, other)))
    servers = tuple(holding if each is server else each for each in report.servers)
    left = [row for row in rows.move_rows(replace(report, servers=servers)) if row.group == NO_MOVE]
    assert [row.cluster for row in left if row.server == moved.new] == ["/srv/pg/other"]


def test_each_window_has_its_moves(report: FleetReport) -> None:
    found = rows.move_rows(report)
    ready = [row for row in found if row.group == MoveState.READY]
    tiles = rows.windows(found)
    assert sum(int(tile.value) for tile in tiles) == len(ready)
    assert [tile.name for tile in tiles] == ["15 min", "1 h", "4 h", "8 h"]
    longer = [replace(row, move=replace(row.move, window_seconds=None)) for row in ready[:2] if row.move is not None]
    unknown = [replace(row, move=replace(row.move, downtime_seconds=None)) for row in longer if row.move is not None]
    assert [tile.value for tile in rows.windows([*ready[2:], longer[0], unknown[0]])][-2:] == ["1", "1"]
    assert rows.windows([row for row in found if row.group != MoveState.READY]) == ()


def test_the_verdict_counts_what_is_left(report: FleetReport) -> None:
    found = by_group(report)
    everything = rows.move_rows(report)
    left = len(everything) - fleets.WITHOUT_MOVE
    said = rows.verdict(everything, 2)
    assert (figures(said.text), said.tone) == ([str(len(found[MoveState.READY])), str(left)], Tone.GOOD)
    only = rows.verdict(found[MoveState.READY][:1], 0)
    assert (figures(only.text), only.tone) == ([], Tone.GOOD)
    blocked = rows.verdict(found[MoveState.BLOCKED], 2)
    assert (figures(blocked.text), blocked.tone) == ([str(len(found[MoveState.BLOCKED])), "2"], Tone.BAD)
    done = [replace(row, move=replace(row.move, moved_at=datetime.now(UTC))) for row in everything[:3] if row.move]
    assert rows.verdict(done, 0).tone is Tone.GOOD
    assert {row.group for row in done} == {MoveState.DONE}
    assert rows.verdict(found[NO_MOVE], 0).tone is Tone.MUTED


def test_a_row_says_what_stops_it(report: FleetReport) -> None:
    found = by_group(report)
    blocked, unknown, left = found[MoveState.BLOCKED][0], found[MoveState.UNKNOWN][0], found[NO_MOVE][0]
    assert blocked.move is not None
    assert blocked.move.stops[0] in rows.second_line(blocked)
    assert blocked.move.stops[0] in rows.reason(blocked)
    assert rows.reason(unknown).startswith(f"{unknown.server}: ")  # the name of a server stays as it is written
    assert rows.second_line(left).endswith("15.5")
    for row in (blocked, unknown, left):
        told = rows.explain_move(row)
        assert told.tone is rows.tone_of(row)
        assert all(paragraph.text for paragraph in told.paragraphs)
    assert rows.reason(left) == ""


def test_a_move_to_be_checked_first_says_so(report: FleetReport) -> None:
    row = by_group(report)[MoveState.READY][0]
    assert row.move is not None
    unchecked = replace(row, move=replace(row.move, pending=("Locales of the databases",)))
    assert unchecked.group == MoveState.READY
    assert len(rows.second_line(unchecked)) > len(rows.second_line(row))
    said = [each.text for each in rows.explain_move(unchecked).paragraphs]
    assert any(text.endswith("\nLocales of the databases") for text in said)
    with spoken("de"):
        in_german = [each.text for each in rows.explain_move(unchecked).paragraphs]
    assert not any(text.endswith("\nLocales of the databases") for text in in_german)
    assert len(in_german) == len(said) == len(rows.explain_move(row).paragraphs) + 1


def test_what_stops_a_move_is_german_in_a_german_window(report: FleetReport) -> None:
    row = by_group(report)[MoveState.BLOCKED][0]
    assert row.move is not None
    conflict = f"the move {row.move.move.name} has the same target"
    both = replace(row, move=replace(row.move, stops=(*row.move.stops, conflict), in_the_way="other"))
    with spoken("de"):
        assert "has the same target" not in rows.reason(both)
        assert row.move.move.name in rows.reason(both)


def test_servers_that_could_not_be_read_come_first_with_what_to_do(report: FleetReport) -> None:
    failure = fleets.UNREAD[11]
    lines = rows.server_lines(report, {failure: HINT})
    assert [line.name for line in lines[:2]] == ["db11", "db42"]
    assert {line.reading for line in lines[:2]} == {Reading.FAILED}
    assert {line.reading for line in lines[2:]} == {Reading.READ}
    told = rows.explain_line(lines[0])
    assert told.lead.startswith("The host key of 192.0.2.11 ")  # the row names the server
    assert told.lead.endswith(".")
    assert HINT[1:] in told.paragraphs[0].text
    assert rows.explain_line(lines[1]).paragraphs[0].text  # also where no hint is known any more
    assert lines[1].hint == ""


def test_a_survey_is_followed_from_waiting_to_its_end() -> None:
    at = datetime.now(UTC)
    read = SurveyedServer("db1", "192.0.2.1", at, asked=True, seconds=1.0)
    failed = SurveyedServer("db2", "192.0.2.2", None, asked=True, seconds=1.0, failure="db2: it is off", hint=HINT)
    lines = rows.follow((), [ServerState(f"db{number}", "waiting") for number in (1, 2, 3)])
    assert [line.reading for line in lines] == [Reading.WAITING] * 3
    lines = rows.follow(lines, [ServerState("db1", "running"), ServerState("db3", "running")])
    assert [line.reading for line in lines] == [Reading.RUNNING, Reading.WAITING, Reading.RUNNING]
    lines = rows.follow(lines, [ServerState("db1", "done", read), ServerState("db2", "done", failed)])
    assert [line.reading for line in lines] == [Reading.READ, Reading.FAILED, Reading.RUNNING]
    assert [(line.name, line.address) for line in lines] == [("db1", "192.0.2.1"), ("db2", "192.0.2.2"), ("db3", "")]
    assert (lines[1].failure, lines[1].hint) == (failed.failure, failed.hint)
    assert figures(rows.running_verdict(lines, cancelled=False).text) == ["2", "3", "1"]
    rested = rows.come_to_rest(lines)
    assert [line.reading for line in rested] == [Reading.READ, Reading.FAILED, Reading.WAITING]
    assert rows.running_verdict(rested, cancelled=True).tone is Tone.WARNING


def test_sizes_are_numbers_that_no_int_of_c_could_hold() -> None:
    row = MoveRow("db1", "/srv/pg", size_bytes=2**70)
    size = next(column for column in rows.MOVE_COLUMNS if column.title == "Size")
    assert size.value is not None
    assert size.value(row) == 2**70
    assert size.text(row) == "1.0 ZiB"


def test_a_list_is_described_with_what_cannot_be_used() -> None:
    found = read_list("fleet", "name,address,new,cluster\na,192.0.2.1,b,/srv/pg\nb,192.0.2.2,,\nc,$(x),,\n")
    assert figures(rows.describe_list(found)) == ["1", "2", "1"]
    (refused,) = found.refused
    cells = [column.text(refused) for column in rows.REFUSED_COLUMNS]
    assert cells[:2] == ["line 4", "c"]
    assert all(cell.endswith(".") for cell in cells[2:])
    with spoken("de"):
        assert next(column.text(refused) for column in rows.REFUSED_COLUMNS) == "Zeile 4"


@pytest.mark.parametrize("reading", Reading)
def test_every_state_of_a_server_has_words(reading: Reading) -> None:
    line = ServerLine("db1", reading)
    assert all(isinstance(column.text(line), str) for column in rows.SERVER_COLUMNS)
    assert rows.explain_line(line).status

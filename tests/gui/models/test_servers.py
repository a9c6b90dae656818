"""The servers, the sides they have in the selected move, and a server in full."""

from dataclasses import replace

from core.api.model import ServerRow
from core.sides import Side
from core.tones import Tone
from gui.models.servers import COLUMNS, SHOWN, explain_server, second_line, server_lines
from tests.gui import samples

ROWS = (
    ServerRow(samples.NEW, None, ()),
    ServerRow(replace(samples.OLD, name="aside"), None, ()),
    ServerRow(samples.OLD, samples.facts(samples.OLD.name), ("spring",)),
)


def test_the_servers_of_the_move_come_first() -> None:
    lines = server_lines(ROWS, samples.MOVE)
    assert [(line.profile.name, line.side) for line in lines] == [
        (samples.OLD.name, Side.OLD),
        (samples.NEW.name, Side.NEW),
        ("aside", None),
    ]
    assert [line.side for line in server_lines(ROWS, None)] == [None] * 3


def test_a_server_is_explained() -> None:
    line = server_lines(ROWS, samples.MOVE)[0]
    told = explain_server(line, samples.MOVE)
    assert (told.title, told.tone) == (samples.OLD.name, Tone.OLD)
    texts = " ".join(paragraph.text for paragraph in told.paragraphs)
    assert line.facts is not None
    assert all(one.data_directory in texts for one in line.facts.clusters)
    assert samples.OLD.address in second_line(line)


def test_a_server_without_facts_says_so() -> None:
    line = server_lines(ROWS, None)[0]
    told = explain_server(line, None)
    assert told.tone is Tone.MUTED
    assert {column.title: column.text(line) for column in COLUMNS[:SHOWN]} == {
        "Server": samples.NEW.name,
        "Side": "",
        "PostgreSQL": "",
        "Facts read": "not yet",
    }


def test_a_port_that_is_not_given_is_the_default() -> None:
    (port,) = (column for column in COLUMNS if column.title == "Port")
    assert port.tone is not None
    given, default = (
        server_lines((ServerRow(replace(samples.OLD, port=number), None, ()),), None)[0] for number in (2222, None)
    )
    assert [(port.text(line), port.tone(line)) for line in (given, default)] == [
        ("2222", None),
        ("default", Tone.MUTED),
    ]

"""The list of what listens on a host."""

import pytest

from core.errors import ParseError
from core.facts.host_environment import Listening
from core.facts.network import parse_listening

LIST = """listed
tcp 0.0.0.0 22 613 sshd
tcp 0:0:0:0:0:0:0:1 5432 0 -
unix 77 postgres /run/a b/.s.PGSQL.5433
"""


def test_each_socket() -> None:
    assert parse_listening(LIST) == (
        Listening("0.0.0.0", 22, 613, "sshd"),
        Listening("0:0:0:0:0:0:0:1", 5432),
        Listening("/run/a b/.s.PGSQL.5433", 5433, 77, "postgres"),
    )
    assert parse_listening("listed\n") == ()


@pytest.mark.parametrize("odd", ["\v", "\f", "\x1c", "\x85", "\u2028", "\r"])
def test_a_path_of_odd_characters_is_one_line(odd: str) -> None:
    """Any user of the host can make one, and it must not hide what else listens."""
    text = f"{LIST}unix 78 nc /tmp/a{odd}b/.s.PGSQL.1\n"
    assert parse_listening(text)[-1] == Listening(f"/tmp/a{odd}b/.s.PGSQL.1", 1, 78, "nc")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tcp 0.0.0.0 22 613 sshd\n",
        f"{LIST}tcp there 22 1 x\n",
        f"{LIST}tcp 1.2.3.4.5 22 1 x\n",
        f"{LIST}unix 1 x /a\n",
    ],
)
def test_what_is_no_such_list(text: str) -> None:
    with pytest.raises(ParseError):
        parse_listening(text)

"""What an account of the host has in its names and files imitates no line of the remote half."""

from collections.abc import Callable, Sized

import pytest

from core.facts.discovery import parse_units
from core.facts.file_systems import parse_df
from core.facts.network import parse_listening
from core.facts.programs import parse_server_programs, parse_tools
from core.facts.starters import parse_schedules

LINE_FEED = "\n"
UNIT = "unit /home/m/.config/systemd/user/pg.service"
START = ": ExecStart=/usr/lib/postgresql/15/bin/postgres -D /srv/pg"


@pytest.mark.parametrize("odd", ["\v", "\f", "\r", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize(
    ("parse", "own", "imitated"),
    [
        (parse_units, f"user m /home/m\n{UNIT}\n{START}", f"user postgres /var/lib\n{UNIT}\n{START}"),
        (parse_schedules, "place /var/spool/cron/m m\n: 0 1 * * * psql", "place /var/spool/cron/x x\n: 0 1 * * * psql"),
        (parse_listening, "listed\nunix 7 nc /tmp/a/.s.PGSQL.1", "unix 8 postgres /tmp/.s.PGSQL.5432"),
        (parse_df, "Filesystem\nfuse 1 1 1 1% /home/m/a", "x 1000 0 1000 0% /srv/pg"),
        (parse_tools, "tool rsync /usr/bin/rsync\n: rsync", "tool psql /usr/bin/psql"),
        (parse_server_programs, "server /usr/bin/postgres\n: postgres", "server /opt/postgres"),
    ],
    ids=["units", "crontabs", "sockets", "mounts", "tools", "server programs"],
)
def test_no_sign_but_a_line_feed_begins_a_line(
    parse: Callable[[str], Sized], own: str, imitated: str, odd: str
) -> None:
    assert len(parse(f"{own}\n{imitated}\n")) == 2
    assert len(parse(f"{own}{odd}{imitated.replace(LINE_FEED, odd)}\n")) == 1

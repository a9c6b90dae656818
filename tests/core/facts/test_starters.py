"""What starts a data directory, whether a cluster lies there or not."""

from core.facts.discovery import Candidate
from core.facts.host_environment import Autostart
from core.facts.starters import Service, services

DEBIAN = Candidate("/srv/pg/15/main", ("pg_lsclusters",), "15/main", unit="postgresql@15-main.service")
UNIT = Candidate("/srv/own/", ("systemd",), "own", unit="own.service")
USER = Candidate("/srv/ann", ("systemd",), "own", unit="own.service", unit_user="ann", enabled=True)


def test_who_comes_up_with_the_host() -> None:
    autostart = Autostart(enabled=("own.service",), start_conf={"15/main": "auto"})
    assert services([UNIT, Candidate("/srv/x", ("folder",)), DEBIAN, USER], autostart) == (
        Service("/srv/pg/15/main", "15/main", "postgresql@15-main.service", debian=True, enabled=True),
        Service("/srv/own", "own", "own.service", enabled=True),
        Service("/srv/ann", "own", "own.service", user="ann", enabled=True),
    )


def test_what_is_masked_or_manual_does_not() -> None:
    autostart = Autostart(enabled=("own.service",), masked=("own.service",), start_conf={"15/main": "manual"})
    assert [each.enabled for each in services([DEBIAN, UNIT], autostart)] == [False, False]


def test_what_was_not_read_is_not_known() -> None:
    assert [each.enabled for each in services([DEBIAN, UNIT], None)] == [None, None]

"""Why servers could not be read, as the very code says it that failed: known in a German report."""

from dataclasses import replace

import pytest

from core.errors import PghaulError
from core.facts import clusters, collect
from core.jobs import Job
from core.language import spoken
from core.migration.execution.status import SENTENCES, MoveStatus
from core.migration.fleet import mark_conflicts
from core.migration.model.execution import State
from core.migration.model.fleet import FleetMove
from core.migration.model.move import Move
from core.reports.recorded import compared, is_known, recorded
from core.servers.connection import connect
from core.servers.host_keys import Unattended
from core.servers.profiles import Nobody, Profile
from tests.core.migration.execution.builders import execution


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1", "db: 127.0.0.1 Port 1 lehnt die Verbindung ab"),
        ("no-such-host.invalid", "db: der Hostname no-such-host.invalid lässt sich nicht auflösen"),
    ],
)
def test_who_cannot_be_reached(address: str, said: str) -> None:
    with pytest.raises(PghaulError) as caught, connect(Profile("db", address, port=1), Nobody(), Job()):
        pass
    with spoken("de"):
        assert recorded(caught.value.message) == said


@pytest.mark.parametrize("trusted", [frozenset(), frozenset({"SHA256:other"})])
def test_whose_host_key_nobody_named(trusted: frozenset[str]) -> None:
    with pytest.raises(PghaulError) as caught:
        Unattended(trusted).accept_host_key("db", "192.0.2.1", "ssh-ed25519", "SHA256:abc")
    with spoken("de"):
        said = recorded(caught.value.message)
    assert said.startswith("db: der Hostschlüssel von 192.0.2.1 ist nicht bekannt")
    assert said.endswith("(ssh-ed25519 SHA256:abc)")


def _moves(targets: dict[str, str], over: str = "") -> list[FleetMove]:
    made = [FleetMove(Move(name, "old", "new", "/srv", target, "/", "/")) for name, target in targets.items()]
    return [replace(one, moved_at=execution().started_at if one.move.name == over else None) for one in made]


@pytest.mark.parametrize("over", ["", "a"])
@pytest.mark.parametrize("target", ["/srv/a", "/srv/a/b", "/srv"])
def test_which_move_has_the_target(target: str, over: str) -> None:
    (said,) = mark_conflicts(_moves({"a": "/srv/a", "b": target}, over))[1].stops
    with spoken("de"):
        assert is_known(said)
        assert " a" in recorded(said)


def test_how_both_stand() -> None:
    found = [SENTENCES[status] for status in MoveStatus]
    with spoken("de"):
        told = [recorded(each) for each in found]
        assert [each for each, said in zip(found, told, strict=True) if each == said] == []
        for stands, said in zip(found, told, strict=True):
            whole = recorded(f"Under way: execution 1 is {State.INTERRUPTED}. {stands}")
            assert whole == f"Im Gang: Ausführung 1, unterbrochen. {said}"


# What facts could not be read of: each section and gap is known in a German report.

SAME = {"pg_lsclusters"}
"""A program's name."""


@pytest.mark.parametrize("title", sorted({one.title for one in (*collect.HOST, *collect.host_sections("app"))} - SAME))
def test_a_section_of_a_host(title: str) -> None:
    with spoken("de"):
        assert compared(title) != title


@pytest.mark.parametrize("title", sorted({one.title for one in clusters.CLUSTER}))
def test_a_section_of_a_cluster(title: str) -> None:
    with spoken("de"):
        assert compared(f"{title} of /srv/pg").endswith("/srv/pg")
        assert compared(f"{title} of /srv/pg") != f"{title} of /srv/pg"


def test_each_of_several_is_said() -> None:
    with spoken("de"):
        said = recorded("dump, indexes, ANALYZE: not measured here, and estimated from other clusters.")
    assert said == "Dump, Indizes, ANALYZE: hier nicht gemessen und nach anderen Clustern geschätzt."

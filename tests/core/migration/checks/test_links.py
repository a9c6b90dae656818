"""Links of the data directory to single files: what they lead to must be on new, at the path that they name."""

import pytest

from core.facts.model import Link
from core.migration.checks import run_checks
from core.migration.model.checks import CheckResult, Status
from tests.core.migration.builders import DATA, TARGET, cluster, move, new, old, trial

CERTIFICATE = "/etc/ssl/server.crt"


def of(target: str, written: str | None = None, *, answer: str | None = "", goes_to: str = TARGET) -> CheckResult:
    """The check of a link to that file; `answer`: what new said of the file, None where it was not asked."""
    link = Link("server.crt", target, dangling=False, to_file=True, written=written or target)
    paths = () if answer is None else ((written if written and written.startswith("/") else target, answer),)
    facts = old(cluster(links=(link,))), new(trials=(trial(paths=paths),))
    return next(each for each in run_checks(move(target=goes_to), *facts) if each.id == "links")


def test_a_file_that_new_has() -> None:
    assert of(CERTIFICATE).status is Status.PASS
    assert of("/etc/ssl/real.crt", CERTIFICATE).status is Status.PASS


def test_a_file_that_new_does_not_have_stops_the_move() -> None:
    result = of(CERTIFICATE, answer="no such file or folder")
    assert (result.status, result.blocking) == (Status.BLOCKER, True)
    assert f"server.crt to {CERTIFICATE}" in result.message
    assert of(CERTIFICATE, answer=None).status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("target", "written", "goes_to", "status"),
    [
        (f"{DATA}/tls/a.crt", "tls/a.crt", TARGET, Status.PASS),
        (f"{DATA}/tls/a.crt", f"{DATA}/tls/a.crt", TARGET, Status.BLOCKER),
        (f"{DATA}/tls/a.crt", f"{DATA}/tls/a.crt", DATA, Status.PASS),
        ("/srv/pg/a.crt", "../a.crt", TARGET, Status.BLOCKER),
        ("/srv/pg/a.crt", "../a.crt", DATA, Status.PASS),
    ],
)
def test_a_link_that_would_lead_elsewhere_stops_the_move(
    target: str, written: str, goes_to: str, status: Status
) -> None:
    assert of(target, written, goes_to=goes_to).status is status


@pytest.mark.parametrize(
    ("folder", "status"),
    [
        ("/etc/ssl", Status.BLOCKER),
        ("/var/log/postgresql", Status.BLOCKER),
        ("/usr/lib/postgresql/15", Status.BLOCKER),
        ("/usr/local/pgsql/log", Status.PASS),
        ("/srv/pg/log", Status.PASS),
    ],
)
def test_a_link_into_the_system_is_no_target(folder: str, status: Status) -> None:
    log = Link("log", folder, dangling=False, size_bytes=1, files=1, written=folder)
    results = run_checks(move(), old(cluster(links=(log,))), new())
    assert next(each for each in results if each.id == "target-path").status is status

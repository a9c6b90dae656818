"""The trial cluster that new's own binaries make, and what becomes of it."""

import pytest

from core.errors import Cancelled
from core.facts.collect import collect
from core.facts.model import Facts
from core.jobs import CommandStarted, Event, Job
from core.migration.checks import run_checks
from core.migration.findings.binaries import RequiredBinaries
from core.migration.model.checks import Status
from core.migration.model.move import Move
from core.migration.probing.trial_cluster import asking, parse_binaries, with_known_trials, with_trial_cluster
from core.servers.connection import Server
from core.servers.shell import call
from tests.lab import clusters
from tests.lab.extra import PROGRAMS
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("clean_hosts")]
MOVE = Move("m", "old", "new", clusters.DATA, clusters.NEW_DATA, "/srv/pg", "/srv/pg")


@pytest.fixture(scope="module")
def old(old_server: Server) -> Facts:
    """The facts of the old server, which no test changes."""
    return collect(old_server, Job(), folders=[MOVE.cluster])


@pytest.fixture(scope="module")
def bare(new_server: Server) -> Facts:
    """Those of the new server, without a trial cluster."""
    return collect(new_server, Job())


def test_new_binaries_show_how_they_were_built(old: Facts, bare: Facts, new_server: Server) -> None:
    new = with_trial_cluster(new_server, bare, "15", Job(), of=old.cluster(MOVE.cluster))
    (trial,) = new.trials
    assert trial.binaries is not None
    assert all(said == "" for _, said in trial.binaries.settings)
    assert dict(trial.binaries.extensions)["plpgsql"] == ("1.0",)
    assert new.clusters == bare.clusters
    assert trial.version == "15.18"
    assert trial.control is not None
    assert trial.control.block_size == 8192
    layout = {result.id: result for result in run_checks(MOVE, old, new)}["control-data"]
    assert layout.status is Status.PASS
    assert "trial cluster of 15.18" in layout.message
    assert with_known_trials(bare, new).trials == new.trials


def test_without_binaries_of_the_series_the_reason_is_said(old: Facts, bare: Facts, new_server: Server) -> None:
    new = with_trial_cluster(new_server, bare, "9.6", Job())
    assert (new.clusters, new.trials) == (bare.clusters, ())
    assert new.gaps[-1].subject == "trial cluster"
    layout = {result.id: result for result in run_checks(MOVE, old, new)}["control-data"]
    assert layout.status is Status.UNKNOWN
    assert new.gaps[-1].reason in layout.message


def test_a_cancelled_trial_leaves_nothing(bare: Facts, new_server: Server) -> None:
    job: Job

    def cancel_at_start(event: Event) -> None:
        if isinstance(event, CommandStarted):
            job.cancel()

    job = Job(cancel_at_start)
    with pytest.raises(Cancelled):
        with_trial_cluster(new_server, bare, "15", job)


def test_no_library_is_loaded_that_another_account_could_have_written(lab: Lab, new_server: Server) -> None:
    """It would run as the owner of the cluster: one in a folder of anybody's is named, the same of root's is loaded."""
    lab.new.exec("sh", "-c", "mkdir -m 777 /srv/open && mkdir -m 755 /srv/own && mkdir /srv/own/plugins")
    try:
        lab.new.exec("sh", "-c", f"cp $({PROGRAMS['new']}/pg_config --pkglibdir)/pg_trgm.so /srv/own/")
        lab.new.exec("cp", "/srv/own/pg_trgm.so", "/srv/open/")
        lab.new.exec("ln", "-s", "../../open/pg_trgm.so", "/srv/own/plugins/led.so")
        theirs = ("$libdir/../../../../../srv/open/pg_trgm.so", "/srv/open/pg_trgm.so", "/srv/own/plugins/led")
        needs = RequiredBinaries(
            libraries=("$libdir/nix", "$libdir/pg_trgm", "/srv/own/pg_trgm", *theirs), preloads=("/srv/open/pg_trgm",)
        )
        shell = call("trial_cluster", f"{PROGRAMS['new']}:/usr/bin:/bin", *asking(needs))
        found = parse_binaries(new_server.run(shell, Job(), user="postgres").stdout.partition("binaries\n")[2], needs)
    finally:
        lab.new.exec("rm", "-rf", "/srv/open", "/srv/own")
    said = dict(found.libraries)
    assert said.pop("$libdir/nix").startswith("could not access file")
    assert said == {"$libdir/pg_trgm": "", "/srv/own/pg_trgm": ""}
    assert {name for name, _ in found.unverified} == {*theirs, "/srv/open/pg_trgm"}
    assert found.extensions

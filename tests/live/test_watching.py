"""A watch on old and the longer write to new, between two real hosts: what they see, and that nothing of them stays."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from core import units
from core.api.migration import begin_watch, collect_watch, make_estimate, probe_sustained_write, watch_status
from core.api.session import Session
from core.errors import InputError
from core.history.store import Store
from core.jobs import Event, Job, Note
from core.migration.model.move import Move
from core.migration.model.probe import Probe, Quantity
from core.servers import remote_jobs
from core.servers.profiles import Profile
from tests.lab import clusters
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.lab.machine import wait_until

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("clean_hosts")]
MOVE = Move("watched", "old", "new", clusters.DATA, clusters.NEW_DATA, "/srv/pg", "/srv/pg")
SECONDS = 12.0


@pytest.fixture
def session(tmp_path: Path, asker: LabAsker, old_profile: Profile, new_profile: Profile) -> Iterator[Session]:
    with Store.open(tmp_path) as store, Session(store, asker) as made:
        store.add_profile(old_profile)
        store.add_profile(new_profile)
        store.add_move(MOVE)
        yield made


def write_on_old(lab: Lab) -> None:
    """Some megabytes of WAL, and a file that is written to; nothing of it stays."""
    made = "create table watched as select generate_series(1, 300000) as n; checkpoint; drop table watched;"
    lab.old.exec(f"{clusters.PREFIX}/bin/psql", "-X", "-q", "-h", "/tmp", "-d", "postgres", user="postgres", input=made)


def changes(session: Session) -> Probe | None:
    return next((each for each in session.store.probes("watched") if each.quantity is Quantity.CHANGES), None)


@pytest.mark.long
def test_a_watch_goes_on_without_a_connection_and_the_next_estimate_takes_what_it_saw(
    lab: Lab, session: Session
) -> None:
    notes: list[Event] = []
    begun = begin_watch(session, "watched", SECONDS, Job(notes.append))
    ahead = next(each.text for each in notes if isinstance(each, Note) and "is watched for" in each.text)
    assert "watch_changes" in ahead
    assert "continues without this workstation" in ahead
    assert begun.running
    with pytest.raises(InputError, match=r"\bwatched\b"):
        begin_watch(session, "watched", SECONDS, Job())
    session.close()
    write_on_old(lab)
    old = session.server("old", Job())
    wait_until(lambda: not remote_jobs.state(old, begun.job, Job()).running, "the watch's end", seconds=60)
    told = make_estimate(session, "watched", Job()).method("warm-copy")
    assert told is not None
    seen = changes(session)
    assert seen is not None
    watch = f"In the watch of {units.duration(seen.seconds)}, "
    assert any(each.startswith(watch) for each in told.assumptions), told.assumptions
    assert seen.bytes > 5_000_000
    assert seen.seconds == pytest.approx(SECONDS, abs=3)
    assert remote_jobs.find(old, Job()) == ()
    assert not lab.old.exec("sh", "-c", "ls /var/tmp | grep pghaul-job", check=False).stdout
    with pytest.raises(InputError, match=r"\bwatched\b.* old\b"):
        watch_status(session, "watched", Job())


def test_a_watch_is_looked_at_collected_and_ended_before_its_time(lab: Lab, session: Session) -> None:
    begin_watch(session, "watched", 3600.0, Job())
    session.close()  # it goes on without a connection
    assert make_estimate(session, "watched", Job()).methods, "its time is not over: nobody asks old"
    assert changes(session) is None
    assert watch_status(session, "watched", Job()).running
    ended = collect_watch(session, "watched", Job(), end=True)
    assert remote_jobs.find(session.server("old", Job()), Job()) == ()
    assert not lab.old.exec("pgrep", "-f", ended.job.folder, check=False).stdout
    assert session.store.uncollected_watch("watched") is None


def test_a_watch_that_old_has_lost_is_ended_and_asked_for_once(session: Session) -> None:
    watch = begin_watch(session, "watched", 3600.0, Job())
    collect = partial(collect_watch, session, "watched", Job())
    with pytest.raises(InputError, match="has made fewer than two observations"):
        collect()
    assert session.store.uncollected_watch("watched") is not None
    remote_jobs.kill(session.server("old", Job()), watch.job, Job())
    remote_jobs.remove(session.server("old", Job()), watch.job, Job())
    with pytest.raises(InputError, match=r"\bwatched\b.* old\b"):
        collect()
    assert session.store.uncollected_watch("watched") is None
    assert changes(session) is None


@pytest.mark.long
def test_the_longer_write_finds_the_rate_of_the_disk_and_leaves_nothing(lab: Lab, session: Session) -> None:
    lab.cap_disk("new", write_bps=60_000_000)
    notes: list[Event] = []
    taken = probe_sustained_write(session, "watched", 10.0, Job(notes.append))
    assert any(isinstance(each, Note) and "one file of random bytes is written" in each.text for each in notes)
    assert taken.quantity is Quantity.SUSTAINED
    assert taken.bytes_per_second < 75e6
    assert session.store.probes("watched")[-1] == taken

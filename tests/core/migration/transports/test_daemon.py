"""The rsync daemon of a copy: what stands in its commands and in a plan, and what they refuse, by a real shell."""

import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.migration.estimate import estimate, spec_of
from core.migration.findings.data_roots import DataRoot
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from core.migration.plan import make_plan
from core.migration.transports import daemon, passes
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell
from tests.core.migration.builders import NOW, cluster, move, new, old, probe, profile

NO_RSYNC = pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed here")
DAEMON = Transport(compression="lz4", streams=2, route=Route.DAEMON)


@pytest.fixture
def channel(tmp_path: Path) -> CopyChannel:
    folder, targets = str(tmp_path / "way"), (("data", "/new it's"), ("16400", "/space"))
    Path(folder).mkdir()
    sources = ("10.0.0.1", "fd00::1")
    return CopyChannel(
        f"test-{tmp_path.name}", folder, "127.0.0.1", 22, "dba", "postgres", (), sources, targets, DAEMON, (3, 2, 7)
    )


def run(shell: Shell, given: str = "") -> subprocess.CompletedProcess[str]:
    words = ["dash", "-c", shell.text]
    return subprocess.run(words, input=given, capture_output=True, text=True, check=False, timeout=30)


def sample(transport: Transport, rate: float) -> Probe:
    return replace(probe(Quantity.END_TO_END, rate), transport=transport, began_at=NOW)


def plan(probes: Sequence[Probe], *, plain_text: bool) -> Plan:
    made = cluster(running=True)
    undertaking = move(cluster=made.data_directory, plain_text=plain_text)
    facts = old(made), new()
    estimated = estimate(spec_of(undertaking, facts[0], probes))
    return make_plan(undertaking, profile("old"), profile("new"), *facts, (), probes, estimated)


PROBES = [sample(Transport(), 100e6), sample(DAEMON, 300e6)]


def test_the_daemon_is_taken_where_the_move_allows_it_and_it_is_faster() -> None:
    made = plan(PROBES, plain_text=True)
    assert made.transport == DAEMON.name == "rsync daemon, lz4, 2 streams"
    assert "rsync over ssh, no compression, one stream 100 MB/s" in made.why
    assert "warning: the cluster's bytes cross the network unencrypted, as the move allows" in made.warnings
    titles = [step.title for step in made.steps]
    opened = [titles.index(title) for title in ("pin the host keys of new", "start an rsync daemon for this copy")]
    assert opened == sorted(opened)
    closes = [step.title for step in made.steps if step.closes]
    assert closes[:3] == ["end the rsync daemon", "take the key off new", "remove the key from old"]
    assert [step.title for step in made.way_back][1:5] == closes
    for title in ("make a password for the rsync daemon", "start an rsync daemon for this copy"):
        step = made.steps[titles.index(title)]
        assert step.renewed
        assert step.rehearsed
    assert made.steps[titles.index("make a password for the rsync daemon")].private
    assert titles.index("reach the rsync daemon from old") < titles.index("warm pass 1 of 2: /srv/pg/data")


def test_without_consent_no_probe_chooses_it() -> None:
    made = plan(PROBES, plain_text=False)
    assert made.transport == Transport().name
    assert not any("daemon" in step.call for step in made.steps)
    assert not any("unencrypted" in warning for warning in made.warnings)


def test_what_is_about_as_fast_over_ssh_goes_over_ssh() -> None:
    assert plan([sample(Transport(), 295e6), PROBES[1]], plain_text=True).transport == Transport().name


def test_contents_alone_go_by_the_daemon(channel: CopyChannel) -> None:
    root = DataRoot("16400", "", "/old space", "/space", None, None)
    for made in (passes.warm_pass(channel, root), passes.cold_pass(channel, root)):
        assert made.text.count("pghaul@127.0.0.1::1/") == 4
        assert made.text.count("--files-from=") == 4
        assert made.text.count("--rsync-path=") == 1
    single = replace(channel, transport=Transport(route=Route.DAEMON))
    assert passes.cold_pass(single, root).text.count("--files-from=") == 2
    assert "::" not in passes.deletions(channel, root).text + passes.rest_pass(channel, root).text
    v6 = replace(channel, address="fd00::2")
    assert "pghaul@[fd00::2]::0/" in daemon.contents(v6, "data", "./")


def test_the_settings_let_old_alone_write_into_the_places_alone(channel: CopyChannel) -> None:
    text = daemon.start(channel).text
    for words in ("hosts allow = 10.0.0.1 fd00::1", "write only = yes", "auth users = pghaul", "munge symlinks = yes"):
        assert words in text
    assert text.count("path = ") == 2
    assert "/new it" not in text.partition("rsyncd.conf")[2].partition("auth users")[0]


@pytest.mark.parametrize("given", ["", "secret", "secret test", "secret another-marker\n"])
def test_a_password_that_is_cut_off_starts_nothing(channel: CopyChannel, given: str) -> None:
    done = run(daemon.start(channel), given)
    assert done.returncode == 1
    assert "the password is cut off: nothing was started" in done.stderr
    assert not Path(f"{channel.folder}-daemon").exists()


def test_a_password_is_private_and_another_each_time(channel: CopyChannel) -> None:
    first, second = run(daemon.make_password(channel)), run(daemon.make_password(channel))
    password, mark = first.stdout.split()
    assert mark == channel.marker
    assert len(password) == 48
    assert password != second.stdout.split()[0]
    kept = Path(channel.folder, "password")
    assert kept.read_text() == second.stdout.split()[0]
    assert kept.stat().st_mode & 0o077 == 0


@NO_RSYNC
def test_a_port_that_nobody_answers_is_named(channel: CopyChannel) -> None:
    run(daemon.make_password(channel))
    done = run(daemon.reach(channel), f"1 {channel.marker}\n")
    assert done.returncode == 10
    assert done.stderr.splitlines()[-1] == (
        "port 1 of 127.0.0.1 is not reached from old: is there a firewall between them?"
    )


@NO_RSYNC
@pytest.mark.parametrize("end", ["time", "folder", "step"])
def test_nothing_listens_for_ever(channel: CopyChannel, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends when nothing came for long, when its folder is taken away, and by its step."""
    if end == "time":
        monkeypatch.setitem(daemon.IDLE_SECONDS, "copy", 1)
    folder = Path(f"{channel.folder}-daemon")
    started = run(daemon.start(channel), f"secret {channel.marker}\n")
    port, mark = started.stdout.split()
    assert (mark, started.stderr) == (channel.marker, "")
    assert end == "time" or answers(int(port))
    while end == "folder" and folder.exists():  # what it logs meanwhile is in the way
        shutil.rmtree(folder, ignore_errors=True)
    if end == "step":
        assert run(daemon.end(channel)).returncode == 0
    deadline = time.monotonic() + 20
    while (answers(int(port)) or folder.exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not answers(int(port))
    assert not folder.exists()


def answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def test_to_end_what_does_not_run_is_no_error(channel: CopyChannel) -> None:
    folder = Path(f"{channel.folder}-daemon")
    folder.mkdir()
    assert run(daemon.end(channel)).returncode == 0
    assert not folder.exists()
    assert run(daemon.end(channel)).returncode == 0


def test_what_ssh_carries_bounds_no_estimate_of_a_copy_by_another_route() -> None:
    links = [probe(Quantity.READ, 2e9), probe(Quantity.WIRE, 1.2e9), probe(Quantity.WRITE, 2e9)]
    probes = [*links, probe(Quantity.SSH, 90e6), sample(Transport(), 85e6), sample(Transport(route=Route.DAEMON), 1e9)]
    made = estimate(spec_of(move(), old(), probes)).method("cold-copy")
    assert made is not None
    assert made.warnings == ()
    copied = next(stage for stage in made.stages if stage.name == "copy")
    assert copied.bound_by == "wire"
    assert copied.seconds.likely == pytest.approx(10e9 / 1e9)

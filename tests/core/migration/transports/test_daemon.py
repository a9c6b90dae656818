"""The rsync daemon of a copy: what stands in its commands and in a plan, and what they refuse, by a real shell."""

import os
import shlex
import shutil
import socket
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.migration.estimate import estimate, spec_of
from core.migration.findings.data_roots import DataRoot
from core.migration.model.plan import Plan, functions_file
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from core.migration.plan import make_plan
from core.migration.transports import daemon, passes
from core.migration.transports.copy_channel import CopyChannel
from core.servers.functions import library
from core.servers.shell import Shell
from tests.core.migration.builders import NOW, cluster, move, new, old, probe, profile
from tests.core.migration.running import asked_of_rsync, run

DAEMON = Transport(compression="lz4", streams=2, route=Route.DAEMON)


@pytest.fixture
def channel(tmp_path: Path) -> CopyChannel:
    folder, targets = str(tmp_path / "way"), (("data", "/new it's"), ("16400", "/space"))
    Path(folder).mkdir()
    sources = ("10.0.0.1", "fd00::1")
    marker = f"test-{os.getpid()}-{tmp_path.name}"
    return CopyChannel(marker, folder, "127.0.0.1", 22, "dba", "postgres", (), sources, targets, DAEMON, (3, 2, 7))


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


def test_contents_alone_go_by_the_daemon(channel: CopyChannel, tmp_path: Path) -> None:
    root = DataRoot("16400", "", str(tmp_path / "old space"), "/space", None, None)
    Path(root.source).mkdir()
    Path(channel.folder, "port").write_text("8731\n")

    def asked(of: CopyChannel, *made: Shell) -> str:
        lines = [words for each in made for words in asked_of_rsync(passes.ready(of, each), tmp_path)]
        return "\n".join(" ".join(words) for words in lines)

    for made in (passes.warm_pass(root), passes.cold_pass(root)):
        text = asked(channel, made)
        assert text.count("--port=8731") == text.count("pghaul@127.0.0.1::16400/") == 4
        assert text.count("--files-from=") == 4
        assert text.count("--rsync-path=") == 1
    single = replace(channel, transport=Transport(route=Route.DAEMON))
    assert asked(single, passes.cold_pass(root)).count("--files-from=") == 2
    assert "::" not in asked(channel, passes.deletions(root), passes.rest_pass(root))
    assert passes.settings(replace(channel, address="fd00::2"))["copy_daemon"] == "pghaul@[fd00::2]"


def test_it_is_told_the_addresses_of_old_and_the_folders_of_new(channel: CopyChannel) -> None:
    words = shlex.split(daemon.start(channel).text)
    assert words[6:] == ["127.0.0.1", "259200", "10.0.0.1 fd00::1", "data", "/new it's", "16400", "/space"]
    assert shlex.split(daemon.start(replace(channel, address="new", purpose="probe")).text)[6:8] == ["-", "600"]


@pytest.mark.parametrize("given", ["", "secret", "secret test", "secret another-marker\n"])
def test_a_password_that_is_cut_off_starts_nothing(channel: CopyChannel, given: str) -> None:
    done = run(daemon.start(channel), given=given)
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


@pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed here")
@pytest.mark.parametrize("end", ["folder", "step"])
def test_from_the_password_to_the_end(channel: CopyChannel, end: str, tmp_path: Path) -> None:
    """Old reaches it, and nothing listens when its folder was taken away, or behind its step."""
    channel = replace(channel, targets=(("data", str(tmp_path / "new it's")),), sources=("127.0.0.1",))
    Path(channel.targets[0][1]).mkdir()
    password = run(daemon.make_password(channel)).stdout
    folder, kept = Path(f"{channel.folder}-daemon"), Path(f"{channel.kept}-daemon")
    functions = functions_file(library(["keep_daemon"]))
    assert run(daemon.keep_functions(channel), given=functions).returncode == 0
    started = run(daemon.start(channel), given=password)
    port, mark = started.stdout.split()
    assert (mark, started.stderr) == (channel.marker, "")
    assert answers(int(port))
    assert run(daemon.reach(channel), given=started.stdout).returncode == 0
    while end == "folder" and folder.exists():  # what it logs meanwhile is in the way
        shutil.rmtree(folder, ignore_errors=True)
    deadline = time.monotonic() + 20
    while end == "folder" and answers(int(port)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert answers(int(port)) == (end == "step")
    assert run(daemon.end(channel)).returncode == 0
    assert not answers(int(port))
    assert not folder.exists()
    assert not kept.exists()


def answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def test_what_ssh_carries_bounds_no_estimate_of_a_copy_by_another_route() -> None:
    links = [probe(Quantity.READ, 2e9), probe(Quantity.WIRE, 1.2e9), probe(Quantity.WRITE, 2e9)]
    probes = [*links, probe(Quantity.SSH, 90e6), sample(Transport(), 85e6), sample(Transport(route=Route.DAEMON), 1e9)]
    made = estimate(spec_of(move(), old(), probes)).method("cold-copy")
    assert made is not None
    assert made.warnings == ()
    copied = next(stage for stage in made.stages if stage.name == "copy")
    assert copied.bound_by == "wire"
    assert copied.seconds.likely == pytest.approx(10e9 / 1e9)

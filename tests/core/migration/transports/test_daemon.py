"""The rsync daemon of a copy: what stands in its commands and in a plan, and what they refuse, by a real shell."""

import os
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.migration.estimate import estimate, spec_of
from core.migration.findings.data_roots import DataRoot
from core.migration.model import step_ids
from core.migration.model.plan import Plan, functions_file
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from core.migration.plan import make_plan
from core.migration.transports import daemon, passes
from core.migration.transports.copy_channel import CopyChannel
from core.servers.functions import library
from core.servers.shell import Shell
from tests.core.migration.builders import NOW, cluster, move, new, old, probe, profile
from tests.core.migration.plan.plans import step
from tests.core.migration.running import asked_of_rsync, program, run

NO_RSYNC = pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed here")
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
    return make_plan(undertaking, profile("old"), profile("new"), *facts, (), probes, estimated, seed="0123")


PROBES = [sample(Transport(), 100e6), sample(DAEMON, 300e6)]


def test_the_daemon_is_taken_where_the_move_allows_it_and_it_is_faster() -> None:
    made = plan(PROBES, plain_text=True)
    assert made.transport == DAEMON.name == "rsync daemon, lz4, 2 streams"
    assert "rsync over ssh, no compression, one stream (100 MB/s)" in made.why
    assert len(made.warnings) == len(plan(PROBES[:1], plain_text=True).warnings) + 1
    names = [each.id for each in made.steps]
    assert names.index("pin-host-keys") < names.index(step_ids.START_DAEMON)
    closes = [(each.side, each.id) for each in made.steps if each.resume.closes_channel]
    assert closes[:3] == [("new", "stop-daemon"), ("new", "remove-key-new"), ("old", "remove-key-old")]
    assert [(each.side, each.id) for each in made.way_back if each.resume.closes_channel] == closes
    for name in (step_ids.CREATE_PASSWORD, step_ids.START_DAEMON):
        assert step(made, name).resume.opens_channel
        assert step(made, name).in_rehearsal
    assert step(made, step_ids.CREATE_PASSWORD).private
    assert names.index(step_ids.CHECK_DAEMON) < names.index(step_ids.of_part(step_ids.PRE_COPY, 1, "data"))


def test_without_consent_no_probe_chooses_it() -> None:
    made = plan(PROBES, plain_text=False)
    assert made.transport == Transport().name
    assert not any("daemon" in each.call for each in made.steps)
    assert not any("unencrypted" in str(warning) for warning in made.warnings)


def test_what_is_about_as_fast_over_ssh_goes_over_ssh() -> None:
    assert plan([sample(Transport(), 295e6), PROBES[1]], plain_text=True).transport == Transport().name


def test_contents_alone_go_by_the_daemon(channel: CopyChannel, tmp_path: Path) -> None:
    root = DataRoot("16400", "", str(tmp_path / "old space"), "/space", None, None)
    Path(root.source).mkdir()
    Path(channel.folder, "port").write_text("8731\n")
    Path(channel.folder, "removed-16400").write_text("0\n")

    def asked(of: CopyChannel, *made: Shell) -> str:
        lines = [words for each in made for words in asked_of_rsync(passes.prepare_call(of, each), tmp_path)]
        return "\n".join(" ".join(words) for words in lines)

    for made in (passes.pre_copy_pass(root), passes.full_pass(root)):
        text = asked(channel, made)
        assert text.count("--port=8731") == text.count("pghaul@127.0.0.1::16400/") == 4
        assert text.count("--files-from=") == 4
        assert text.count("--rsync-path=") == 1
    single = replace(channel, transport=Transport(route=Route.DAEMON))
    assert asked(single, passes.full_pass(root)).count("--files-from=") == 2
    assert "::" not in asked(channel, passes.list_deletions(root), passes.rest_pass(root))
    assert passes.copy_settings(replace(channel, address="fd00::2"))["copy_daemon"] == "pghaul@[fd00::2]"


def test_it_is_told_the_addresses_of_old_and_the_folders_of_new(channel: CopyChannel) -> None:
    words = shlex.split(daemon.start_daemon(channel).text)
    assert words[4:6] == ["8730", "8829"]
    assert words[6:] == ["127.0.0.1", "259200", "10.0.0.1 fd00::1", "data", "/new it's", "16400", "/space"]
    assert shlex.split(daemon.start_daemon(replace(channel, address="new", purpose="probe")).text)[6:8] == ["-", "600"]


@pytest.mark.parametrize("given", ["", "secret", "secret test", "secret another-marker\n"])
def test_a_password_that_is_cut_off_starts_nothing(channel: CopyChannel, given: str) -> None:
    done = run(daemon.start_daemon(channel), given=given)
    assert done.returncode == 1
    assert "the password is incomplete: nothing was started" in done.stderr
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


@pytest.fixture
def here(channel: CopyChannel, tmp_path: Path) -> Iterator[CopyChannel]:
    """The channel of a copy within this host."""
    made = replace(channel, targets=(("data", str(tmp_path / "new it's")),), sources=("127.0.0.1",))
    Path(made.targets[0][1]).mkdir()
    Path(made.targets[0][1]).chmod(0o777)  # a daemon that root begins becomes nobody
    yield made
    assert run(daemon.stop_daemon(made)).returncode == 0


def start(channel: CopyChannel, programs: Path | None = None) -> str:
    """The daemon, begun as a plan begins it; its port and the marker."""
    password = run(daemon.make_password(channel)).stdout
    functions = functions_file(library(["keep_daemon"]))
    assert run(daemon.install_keeper_functions(channel), given=functions).returncode == 0
    started = run(daemon.start_daemon(channel), given=password, programs=programs)
    assert started.stderr == ""
    assert started.stdout.split()[1] == channel.marker
    return started.stdout


@pytest.mark.slow
@NO_RSYNC
@pytest.mark.parametrize("end", ["folder", "step"])
def test_from_the_password_to_the_end(here: CopyChannel, end: str) -> None:
    """Old reaches it, and nothing listens when its folder was taken away, or behind its step."""
    folder, kept = Path(f"{here.folder}-daemon"), Path(f"{here.functions_folder}-daemon")
    started = start(here)
    port = started.split()[0]
    assert answers(int(port))
    assert run(daemon.check_daemon_port(here), given=started).returncode == 0
    while end == "folder" and folder.exists():  # what it logs meanwhile is in the way
        shutil.rmtree(folder, ignore_errors=True)
    deadline = time.monotonic() + 20
    while end == "folder" and answers(int(port)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert answers(int(port)) == (end == "step")
    assert run(daemon.stop_daemon(here)).returncode == 0
    assert not answers(int(port))
    assert not folder.exists()
    assert not kept.exists()


@pytest.mark.slow
@NO_RSYNC
def test_an_address_that_is_none_of_its_own_is_not_insisted_on(here: CopyChannel) -> None:
    port, _ = start(replace(here, address="192.0.2.1")).split()
    assert answers(int(port))


@pytest.mark.slow
@NO_RSYNC
def test_what_arrives_is_flushed_while_more_arrives(here: CopyChannel, tmp_path: Path) -> None:
    flushed, source = tmp_path / "flushed", tmp_path / "old"
    told = f'[ "$1" = --help ] && echo --file-system || echo "$3" >>{shlex.quote(str(flushed))}'
    program(tmp_path / "programs/sync", told)
    source.mkdir()
    source.joinpath("file").write_bytes(os.urandom(600_000))
    port, _ = start(here, tmp_path / "programs").split()
    words = [f"--port={port}", f"--password-file={here.folder}/password", "--bwlimit=200", "-r", f"{source}/"]
    with subprocess.Popen(["rsync", *words, "pghaul@127.0.0.1::data/"]) as sending:
        deadline = time.monotonic() + 20
        while not flushed.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert sending.poll() is None
    assert sending.returncode == 0
    assert Path(here.targets[0][1], "file").read_bytes() == source.joinpath("file").read_bytes()
    assert set(flushed.read_text().splitlines()) == {f"{here.folder}-daemon/places/data/"}


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
    assert copied.seconds.likely < 0.2 * 10e9 / 85e6

"""Probes, estimate and plan between the two real hosts, on a cluster whose folder has the worst of names."""

import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from benchmarks.by_hand import Setting, cap, copy_by_hand, copy_seconds, run_step
from core.errors import Cancelled, PghaulError, UnreachableError
from core.facts.collect import collect
from core.facts.model import Facts
from core.jobs import CommandEnded, CommandStarted, Event, Job, Note
from core.migration.checks import run_checks
from core.migration.estimate import estimate, spec_of
from core.migration.model import step_ids
from core.migration.model.checks import CheckResult, Status
from core.migration.model.move import Hook, Move
from core.migration.model.plan import Plan, Step
from core.migration.model.probe import OF_A_DUMP, Probe, Quantity
from core.migration.model.table_sample import parse_copied_tables, parse_loaded_tables
from core.migration.model.transport import PLAIN, Route
from core.migration.plan import make_plan
from core.migration.probing import sampling
from core.migration.probing.probes import probe
from core.migration.probing.proportion import Bounds
from core.migration.probing.timing import Timing
from core.migration.transports.choice import choose_transport
from core.migration.transports.copy_channel import CopyChannel
from core.servers.connection import Server, connect
from core.servers.profiles import Profile, Rights
from core.servers.shell import Shell
from tests.lab.clusters import PREFIX
from tests.lab.fixtures import LabAsker
from tests.lab.footprint import differences, footprint
from tests.lab.hosts import Host
from tests.lab.lab import Lab

pytestmark = pytest.mark.lab

ODD = '/srv/pg/it\'s $(touch x) "ö"'
SPACE = '/srv/pg/space $(touch x) "ö"'  # PostgreSQL takes no single quote here
TARGET = '/srv/pg/new $(touch x) it\'s "ö"'
NEW_SPACE = f"{SPACE} of new"
PORT = 5499
MOVE = Move('it\'s $(touch x) "ö"', "old", "new", ODD, TARGET, "/srv/pg", "/srv/pg", {SPACE: NEW_SPACE})


class Journal:
    """Keeps what was recorded."""

    def __init__(self) -> None:
        self.probes: list[tuple[str, Probe]] = []

    def probe_taken(self, move: str, probe: Probe) -> None:
        self.probes.append((move, probe))


def pg_ctl(host: Host, *words: str) -> None:
    host.exec("env", f"PGDATA={ODD}", f"{PREFIX}/bin/pg_ctl", "-w", "-s", *words, user="postgres")


def sql(host: Host, text: str) -> str:
    words = [
        "env",
        "PGHOST=/tmp",
        f"PGPORT={PORT}",
        f"{PREFIX}/bin/psql",
        "-X",
        "-q",
        "-A",
        "-t",
        "-d",
        "postgres",
        "-v",
        "ON_ERROR_STOP=1",
    ]
    return host.exec(*words, "-v", f"space={SPACE}", user="postgres", input=text).stdout.strip()


@pytest.fixture(scope="module")
def odd(lab: Lab) -> Iterator[Host]:
    """A running cluster of some 230 MB and a tablespace beside it, on old."""
    old = lab.old
    old.exec("install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", "--", ODD, SPACE)
    initdb = f"{PREFIX}/bin/initdb"
    old.exec("env", f"PGDATA={ODD}", initdb, "-U", "postgres", "-N", "--locale=C.UTF-8", user="postgres")
    settings = f"port = {PORT}\nunix_socket_directories = '/tmp'\nlisten_addresses = ''\nautovacuum = off\n"
    old.exec("tee", "-a", f"{ODD}/postgresql.conf", input=settings, user="postgres")
    pg_ctl(old, "-l", "/dev/null", "start")
    sql(
        old,
        "CREATE TABLESPACE odd LOCATION :'space';\n"
        "CREATE UNLOGGED TABLE big AS SELECT n, repeat(md5(n::text), 25) AS note FROM generate_series(1, 190000) n;\n"
        "CREATE INDEX ON big (n);\n"
        "CREATE TABLE small TABLESPACE odd AS SELECT n FROM generate_series(1, 1000) n;\n"
        "CHECKPOINT;",
    )
    yield old
    old.exec("env", f"PGDATA={ODD}", f"{PREFIX}/bin/pg_ctl", "-m", "immediate", "stop", user="postgres", check=False)
    old.exec("rm", "-rf", "--", ODD, SPACE)


@pytest.fixture
def stopped(odd: Host) -> Iterator[Host]:
    """The same, stopped while the test runs."""
    pg_ctl(odd, "-m", "fast", "stop")
    yield odd
    pg_ctl(odd, "-l", "/dev/null", "start")


@pytest.fixture(scope="module")
def known() -> dict[str, tuple[Facts, Facts]]:
    """The facts so far, by the process of the cluster that they were read of."""
    return {}


@pytest.fixture
def both_facts(
    odd: Host, known: dict[str, tuple[Facts, Facts]], old_server: Server, new_server: Server
) -> tuple[Facts, Facts]:
    """Read again where the cluster was started anew."""
    started = odd.exec("cat", "--", f"{ODD}/postmaster.pid").stdout
    if started not in known:
        known[started] = collect(old_server, Job(), folders=[ODD]), collect(new_server, Job(), folders=[TARGET])
    return known[started]


def planned(old: Server, new: Server, facts: tuple[Facts, Facts]) -> Plan:
    estimated = estimate(spec_of(MOVE, facts[0], []))
    return make_plan(MOVE, old.profile, new.profile, *facts, run_checks(MOVE, *facts), [], estimated, seed="0123")


def test_checks_on_real_facts(both_facts: tuple[Facts, Facts]) -> None:
    results = {result.id: result for result in run_checks(MOVE, *both_facts)}
    standing = {name: each.status for name, each in results.items() if each.status is not Status.PASS}
    assert Status.BLOCKER not in standing.values(), results
    assert results["old-stopped"].status is results["owner-number"].status is Status.PASS
    assert standing["control-data"] is Status.UNKNOWN
    assert (results["minor"].old, "15.18" in results["minor"].new) == ("15.5", True)
    assert "/srv/pg" in results["space"].new


@pytest.mark.long
def test_the_plans_commands_move_a_running_cluster(
    lab: Lab,
    odd: Host,
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
) -> None:
    """Rows that are written after the first warm pass, some within the second in which it read them, arrive too."""
    plan = planned(old_server, new_server, both_facts)
    outputs: dict[str, str] = {}
    footprints, before = {host.name: footprint(host) for host in (lab.old, lab.new)}, ""

    def run(step: Step) -> None:
        if step.side is not None:
            outputs[step.id] = run_step(old_server, new_server, plan, step, outputs.get(step.reads, ""))

    try:
        for step in plan.steps:
            if step.id == Hook.STOP_APPLICATIONS:
                sql(odd, "UPDATE big SET note = reverse(note) WHERE n % 1000 = 0; DELETE FROM small WHERE n > 900;")
                sql(odd, "CREATE TABLE late AS SELECT 'late' AS note; DROP TABLE IF EXISTS gone;")
                before = sql(odd, SUMS)
            run(step)
            if step.id == step_ids.QUERY_NEW:
                private = lab.new.exec("cat", f"{TARGET}/pghaul-fence/socket", user="postgres").stdout.strip()
                assert asked(lab.new, private) == before
        agreeing = [step for step in plan.steps if step.verification.equals]
        assert {outputs[step.id] == outputs[step.verification.equals] for step in agreeing} == {True}
        assert asked(lab.new) == before
        assert lab.new.exec("stat", "-c", "%U %a", "--", TARGET, NEW_SPACE).stdout == "postgres 700\npostgres 700\n"
        assert lab.new.exec("find", "/", "-xdev", "-name", "x", "-newer", "/proc/1", "-type", "f").stdout == ""
    finally:
        give_up(lab, plan)
        for step in plan.way_back:
            run(step)
        undo(lab, plan, old_server, new_server)
    for host in (lab.old, lab.new):
        left = differences(footprints[host.name], footprint(host))
        assert [line for line in left if ODD not in line and SPACE not in line and "processes" not in line] == []


SUMS = "SELECT count(*), sum(hashtext(note)::bigint) FROM big; SELECT count(*), sum(n) FROM small; SELECT * FROM late;"


def asked(new: Host, sockets: str = "/tmp") -> str:
    words = ["env", f"PGHOST={sockets}", f"PGPORT={PORT}", "psql", "-X", "-q", "-A", "-t", "-d", "postgres"]
    return new.exec(*words, user="postgres", input=SUMS).stdout.strip()


def number(plan: Plan, name: str) -> int:
    return next(step.number for step in plan.steps if step.id == name)


def give_up(lab: Lab, plan: Plan) -> None:
    """Stop new, and have old's fence forget that it was opened: as a person does who goes back all the same."""
    lab.new.exec("sh", "-c", 'kill -QUIT $(head -n 1 "$0")', f"{TARGET}/postmaster.pid", check=False)
    lab.old.exec("rm", "-f", "--", f"{plan.data_directory}/pghaul-fence/new-was-opened")


def undo(lab: Lab, plan: Plan, old: Server, new: Server) -> None:
    """Whatever the plan made, as far as it came."""
    lab.new.exec("sh", "-c", 'kill -QUIT $(head -n 1 "$0")', f"{TARGET}/postmaster.pid", check=False)
    for name in ("remove-key-new", "remove-key-old"):
        run_step(old, new, plan, plan.steps[number(plan, name) - 1], "")
    lab.new.exec("rm", "-rf", "--", TARGET, NEW_SPACE)


def test_the_proof_of_the_stop_fails_while_old_runs(
    old_server: Server, new_server: Server, both_facts: tuple[Facts, Facts]
) -> None:
    plan = planned(old_server, new_server, both_facts)
    with pytest.raises(PghaulError):
        run_step(old_server, new_server, plan, plan.steps[number(plan, step_ids.CHECK_STOPPED) - 1], "")


def test_the_proof_of_the_target_refuses_what_is_not_ours(
    lab: Lab, old_server: Server, new_server: Server, both_facts: tuple[Facts, Facts]
) -> None:
    plan = planned(old_server, new_server, both_facts)
    prove = plan.steps[number(plan, step_ids.CHECK_TARGET) - 1]
    run_step(old_server, new_server, plan, prove, "")
    lab.new.exec("install", "-d", "--", f"{TARGET}/something")
    try:
        with pytest.raises(PghaulError, match="neither empty nor a copy of this cluster"):
            run_step(old_server, new_server, plan, prove, "")
    finally:
        lab.new.exec("rm", "-rf", "--", TARGET)


@pytest.mark.long
@pytest.mark.measures
def test_probes_read_back_the_caps_and_the_estimate_is_within_a_quarter_of_the_copy_by_hand(
    lab: Lab,
    stopped: Host,  # noqa: ARG001  before the look at what is left
    old_server: Server,
    new_server: Server,
    clean_hosts: None,  # noqa: ARG001  a fixture
) -> None:
    """The caps are the truth: 30 MB/s of old's disk, 60 MB/s of new's, 400 Mbit/s between them."""
    facts = collect(old_server, Job(), folders=[ODD]), collect(new_server, Job(), folders=[TARGET])
    cap(lab, Setting("capped", old_disk=30_000_000, new_disk=60_000_000, wire="400mbit"))
    journal = Journal()
    probes = probe(old_server, new_server, *facts, MOVE, "0123", journal, Job(), thorough=True)
    assert [each for _, each in journal.probes] == list(probes)
    assert {name for name, _ in journal.probes} == {MOVE.name}
    assert all(each.command and each.raw and each.method for each in probes)
    rates = {each.quantity: each.bytes_per_second for each in probes}
    assert rates[Quantity.READ] == pytest.approx(30e6, rel=0.1)
    assert rates[Quantity.WRITE] == pytest.approx(60e6, rel=0.2)
    assert rates[Quantity.WIRE] == pytest.approx(48e6, rel=0.1)
    ssh = [each.bytes_per_second for each in probes if each.quantity is Quantity.SSH]
    assert max(ssh) == pytest.approx(47e6, rel=0.2)
    assert choose_transport(probes).bound_by == "old disk"
    guessed = copy_seconds(estimate(spec_of(MOVE, facts[0], probes)))
    lab.cap_disk("new")  # by hand new's memory would take the copy, and a slow disk would have all to write at the end
    taken = copy_by_hand(lab, ODD)
    assert guessed == pytest.approx(taken.flushed, rel=0.25)


@pytest.mark.long
@pytest.mark.measures
def test_a_narrow_wire_calls_for_compression(
    lab: Lab,
    odd: Host,  # noqa: ARG001  before the look at what is left
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
    clean_hosts: None,  # noqa: ARG001  a fixture
) -> None:
    """Old runs meanwhile; the sample is of its own files, which shrink to a quarter and less."""
    lab.shape("100mbit")
    probes = probe(old_server, new_server, *both_facts, MOVE, "0123", Journal(), Job(), thorough=True)
    choice = choose_transport(probes)
    assert choice.transport.compression
    assert choice.sample is not None
    assert choice.sample.ratio is not None
    assert choice.sample.ratio > 3
    plain = next(each for each in probes if each.transport is not None and each.quantity is Quantity.END_TO_END)
    assert (plain.transport or PLAIN).compression == ""
    assert choice.sample.bytes_per_second > 1.5 * plain.bytes_per_second
    assert plain.bytes_per_second == pytest.approx(12e6, rel=0.3)
    made = make_plan(
        MOVE,
        old_server.profile,
        new_server.profile,
        *both_facts,
        (),
        probes,
        estimate(spec_of(MOVE, both_facts[0], probes)),
        seed="0123",
    )
    assert made.transport == choice.transport.name
    assert "--compress" in " ".join(made.steps[number(made, step_ids.of_part(step_ids.PRE_COPY, 1, "data")) - 1].native)


@pytest.mark.long
@pytest.mark.measures
def test_unencrypted_ways_are_tried_where_the_move_allows_them(
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
    clean_hosts: None,  # noqa: ARG001  a fixture
) -> None:
    probes: tuple[Probe, ...] = ()
    for _ in range(3):  # while a neighbour holds up the disks no other way matters, and none is tried
        probes = probe(
            old_server, new_server, *both_facts, replace(MOVE, plain_text=True), "0123", Journal(), Job(), thorough=True
        )
        if Route.DAEMON in {each.transport.route for each in probes if each.transport is not None}:
            break
    assert choose_transport(probes, [Route.DAEMON]).transport.route is Route.DAEMON


@pytest.mark.long
def test_a_daemon_that_old_does_not_reach_is_said_and_the_rest_is_measured(
    lab: Lab,
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
    clean_hosts: None,  # noqa: ARG001  a fixture
) -> None:
    """Nobody answers on its port, as behind a firewall."""
    said: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, CommandStarted) and "test_daemon " in event.command:
            gone = "pkill -KILL -f 'rsync --daemo[n]'; while pgrep -f 'rsync --daemo[n]'; do sleep 0.1; done"
            lab.new.exec("sh", "-c", gone)
        if isinstance(event, Note):
            said.append(event.text)

    probes = probe(
        old_server,
        new_server,
        *both_facts,
        replace(MOVE, plain_text=True),
        "0123",
        Journal(),
        Job(listen),
        thorough=True,
    )
    port = (
        rf"rsync daemon is skipped: the old server cannot connect to port 87\d\d of {lab.new.address}: .* firewall .*"
    )
    assert [text for text in said if re.fullmatch(port, text)], said
    assert choose_transport(probes).sample is not None


@pytest.mark.parametrize(
    "where",
    [
        "read_probe",
        *(
            pytest.param(each, marks=pytest.mark.long)
            for each in ("write_probe", "cipher_probe", "copy_probe", "load_probe", "send_sample")
        ),
    ],
)
def test_a_cancelled_probe_leaves_nothing(
    where: str,
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
    clean_hosts: None,  # noqa: ARG001  a fixture
) -> None:
    timers: list[threading.Timer] = []

    def listen(event: Event) -> None:
        if isinstance(event, CommandStarted) and where in event.command and not timers:
            timers.append(threading.Timer(0.5, job.cancel))
            timers[0].start()

    job = Job(listen)
    with pytest.raises(Cancelled):
        probe(
            old_server, new_server, *both_facts, replace(MOVE, plain_text=True), "0123", Journal(), job, thorough=True
        )
    assert timers


@pytest.mark.usefixtures("clean_hosts")
def test_a_probe_that_comes_to_its_end_leaves_its_figures_and_nothing_else(
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each link as shortly as can be, and one sample; sums and COPY of its tables were measured within the hour.

    The sample is taken a second time, as of the first no time is left, as where a busy host takes long to connect.
    """
    least = Bounds(0.0, 0.01, 0.0, link_seconds=1, sample_seconds=0.5, small_files=10, dump_seconds=0, dump_bytes=0)
    monkeypatch.setattr("core.migration.probing.probes.in_proportion", lambda *_: least)
    monkeypatch.setattr("core.migration.probing.probes.CIPHERS", ())
    monkeypatch.setattr("core.migration.probing.commands.MOST_BYTES", 32 * 2**20)
    sent, send = list[str](), sampling.send

    def disturbed_once(channel: CopyChannel, folder: str, seconds: int, earlier: Timing | None) -> Shell:
        sent.append(folder)
        return send(channel, folder, seconds, earlier) if len(sent) > 1 else sampling.arrived(folder, 0)

    monkeypatch.setattr(sampling, "send", disturbed_once)
    now = datetime.now(UTC)
    known = OF_A_DUMP | {Quantity.SUMS}
    before = [Probe(each, 1e9, 10**9, 1.0, "by hand", "true", "", now, began_at=now) for each in known]
    journal, said = Journal(), list[str]()

    def listen(event: Event) -> None:
        if isinstance(event, Note):
            said.append(event.text)

    probes = probe(old_server, new_server, *both_facts, MOVE, "0123", journal, Job(listen), before=before)
    taken = [each.quantity for _, each in journal.probes]
    assert sorted(taken) == sorted(set(Quantity) - known - {Quantity.SUSTAINED, Quantity.CHANGES}), said
    assert len(sent) == 2
    assert {each for _, each in journal.probes} == set(probes) - set(before)
    assert all(each.bytes_per_second > 0 for each in probes)


@pytest.mark.long
def test_a_sample_of_tables_prices_dump_and_restore(
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
    clean_hosts: None,  # noqa: ARG001  a fixture
) -> None:
    """Sampled rows are copied, loaded into a temporary cluster on the new server and indexed; nothing of them stays."""
    said: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Note):
            said.append(event.text)

    probes = probe(old_server, new_server, *both_facts, MOVE, "0123", Journal(), Job(listen), thorough=True)
    sampled = {each.quantity: each for each in probes if each.quantity in OF_A_DUMP}
    assert sampled.keys() == OF_A_DUMP, said
    assert any("of the largest tables of postgres are read by COPY on" in text for text in said)
    (dumped,) = parse_copied_tables(sampled[Quantity.DUMP].raw).values()
    (taken,) = parse_loaded_tables(sampled[Quantity.LOAD].raw).values()
    assert dumped.bytes == pytest.approx(taken.bytes, rel=0.15)
    assert dumped.text == pytest.approx(806 / 910 * dumped.bytes, rel=0.15)  # 9 rows of some 806 characters a page
    assert min(each.bytes_per_second for each in sampled.values()) > 1e6
    assert "note" not in "".join(each.raw for each in sampled.values())
    spec = spec_of(MOVE, both_facts[0], probes)
    assert spec.dump.load_bytes_per_second == pytest.approx(sampled[Quantity.LOAD].bytes_per_second)
    made = estimate(spec).method("dump-restore")
    assert made is not None
    sources = {stage.name: stage.evidence for stage in made.stages}
    assert all("probe of" in sources[name] for name in ("dump", "load", "indexes"))


class ListenerError(Exception):
    """Whoever listens failed: a full disk under the history, a closed pipe."""


def test_a_listener_that_fails_leaves_nothing(
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
    clean_hosts: None,  # noqa: ARG001  a fixture
) -> None:
    """The scratch folder was made, but nobody was told where."""

    def listen(event: Event) -> None:
        if isinstance(event, CommandEnded) and "make_scratch" in event.command:
            raise ListenerError

    with pytest.raises(ListenerError):
        probe(old_server, new_server, *both_facts, MOVE, "0123", Journal(), Job(listen))


def test_a_key_that_cannot_be_taken_off_new_does_not_keep_old_from_being_cleaned(
    lab: Lab,
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
    clean_hosts: None,  # noqa: ARG001  a fixture
) -> None:
    """The warning about the one reaches a listener that fails; the other is removed all the same."""
    keys = f"/home/{lab.new.user}/.ssh/authorized_keys"

    def told(event: Event) -> None:
        if isinstance(event, CommandStarted) and "cipher_probe" in event.command:
            lab.new.exec("mount", "-n", "--bind", keys, keys)  # nothing can take its place
            job.cancel()
        if isinstance(event, Note) and "could not be removed" in event.text:
            raise ListenerError

    job = Job(told)
    try:
        with pytest.raises(ListenerError):
            probe(old_server, new_server, *both_facts, MOVE, "0123", Journal(), job)
        assert "pghaul-probe" in lab.new.exec("cat", keys).stdout
        assert "pghaul-probe" not in lab.old.exec("ls", "/tmp").stdout
    finally:
        lab.new.exec("umount", "-n", keys)
        lab.new.exec("sed", "-i", "/pghaul-probe/d", keys)
        lab.new.exec("sh", "-c", "rm -r /var/tmp/pghaul-probe-*")  # what the key's line runs


def test_what_a_crash_left_is_removed_by_the_next_probe(
    lab: Lab,
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
    asker: LabAsker,
    clean_hosts: None,  # noqa: ARG001  a fixture
) -> None:
    """The workstation is gone before it can remove anything; then another probe of the same move is cancelled early."""
    keys = f"/home/{lab.new.user}/.ssh/authorized_keys"
    with ExitStack() as connections:
        old, new = (connections.enter_context(connect(each.profile, asker, Job())) for each in (old_server, new_server))

        def gone(event: Event) -> None:
            if isinstance(event, CommandStarted) and "cipher_probe" in event.command:
                connections.close()

        with pytest.raises(UnreachableError):
            probe(old, new, *both_facts, MOVE, "0123", Journal(), Job(gone))
    assert "pghaul-probe" in lab.new.exec("cat", keys).stdout
    assert "pghaul-probe" in lab.old.exec("ls", "/tmp").stdout
    with pytest.raises(Cancelled):
        probe(old_server, new_server, *both_facts, MOVE, "0123", Journal(), cancelled_at("cipher_probe"))
    assert "pghaul-probe" not in lab.new.exec("cat", keys).stdout


def cancelled_at(where: str) -> Job:
    """A job that is cancelled when a command that holds `where` begins."""

    def listen(event: Event) -> None:
        if isinstance(event, CommandStarted) and where in event.command:
            job.cancel()

    job = Job(listen)
    return job


def test_the_key_opens_the_copy_alone(
    lab: Lab,
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
    clean_hosts: None,  # noqa: ARG001  a fixture
) -> None:
    plan = planned(old_server, new_server, both_facts)
    outputs: dict[str, str] = {}
    steps = [step for step in plan.steps if step.number <= number(plan, "pin-host-keys")]
    try:
        for step in steps:
            outputs[step.id] = run_step(old_server, new_server, plan, step, outputs.get(step.reads, ""))
        folder = next(line for line in plan.steps[number(plan, "remove-key-old") - 1].call.split() if "/tmp/" in line)
        options = ["-i", f"{folder}/key", "-o", f"UserKnownHostsFile={folder}/known_hosts", "-o", "BatchMode=yes"]
        login = f"{lab.new.user}@{lab.new.address}"
        for wanted in ([], ["id"], ["rsync", "--server", "--sender", ".", "/etc"], ["-L", "1234:localhost:22", "id"]):
            done = lab.old.exec("ssh", *options, login, *wanted, user="postgres", check=False)
            assert (done.returncode, done.stdout) == (126, ""), wanted
        key = lab.old.exec("cat", f"{folder}/key").stdout
        lab.new.exec("install", "-m", "600", "-o", "postgres", "/dev/stdin", "/tmp/stolen", input=key)
        elsewhere = ["-i", "/tmp/stolen", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
        done = lab.new.exec("ssh", *elsewhere, "-o", "BatchMode=yes", login, "id", user="postgres", check=False)
        assert done.returncode == 255
        assert "Permission denied" in done.stderr
    finally:
        lab.new.exec("rm", "-f", "/tmp/stolen")
        undo(lab, plan, old_server, new_server)


def test_without_rights_nothing_is_begun(
    lab: Lab, new_server: Server, nosudo_profile: Profile, both_facts: tuple[Facts, Facts], asker: LabAsker
) -> None:
    del lab
    with connect(nosudo_profile, asker, Job()) as poor, pytest.raises(PghaulError, match="run as postgres"):
        probe(poor, new_server, *both_facts, MOVE, "0123", Journal(), Job())


@pytest.mark.long
def test_a_link_that_cannot_be_measured_is_said_and_left_out(
    lab: Lab,
    old_server: Server,
    new_server: Server,
    both_facts: tuple[Facts, Facts],
    asker: LabAsker,
    clean_hosts: None,  # noqa: ARG001  a fixture
) -> None:
    """Old takes itself for new: whoever answers there does not show new's host key."""
    del lab
    notes: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Note) and event.level == "warning":
            notes.append(event.text)

    lonely = replace(new_server.profile, rights=Rights.SUDO, copy_address="127.0.0.1")
    bare_old, bare_new = (replace(each, tools=()) for each in both_facts)
    with connect(lonely, asker, Job()) as unreachable:
        probes = probe(old_server, unreachable, bare_old, bare_new, MOVE, "0123", Journal(), Job(listen))
    assert {each.quantity for each in probes} == {Quantity.READ, Quantity.SUMS, Quantity.WRITE, Quantity.DUMP}
    assert any("neither iperf3 nor socat" in note for note in notes)
    assert any(note.startswith("ssh was not measured") for note in notes)


def test_every_check_is_known(both_facts: tuple[Facts, Facts]) -> None:
    results: tuple[CheckResult, ...] = run_checks(MOVE, *both_facts)
    assert all(result.message and result.documentation for result in results)

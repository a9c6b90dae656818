"""Each step of a real move fails; its cause is mended, the move goes on and is done. The steps are the plan's own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.migration.model import step_ids
from core.migration.model.plan import Step
from core.servers.connection import Server
from core.servers.profiles import Profile
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA, sql
from tests.live.test_script import ended, traces
from tests.live.test_start_options import Undecided
from tests.live.walking import (
    AFTER,
    BEFORE,
    CAUSE,
    DIES,
    Died,
    FailingScript,
    Walk,
    faults_of,
    walking,
    without_programs_in_the_end,
)

pytestmark = pytest.mark.lab

ROWS = "select count(*), sum(abalance), md5(string_agg(aid || ' ' || abalance, ',' order by aid)) from pgbench_accounts"
SOON = 900
"""Seconds for a move that fails at every step."""


@pytest.fixture
def cli(cluster: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    made = CommandLine(cluster, asker, capsys)
    with site.nothing_left(cluster):
        site.describe(made)
        yield made


def execute(cli: CommandLine, *words: str) -> tuple[int | None, str]:
    """How it ends and what it says; None: the workstation has died."""
    try:
        code, _, err = cli.connecting("execute", "m", *words)
    except Died:
        return None, cli.capsys.readouterr().err
    return code, err


def old_is_whole(old: Host) -> bool:
    """Its control file lies in its place, or behind its fence, and so it can be had back."""
    whole = (
        'test -e "$0/PG_VERSION" && { test -e "$0/global/pg_control" || test -e "$0/pghaul-fence/global/pg_control"; }'
    )
    return old.exec("sh", "-c", whole, DATA, check=False).returncode == 0


def gone_on_with(cli: CommandLine, walk: Walk, *words: str) -> None:
    """Resume as often as a step fails by a fault, of which each says why; a failure without one is a dead end."""
    resumed = words if "--rollback" in words else (*words, "--resume")
    code, said = execute(cli, *words)
    failures = 0
    while code != 0:
        assert len(walk.hit) > failures, said
        failures = len(walk.hit)
        assert code in {None, 1, 3}, said
        assert code is None or CAUSE in said.rpartition("\npghaul: ")[2], said
        assert old_is_whole(cli.lab.old)
        code, said = execute(cli, *resumed)


def stops_or_starts(step: Step) -> bool:
    """Whether the step changes in the downtime which server runs, or may."""
    return step.id in {
        step_ids.STOP_OLD_CLUSTER,
        step_ids.FENCE_OLD,
        step_ids.START_LOCALLY,
        step_ids.LIFT_FENCE,
        step_ids.CUTOVER,
    }


@pytest.mark.long
def test_what_stops_and_starts_servers_fails_behind_its_work_and_the_move_goes_on(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work is done, and nobody knows: the command fails at its end, or the workstation dies."""
    held = sql(cli.lab.old, ROWS)
    walked: set[str] = set()
    with walking(cli.lab, monkeypatch) as walk:

        def begins(step: Step) -> None:
            if stops_or_starts(step) and step.id not in walked:
                walked.add(step.id)
                walk.faults[str(step.number)] = [DIES if step.detached else AFTER]

        walk.begins = begins
        gone_on_with(cli, walk, "--confirm", DATA, "--manual-steps-done")
        assert len(walk.hit) == len(walked) >= 4
    assert sql(cli.lab.new, ROWS) == held


@pytest.fixture(scope="module")
def calls() -> dict[str, int]:
    """How many programs each step runs, by a move that nothing disturbed; see the first test that needs it."""
    return {}


def looked_at(cli: CommandLine, monkeypatch: pytest.MonkeyPatch, calls: dict[str, int]) -> None:
    """Fill `calls` by a move that ends well, and go back to before it."""
    if calls:
        return
    with walking(cli.lab, monkeypatch) as walk:
        walk.looks = True
        code, said = execute(cli, "--confirm", DATA, "--manual-steps-done")
        assert code == 0, said
    calls.update({key: len(programs) for key, programs in walk.calls.items()})
    site.clear(cli.lab)
    site.start(cli.lab.old)
    assert cli("move", "remove", "m", "--yes")[0] == 0
    site.describe(cli)


@pytest.mark.long
@pytest.mark.timeout(SOON)
@pytest.mark.parametrize("stopped", [False, True], ids=["ahead of the downtime", "from the downtime on"])
def test_every_step_fails_and_is_gone_on_with(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, calls: dict[str, int], *, stopped: bool
) -> None:
    """In its middle, unseen, and in the downtime behind its work too."""
    looked_at(cli, monkeypatch, calls)
    held = sql(cli.lab.old, ROWS)
    walked: list[Step] = []
    with walking(cli.lab, monkeypatch) as walk:

        def begins(step: Step) -> None:
            assert walk.plan is not None
            down = next(each.number for each in walk.plan.steps if each.downtime)
            if step not in walked and (step.number >= down) is stopped:
                walked.append(step)
                faults = faults_of(step, calls.get(str(step.number), 0))
                walk.faults[str(step.number)] = faults if stopped else [each for each in faults if each != AFTER]

        walk.begins = begins
        gone_on_with(cli, walk, "--confirm", DATA, "--manual-steps-done")
        for step in walked:
            failed = walk.failed[str(step.number)]
            assert DIES in failed, step.title
            assert step.side is None or str(step.number) in walk.left_out or len(failed) > 1, step.title
    assert sql(cli.lab.new, ROWS) == held


@pytest.mark.long
@pytest.mark.timeout(SOON)
def test_every_step_of_the_way_back_fails_and_is_gone_on_with(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = sql(cli.lab.old, ROWS)
    monkeypatch.setattr(sys, "stdin", Undecided(cli.lab.new))
    code, said = execute(cli, "--confirm", DATA)
    assert (code, cli.last_step()) == (1, step_ids.DECIDE), said
    walked: set[str] = set()
    with walking(cli.lab, monkeypatch) as walk:

        def begins(step: Step) -> None:
            key = f"back-{step.number}"
            if key not in walked:
                walked.add(key)
                walk.faults[key] = faults_of(step, 0)

        walk.begins = begins
        gone_on_with(cli, walk, "--rollback")
        assert walk.plan is not None
        assert set(walk.failed) == walked
        assert len(walked) == len(walk.plan.way_back)
    assert sql(cli.lab.old, ROWS) == held


@pytest.mark.long
@pytest.mark.timeout(SOON)
def test_every_step_of_the_script_from_the_downtime_on_fails_and_is_gone_on_with(
    cluster: Lab,
    old_profile: Profile,
    new_profile: Profile,
    old_server: Server,
    new_server: Server,
    tmp_path: Path,
) -> None:
    """In its middle, or the script is killed before it keeps what the step printed. Run again it says what to type."""
    servers = {"old": old_server, "new": new_server}
    with site.nothing_left(cluster), without_programs_in_the_end(cluster):
        facts = site.read_facts(servers.__getitem__)
        move = site.moving(tmp_path, old_profile, new_profile, servers.__getitem__, facts)
        plan = move.plan()
        move.store.close()
        run = FailingScript(plan, cluster, tmp_path)
        held, way = sql(cluster.old, ROWS), tuple[str, ...]()
        for step in plan.steps[next(each.number for each in plan.steps if each.downtime) - 1 :]:
            if step.side is not None:
                assert run.fails_at(step, BEFORE + 1, *way) == 1, run.said()
                assert CAUSE in run.said(), step.title
                way = run.way_on()
            assert run.fails_at(step, DIES, *way) < 0, run.said()
            assert old_is_whole(cluster.old)
            ended(cluster)
            assert run.answered(answers="yes\n") == 1, step.title  # and so it says what to type
            way = run.way_on()
        assert run.answered(*way, answers=run.answers(int(way[1]))) == 0, run.said()
        assert sql(cluster.new, ROWS) == held
        for host in (cluster.old, cluster.new):
            assert traces(host) == [], host.name

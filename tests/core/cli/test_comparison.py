"""`pghaul compare --outputs` and `pghaul diagnose`, without a server."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.cli.main import main
from core.history.store import Store
from core.sides import Side
from tests.core.cli.refusals import reasons
from tests.core.history import samples

DATA = Path(__file__).parents[2] / "data"
FILE_SYSTEMS = [str(DATA / f"fio/v1.57-four-groups-{name}.txt") for name in ("ext3", "ext4", "xfs")]


def test_outputs_of_others_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--tool", "fio", "--outputs", *FILE_SYSTEMS]) == 0
    head, _, first, *others = capsys.readouterr().out.splitlines()
    assert head.split() == [
        "workload",
        "metric",
        "ext3",
        "ext4",
        "xfs",
        "ext4",
        "/",
        "ext3",
        "xfs",
        "/",
        "ext3",
        "verdict",
    ]
    assert first.endswith("ext4 no difference, xfs slower")
    assert "58.3 MB/s" in first
    assert not any("latency" in line for line in others)
    assert " 10 % " in others[-1]


def test_outputs_of_others_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--json", "--tool", "fio", "--outputs", *FILE_SYSTEMS]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert (compared["old"], compared["new"], compared["further"]) == ("ext3", "ext4", ["xfs"])
    row = next(row for row in compared["rows"] if row["metric"] == "write_iops")
    assert round(row["old"]["mean"]) == 7118
    assert row["further"][0]["verdict"] == "old faster"


def test_an_interrupted_job_is_left_out_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    interrupted = str(DATA / "fio/20-v2.1.10-sigint-two-jobs-snipped-f30227283165.txt")
    assert main(["compare", "--tool", "fio", "--outputs", interrupted, FILE_SYSTEMS[0]]) == 0
    assert f"{interrupted}: job1 " in capsys.readouterr().err


def test_what_cannot_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        (["--outputs", *FILE_SYSTEMS], "--tool bonnie |"),
        (["--tool", "fio", "--outputs", FILE_SYSTEMS[0]], "hint: "),
        (["--tool", "dd", "--outputs", *FILE_SYSTEMS], f"{FILE_SYSTEMS[0]}: dd: expected"),
        (["--tool", "fio", "--outputs", "/nowhere/at/all", FILE_SYSTEMS[0]], " /nowhere/at/all: "),
        (["spring", "--tool", "fio", "--outputs", *FILE_SYSTEMS], "--outputs"),
        ([], "pghaul history runs MOVE"),
    ]
    assert len(reasons(((["compare", *words], said) for words, said in cases), capsys)) == len(cases)


def test_a_diagnosis_of_the_last_facts(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
    assert main(["diagnose", samples.MOVE.name, "--last", "--json"]) == 0
    old, new = json.loads(capsys.readouterr().out)
    assert (old["server"], new["server"]) == (samples.MOVE.old, samples.MOVE.new)
    assert main(["diagnose", samples.MOVE.name, "--last", "--side", "old"]) == 0
    assert capsys.readouterr().out.startswith(f"{samples.MOVE.old}:{samples.MOVE.old_volume}")


def test_a_diagnosis_of_other_volumes(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
    assert main(["diagnose", samples.MOVE.name, "old:/", f"{samples.MOVE.new}:/var", "--last", "--json"]) == 0
    old, new = json.loads(capsys.readouterr().out)
    assert (old["server"], old["volume"], old["figures"]) == (samples.MOVE.old, "/", 0)
    assert (new["server"], new["volume"]) == (samples.MOVE.new, "/var")
    assert main(["diagnose", samples.MOVE.name, "nowhere:/", "--last"]) == 2
    assert "'nowhere:/'" in capsys.readouterr().err
    assert main(["diagnose", samples.MOVE.name, "old:/", "--side", "old", "--last"]) == 2


def test_a_removed_server_is_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
        for run in store.runs(samples.MOVE.name):
            if run.volume.side is Side.OLD:
                store.add_runs((replace(run, move=None, volume=replace(run.volume, side=None, server="db9")),))
    volume, other = f"db9:{samples.MOVE.old_volume}", f"{samples.MOVE.new}:{samples.MOVE.new_volume}"
    assert main(["compare", volume, other]) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert head.count(f"{volume} (removed)") == 2  # its column, and that of the ratio
    assert main(["compare", volume, other, "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert (compared["old"], compared["new"]) == (volume, other)
    told = [[(one["server"], one["removed"], one["since"]) for one in of] for of in compared["measured"]]
    assert told == [[("db9", True, None)], [(samples.MOVE.new, False, None)]]


def test_machines_that_had_one_name_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
        known = store.facts(samples.MOVE.old)
        assert known is not None
        assert known.system is not None
        run = store.runs(samples.MOVE.name, side=Side.OLD, latest_only=True)[-1]
        at = run.started_at + timedelta(days=1)
        for taken_at, machine in ((known.taken_at, "a"), (at, "b")):
            store.save_facts(replace(known, taken_at=taken_at, system=replace(known.system, machine_id=machine)))
        store.add_runs((replace(run, started_at=at, ended_at=at),))
    since = f"(machine since {at:%Y-%m-%d %H:%M})"
    assert main(["compare", samples.MOVE.name]) == 0
    shown = capsys.readouterr().out
    assert since in shown.splitlines()[0]
    assert samples.MOVE.old in shown.splitlines()[-1]
    assert main(["diagnose", samples.MOVE.name, "--side", "old", "--last"]) == 0
    head, unused = capsys.readouterr().out.splitlines()[:2]
    assert since in head
    assert " runs on this volume do not count" in unused

"""`pghaul import`: outputs of others in the history, beside what was measured, and what cannot be taken."""

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from core import settings
from core.benchmarks.model import ELSEWHERE, Outcome, Repetition, Run, Volume, Workload
from core.cli.main import main
from core.history.store import Store
from core.migration.model.move import Move
from core.sides import Side
from tests.core.migration.builders import NOW, profile

DATA = Path(__file__).parents[2] / "data"
PGBENCH = DATA / "pgbench" / "31-v12-13-transactions-mode-no-stddev-f40770488901.txt"
FIO = DATA / "fio" / "02-v3.1-randrw-kiops-vps-comparison.txt"


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path / "history"))
    with Store.open(settings.data_folder()) as store:
        for side in ("old", "new"):
            store.put_profile(profile(side))
        store.add_move(Move("spring", "old", "new", "/srv/pg", "/srv/pg", "/", "/"))
    return settings.data_folder()


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, Any, str]:
    code = main((*map(str, words), "--json"))
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else None, err


def test_a_file_is_recognised_and_kept_with_its_text(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, document, _ = run(capsys, "import", "spring", PGBENCH)
    assert code == 0
    (shown,) = document["runs"]
    assert (shown["workload"]["tool"], shown["volume"]["server"]) == ("pgbench", ELSEWHERE)
    assert shown["volume"]["mount_point"] == f"/{PGBENCH.stem}"
    with Store.open(history) as store:
        (kept,) = store.runs("spring")
        assert kept.repetitions[0].raw == PGBENCH.read_text()
        assert kept.repetitions[0].metrics["transactions_per_second"] == 712.221039
        assert kept.outcome is Outcome.DONE
        assert kept.workload.headline == "transactions_per_second"
        # it says nothing of the servers that the move is between
        assert store.runs("spring", latest_only=True) == ()


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("tool", [(), ("--tool", "fio")])
def test_what_cannot_be_read_has_a_hint(
    tool: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / name).write_text("neither\n")
    for path in (folder / "a", folder, folder / "missing"):
        code, _, err = run(capsys, "import", "spring", path, *tool)
        assert code == 2
        assert err.splitlines()[-1].startswith("  hint: ")


def test_what_is_pasted(history: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FIO.read_bytes())))
    code, document, _ = run(capsys, "import", "spring")
    assert code == 0
    assert {one["volume"]["mount_point"] for one in document["runs"]} == {"/pasted"}
    assert history.exists()


@pytest.mark.usefixtures("history")
def test_a_folder_gives_each_file_that_can_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "vendor"
    (folder / "raid").mkdir(parents=True)
    (folder / "raid" / "a.txt").write_bytes(PGBENCH.read_bytes())
    (folder / "b-9.6").write_bytes(PGBENCH.read_bytes())
    (folder / "README.md").write_text("nothing here\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\xff\xfe" * 500)
    code, document, err = run(capsys, "import", "spring", folder)
    assert code == 0
    assert {one["volume"]["mount_point"] for one in document["runs"]} == {"/raid/a", "/b-9.6"}
    assert [one["file"] for one in document["unread"]] == ["README.md", "picture.png"]
    assert "README.md: " in err
    assert "picture.png: " in err


@pytest.mark.usefixtures("history")
def test_under_one_name_results_of_one_name_are_repetitions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for number, rate in enumerate((700, 712, 690)):
        text = PGBENCH.read_text().replace("712.221039", f"{rate}.0")
        (tmp_path / f"{number}.txt").write_text(text)
    code, document, _ = run(capsys, "import", "spring", *sorted(tmp_path.glob("*.txt")), "--name", "vendor")
    assert code == 0
    (shown,) = document["runs"]
    _, whole, _ = run(capsys, "history", "run", str(shown["id"]))
    assert [one["metrics"]["transactions_per_second"] for one in whole["repetitions"]] == [700, 712, 690]


SCRIPTS = DATA / "pgbench" / "v15-end-of-a-run-then-scripts-f34109047053.txt"
SYSBENCH = DATA / "sysbench" / "v1.0.20-rndrd-p99.txt"
UNLIKE = {
    "clients": (PGBENCH, "number of clients: ", "50", "50 clients", 1),
    "threads": (PGBENCH, "number of threads: ", "7", "7 threads", 1),
    "scale": (PGBENCH, "scaling factor: ", "9", "scale 9", 1),
    "threads of a test of files": (SYSBENCH, "Number of threads: ", "16", "16 threads", 1),
    "clients of several scripts": (SCRIPTS, "number of clients: ", "50", "50 clients", 3),
}
"""The output, a condition in it, another one with what it is called, and how many results there are under it."""


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("shape", ["one file", "two files of one name"])
@pytest.mark.parametrize("unlike", UNLIKE)
def test_results_under_other_conditions_are_no_repetitions(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, unlike: str, shape: str
) -> None:
    path, before, value, words, count = UNLIKE[unlike]
    text = path.read_text()
    other = re.sub(rf"{before}\d+", f"{before}{value}", text)
    assert other != text
    texts = [f"{text}\n{other}"] if shape == "one file" else [text, other]
    for number, each in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(each)
    code, document, _ = run(capsys, "import", "spring", *sorted(tmp_path.glob("*.txt")), "--name", "vendor")
    assert code == 0
    names = [one["workload"]["name"] for one in document["runs"]]
    assert len(names) == len(set(names))
    assert sum(name.endswith(words) for name in names) == count


@pytest.mark.usefixtures("history")
def test_results_under_equal_conditions_are_repetitions_whatever_else_their_file_holds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = PGBENCH.read_text()
    other, again = (
        re.sub(r"number of clients: \d+", f"number of clients: {clients}", text.replace("712.221039", rate))
        for clients, rate in (("1", "99.0"), ("50", "300.0"))
    )
    (tmp_path / "several.txt").write_text(f"{text}\n{other}\n{again}")
    (tmp_path / "single.txt").write_text(again.replace("300.0", "310.0"))
    _, document, _ = run(capsys, "import", "spring", *sorted(tmp_path.glob("*.txt")), "--name", "vendor")
    numbers = {one["workload"]["name"].rpartition(", ")[2]: one["id"] for one in document["runs"]}
    assert {"1 client", "50 clients"} < set(numbers)
    assert len(document["runs"]) == 3
    _, whole, _ = run(capsys, "history", "run", str(numbers["50 clients"]))
    assert [one["metrics"]["transactions_per_second"] for one in whole["repetitions"]] == [300, 310]


@pytest.mark.usefixtures("history")
def test_volumes_from_elsewhere_are_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, rate in (("slow", "300.5"), ("fast", "900.5")):
        (tmp_path / f"{name}.txt").write_text(PGBENCH.read_text().replace("712.221039", rate))
        assert run(capsys, "import", "spring", tmp_path / f"{name}.txt")[0] == 0
    code, document, _ = run(capsys, "compare", "spring", "elsewhere:/slow", "elsewhere:/fast")
    assert code == 0
    row = next(row for row in document["rows"] if row["headline"])
    assert (row["old"]["mean"], row["new"]["mean"], row["verdict"]) == (300.5, 900.5, "new faster")
    # a volume of a server may have the same path
    code, _, err = run(capsys, "compare", "spring", "old:/slow", "elsewhere:/fast")
    assert (code, "pghaul bench spring --volume old:/slow" in err) == (2, True)


def test_one_from_elsewhere_is_held_against_one_that_was_measured(
    history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = Workload("pgbench-tpcb", "TPC-B", "pgbench", "transactions_per_second", {"scale": 100})
    measured = Repetition(1, NOW, 60.0, Outcome.DONE, {"transactions_per_second": 1424.442078}, "pgbench", "raw")
    volume = Volume(Side.OLD, "old", "/", "/pghaul-x")
    with Store.open(history) as store:
        (mine,) = store.add_runs((Run("spring", volume, own, NOW, Outcome.DONE, NOW, (measured,)),))
    _, document, _ = run(capsys, "import", "spring", PGBENCH)
    code, compared, _ = run(capsys, "compare", str(document["runs"][0]["id"]), str(mine))
    assert code == 0
    row = next(row for row in compared["rows"] if row["headline"])
    assert row["ratio"] == pytest.approx(2)


def test_what_was_aborted_is_kept_and_does_not_count(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, document, _ = run(capsys, "import", "spring", DATA / "pgbench" / "aborted-too-many-clients-f13070544583.txt")
    assert code == 0
    assert [one["outcome"] for one in document["runs"]] == ["failed"]
    with Store.open(history) as store:
        assert store.runs("spring")[0].repetitions[0].message == "was aborted"


@pytest.mark.slow
@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (("spring",), b"hello\n", "bonnie, dd, fio, "),
        (("spring",), b"\xff\xfe\xfd" * 9999, "pghaul: output: "),
        (("spring", "--tool", "fio"), PGBENCH.read_bytes(), "fio: "),
        (("winter",), PGBENCH.read_bytes(), "winter"),
        (("spring", "--name", "a\x1bb"), PGBENCH.read_bytes(), "U+001B"),
        (("spring",), PGBENCH.read_bytes() * 1100, "1100"),
    ],
)
def test_what_cannot_be_taken_leaves_the_history_as_it_was(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...], text: bytes, said: str
) -> None:
    file = tmp_path / "output"
    file.write_bytes(text)
    code, document, err = run(capsys, "import", words[0], file, *words[1:])
    assert (code, document) == (2, None)
    assert said in err
    with Store.open(settings.data_folder()) as store:
        assert store.runs("spring") == ()


@pytest.mark.usefixtures("history")
def test_an_empty_folder_and_a_server_of_that_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, _, err = run(capsys, "import", "spring", tmp_path / "empty")
    assert (code, f"{tmp_path}/empty" in err) == (2, True)
    code, _, err = run(capsys, "server", "add", ELSEWHERE, "192.0.2.1")
    assert (code, "a server cannot be called elsewhere" in err) == (2, True)


@pytest.mark.usefixtures("history")
def test_it_is_shown_to_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("import", "spring", str(PGBENCH), "--name", "vendor")) == 0
    out = capsys.readouterr().out
    assert "elsewhere:/vendor" in out
    assert "<builtin: TPC-B (sort of)>" in out
    assert main(("history", "runs", "spring")) == 0
    assert "elsewhere:/vendor" in capsys.readouterr().out

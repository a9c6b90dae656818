"""`pghaul bench --list` and what it needs no server for."""

import json
import re
from pathlib import Path

import pytest

from core.cli.main import main


@pytest.fixture(autouse=True)
def own_suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path))
    folder = tmp_path / "suites"
    folder.mkdir()
    return folder


def test_every_suite_is_listed_with_what_it_writes(capsys: pytest.CaptureFixture[str], own_suites: Path) -> None:
    (own_suites / "broken.toml").write_text("title = \x1b[2J")
    assert main(["bench", "--list"]) == 0
    out = capsys.readouterr().out
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert lines["quick"].endswith("832.0 MiB")
    assert lines["raid"].endswith("8.0 GiB + 2 × memory")
    assert "line 1, column 9" in lines["broken"]
    assert "\x1b" not in out
    assert str(own_suites) in out


def test_the_list_for_programs(capsys: pytest.CaptureFixture[str], own_suites: Path) -> None:
    assert main(["bench", "--list", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    suites = {suite["name"]: suite for suite in document["suites"]}
    assert suites["standard"]["repetitions"] == 5
    assert suites["controllers"]["memory_multiple"] == 0
    assert document["own"] == str(own_suites)


def test_no_move_and_no_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 2
    assert "pghaul bench --list" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (
            "[a]\nrw=write\nsize=1g\nfilename=/dev/sda\n",
            r"\b4\b.*: filename=/dev/sda ",
        ),
        ("[a]\nrw=write\nsize=1g\ndirectory=/srv\n", r"\b4\b.*: directory=/srv "),
    ],
)
def test_a_job_file_that_leaves_the_folder_reaches_no_server(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, job: str, said: str
) -> None:
    path = tmp_path / "mine.fio"
    path.write_text(job)
    assert main(["bench", "spring", "--suite", str(path)]) == 2
    assert re.search(said, capsys.readouterr().err)

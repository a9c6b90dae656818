"""The sums of files, as the shell makes them."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from core.migration.plan.steps.verify import End, beginning, contents
from core.servers.shell import Shell

SIZES = {"small": 10, "empty": 0, "é ü": 2000, "just a mebibyte": 1 << 20, "large": (1 << 20) + 1, "o'neil*": 3 << 20}


def run(shell: Shell, folder: Path, since: str = "@0") -> str:
    text = f'export since="{since}" LC_ALL=C; set -- -path ./left-out; {shell.text}'
    return subprocess.run(["sh", "-c", text], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, size in {**SIZES, "left-out": 5, "below/deep": 2 << 20}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode() * (size // len(name.encode()) + 1))
    return tmp_path


@pytest.mark.parametrize("openssl", [True, False])
def test_every_file_is_summed_up_once_by_whichever_program(folder: Path, openssl: bool) -> None:
    summed = run(contents(End(str(folder), "postgres", 2, openssl), since=True), folder)
    files = [each for each in folder.rglob("*") if each.is_file() and each.name != "left-out"]
    expected = [f"{hashlib.sha256(each.read_bytes()).hexdigest()}  ./{each.relative_to(folder)}" for each in files]
    assert summed.splitlines() == sorted(expected)


@pytest.mark.parametrize("openssl", [True, False])
def test_what_did_not_change_since_is_left_out(folder: Path, openssl: bool) -> None:
    end = End(str(folder), "postgres", 2, openssl)
    assert run(contents(end, since=True), folder, "@33000000000") == ""
    assert len(run(contents(end, since=False), folder, "@33000000000").splitlines()) == len(SIZES) + 1


def test_what_is_written_from_now_on_counts_as_changed(tmp_path: Path) -> None:
    began = run(beginning(str(tmp_path)), tmp_path).strip()
    (tmp_path / "written").write_text("now")
    assert run(contents(End(str(tmp_path), "postgres", 1, openssl=False), since=True), tmp_path, began)

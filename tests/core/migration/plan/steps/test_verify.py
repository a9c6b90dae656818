"""The sums of files, as the shell makes them."""

import hashlib
from pathlib import Path

import pytest

from core.migration.plan.steps.verify import beginning
from core.servers.shell import call
from tests.core.migration.running import run

CONTROL = "global/pg_control"
SIZES = {"small": 10, "empty": 0, "é ü": 2000, "just a mebibyte": 1 << 20, "large": (1 << 20) + 1, "o'neil*": 3 << 20}


def sums(data: Path, what: str, *, openssl: bool = False, began: str = "", left_out: str = "") -> list[str]:
    """The sums of files in the lists that are kept of a data directory."""
    lists = data.parent / "lists it's/compared"
    words = (lists, "/usr/bin:/bin", data, "postgres", what, 2, "yes" if openssl else "no", left_out)
    done = run(call("sum_up", *words, "data", "-", data, "-"), given=began)
    assert done.returncode == 0, done.stderr
    manifest, _, found = lists.read_text().partition("# sums \n")
    assert manifest.startswith("# manifest \n")
    for part, line in ((manifest.partition("\n")[2], 1), (found, 2)):
        assert done.stdout.splitlines()[line] == f"{hashlib.sha256(part.encode()).hexdigest()}  -"
    return found.splitlines()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    for name, size in {**SIZES, CONTROL: 8192, "left [out]": 5, "below/deep": 2 << 20, "postmaster.pid": 9}.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_bytes(name.encode() * (size // len(name.encode()) + 1))
    return folder


@pytest.mark.parametrize("what", ["all", "since"])
@pytest.mark.parametrize("openssl", [True, False])
def test_every_file_is_summed_up_once_by_whichever_program(data: Path, openssl: bool, what: str) -> None:
    summed = sums(data, what, openssl=openssl, began="@0\n", left_out=r"left \[out\]")
    names = [*SIZES, CONTROL, "below/deep"]
    expected = [f"{hashlib.sha256((data / name).read_bytes()).hexdigest()}  ./{name}" for name in names]
    assert summed == sorted(expected)


@pytest.mark.parametrize("openssl", [True, False])
def test_what_did_not_change_since_is_left_out(data: Path, openssl: bool) -> None:
    assert sums(data, "since", openssl=openssl, began="@33000000000\n") == []


@pytest.mark.parametrize("openssl", [True, False])
@pytest.mark.parametrize("size", [1, 2 << 20])
def test_a_line_break_in_a_name_is_part_of_it(tmp_path: Path, openssl: bool, size: int) -> None:
    for name in (CONTROL, "a\nb"):
        (tmp_path / "data" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "data" / name).write_bytes(b"x" * size)
    assert len(sums(tmp_path / "data", "all", openssl=openssl)) == 2


def test_what_is_written_from_now_on_counts_as_changed(data: Path) -> None:
    began = run(beginning(str(data))).stdout
    (data / "written").write_text("now")
    assert any(line.endswith("  ./written") for line in sums(data, "since", began=began))

"""A program that asks for a newer glibc than RHEL 9 has asks for an older one, and still computes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from installer.linked import imported, symbol_versions
from installer.older_glibc import GLIBC, ask_for_older

INTERPRETER = Path(sys.executable).resolve()


def newest(program: Path) -> tuple[int, ...]:
    versions = {each for found in symbol_versions([str(program)]).values() for each in found if "GLIBC_2" in each}
    return max(tuple(map(int, each.rpartition("_")[2].split("."))) for each in versions)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Debian's interpreter, which holds what its library does."""
    if shutil.which("objdump") is None or "hypot" not in imported(str(INTERPRETER)).get("GLIBC_2.35", set()):
        pytest.skip("this interpreter asks for nothing newer, or binutils are missing")
    return Path(shutil.copy(INTERPRETER, tmp_path))


def test_it_asks_for_no_newer_glibc_and_computes(program: Path) -> None:
    oldest = tuple(map(int, GLIBC.split(".")))
    assert newest(program) > oldest
    ask_for_older(program)
    assert newest(program) <= oldest
    said = subprocess.run(
        [str(program), "-c", "import math; print(math.hypot(3, 4), abs(complex(5, 12)))"],
        check=True, capture_output=True, text=True, env={"LD_BIND_NOW": "1"},
    )  # fmt: skip
    assert (said.stdout, said.stderr) == ("5.0 13.0\n", "")


def test_what_has_no_older_version_ends_the_build(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("installer.older_glibc.SAME_SINCE_THE_FIRST", set())
    before = program.read_bytes()
    with pytest.raises(SystemExit, match=r"hypot of a glibc after 2\.34"):
        ask_for_older(program)
    assert program.read_bytes() == before


def test_a_program_without_a_first_version_to_ask_for_ends_the_build(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("installer.older_glibc.FIRST", set())
    with pytest.raises(SystemExit, match=r"still asks for GLIBC_2\.35"):
        ask_for_older(program)

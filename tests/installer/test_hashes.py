"""Nothing that the set-up fetches is taken without the hash that stands in the tree."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
LOCK = tomllib.loads((TOP / "uv.lock").read_text(encoding="utf-8"))


def test_every_file_of_the_lock_has_its_hash() -> None:
    packages = {each["name"]: each for each in LOCK["package"]}
    assert [name for name, each in packages.items() if "registry" not in each["source"]] == ["pghaul"]
    files = [file for each in packages.values() for file in each.get("wheels", ())]
    files += [each["sdist"] for each in packages.values() if "sdist" in each]
    assert files
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", file["hash"]) for file in files)


def test_what_builds_the_project_is_locked_too() -> None:
    wanted = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    locked = {each["name"] for each in LOCK["package"]}
    assert {re.split("[<>=]", requirement)[0] for requirement in wanted} <= locked
    assert "--no-build-isolation" in (TOP / "installer" / "environment.sh").read_text(encoding="utf-8")


PYTHON = """#!/bin/sh
case $1 in -c) echo "$0"; exit ;; esac
printf '%s\\n' "$*" >>asked
case $2 in venv) mkdir -p "$3/bin" && ln -s "$0" "$3/bin/python" ;; *) exit 1 ;; esac
"""
"""An interpreter that makes environments, and whose pip takes nothing."""


@pytest.mark.skipif(sys.platform == "win32", reason="the script is a Unix shell's")
def test_the_tools_are_fetched_by_their_hashes_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "installer").mkdir()
    for name in ("environment.sh", "machine.sh", "requirements-tools.txt"):
        shutil.copy(TOP / "installer" / name, tmp_path / "installer")
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    words = ["env", f"PYTHON={python}", "sh", "installer/environment.sh"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode == 1
    made, fetched = (tmp_path / "asked").read_text().splitlines()
    assert (made, "--require-hashes" in fetched.split()) == ("-m venv .venv-tools", True)
    assert fetched.endswith(" --requirement installer/requirements-tools.txt")
    assert not (tmp_path / ".venv").exists()
    text = (TOP / "installer" / "requirements-tools.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    needed = [line for line in text.splitlines() if not line.startswith("#")]
    assert needed
    assert all(re.fullmatch(r"[a-z-]+==[0-9.]+(\s+--hash=sha256:[0-9a-f]{64})+\s*", line) for line in needed)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="the script is a Unix shell's")
def test_a_tool_with_another_hash_is_not_installed(tmp_path: Path) -> None:
    """A package index that hands out something else under uv's name and version."""
    shutil.copytree(TOP / "installer", tmp_path / "installer", ignore=shutil.ignore_patterns("build", "__pycache__"))
    version = re.search(r"^uv==([0-9.]+)", (TOP / "installer" / "requirements-tools.txt").read_text(), re.MULTILINE)
    assert version is not None
    about = f"uv-{version[1]}.dist-info"
    with zipfile.ZipFile(tmp_path / f"uv-{version[1]}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("uv.py", "")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: uv\nVersion: {version[1]}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    words = ["env", "PIP_NO_INDEX=1", f"PIP_FIND_LINKS={tmp_path}", "sh", "installer/environment.sh"]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in ended.stderr
    assert "pghaul: could not fetch uv" in ended.stderr
    assert not (tmp_path / ".venv").exists()

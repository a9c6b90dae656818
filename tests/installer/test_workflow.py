"""The workflow of a release names what there is: targets of make, and the versions of Python that pghaul asks for."""

import json
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from installer.desktop import SYSTEMS, file_name

TOP = Path(__file__).parents[2]
WORKFLOW = (TOP / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
PATTERNS = re.findall(r"^ +dist/(\S+)$", WORKFLOW, re.MULTILINE)


def test_each_target_of_make_is_one() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (TOP / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = {name for line in re.findall(r"run: make (.+)", WORKFLOW) for name in line.split()}
    assert {"check", "package", "package-again"} <= called
    assert called <= targets


def test_the_wheel_is_tried_with_each_python_on_each_system() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (listed,) = re.findall(r"python: (\[.*\])", WORKFLOW)
    pythons = json.loads(listed)
    first, behind = (int(minor) for minor in re.findall(r"3\.(\d+)", project["requires-python"]))
    assert pythons == [f"3.{minor}" for minor in range(first, behind)]
    (systems,) = re.findall(r"system: \[(.*)\]", WORKFLOW)
    assert [name.split("-")[0] for name in systems.split(", ")] == ["ubuntu", "windows", "macos"]


def test_the_program_is_built_where_it_runs() -> None:
    (runners,) = re.findall(r"runner: \[(.*)\]", WORKFLOW)
    assert {name.split("-")[0] for name in runners.split(", ")} == set(SYSTEMS.values())
    for system in ("win32", "darwin"):
        assert fnmatch(file_name("1.2.3", system, "arm64"), next(p for p in PATTERNS if SYSTEMS[system] in p))

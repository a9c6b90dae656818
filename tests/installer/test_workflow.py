"""The workflow of a release is one, names what there is, and takes no action that somebody can exchange.

What there is: targets of make, and the versions of Python that pghaul asks for.
"""

import json
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from installer.desktop import SYSTEMS, file_name

TOP = Path(__file__).parents[2]
FILE = TOP / ".github" / "workflows" / "release.yml"
WORKFLOW = FILE.read_text(encoding="utf-8")
PATTERNS = re.findall(r"^ +dist/(\S+)$", WORKFLOW, re.MULTILINE)


def program(name: str) -> str:
    """A linter of the environment, which need not be on PATH."""
    return str(Path(sys.executable).with_name(name))


def schema_of_workflows(path: Path) -> subprocess.CompletedProcess[str]:
    words = [program("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", str(path)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def zizmor(path: Path) -> subprocess.CompletedProcess[str]:
    """What can be attacked in it; nothing is asked of the forge."""
    words = [program("zizmor"), "--offline", "--no-progress", "--strict-collection", "--persona", "regular", str(path)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_it_is_a_workflow() -> None:
    ended = schema_of_workflows(FILE)
    assert ended.returncode == 0, ended.stdout


def test_nothing_in_it_can_be_attacked() -> None:
    ended = zizmor(FILE)
    assert ended.returncode == 0, ended.stdout


def test_an_action_that_a_tag_names_is_found(tmp_path: Path) -> None:
    changed = tmp_path / "release.yml"
    changed.write_text(re.sub(r"@[0-9a-f]{40} # (v\d)\S+", r"@\1", WORKFLOW, count=1))
    assert "unpinned-uses" in zizmor(changed).stdout


def test_a_word_that_no_workflow_has_is_found(tmp_path: Path) -> None:
    changed = tmp_path / "release.yml"
    changed.write_text(WORKFLOW.replace("runs-on:", "run-on:", 1))
    assert schema_of_workflows(changed).returncode == 1


def test_each_value_of_a_matrix_and_each_job_that_is_waited_for_is_there() -> None:
    jobs = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", WORKFLOW.partition("jobs:\n")[2], re.MULTILINE))
    assert {"linux", "wheel", "desktop", "release"} == set(jobs)
    for text in jobs.values():
        matrix = re.findall(r"^        (\w+): \[", text, re.MULTILINE)
        assert set(re.findall(r"matrix\.(\w+)", text)) == set(matrix)
        needs = re.findall(r"\w+", "".join(re.findall(r"^    needs: (.*)", text, re.MULTILINE)))
        assert set(needs) <= set(jobs)


def test_each_target_of_make_is_one() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (TOP / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = {name for line in re.findall(r"run: make (.+)", WORKFLOW) for name in line.split()}
    assert {"check", "package-test", "package-again"} <= called
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

"""The wheel, installed where nothing of the checkout is seen: program, window and reports come from it.

For each Python that pghaul asks for and that uv finds on this machine; those beside its own by `make test-long`.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.history.example import MOVE
from core.settings import program_version
from installer.uv import TOP, locked_requirements, uv
from installer.wheel import build

pytestmark = pytest.mark.slow

PACKAGES = ("core", "gui", "resources")

OTHERWISE = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
"""What may differ from build to build."""

OFFSCREEN = "This plugin does not support propagateSizeHints()"
"""What Qt says of its screen that is none."""

PICTURES = f"""
import sys
from pathlib import Path
from core.api.session import Session
from core.history.store import Store
from core.servers.profiles import Nobody
from gui.screenshots import save_screenshots
with Store.open() as store, Session(store, Nobody()) as session:
    for path in save_screenshots(session, "{MOVE}", Path(sys.argv[1]), ("light",)):
        print(path)
"""
"""What opens the window with every page of the move, as `make demo` does."""

READ = """
import ast, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        if name.endswith(".py"):
            compile(wheel.read(name), name, "exec", ast.PyCF_ONLY_AST)
print(*sys.stdlib_module_names)
"""
"""Reads every module of a wheel; prints which modules this Python brings."""
IMPORTS = re.compile(rb"^\s*(?:import|from) (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Installed:
    """A Python environment with the wheel in it, and a home of its own."""

    environment: Path
    home: Path

    def run(self, program: str, *arguments: str) -> str:
        """What one of its programs prints; fails the test where it does not end well, or warns."""
        variables = {
            "HOME": str(self.home),
            "PATH": f"{self.environment / 'bin'}:/usr/bin:/bin",
            "QT_QPA_PLATFORM": "offscreen",
            "PGHAUL_DATA": str(self.home / "history"),
        }
        ended = subprocess.run(
            [str(self.environment / "bin" / program), *arguments],
            cwd=self.home,
            env=variables,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        said = [line for line in ended.stderr.splitlines() if line != OFFSCREEN]
        assert (ended.returncode, said) == (0, []), ended.stdout
        return ended.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("dist"))


def interpreter(version: str) -> str:
    """The Python of that version: this one, or another of this machine's; skips the test where there is none."""
    if version == f"3.{sys.version_info.minor}":
        return sys.executable
    asked = subprocess.run(
        [uv(), "python", "find", "--no-python-downloads", "--no-project", version],
        env=os.environ | {"PYENV_VERSION": version},  # else pyenv's command of that name is there and runs nothing
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode != 0:
        pytest.skip(f"this machine has no Python {version}")
    return asked.stdout.strip()


@pytest.fixture(
    scope="module",
    params=["3.11", pytest.param("3.12", marks=pytest.mark.long), pytest.param("3.13", marks=pytest.mark.long)],
)
def installed(
    request: pytest.FixtureRequest, built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installed]:
    if sys.platform == "win32":
        pytest.skip("programs lie elsewhere there")
    python = interpreter(request.param)
    folder = tmp_path_factory.mktemp("installed")
    environment = folder / "environment"
    (folder / "requirements.txt").write_text(locked_requirements(), encoding="utf-8")
    install = [uv(), "pip", "install", "--quiet", "--python", str(environment / "bin" / "python"), "--no-deps"]
    subprocess.run([uv(), "venv", "--quiet", "--python", python, str(environment)], check=True)
    subprocess.run([*install, "--require-hashes", "-r", str(folder / "requirements.txt")], check=True)
    subprocess.run([*install, str(built[0])], check=True)
    yield Installed(environment, folder)
    shutil.rmtree(folder)


def kept() -> set[str]:
    """The files of the packages that are, or will be, under version control."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PACKAGES]
    listed = subprocess.run(words, cwd=TOP, check=True, capture_output=True, text=True)
    return set(listed.stdout.splitlines())


def test_the_wheel_holds_every_file_of_the_packages(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        assert {name for name in wheel.namelist() if ".dist-info/" not in name} == kept()
        (about,) = (wheel.read(name).decode() for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    assert {"Requires-Python: <3.14,>=3.11"} <= set(about.splitlines())


def test_the_newest_python_reads_every_module_and_has_what_they_import(built: tuple[Path, Path]) -> None:
    words = [interpreter("3.13"), "-W", "error", "-c", READ, str(built[0])]
    brought = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    with zipfile.ZipFile(built[0]) as wheel:
        texts = [wheel.read(name) for name in wheel.namelist() if name.endswith(".py")]
    imported = {name.decode() for text in texts for name in IMPORTS.findall(text)}
    assert {"core", "paramiko", "subprocess"} <= imported
    assert imported & (sys.stdlib_module_names - set(brought)) == set()


def test_a_second_wheel_is_the_same_byte_for_byte(built: tuple[Path, Path], tmp_path: Path) -> None:
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(words, cwd=TOP, env=os.environ | OTHERWISE, check=True, capture_output=True)
    (again,) = tmp_path.iterdir()
    assert (again.name, again.read_bytes()) == (built[0].name, built[0].read_bytes())


@pytest.mark.long
def test_the_source_makes_the_same_wheel(built: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.unpack_archive(built[1], tmp_path)
    (top,) = tmp_path.iterdir()
    again, _ = build(tmp_path / "again", top=top)
    assert again.name == built[0].name
    assert again.read_bytes() == built[0].read_bytes()


@pytest.mark.long
def test_a_second_build_is_the_same_byte_for_byte(built: tuple[Path, Path], tmp_path: Path) -> None:
    again = build(tmp_path, os.environ | OTHERWISE)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in built]


def test_it_says_its_version(installed: Installed) -> None:
    assert installed.run("pghaul", "--version") == f"pghaul {program_version()}\n"


@pytest.mark.long
def test_it_reports_on_the_example_and_shows_it(installed: Installed) -> None:
    installed.run("pghaul", "history", "example", str(installed.home / "history"))
    pdf = installed.home / "example.pdf"
    installed.run("pghaul", "report", MOVE, "-o", str(pdf), "--quiet")
    assert pdf.read_bytes().startswith(b"%PDF-")
    pictures = installed.run("python", "-c", PICTURES, str(installed.home / "pages")).splitlines()
    assert len(pictures) >= 8
    assert all(Path(each).read_bytes().startswith(b"\x89PNG") for each in pictures)
    where = installed.run("python", "-c", "import core, gui, resources; print(core.__file__)")
    assert Path(where.strip()).is_relative_to(installed.environment)

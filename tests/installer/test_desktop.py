"""What wraps the program for Windows and macOS, as far as another system can tell: script and recipe."""

import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PyInstaller.utils import hooks

from core.settings import program_version
from installer.desktop import ICONS, PICTURE, file_name, icns, ico, installer_command, wrapping
from installer.frozen import DIST

RECIPE = Path(__file__).parents[2] / "installer" / "pghaul.spec"


class Listed:
    """What PyInstaller's Analysis finds."""

    scripts, pure, binaries, datas = ("scripts",), ("pure",), (), ()


def recipe(system: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[dict[str, Any]]]:
    """What the recipe asks of PyInstaller on that system: each call's words, by what was called."""
    asked: dict[str, list[dict[str, Any]]] = {"EXE": [], "COLLECT": [], "BUNDLE": []}

    def named(name: str) -> Any:
        def ask(*parts: object, **words: object) -> str:
            asked[name].append({"parts": parts, **words})
            return name

        return ask

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(hooks, "collect_submodules", lambda *_, **__: [])
    given = {name: named(name) for name in asked} | {"Analysis": lambda *_, **__: Listed(), "PYZ": lambda pure: pure}
    exec(compile(RECIPE.read_text(encoding="utf-8"), str(RECIPE), "exec"), given)  # noqa: S102  as PyInstaller does
    return asked


@pytest.mark.parametrize(
    ("system", "programs"),
    [
        ("linux", {"pghaul": (True, None)}),
        ("win32", {"pghaul": (True, ICONS["win32"]), "pghaulw": (False, ICONS["win32"])}),
        ("darwin", {"pghaul": (False, ICONS["darwin"])}),
    ],
)
def test_each_system_has_its_programs_in_one_folder(
    system: str, programs: dict[str, tuple[bool, str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = recipe(system, monkeypatch)
    assert {each["name"]: (each["console"], each["icon"]) for each in asked["EXE"]} == programs
    (folder,) = asked["COLLECT"]
    assert folder["parts"].count("EXE") == len(programs)
    assert len(asked["BUNDLE"]) == (system == "darwin")


def test_the_bundle_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    (bundle,) = recipe("darwin", monkeypatch)["BUNDLE"]
    assert (bundle["name"], bundle["version"]) == ("pghaul.app", program_version())
    assert bundle["info_plist"]["NSHighResolutionCapable"] is True
    assert bundle["icon"].endswith(".icns")


def test_the_files_are_named_by_version_system_and_machine() -> None:
    assert file_name("1.2.3", "win32", "AMD64") == "pghaul-1.2.3-windows-amd64.exe"
    assert file_name("1.2.3", "darwin", "arm64") == "pghaul-1.2.3-macos-arm64.zip"


def test_the_bundle_is_packed_whole() -> None:
    assert wrapping("1.2.3", "darwin", Path("made.zip"))[-2:] == [str(DIST / "pghaul.app"), "made.zip"]


def test_the_icons_hold_the_picture() -> None:
    picture = PICTURE.read_bytes()
    assert struct.unpack(">II", picture[16:24]) == (256, 256)
    length, start = struct.unpack("<II", ico(picture)[14:22])
    assert ico(picture)[start:] == picture
    assert length == len(picture)
    kind, whole, entry, part = struct.unpack(">4sI4sI", icns(picture)[:16])
    assert (kind, whole, entry, part) == (b"icns", len(icns(picture)), b"ic08", len(picture) + 8)


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    folder = tmp_path / "a folder"
    (folder / "_internal" / "PySide6").mkdir(parents=True)
    for name in ("pghaul.exe", "pghaulw.exe", "_internal/base.dll", "_internal/PySide6/Qt6Core.dll"):
        (folder / name).write_text(name)
    return folder


def compiled(frozen: Path, made: Path) -> str:
    icon = frozen.parent / "pghaul.ico"
    icon.write_bytes(ico(PICTURE.read_bytes()))
    program, *words = installer_command("1.2.3", frozen, icon, made)
    command = [program, "-V4", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not installed")
def test_the_installer_compiles_without_a_warning_and_holds_every_file(frozen: Path, tmp_path: Path) -> None:
    said = compiled(frozen, tmp_path / "pghaul.exe")
    assert (tmp_path / "pghaul.exe").read_bytes().startswith(b"MZ")
    packed = set(re.findall(r'^File: "([^"]+)"', said, re.MULTILINE))
    assert {"pghaul.exe", "pghaulw.exe", "base.dll", "Qt6Core.dll"} <= packed
    assert "warning" not in said


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not installed")
@pytest.mark.parametrize("again", ["install", "uninstall"])
def test_while_pghaul_runs_nothing_is_taken_from_its_folder(again: str, frozen: Path, tmp_path: Path) -> None:
    _, install, uninstall = compiled(frozen, tmp_path / "pghaul.exe").split("\nSection: ")
    done = (install if again == "install" else uninstall).splitlines()
    window, command = (done.index(f'Delete: "$INSTDIR\\{name}.exe"') for name in ("pghaulw", "pghaul"))
    running, in_use = (index for index, line in enumerate(done) if line.startswith("Abort: "))
    assert done[window - 1].strip() == "ClearErrors:"
    assert [done[window + 1], done[command + 1]] == ["IfErrors ?running:", "IfErrors ?0:ended"]
    assert window + 2 == command
    assert done[running].endswith(f'then {again} again."')
    folder = done.index('RMDir: /r "$INSTDIR\\_internal"')
    assert command < running < folder < in_use
    changing = ("File:", "WriteReg", "DeleteReg", "RMDir: ", "Delete: ")
    changes = [index for index, line in enumerate(done) if line.startswith(changing)]
    assert all(index > in_use for index in changes if index not in {window, command, folder})
    assert {line.split(":")[0] for line in done[in_use + 1 :]} & {"WriteRegStr", "DeleteRegKey"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not installed")
def test_an_error_in_the_script_is_found(frozen: Path, tmp_path: Path) -> None:
    shutil.rmtree(frozen)
    with pytest.raises(subprocess.CalledProcessError):
        compiled(frozen, tmp_path / "pghaul.exe")

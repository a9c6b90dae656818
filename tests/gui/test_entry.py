"""The program's door, as a user runs it: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    inherited.pop("QT_QPA_PLATFORM", None)
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only X11 and Wayland can lack a display")
def test_without_a_display_it_says_so() -> None:
    ended = _run("-m", "gui.entry")
    assert ended.returncode == 2
    said, hint = ended.stderr.splitlines()
    assert said.startswith("pghaul: ")
    assert hint.startswith("hint: ")
    assert "pghaul --help" in hint
    assert ended.stdout == ""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only X11 and Wayland can lack a display")
def test_a_display_that_does_not_answer_is_no_core_dump() -> None:
    ended = _run("-m", "gui.entry", DISPLAY=":4711")
    assert ended.returncode == 2, ended.stderr
    assert "hint: " in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_a_window_without_a_terminal_ends_as_one_with_it() -> None:
    """On Windows, pghaulw has no terminal: nothing to write to."""
    code = "import sys; sys.stdout = sys.stderr = None; from gui.entry import main; sys.exit(main())"
    ended = _run("-c", code, QT_QPA_PLATFORM="none")
    assert (ended.returncode, ended.stdout) == (2, "")


def test_the_command_line_loads_no_qt() -> None:
    code = (
        "import sys, gui.entry; sys.argv = ['pghaul', '--version']; code = gui.entry.main(); "
        "print(code, [name for name in sys.modules if name.startswith('PySide6')])"
    )
    ended = _run("-c", code)
    assert ended.stdout.splitlines()[-1] == "0 []", ended.stderr


def _started(folder: Path, **environment: str) -> dict[str, str]:
    """What `start.py` saw of the program."""
    ended = _run(str(Path(__file__).with_name("start.py")), str(folder), PYTHONPATH=str(ROOT), **environment)
    assert ended.returncode == 0, ended.stderr
    said = ended.stderr.replace("This plugin does not support propagateSizeHints()", "")
    assert said.replace("pghaul:", "").strip() == ""
    return dict(line.split(": ", 1) for line in ended.stdout.splitlines())


@pytest.mark.slow
def test_the_first_paint_needs_no_heavy_module(tmp_path: Path) -> None:
    lines = _started(tmp_path, QT_QPA_PLATFORM="offscreen")
    assert lines["heavy"] == "[]"
    assert lines["history"] == "open"
    assert lines["missing"] == "[]", "packages that several threads would import at once"
    assert "moves" in lines


@pytest.mark.slow
@pytest.mark.xvfb_display
def test_the_window_is_on_a_real_screen_before_the_heavy_modules_load(tmp_path: Path) -> None:
    """Under Xvfb, timed by `start.py`, which prints seconds; what must not be loaded is what would make it slow."""
    display = os.environ.get("DISPLAY")
    if not display:
        pytest.skip("no X display: Xvfb is not installed")
    lines = _started(tmp_path, DISPLAY=display, QT_QPA_PLATFORM="xcb")
    print("window on screen after", lines["seconds"], "s")  # noqa: T201
    assert lines["platform"] == "xcb"
    assert lines["heavy"] == "[]"
    assert lines["history"] == "open"

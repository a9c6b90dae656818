"""The entry point: `pghaul` opens the window, `pghaul NOUN …` is the command line, which never loads Qt."""

import os
import sys

from core import core_dumps
from gui.frozen import give_back

NO_WINDOW = 2


def main() -> int:
    """Run the program, and return its exit code."""
    core_dumps.forbid()
    arguments = sys.argv[1:]
    if arguments:
        from core.cli.main import main as command_line

        give_back()
        return command_line(arguments)
    if not _display():
        return _refuse(
            "there is no display to open the window on",
            "log in to a desktop or forward one (ssh -X), or use the command line: pghaul --help",
        )
    try:
        from gui.app import main as window
    except ImportError as error:  # a system library that Qt needs is missing
        return _refuse(
            f"the window cannot be loaded: {error}",
            "install libegl1 libgl1 libxkbcommon-x11-0 libxcb-cursor0, or use the command line: pghaul --help",
        )
    return window()


def _display() -> bool:
    """Return whether there is a display; only X11 and Wayland can lack one."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def _refuse(message: str, hint: str) -> int:
    print(f"pghaul: {message}\nhint: {hint}", file=sys.stderr)  # noqa: T201  there is no window to say it in
    return NO_WINDOW


if __name__ == "__main__":
    sys.exit(main())

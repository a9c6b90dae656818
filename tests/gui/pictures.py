"""Every page of the window on screens of several sizes and scales, in light and dark, over the example that ships.

`python tests/gui/pictures.py FOLDER` draws them as a person would see them: each screen is an Xvfb with a window
manager, the window fills it, and the picture is the whole screen. `… FOLDER WIDTHxHEIGHT` draws one size without any.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.api.session import Session
from core.history import example
from core.history.store import Store
from core.servers.profiles import Nobody
from gui.screenshots import save_screenshots

SCREENS = ((1024, 700, 1), (1440, 900, 1), (2560, 1440, 1), (2560, 1440, 2), (2048, 1400, 2))
"""Width and height in pixels, and how many of these one of the window's own takes at its edge."""
MANAGER = "openbox"


def main() -> int:
    """Draw on every screen; or in the size that was named; or, called by itself, on the screen that there is."""
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    if words == ["screen"]:
        return _draw(folder, None)
    if words:
        width, height = (int(number) for number in words[0].split("x"))
        return _draw(folder, (width, height))
    if shutil.which("Xvfb") is None or shutil.which(MANAGER) is None:
        print(f"Xvfb and {MANAGER} are needed: make setup-lab installs them", file=sys.stderr)  # noqa: T201  a program, run by make
        return 1
    for width, height, scale in SCREENS:
        here = folder / f"{width}x{height}-{scale}00"
        with screen(width, height) as display:
            subprocess.run(
                [sys.executable, __file__, str(here), "screen"],
                env={**os.environ, "DISPLAY": display, "QT_SCALE_FACTOR": str(scale), "QT_QPA_PLATFORM": "xcb"},
                check=True,
            )
        print(here)  # noqa: T201  a program, run by make
    return 0


@contextmanager
def screen(width: int, height: int) -> Iterator[str]:
    """A screen of that many pixels with a window manager on it; the display's name."""
    words = ["Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-screen", "0", f"{width}x{height}x24"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            display = ":" + (server.stdout.readline().strip() if server.stdout is not None else "")
            unheard = subprocess.DEVNULL
            with subprocess.Popen(
                [MANAGER], env={**os.environ, "DISPLAY": display}, stdout=unheard, stderr=unheard
            ) as manager:
                try:
                    yield display
                finally:
                    manager.terminate()
        finally:
            server.terminate()


def _draw(folder: Path, size: tuple[int, int] | None) -> int:
    with tempfile.TemporaryDirectory() as history:
        example.lay(Path(history))
        with Store.open(Path(history)) as store:
            save_screenshots(Session(store, Nobody()), example.MOVE, folder, size=size)
    return 0


if __name__ == "__main__":
    sys.exit(main())

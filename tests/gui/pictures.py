"""Every page of the window in each size, scale and theme, over a history as two servers would leave it.

`python tests/gui/pictures.py FOLDER` writes them; each size and scale is drawn by a process of its own.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.actions import Session
from core.history.store import Store
from core.servers.profiles import Nobody
from gui.screenshots import save_screenshots
from tests.gui import samples

SIZES = ((1024, 700, 1), (1440, 900, 1), (2560, 1440, 1), (1024, 700, 2))
"""Width and height in the window's own pixels, and how many of the screen's each is."""


def main() -> int:
    """Write all of them; or, of one size, those alone."""
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        width, height = (int(number) for number in sys.argv[2].split("x"))
        return _draw(folder, (width, height))
    for width, height, scale in SIZES:
        here = folder / f"{width}x{height}-{scale}00"
        words = [sys.executable, __file__, str(here), f"{width}x{height}"]
        environment = {"QT_SCALE_FACTOR": str(scale), "QT_QPA_PLATFORM": "offscreen"}
        subprocess.run(words, env={**os.environ, **environment}, check=True, stderr=subprocess.DEVNULL)
        print(here)  # noqa: T201
    return 0


def _draw(folder: Path, size: tuple[int, int]) -> int:
    with tempfile.TemporaryDirectory() as history, Store.open(Path(history)) as store:
        samples.fill(store)
        save_screenshots(Session(store, Nobody()), samples.MOVE.name, folder, size=size)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`pictures.py MOVE FOLDER`: a picture of each page of the window with what the history holds of a move."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.api.session import Session
from core.history.store import Store
from core.servers.profiles import Nobody
from gui.screenshots import save_screenshots


def main() -> None:
    """Save them and name them."""
    move, folder = sys.argv[1:]
    with Store.open() as store, Session(store, Nobody()) as session:
        for path in save_screenshots(session, move, Path(folder)):
            print(path)


if __name__ == "__main__":
    main()

"""Write the newest schema, with a day's work in it, to tests/data/history: run once for each new migration."""

import contextlib
import sqlite3
import tempfile
from pathlib import Path

from core.history.database import MIGRATIONS
from core.history.store import Store
from tests.core.history import samples


def main() -> None:
    """`python -m tests.core.history.dump_schema`, from the root of the tree."""
    with tempfile.TemporaryDirectory() as folder:
        with Store.open(Path(folder)) as store:
            samples.fill(store)
        with contextlib.closing(sqlite3.connect(store.path)) as connection:
            text = "\n".join(connection.iterdump()) + "\n"
    (Path("tests/data/history") / f"{MIGRATIONS.head}.sql").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

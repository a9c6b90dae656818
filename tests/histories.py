"""Histories for tests: each is made once a session and copied for every test, in 2 ms instead of 50 to 120."""

import contextlib
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core import settings
from core.history.seal import KEY_FILE
from core.history.server import prepare
from core.history.store import Store
from tests.postgresql import Server

BOTH = ("sqlite", "postgresql")
"""What may hold a history."""
KEY = b"the key of all histories of tests".ljust(32)[:32]


def nothing(_store: Store) -> None:
    """Leave a history empty."""


@dataclass(frozen=True, slots=True)
class Histories:
    """Histories by what fills them, in a folder of their own; `server`, where one is asked for, has more of them."""

    folder: Path
    server: Callable[[], Server]

    def copy(self, to: Path, fill: Callable[[Store], None] = nothing) -> Path:
        """A history of the test's own at `to`, as `fill` leaves it; one key seals them all."""
        _lay_key()
        made = self.folder / f"{fill.__module__}.{fill.__name__}"
        if not made.exists():
            begun = made.with_suffix(".begun")
            with Store.open(begun) as store:
                fill(store)
            begun.rename(made)
        shutil.copytree(made, to, dirs_exist_ok=True)
        return to

    def open(self, to: Path, fill: Callable[[Store], None] = nothing) -> Store:
        """The same, opened; close it."""
        return Store.open(self.copy(to, fill))

    def on_server(self, fill: Callable[[Store], None] = nothing) -> str:
        """The same in a database of the test's own; its URL. Drop it."""
        _lay_key()
        server = self.server()
        made = f"{fill.__module__}.{fill.__name__}"[-63:]
        if not (self.folder / f"{made}.server").exists():
            place = server.create(made)
            prepare(place)
            with Store.open(place) as store:
                fill(store)
            (self.folder / f"{made}.server").touch()
        return server.create(secrets.token_hex(8), template=made)

    @contextlib.contextmanager
    def placed(self, on: str, to: Path, fill: Callable[[Store], None] = nothing) -> Iterator[Path | str]:
        """A history of the test's own in what `on` says (BOTH): its folder or URL."""
        if on == BOTH[0]:
            yield self.copy(to, fill)
            return
        place = self.on_server(fill)
        try:
            yield place
        finally:
            self.server().drop(place)

    @contextlib.contextmanager
    def opened(self, on: str, to: Path, fill: Callable[[Store], None] = nothing) -> Iterator[Store]:
        """The same, opened."""
        with self.placed(on, to, fill) as place, Store.open(place) as store:
            yield store


def _lay_key() -> None:
    settings.config_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    key = settings.config_folder() / KEY_FILE
    if not key.exists():
        key.touch(0o600)
        key.write_bytes(KEY)


@pytest.fixture(scope="session")
def histories(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Histories:
    def server() -> Server:
        found: Server = request.getfixturevalue("postgresql")
        return found

    return Histories(tmp_path_factory.mktemp("histories"), server)

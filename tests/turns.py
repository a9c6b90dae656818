"""Workers test beside one another; what holds a figure against the machine's limits has it to itself meanwhile.

A worker holds the room while it tests, together with the others. Who wants it alone takes the gate first, so that none
of the others begins another test, and then waits for those that run.
"""

import fcntl
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest


class Turns:
    """The locks of one run of the tests, in a folder that its workers share."""

    def __init__(self, folder: Path) -> None:
        self._gate, self._room = (os.open(folder / name, os.O_CREAT | os.O_RDWR, 0o600) for name in ("gate", "room"))

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        fcntl.flock(self._room, fcntl.LOCK_SH)
        fcntl.flock(self._gate, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(self._room, fcntl.LOCK_UN)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Within `beside_others`; its place there is given up while it waits, or two that wait would do so for ever."""
        fcntl.flock(self._room, fcntl.LOCK_UN)
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        fcntl.flock(self._room, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._room, fcntl.LOCK_SH)
            fcntl.flock(self._gate, fcntl.LOCK_UN)


Alone = Callable[[], AbstractContextManager[None]]
_TURNS = pytest.StashKey[Turns]()


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # one of several; each has its folder beside the others'
        config.stash[_TURNS] = Turns(Path(config.option.basetemp).parent)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    turns = item.config.stash.get(_TURNS, None)
    with turns.beside_others() if turns else nullcontext():
        return (yield)


@pytest.fixture(scope="session")
def alone(request: pytest.FixtureRequest) -> Alone:
    """`with alone():` no other worker tests meanwhile."""
    turns = request.config.stash.get(_TURNS, None)
    return turns.alone if turns else nullcontext

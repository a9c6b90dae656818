"""Texts that are cut to the room they have. What a masked report replaces is replaced before: half a name tells it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_first: ContextVar[Callable[[str], str]] = ContextVar("first", default=str)


@contextmanager
def changed_first(change: Callable[[str], str]) -> Iterator[None]:
    """Within it, `change` is made to each text before it is cut."""
    token = _first.set(change)
    try:
        yield
    finally:
        _first.reset(token)


def before_cut(text: str) -> str:
    """Return the text as it is to be cut; whatever cuts one calls it."""
    return _first.get()(text)

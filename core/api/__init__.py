"""The application's interface: one function for each action. The command line and the window call nothing else of core.

An action takes a Session (whose history, whose questions, which connections are open) and, where it reaches a server, a
Job. Its result is a frozen dataclass of the package that did the work, and is in the history when the action returns.

A module holds what is done with one noun. It is loaded when it is first used: who looks into the history loads no tool,
no report, no route, and the window is on screen before any of them.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.api import (
        archives,
        benchmarks,
        checks,
        comparison,
        execution,
        facts,
        imports,
        migration,
        model,
        moves,
        outputs,
        reports,
        servers,
        session,
        storage,
        survey,
    )
else:

    def __getattr__(noun: str) -> ModuleType:
        """Load the module of a noun: `from core import api`, then `api.moves`."""
        if noun in __all__:
            return import_module(f"{__name__}.{noun}")
        raise AttributeError(noun)


__all__ = [
    "archives",
    "benchmarks",
    "checks",
    "comparison",
    "execution",
    "facts",
    "imports",
    "migration",
    "model",
    "moves",
    "outputs",
    "reports",
    "servers",
    "session",
    "storage",
    "survey",
]

"""An execution outlives an upgrade of the package: before its first step all is loaded that it and its end need."""

import subprocess
import sys

import pytest

FROM_THE_HISTORY = {"alembic", "alembic.config", "core.history.server", "platformdirs", "pydantic"}
"""What opening the history and reading the execution from it has loaded, or has had no need of."""

SCRIPT = """
import ast
import sys
from pathlib import Path
from types import SimpleNamespace

import core.api.execution as actions
import core.history.store
import core.servers.connection
import core.servers.secrets


def imported_in_functions(module):
    for function in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    yield from (each.name for each in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield node.module


def look(_):
    loaded = [module for name, module in sys.modules.items() if name.startswith("core.") and module.__file__]
    print(*{name for module in loaded for name in imported_in_functions(module)} - set(sys.modules))


actions._ask_passwords = lambda *_: {}
actions._make_runner = lambda *_: SimpleNamespace(steps=SimpleNamespace(), carry_out=lambda: look(None))
execution = SimpleNamespace(kind=None)
actions._carry_out(SimpleNamespace(store=SimpleNamespace(execution=lambda _: execution)), 1, None, None)
"""


@pytest.mark.slow
def test_an_execution_loads_nothing_of_the_package_once_it_has_begun() -> None:
    said = subprocess.run([sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True).stdout
    assert set(said.split()) == FROM_THE_HISTORY

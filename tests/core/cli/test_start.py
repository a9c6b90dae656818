"""What a command loads: nothing that it does not need, or each one would start as slowly as the slowest."""

import subprocess
import sys
from pathlib import Path

import pytest

from core.history.store import Store

HEAVY = {"PySide6", "alembic", "humanize", "jinja2", "paramiko", "platformdirs", "psycopg", "pydantic", "sqlalchemy"}
OURS = {"core.api", "core.facts.model", "core.history.store", "core.migration.estimate", "core.migration.plan"}
"""What of our own a look at the help does without."""


def loaded(folder: Path, *arguments: str) -> set[str]:
    """The heavy packages, and those modules of ours, that a command has loaded when it ends."""
    program = (
        "import sys\nfrom core.cli.main import main\ncode = main(sys.argv[1:])\n"
        "print(*sys.modules, file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=True, capture_output=True, text=True, timeout=120,
        env={"PGHAUL_DATA": str(folder), "PGHAUL_CONFIG": str(folder), "PATH": "/usr/bin"},
    )  # fmt: skip
    return (HEAVY | OURS) & set(done.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("execute", "--help")])
def test_help_needs_nothing(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert loaded(tmp_path, *arguments) == set()


@pytest.mark.slow
def test_a_look_into_the_history_needs_the_history_alone(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    assert HEAVY & loaded(tmp_path, "move", "list") == {"sqlalchemy"}
    assert HEAVY & loaded(tmp_path, "server", "list") == {"sqlalchemy"}

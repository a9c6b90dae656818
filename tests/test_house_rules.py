"""Rules of the tests that no linter knows: ruff's SLF001 and PLC2701 see the private names that are no strings."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CORE = TESTS.parent / "core"
OF_THIS_WORKSTATION = {
    "benchmarks/fio/job.py": "a job file of the operator",
    "benchmarks/hammerdb.py": "outputs of a tool, which ends lines with carriage returns, too",
    "benchmarks/pgbench/output.py": "outputs of a tool, which ends lines with carriage returns, too",
    "benchmarks/phoronix.py": "outputs of a tool, which ends lines with carriage returns, too",
    "benchmarks/reading.py": "outputs of tools, which end lines with carriage returns, too",
    "benchmarks/runs.py": "outputs of tools, which end lines with carriage returns, too",
    "cli/completion.py": "a script of pghaul",
    "cli/functions.py": "a comment of pghaul",
    "cli/history.py": "a note of the operator",
    "cli/manual/roff.py": "a page of pghaul",
    "cli/terminal.py": "a command of pghaul, of which the first line is shown",
    "history/damage.py": "messages of SQLite and of pghaul",
    "language.py": "a catalogue of pghaul",
    "migration/execution/script_check.py": "messages of the shell of this workstation",
    "reports/shapes/markdown.py": "a text in which no such sign is left",
    "servers/functions.py": "a comment of pghaul",
    "servers/host_keys.py": "a file of the operator",
    "servers/lists/formats.py": "a file of the operator",
    "servers/ssh_config.py": "a file of the operator, and what ssh says of it",
}
"""The modules of core that may call splitlines, each with what it splits."""


def _named_in_strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """What calls such as `monkeypatch.setattr(module, "name", …)` name by a string: line and name."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.endswith("attr"):
            for word in call.args[:2]:
                if isinstance(word, ast.Constant) and isinstance(word.value, str):
                    yield word.lineno, word.value


@pytest.mark.slow
def test_no_private_name_is_patched() -> None:
    """What a test must change is a public constant or a parameter: else the test knows how, not what."""
    found = [
        f"{path.relative_to(TESTS)}:{line}: {name}"
        for path in sorted(TESTS.rglob("*.py"))
        for line, name in _named_in_strings(ast.parse(path.read_text(encoding="utf-8")))
        if any(part.startswith("_") for part in name.split("."))
    ]
    assert found == []


def test_what_a_server_has_written_is_split_at_line_feeds_alone() -> None:
    """splitlines also splits at a form feed and the like, and an account can have these in its names: `lines_of`."""
    found = {
        str(path.relative_to(CORE))
        for path in CORE.rglob("*.py")
        if any(
            isinstance(node, ast.Attribute) and node.attr == "splitlines"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    }
    assert found == OF_THIS_WORKSTATION.keys()

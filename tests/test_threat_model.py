"""The threat model of SECURITY.md is no promise: every test that it names is there."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TEXT = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
_ROW = re.compile(r"^\|(?P<who>[^|]*)\|(?P<what>[^|]+)\|(?P<how>[^|]+)\| (?P<tests>[^|]+) \|$", re.MULTILINE)
_TEST = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<name>test_\w+)`")
ROWS = [found for found in _ROW.finditer(TEXT) if "---" not in found["tests"] and "in `tests/`" not in found["tests"]]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"].strip())
def test_every_line_names_tests_that_are_there(row: re.Match[str]) -> None:
    named = list(_TEST.finditer(row["tests"]))
    assert row["tests"].strip() == ", ".join(found[0] for found in named) != ""
    for found in named:
        tree = ast.parse((TESTS / found["file"]).read_text(encoding="utf-8"))
        known = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert found["name"] in known, found[0]


def test_no_line_is_overlooked() -> None:
    table = TEXT.partition("## What is defended against")[2].partition("## What is not")[0]
    assert len(ROWS) == sum(line.startswith("| ") for line in table.splitlines()) - 2
    assert {row["who"].strip() for row in ROWS} == {
        "",
        "network",
        "server",
        "account",
        "file",
        "thief",
        "team",
        "index",
    }

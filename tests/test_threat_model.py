"""The threat model of SECURITY.md is no promise: every test that it names is there."""

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
TEXT = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
_ROW = re.compile(r"^\|(?P<who>[^|]*)\|(?P<what>[^|]+)\|(?P<how>[^|]+)\| (?P<tests>[^|]+) \|$", re.MULTILINE)
_TEST = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<name>test_\w+)`")
ROWS = [found for found in _ROW.finditer(TEXT) if "---" not in found["tests"] and "in `tests/`" not in found["tests"]]


@cache
def _tests_of(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_line_names_tests_that_are_there() -> None:
    wrong = []
    for row in ROWS:
        named = list(_TEST.finditer(row["tests"]))
        lost = [found[0] for found in named if found["name"] not in _tests_of(found["file"])]
        if lost or not named or row["tests"].strip() != ", ".join(found[0] for found in named):
            wrong.append((row["what"].strip(), row["tests"].strip(), lost))
    assert wrong == []


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

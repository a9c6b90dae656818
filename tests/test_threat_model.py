"""The threat model of SECURITY.md is more than a promise.

Every test that it names exists, and `make test` runs at least one of each line.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.run import UNUSUAL

TESTS = Path(__file__).parent
TEXT = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
_ROW = re.compile(r"^\| (?P<attack>[^|]+) \| (?P<defence>[^|]+) \| (?P<tests>[^|]+) \|$", re.MULTILINE)
_TEST = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<name>test_\w+)`")
_UNUSUAL = re.compile(rf"\bmark\.(?:{'|'.join(UNUSUAL)})\b")
ROWS = [found for found in _ROW.finditer(TEXT) if "---" not in found["tests"] and "in `tests/`" not in found["tests"]]


@cache
def _tests_of(file: str) -> dict[str, bool]:
    """The tests of a file, and whether `make test` runs them, with one of their parameters at least."""
    return dict(_tests_in(ast.parse((TESTS / file).read_text(encoding="utf-8"))))


def _tests_in(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    marks = [each.value for each in tree.body if isinstance(each, ast.Assign) and _is_named(each, "pytestmark")]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, not any(_leaves_out(each) for each in (*marks, *node.decorator_list))


def _is_named(node: ast.Assign, name: str) -> bool:
    return [ast.unparse(target) for target in node.targets] == [name]


def _leaves_out(mark: ast.expr) -> bool:
    """Whether a mark leaves a test to another part of the tests; so do parameters of which each bears such a mark."""
    if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("mark.parametrize"):
        values = mark.args[1] if len(mark.args) > 1 else None
        cases = values.elts if isinstance(values, ast.List | ast.Tuple) else []
        return bool(cases) and all(_UNUSUAL.search(ast.unparse(case)) for case in cases)
    return bool(_UNUSUAL.search(ast.unparse(mark)))


def test_every_line_names_tests_that_are_there() -> None:
    wrong = []
    for row in ROWS:
        named = list(_TEST.finditer(row["tests"]))
        lost = [found[0] for found in named if found["name"] not in _tests_of(found["file"])]
        if lost or not named or row["tests"] != ", ".join(found[0] for found in named):
            wrong.append((row["attack"], row["tests"], lost))
    assert wrong == []


def test_of_every_line_make_test_runs_a_test() -> None:
    rows = {row["attack"]: list(_TEST.finditer(row["tests"])) for row in ROWS}
    assert len(rows) == len(ROWS)
    seldom = [attack for attack, named in rows.items() if not any(_tests_of(one["file"])[one["name"]] for one in named)]
    assert seldom == []


def test_what_leaves_a_test_to_another_part() -> None:
    found = dict(
        _tests_in(
            ast.parse(
                "@pytest.mark.long\ndef test_long(): pass\n"
                "@pytest.mark.slow\ndef test_slow(): pass\n"
                "@pytest.mark.parametrize('x', [1, pytest.param(2, marks=pytest.mark.long)])\ndef test_one(x): pass\n"
                "@pytest.mark.parametrize('x', [pytest.param(2, marks=pytest.mark.nfs)])\ndef test_none(x): pass\n"
            )
        )
    )
    assert found == {"test_long": False, "test_slow": True, "test_one": True, "test_none": False}
    assert set(dict(_tests_in(ast.parse("pytestmark = [mark.systemd]\ndef test_a(): pass"))).values()) == {False}


def test_no_line_is_overlooked() -> None:
    tables = TEXT.partition("## Attacks that pghaul defends against")[2].partition("\n## ")[0]
    sections = dict(re.findall(r"^### ([^\n]*)\n(.*?)(?=^### |\Z)", tables, flags=re.DOTALL | re.MULTILINE))
    rows = {title: len(re.findall(r"^\| ", text, flags=re.MULTILINE)) - 2 for title, text in sections.items()}
    assert sum(rows.values()) == len(ROWS) > 50
    assert min(rows.values()) > 0
    assert set(rows) == {
        "The network",
        "A server",
        "An account",
        "A file",
        "A member of the team",
        "A thief",
        "A package index",
    }

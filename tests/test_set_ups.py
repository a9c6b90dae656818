"""The page of the set-ups that were tried: each row names a test that is there."""

import ast
import re
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
PAGE = (TOP / "docs" / "set-ups.md").read_text(encoding="utf-8")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)(?:\[([^]]+)\])?`")


def rows(text: str) -> list[list[str]]:
    """The cells of each row of the tables, but for their heads."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith(("| id |", "| --- |"))]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def wrong(cell: str) -> str:
    """Why a cell names no test; empty: it names one."""
    named = TEST.fullmatch(cell)
    if named is None:
        return f"no test: {cell}"
    file, function, parameter = named.groups()
    path = TOP / file
    source = path.read_text(encoding="utf-8") if path.is_file() else ""
    tree = ast.parse(source)
    found = next((each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == function), None)
    if found is None:
        return f"{file} has no {function}"
    if parameter is None:
        return ""
    if not any("parametrize" in ast.unparse(each) for each in found.decorator_list):
        return f"{function} has no parameters"
    texts = {each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)}
    known = parameter in texts or f'"{parameter}"' in (TOP / "tests/lab/layouts.py").read_text(encoding="utf-8")
    return "" if known else f"{file} has no {parameter}"


@pytest.mark.parametrize("row", rows(PAGE), ids=lambda row: row[0])
def test_each_row_names_a_test(row: list[str]) -> None:
    assert len(row) == 5
    assert wrong(row[-1]) == ""


def test_each_set_up_has_an_id_of_its_own() -> None:
    names = [row[0] for row in rows(PAGE)]
    assert len(names) > 40
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "`tests/test_none.py::test_each_row_names_a_test`",
        "`tests/test_set_ups.py::test_none`",
        "`tests/test_set_ups.py::test_each_set_up_has_an_id_of_its_own[one]`",
        "`tests/test_set_ups.py::test_each_row_names_a_test[no row " + "of it]`",
    ],
)
def test_what_is_no_test_is_told(cell: str) -> None:
    assert wrong(cell) != ""

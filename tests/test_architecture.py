"""ARCHITECTURE.md is one page, shows the layers that the import contracts enforce, and names only what exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from installer.layers import PYPROJECT, draw, read_layers

TOP = Path(__file__).parents[1]
PAGE = (TOP / "ARCHITECTURE.md").read_text(encoding="utf-8")
_CHOSEN = re.compile(r"[A-Z]{2,}/|/[A-Z]{2,}")
"""A part of a path that whoever reads chooses: `tests/data/NAME/`."""


def statements(text: str) -> Iterator[str]:
    """The rows of tables, the items of lists, and the paragraphs, apart from blocks of text."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", prose):
        yield from re.split(r"\n(?=\||- |\d\. )", paragraph)


def missing(statement: str) -> list[str]:
    """The paths that a statement names and that do not exist, and the names that are in none of its files."""
    named = re.findall(r"`([^`\s]+)`", statement)
    paths = [each for each in named if "/" in each or re.search(r"\.(?:py|sh|md|toml)$", each)]
    paths = [each for each in paths if not _CHOSEN.search(each)]
    files = [file for path in paths for file in _files(TOP / path)]
    texts = [file.read_text(encoding="utf-8") for file in files]
    names = [each.removesuffix("()").strip("@") for each in named if re.fullmatch(r"@?[A-Za-z]\w*(?:\(\))?", each)]
    lost = [path for path in paths if not (TOP / path).exists()]
    return lost + [each for each in names if not any(re.search(rf"\b{each}\b", text) for text in texts)]


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.[ps][yh]")) if path.is_dir() else [path] * path.is_file()


def test_the_picture_is_that_of_the_contracts() -> None:
    picture = draw(read_layers(PYPROJECT.read_text(encoding="utf-8")))
    assert f"\n```text\n{picture}```\n" in PAGE, "run: python -m installer.layers"


def test_a_contract_that_changes_changes_the_picture() -> None:
    pyproject = PYPROJECT.read_text(encoding="utf-8")
    changed = pyproject.replace('"checks | estimate | probing"', '"checks | estimate"')
    assert changed != pyproject
    assert draw(read_layers(changed)) not in PAGE


def test_what_it_names_exists() -> None:
    assert [lost for statement in statements(PAGE) if (lost := missing(statement))] == []


_PACKAGES = [TOP / "gui" / "__init__.py", *sorted((TOP / "core").rglob("__init__.py"))]


@pytest.mark.parametrize("package", _PACKAGES, ids=[str(each.relative_to(TOP)) for each in _PACKAGES])
def test_the_paths_that_a_package_names_exist(package: Path) -> None:
    described = ast.get_docstring(ast.parse(package.read_text(encoding="utf-8"))) or ""
    paths = re.findall(r"`([\w/]+\.(?:py|sh|md|toml))`", described)
    assert [each for each in paths if not ((TOP / each).exists() or any(package.parent.rglob(each)))] == []


@pytest.mark.parametrize(
    ("statement", "lost"),
    [
        ("| plans | `core/migration/execution/engine.py` |", ["core/migration/execution/engine.py"]),
        ("| plans | `core/migration/execution/runner.py` (`Engine`) |", ["Engine"]),
        ("| plans | `core/migration/execution/` (`Runner`, `void_nothing()`) |", ["void_nothing"]),
        ("| outputs | `tests/data/NAME/` |", []),
    ],
)
def test_a_name_that_does_not_exist_is_found(statement: str, lost: list[str]) -> None:
    assert missing(statement) == lost


def test_it_is_one_page() -> None:
    lines = PAGE.splitlines()
    assert len(lines) <= 130
    assert [line for line in lines if len(line) > 120] == []

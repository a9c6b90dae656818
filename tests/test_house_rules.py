"""Rules of the tests that no linter knows: ruff's SLF001 and PLC2701 see the private names that are no strings."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


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

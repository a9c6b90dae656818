"""Models know no widget. The import contract keeps them from the window's own, this keeps them from Qt's."""

import ast
from pathlib import Path

import pytest

import gui.models

MODELS = sorted(Path(gui.models.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_imports_no_widget_of_qt(path: Path) -> None:
    imported = [
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)
    ]
    assert [node.lineno for node in imported if node.module == "PySide6.QtWidgets"] == []

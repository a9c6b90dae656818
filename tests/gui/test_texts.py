"""No words of the window are out of a catalogue's sight: each stands in a call that `installer/texts.py` gathers."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gui

TOP = Path(gui.__file__).parent
FILES = sorted(TOP.rglob("*.py"))
NO_WINDOW = {
    *(
        "app.py",
        "entry.py",
        "frozen.py",
        "screenshots.py",
        "last_time.py",
    ),  # a terminal, the pictures, the log of a crash with the report of a bug
    *("appearance.py", "widgets/label.py", "guard.py", "design/style.py"),  # marks for Qt, names
}
GATHERED = {"tr", "marked", "counted", "tr_counted"}
ITSELF = {
    *("new cpu", "new disk", "observed rate", "old cpu", "old disk", "round trips"),  # ids of what limits a stage
    *("English", "Deutsch", "88 min", " min", "MTU ", " IOPS", " MB/s", "pghaul "),
    *(" (on ", " as ", "# call: "),  # comments of commands that are copied
    "(?:pghaul execute ",  # a pattern
}
WORDS = re.compile(r"[A-Za-z]{2}.* |^&?[A-Z][a-z]| [A-Za-z]{2}|[A-Za-z]{3}[:;,]")
_KEYS = re.compile(r"(Ctrl|Alt)\+|.*--")
"""Shortcuts, and options of the command line."""


def _of_another_kind(tree: ast.AST) -> Iterator[ast.AST]:
    """What is gathered, and what nobody reads: docstrings, keys, bases."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            yield from node.args if called in GATHERED | {"QKeySequence", "TypeVar", "cast"} else ()
            yield from node.args[:1] if called in {"Column", "_typed"} else ()
        yield from (part for name in ("annotation", "returns") if (part := getattr(node, name, None)) is not None)
        if isinstance(node, ast.Subscript):
            yield node.slice
        if isinstance(node, ast.ClassDef):
            yield from node.bases
        if isinstance(body := getattr(node, "body", None), list):
            said = [statement.value for statement in body if isinstance(statement, ast.Expr)]
            yield from (value for value in said if isinstance(value, ast.Constant))


def _out_of_sight(code: str) -> list[str]:
    tree = ast.parse(code)
    others = {part for node in _of_another_kind(tree) for part in ast.walk(node)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in others
        if WORDS.search(node.value) and node.value not in ITSELF and not _KEYS.match(node.value)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TOP)))
def test_every_text_is_gathered(path: Path) -> None:
    if path.relative_to(TOP).as_posix() not in NO_WINDOW:
        assert _out_of_sight(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "code",
    [
        'label.setText("Nothing yet")',
        'f"{number} are left"',
        'QAction("&Copy", self)',
        'title = "Servers of old" if one else ""',
    ],
)
def test_words_of_any_kind_are_seen(code: str) -> None:
    assert _out_of_sight(code)

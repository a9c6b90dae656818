"""The messages with which pghaul may end, and what to do about each, read off the source."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from core import errors
from installer.hints import LEFT_OUT, text_of

TOP = Path(__file__).resolve().parent.parent
_ERRORS = {name for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, Exception)}
_SUBJECTS = {
    "core/servers/": "Servers and connections",
    "core/facts/": "Benchmarks and comparisons",
    "core/benchmarks/": "Benchmarks and comparisons",
    "core/comparison/": "Benchmarks and comparisons",
    "core/migration/": "Moves: checks, probes, estimates, plans and executions",
    "core/history/": "History",
    "core/reports/": "Reports",
    "core/": "Commands, options and files",
}
"""The subject of the messages below a folder. The first folder counts in which a module is."""


@cache
def messages() -> dict[str, list[tuple[str, str]]]:
    """Return each message that has a hint, with this hint, by subject and in the order of the alphabet."""
    found: dict[str, set[tuple[str, str]]] = {subject: set() for subject in _SUBJECTS.values()}
    for path in sorted((TOP / "core").rglob("*.py")):
        place = path.relative_to(TOP).as_posix()
        subject = next(subject for folder, subject in _SUBJECTS.items() if place.startswith(folder))
        name = place.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
        found[subject].update(_of(name, path.read_text(encoding="utf-8")))
    return {
        subject: sorted(each, key=lambda one: one[0].strip(f"{LEFT_OUT}: ").lower()) for subject, each in found.items()
    }


def _of(name: str, source: str) -> Iterator[tuple[str, str]]:
    """Of a module. It is imported only if it has messages: some of Alembic's run when they are."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ERRORS:
            words = [*node.args[:2], *(each.value for each in node.keywords if each.arg == "hint")]
            texts = [" ".join(text_of(importlib.import_module(name), word).split()) for word in words]
            if len(texts) == 2 and all(text.strip(f"{LEFT_OUT}:` ") for text in texts):
                yield texts[0], texts[1]

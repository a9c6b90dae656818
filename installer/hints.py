"""What each check may advise, read off its source: the hints that it, and what it calls, can hand out."""

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType

from core.migration.checks.declaration import Check, Need

_SEVERITIES = ("blocker", "warning", "unknown")
"""The functions of core/migration/findings/finding.py whose last argument is a hint."""
_ASKING = ("value_or_finding", "unread")
"""The methods of a need that hand out its hint."""
_NAMESPACE = "core.migration"
LEFT_OUT = "…"
"""What stands for a value that only a move has."""


def hints(check: Check) -> list[tuple[str, str]]:
    """Severity and hint, each once, blockers first."""
    found = dict.fromkeys([*_of_check(check, set()), *(each for need in check.needs for each in _of_need(need))])
    return sorted(found, key=lambda each: _SEVERITIES.index(each[0]))


def _of_check(check: Check, seen: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    yield from _of(sys.modules[check.function.__module__], check.function.__name__, seen)


def _of_need(need: Need[object]) -> Iterator[tuple[str, str]]:
    """Of a need that is missing in the facts."""
    if need.explain is None:
        yield "unknown", re.sub(r"\{\w+\}", LEFT_OUT, need.hint)
    else:
        yield from _of(sys.modules[need.explain.__module__], need.explain.__name__, set())


def _of(module: ModuleType, name: str, seen: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Of a function, and of those of checks and findings that it names."""
    node = _functions(module).get(name)
    if node is None or (module.__name__, name) in seen:
        return
    seen.add((module.__name__, name))
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _SEVERITIES and part.args:
            text = " ".join(text_of(module, part.args[-1]).split())
            if text.strip(LEFT_OUT + " "):
                yield part.func.id, text
        elif isinstance(part, ast.Attribute) and part.attr in _ASKING and isinstance(part.value, ast.Name):
            need = vars(module).get(part.value.id)
            if isinstance(need, Need):
                yield from _of_need(need)
        elif isinstance(part, ast.Name):
            called = vars(module).get(part.id)
            if isinstance(called, Check):
                yield from _of_check(called, seen)
            if inspect.isfunction(called) and called.__module__.startswith(_NAMESPACE):
                yield from _of(importlib.import_module(called.__module__), called.__name__, seen)


@cache
def _functions(module: ModuleType) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def text_of(module: ModuleType, node: ast.expr) -> str:
    """Return the words of an expression; LEFT_OUT stands for what only a run knows."""
    match node:
        case ast.Constant(value=str() as words):
            return words
        case ast.JoinedStr(values=parts):
            return "".join(text_of(module, part) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return text_of(module, left) + text_of(module, right)
        case ast.FormattedValue(value=ast.Name() as name) | (ast.Name() as name):
            known = vars(module).get(name.id)
            return known if isinstance(known, str) else LEFT_OUT
        case _:
            return LEFT_OUT

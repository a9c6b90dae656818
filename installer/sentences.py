"""The sentences of checks that the history records in English, as templates with a name for each value.

They are read from the code itself: what a check hands to `passed`, `warning`, `blocker` and `unknown` as message and
hint. `installer/texts.py` brings them into `resources/languages/recorded`, by which `core/reports/recorded.py` knows
them again in a report of another language.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path

from core.migration.checks import CHECKS

TOP = Path(__file__).resolve().parent.parent
PLACES = ("core/migration/checks", "core/migration/findings")
_OTHERS = frozenset({"declaration.py", "page.py", "waivers.py"})
"""What stands beside the checks."""
_SAID_LAST = {"passed": 1, "warning": 2, "blocker": 2, "unknown": 2}
"""How many of the last words of such a call people read as sentences."""
IN_WINDOW = (
    *("core/api", "core/comparison", "core/migration", "core/servers"),
    *(
        f"core/benchmarks/{name}.py"
        for name in ("folders", "forecasts", "installing", "runs", "traffic", "volume_device")
    ),
    *(f"core/history/{name}.py" for name in ("executions", "recorded_profiles", "removal")),
)
"""Where the window's pages and messages have their sentences from, besides its own code."""
_NOT_IN_WINDOW = (
    *(f"core/api/{name}.py" for name in ("archives", "reports", "storage")),
    *(f"core/comparison/{name}.py" for name in ("foreign_outputs", "preparation")),
    *(f"core/migration/estimate/{name}.py" for name in ("plausible", "spec")),
    *(f"core/migration/plan/{name}.py" for name in ("runbook", "script")),
    *("core/migration/checks/page.py", "core/migration/model/watch.py"),
    *(f"core/servers/{name}.py" for name in ("functions", "remote_jobs", "shell")),
)
"""What the command line alone says."""
_NOT_SHOWN_OF = {
    "core/benchmarks/folders.py": ("Keeper", "_refused"),
    "core/benchmarks/runs.py": ("_wait_until_it_serves",),
    "core/servers/authentication.py": ("_read", "_unusable"),
    "core/servers/certificates.py": ("problem",),
    "core/servers/host_keys.py": (
        "Unattended",
        "_by_ssh_keygen",
        "_listed",
        "_output",
        "add_known_host",
        "further_entries",
        "read_known_hosts",
        "revoked",
    ),
    "core/servers/remote_process.py": ("BoundedOutput",),
}
"""Functions and classes of which the same is true, where the rest of their file is shown in the window."""
_NO_PROSE = re.compile(
    r"^\W*(SELECT|INSERT|DELETE|create|insert|select|alter|coalesce|sed|provider)\b|\$\((?!cat FILE\))|\n#|^#|^-c |\|\|"
    r"|^\[|>>|^(install -m|ssh-keygen|see them with: pghaul|rsync: expected|pghaul) |^\{folder\} -|: \{native_restore\}"
    r"|\| sha256sum$|^see --confirm$"
)
"""What is typed or run, and stays as it is."""
_SHOWN = {"Note": slice(0, 1), "Next": slice(1, 2), "Mark": slice(2, 3), "Progress": slice(1, 2)}
"""Which words of such a call the window shows."""
_LONG = 4
"""Blanks from which any text of a check is a sentence."""
_PLAIN = frozenset({"size", "rate", "count", "duration", "join", "len", "sorted", "counted", "repr"})
"""Calls that a value is named through."""

_Part = str | ast.expr


@cache
def sentences(top: Path = TOP) -> tuple[str, ...]:
    """The template of each sentence: `{name} could not be read: {reason}`."""
    recorded = [
        each
        for place in PLACES
        for path in sorted((top / place).glob("*.py"))
        if path.name not in _OTHERS
        for each in sentences_in(path.read_text(encoding="utf-8"))
    ]
    shown = [
        each
        for path in sorted((top / "core").rglob("*.py"))
        if any(path.is_relative_to(top / place) for place in IN_WINDOW)
        if not any(path.is_relative_to(top / place) for place in (*PLACES, *_NOT_IN_WINDOW))
        for each in shown_in(path.read_text(encoding="utf-8"), _NOT_SHOWN_OF.get(path.relative_to(top).as_posix(), ()))
        if not _NO_PROSE.search(each)
    ]
    needs = {need for check in CHECKS for need in (*check.needs, *check.uses) if need.explain is None}
    missing = [text for need in needs for text in (need.sentence, need.hint)]
    return tuple(sorted({*recorded, *missing, *shown}))


def shown_in(code: str, without: Collection[str] = ()) -> Iterator[str]:
    """What the window shows of a file of core's: errors with their hints, notes of jobs, and what is as long.

    `without`: the functions and classes of the file that are left out.
    """
    parts = (part for part in ast.parse(code).body if getattr(part, "name", None) not in without)
    functions = (node for part in parts for node in ast.walk(part) if isinstance(node, ast.FunctionDef))
    return _told(functions, _shown_words, blanks=1)


def _shown_words(call: ast.Call) -> Sequence[ast.expr]:
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name.endswith("Error"):
        return call.args[:2]
    return call.args[_SHOWN[name]] if name in _SHOWN else ()


def sentences_in(code: str) -> Iterator[str]:
    """Those of a file; of a choice (`"is" if one else "are"`) each side is a sentence of its own.

    What reaches the finding by a name or another function is told by its length: nothing else in a check is as long.
    """
    functions = (node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef))
    return _told(functions, _last_words, blanks=0)


def _told(
    functions: Iterable[ast.FunctionDef], words: Callable[[ast.Call], Sequence[ast.expr]], blanks: int
) -> Iterator[str]:
    """The texts in functions that `words` picks of a call, with so many blanks at least, and whatever is as long."""
    for function in functions:
        within = [node for statement in function.body for node in ast.walk(statement)]
        whole = {
            part for node in within if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part is not node
        }
        docs = {node.value for node in within if isinstance(node, ast.Expr)}
        said = {word for node in within if isinstance(node, ast.Call) for word in words(node)}
        for node in within:
            if node in said or (isinstance(node, ast.Constant | ast.JoinedStr) and node not in whole | docs):
                least = blanks if node in said else _LONG
                yield from (each for each in map(_template, _forms(node)) if _tells(each) and each.count(" ") >= least)


def _last_words(call: ast.Call) -> Sequence[ast.expr]:
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    return call.args[-_SAID_LAST[name] :] if name in _SAID_LAST else ()


def _forms(node: ast.AST) -> list[list[_Part]]:
    if isinstance(node, ast.Constant):
        return [[node.value]] if isinstance(node.value, str) else []
    if isinstance(node, ast.IfExp):
        return _forms(node.body) + _forms(node.orelse)
    if isinstance(node, ast.JoinedStr):
        return [[part for form in forms for part in form] for forms in product(*map(_forms, node.values))]
    if isinstance(node, ast.FormattedValue):
        told = _forms(node.value) if isinstance(node.value, ast.IfExp | ast.JoinedStr) else []
        return told or [[node.value]]
    return [[node]] if isinstance(node, ast.Name | ast.Call | ast.Attribute) else []


def _tells(template: str) -> bool:
    """It is more than one word, and more than values with what stands between them."""
    return " " in template and re.search("[A-Za-z]{3}", re.sub(r"\{\w+\}", "", template)) is not None


def _template(parts: Sequence[_Part]) -> str:
    """With a number behind a name that is there already."""
    names: list[str] = []
    said = ""
    for part in parts:
        if isinstance(part, str):
            said += part
        else:
            name = _name(part)
            names.append(name)
            times = names.count(name)
            said += "{" + (name if times == 1 else f"{name}{times}") + "}"
    return said


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id.strip("_").lower()
    if isinstance(node, ast.Call):
        called = node.func
        name = _name(called)
        return _name(node.args[0]) if name in _PLAIN and node.args else name
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_").lower()
    if isinstance(node, ast.Subscript | ast.BinOp):
        return _name(node.value if isinstance(node, ast.Subscript) else node.left)
    return "value"

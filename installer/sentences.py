"""The sentences that core says in English, as templates with a name for each value: of checks, of errors and of notes.

They are read from the code itself: what a check hands to `passed`, `warning`, `blocker` and `unknown` as message and
hint, what an error says, and what a job reports. `installer/texts.py` brings them into `resources/languages/recorded`,
by which `core/reports/recorded.py` knows them again in a report or a window of another language.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path

from core.migration.checks import CHECKS

TOP = Path(__file__).resolve().parent.parent
PLACES = ("core/migration/checks", "core/migration/findings")
_BESIDE = frozenset({"waivers.py"})
"""What stands beside the checks, and raises errors as all of core does."""
_SAID_LAST = {"passed": 1, "warning": 2, "blocker": 2, "unknown": 2}
"""How many of the last words of such a call people read as sentences."""
_SAYS_NOTHING = {
    "core/cli": "the command line, which is in English",
    "core/benchmarks/page.py": "a page of the documentation, which is in English",
    "core/migration/checks/declaration.py": "makes the sentences of needs, which are read as they are made",
    "core/migration/checks/page.py": "a page of the documentation, which is in English",
    "core/user_settings/page.py": "a page of the documentation, which is in English",
    "core/migration/plan/runbook.py": "a document, which is in English",
    "core/migration/plan/script.py": "a program for sh, with comments in English",
    "core/history/migrations": "rewrites tables, and tells nobody",
    "core/servers/functions.py": "raises for bugs alone",
}
"""The modules of core that say nothing to the user of a window or a report, each with the reason."""
_NO_PROSE = re.compile(
    "|".join(
        (
            r"^\W*(SELECT|INSERT|DELETE|GRANT|REVOKE|ALTER|select|insert|alter|coalesce|provider)\b",
            r"^\W*create (collation|table|index)\b|^\{later\} ",
            r"^\W*sed\b|\$\((?!cat FILE\))|\n#|^#|^-c |\|\||^\[ |>>|^(install -m|ssh-keygen) |^\{folder\} -",
            r": \{native_restore\}|\| sha256sum$|^see --confirm$",
            r"^pghaul ((facts|bench) \{|probe |execute \{\w+\} --status)",
            r"\(\?|\\[dswb]|^\^",
            r"^<|\n\[|^the \{\w+\}$|^(width=|read -r|ALL TABLES|postgres -C$)",
            r"^(No space left on device|Running the test with following options|database is locked)$",
        )
    )
)
"""What stays as it is: SQL, the shell's words, commands to type, regular expressions, SVG, marks around an output, and
what other programs print."""
_SHOWN = {"Note": slice(0, 1), "Next": slice(1, 2), "Mark": slice(2, 3), "Progress": slice(1, 2)}
"""Which words of such a call the window shows."""
_WITH_TITLE = frozenset({"run", "CommandStarted"})
"""Calls whose title says what a command is for."""
_TRANSLATED = frozenset({"tr", "tr_counted", "counted"})
"""What translates its words at once."""
_LONG = 4
"""Blanks from which any text of a check is a sentence."""
_PLAIN = frozenset({"size", "rate", "count", "duration", "join", "len", "sorted", "counted", "repr", "quoted"})
"""Calls that a value is named through."""

_Part = str | ast.expr


@cache
def sentences(top: Path = TOP) -> tuple[str, ...]:
    """The template of each sentence: `{name} could not be read: {reason}`."""
    codes = {
        path: path.read_text(encoding="utf-8")
        for path in sorted((top / "core").rglob("*.py"))
        if not any(path.is_relative_to(top / place) for place in _SAYS_NOTHING)
    }
    of_checks = {path for path in codes if path.name not in _BESIDE and path.parent in {top / each for each in PLACES}}
    makers = frozenset(name for code in codes.values() for name in makers_in(code))
    recorded = [each for path in of_checks for each in sentences_in(codes[path])]
    shown = [
        each
        for path, code in codes.items()
        if path not in of_checks
        for each in shown_in(code, makers)
        if not _NO_PROSE.search(each)
    ]
    needs = {need for check in CHECKS for need in (*check.needs, *check.uses) if need.explain is None}
    missing = [text for need in needs for text in (need.sentence, need.hint)]
    return tuple(sorted({*recorded, *missing, *shown}))


def makers_in(code: str) -> Iterator[str]:
    """The functions and methods that return an error, and are told some of its words."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and _is_error(node.returns.id):
            yield node.name


def shown_in(code: str, makers: Collection[str] = ()) -> Iterator[str]:
    """What the window shows of a file of core's: errors with their hints, what a job reports, and what is as long.

    `makers`: functions that return an error. Constants of the file count as words of the functions that name them.
    """
    tree, words = ast.parse(code), partial(_shown_words, makers)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    bodies = list(map(_body, functions))
    constants = _constants(tree, [body for body in bodies if any(isinstance(n, ast.Call) and words(n) for n in body)])
    return _told([*bodies, *constants], words, blanks=1)


def _constants(tree: ast.Module, bodies: Iterable[Sequence[ast.AST]]) -> Iterator[list[ast.AST]]:
    """The values of the constants of a file that these bodies name, and of those that these values name."""
    values = {
        target.id: list(ast.walk(node.value))
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    waiting, seen = list(bodies), set[str]()
    while waiting:
        named = {node.id for node in waiting.pop() if isinstance(node, ast.Name)} & values.keys() - seen
        seen |= named
        waiting += (values[name] for name in named)
        yield from (values[name] for name in named)


def _shown_words(makers: Collection[str], call: ast.Call) -> Sequence[ast.expr]:
    name = _called(call)
    if _is_error(name) or name in makers:
        return [*call.args, *(each.value for each in call.keywords if each.arg == "hint")]
    if name in _WITH_TITLE:
        return [each.value for each in call.keywords if each.arg == "title"]
    return call.args[_SHOWN[name]] if name in _SHOWN else ()


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is_error(name: str) -> bool:
    return name.endswith("Error")


def sentences_in(code: str) -> Iterator[str]:
    """Those of a file; of a choice (`"is" if one else "are"`) each side is a sentence of its own.

    What reaches the finding by a name or another function is told by its length: nothing else in a check is as long.
    """
    functions = (node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef))
    return _told(map(_body, functions), _last_words, blanks=0)


def _body(function: ast.FunctionDef) -> list[ast.AST]:
    return [node for statement in function.body for node in ast.walk(statement)]


def _told(
    bodies: Iterable[Sequence[ast.AST]], words: Callable[[ast.Call], Sequence[ast.expr]], blanks: int
) -> Iterator[str]:
    """The texts in bodies that `words` picks of a call, with so many blanks at least, and whatever is as long."""
    for within in bodies:
        whole = {
            part for node in within if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part is not node
        }
        docs = {node.value for node in within if isinstance(node, ast.Expr)}
        calls = [node for node in within if isinstance(node, ast.Call)]
        said = {word for call in calls for word in words(call)}
        translated = {part for call in calls if _called(call) in _TRANSLATED for part in ast.walk(call)}
        for node in (each for each in within if each not in translated):
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

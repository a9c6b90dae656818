"""Every mutation of a text, by kind: single changes of shell functions and of Python that a good test notices."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.servers.functions import Function


@dataclass(frozen=True)
class Mutation:
    """One change of one file.

    Attributes:
        edits: where the text changes, as (start, end, replacement), from left to right.
        function: the shell function that it is in.
    """

    path: str
    kind: str
    edits: tuple[tuple[int, int, str], ...]
    function: str = ""

    def apply(self, text: str) -> str:
        """The file's text with the change."""
        for start, end, replacement in reversed(self.edits):
            text = text[:start] + replacement + text[end:]
        return text

    def line(self, text: str) -> int:
        """The line of the file where the change begins."""
        return text.count("\n", 0, self.edits[0][0]) + 1


# Shell

_WORDS = r"""(?:(?: +| \\\n *)(?:"(?:[^"\\]|\\.)*"|'[^']*'|[$\w?@-][$\w?@#-]*))*"""
_ENDS = rf"(?:fail|refuse|return|exit)\b{_WORDS}"
_TEST = r"(?:! )?\[ [^\n|&;]* \]"
_TESTS = rf"{_TEST}(?: (?:\|\||&&) {_TEST})*"
_BEGINS = r"(?:(?<=\n)|(?<=then )|(?<=else )|(?<=do )|(?<=[;){] )) *"
_TURNED = {"-eq": "-ne", "-lt": "-ge", "-gt": "-le", "=": "!="}
_TURNED |= {turned: each for each, turned in _TURNED.items()}

_SHELL: tuple[tuple[str, re.Pattern[str]], ...] = (
    # what is named `cut` is taken out or replaced
    ("guard", re.compile(rf"{_BEGINS}(?P<cut>{_TESTS}\s+(?:\|\||&&)\s+{_ENDS})(?=\s)")),
    ("guard", re.compile(rf"(?<!\])(?P<cut>\s+\|\|\s+{_ENDS})")),
    ("comparison", re.compile(r"(?<= )(?P<cut>-eq|-ne|-lt|-ge|-gt|-le|=|!=)(?= )")),
    ("fail", re.compile(rf"{_BEGINS}(?P<cut>(?:fail|refuse)\b{_WORDS})(?= ;|;|\n)")),
    ("not", re.compile(r"(?<=[\s(])(?P<cut>! )(?=\S)")),
    (
        "quotes",
        re.compile(r"""(?<=[ (])(?<!case )(?P<cut>"[^"\s'\\`*?]*\$[^"\s'\\`()*?]*")(?! -(?:eq|ne|lt|ge|gt|le) )"""),
    ),
    ("empty", re.compile(r"(?<=\[ )(?:! )?(?P<cut>-[nz])(?= )")),
)


def shell_mutations(path: str, text: str, functions: list[Function]) -> Iterator[Mutation]:
    """Those of the functions of a file."""
    for function in functions:
        begin = text.index(function.text)
        code = _code(function.text)
        for kind, pattern in _SHELL:
            for found in pattern.finditer(function.text):
                start, end = found.span("cut")
                first = start + len(found["cut"]) - len(found["cut"].lstrip())
                if first in code and not (kind == "fail" and function.text[:start].rstrip().endswith(("||", "&&"))):
                    replacement = _replaced(kind, found["cut"])
                    yield Mutation(path, kind, ((begin + start, begin + end, replacement),), function.name)


def _replaced(kind: str, cut: str) -> str:
    if kind == "comparison":
        return _TURNED[cut]
    if kind == "empty":
        return {"-n": "-z", "-z": "-n"}[cut]
    if kind == "quotes":
        return cut.strip('"')
    return ":" if kind == "fail" or (kind == "guard" and not cut[0].isspace()) else ""


def _code(text: str) -> frozenset[int]:
    """The places of a shell function that are code: not in comments or quotes, but in a `$(…)` inside of quotes."""
    found: set[int] = set()
    open_: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif open_[-1:] == ['"']:
            if char == '"':
                open_.pop()
            elif text.startswith("$(", at):
                open_.append(")")
                at += 1
        elif char == "'":
            at = text.index("'", at + 1)
        elif char == "#" and text[at - 1 : at] in ("", " ", "\n", "\t", ";", "("):
            at = text.index("\n", at)
        else:
            found.add(at)
            if char in ('"', "("):
                open_.append({"(": ")"}.get(char, char))
            elif char == ")" and open_[-1:] == [")"]:
                open_.pop()
        at += 1
    return frozenset(found)


# Python

_OPERATORS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", ">="),
    ast.GtE: (">=", "<"),
    ast.Gt: (">", "<="),
    ast.LtE: ("<=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: (r"\bin\b", "not in"),
    ast.NotIn: (r"\bnot\s+in\b", "in"),
    ast.Is: (r"\bis\b", "is not"),
    ast.IsNot: (r"\bis\s+not\b", "is"),
}
_DEFAULTS = (
    (r"\bNone\b", "None"),
    (r"^bool$", "False"),
    (r"^(?:int|float)$", "0"),
    (r"^str$", '""'),
    (r"^(?:tuple|list|Iterable|Iterator|Sequence)\b", "()"),
    (r"^(?:dict|Mapping)\b", "{}"),
    (r"^(?:set|frozenset)\b", "frozenset()"),
)
_NEVER_RUN = {"Literal", "Annotated", "TypeVar"}


def python_mutations(path: str, text: str) -> Iterator[Mutation]:
    """Those of the code of a module that runs: no annotation, no decorator, no `__repr__`, nothing for types alone."""
    finder = _Finder(text)
    finder.visit(ast.parse(text))
    for kind, edits in finder.found:
        yield Mutation(path, kind, edits)


class _Finder(ast.NodeVisitor):
    def __init__(self, text: str) -> None:
        self.found: list[tuple[str, tuple[tuple[int, int, str], ...]]] = []
        self._text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def _place(self, line: int, column: int) -> int:
        """Of a node's position, whose column counts bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._place(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._place(node.end_lineno, node.end_col_offset)

    def _between(self, left: ast.expr, right: ast.expr, operator: str, replacement: str) -> tuple[int, int, str]:
        """The operator between two operands; there may be parentheses, too."""
        start = self._end(left)
        found = re.search(operator, self._text[start : self._start(right)])
        assert found is not None
        return start + found.start(), start + found.end(), replacement

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name == "__repr__":
            return
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if body and body[0].lineno > node.lineno and not _is_bare(body):
            default = next((what for how, what in _DEFAULTS if re.search(how, _annotation(node))), "None")
            start = self._start(body[0])
            self.found.append(("early return", ((start, start, f"return {default}\n{' ' * body[0].col_offset}"),)))
        for each in (*node.args.defaults, *node.args.kw_defaults, *node.body):
            if each is not None:
                self.visit(each)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for each in node.body:
            self.visit(each)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Left alone: until Python 3.12, what stands in it has no position of its own."""

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not (isinstance(node.value, ast.Name) and node.value.id in _NEVER_RUN):
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if not node.orelse and len(node.body) == 1 and isinstance(node.body[0], (ast.Raise, ast.Return, ast.Continue)):
            # the test itself is still run: a name may be bound in it
            start, end = self._start(node.test), self._end(node.test)
            self.found.append(("guard", ((start, start, "False and ("), (end, end, ")"))))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip((node.left, *node.comparators), node.ops, node.comparators, strict=False):
            written, turned = _OPERATORS[type(operator)]
            self.found.append(("comparison", (self._between(left, right, written, turned),)))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        written, turned = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        pairs = zip(node.values, node.values[1:], strict=False)
        edits = tuple(self._between(left, right, rf"\b{written}\b", turned) for left, right in pairs)
        self.found.append(("and, or", edits))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            start = self._start(node)
            found = re.match(r"not\s*", self._text[start:])
            assert found is not None
            self.found.append(("not", ((start, start + found.end(), ""),)))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            # off by one, which is nothing to 150e6
            other = node.value + 1 if isinstance(node.value, int) or node.value == 0 else node.value * 2
            self.found.append(("number", ((self._start(node), self._end(node), str(other)),)))


def _is_bare(body: list[ast.stmt]) -> bool:
    """Whether a function does nothing that an early return could leave out."""
    first = body[0]
    if len(body) > 1:
        return False
    if isinstance(first, ast.Expr | ast.Return):
        return first.value is None or isinstance(first.value, ast.Constant)
    return isinstance(first, ast.Pass | ast.Raise)


def _annotation(node: ast.FunctionDef) -> str:
    return "" if node.returns is None else ast.unparse(node.returns)

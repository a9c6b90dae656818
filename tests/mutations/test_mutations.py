"""What is mutated, that a draw comes again by its seed, and that a mutation is caught by the tests that concern it."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.servers.functions import Function, functions
from tests.lab.machine import lab_unavailable
from tests.mutations import run
from tests.mutations.kinds import Mutation, python_mutations, shell_mutations
from tests.mutations.run import PROJECT, Tree, candidates, concerned, copied, draw, show, verdict


def shell(body: str) -> list[tuple[str, str]]:
    """The mutations of a function with that body: their kinds, and what becomes of the body."""
    head, foot = "# each WORD   prints it\neach() {\n", "\n}\n"
    text = f"{head}{body}{foot}"
    found = list(shell_mutations("each.sh", text, [Function("each", "each", "", text, (), ())]))
    assert {mutation.function for mutation in found} <= {"each"}
    return [(mutation.kind, mutation.apply(text).removeprefix(head).removesuffix(foot)) for mutation in found]


def python(text: str) -> list[tuple[str, str]]:
    """The mutations of a module: their kinds, and what becomes of it."""
    found = [(mutation.kind, mutation.apply(text)) for mutation in python_mutations("each.py", text)]
    for _, mutated in found:
        ast.parse(mutated)
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("  [ -e x ] || fail 'no x'", [("guard", "  :")]),
        ("  [ -e x ] && return 0", [("guard", "  :")]),
        ("  [ -e x ] || [ -e y ] || return", [("guard", "  :")]),
        ("  ls x || fail 'no x' # 2: none", [("guard", "  ls x # 2: none")]),
        ("  x=$(ls) || exit\n  ls", [("guard", "  x=$(ls)\n  ls")]),
        ("  ls ||\n    fail 'a' \\\n      'b'", [("guard", "  ls")]),
        ("  if ls; then\n    fail 'a'\n  fi", [("fail", "  if ls; then\n    :\n  fi")]),
        ("  case x in\n    *) refuse 64 'a' ;;\n  esac", [("fail", "  case x in\n    *) : ;;\n  esac")]),
        ("  [ $# -lt 2 ] && ls", [("comparison", "  [ $# -ge 2 ] && ls")]),
        ("  [ x != y ] && ls", [("comparison", "  [ x = y ] && ls")]),
        ("  [ $# -gt 2 ] && ls", [("comparison", "  [ $# -le 2 ] && ls")]),
        ("  while ! ls; do sleep 1; done", [("not", "  while ls; do sleep 1; done")]),
        ("  [ ! -e x ] && ls", [("not", "  [ -e x ] && ls")]),
        ('  ls -- "$1/x"', [("quotes", "  ls -- $1/x")]),
        ("  [ -n x ] && ls", [("empty", "  [ -z x ] && ls")]),
        ('  ls "$(ls -- "$1")"', [("quotes", '  ls "$(ls -- $1)"')]),
    ],
)
def test_shell_is_mutated_by_its_kinds(body: str, expected: list[tuple[str, str]]) -> None:
    assert shell(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "  awk '$1 = 2 || exit' x # it's ! done || fail 'no'",
        '  echo "a -eq b ! c"',
        '  case "$1" in\n    a) ls ;;\n  esac',
        '  x="$1"',
    ],
)
def test_neither_programs_in_quotes_nor_comments_nor_words_are_mutated(body: str) -> None:
    assert shell(body) == []


_FUNCTION = "def each(x: int) -> {}:\n    '''Says 1.'''\n    y = x\n    return y\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for x in y:\n    if x:\n        continue\n    z()\n", [("guard", "False and (x)")]),
        ("if (x := y):\n    raise z\n", [("guard", "if (False and (x := y)):")]),
        ("x = (y) < (z)\n", [("comparison", "x = (y) >= (z)")]),
        ("x = y <= z != w\n", [("comparison", "x = y > z != w"), ("comparison", "x = y <= z == w")]),
        ("x = 'ä' in y\n", [("comparison", "x = 'ä' not in y")]),
        ("x = y is  not z\n", [("comparison", "x = y is z")]),
        ("x = (y and z) or w\n", [("and, or", "x = (y and z) and w"), ("and, or", "x = (y or z) or w")]),
        ("x = y and z and w\n", [("and, or", "x = y or z or w")]),
        ("x = not (y)\n", [("not", "x = (y)")]),
        ("x = y[1_0]\n", [("number", "x = y[11]")]),
        ("x = 150e6\n", [("number", "x = 300000000.0")]),
        (_FUNCTION.format("int"), [("early return", "    return 0\n    y = x\n")]),
        (_FUNCTION.format("tuple[int, ...]"), [("early return", "    return ()\n    y = x\n")]),
        (_FUNCTION.format("'str | None'"), [("early return", "    return None\n    y = x\n")]),
    ],
)
def test_python_is_mutated_by_its_kinds(text: str, expected: list[tuple[str, str]]) -> None:
    found = python(text)
    assert [kind for kind, _ in found] == [kind for kind, _ in expected]
    for (_, mutated), (_, part) in zip(found, expected, strict=True):
        assert part in mutated


@pytest.mark.parametrize(
    "text",
    [
        "'''It is 1 < 2.'''\n",
        "def each(x: Literal[1]) -> Literal[2]:\n    '''Of a protocol.'''\n",
        "class Each:\n    x: Annotated[int, 5]\n\n    def __repr__(self):\n        y = 1\n        return y\n",
        "if TYPE_CHECKING:\n    x = 1\n",
        "@each(1)\ndef each():\n    return True\n",
        "x = f'{y + 1}'\n",
    ],
)
def test_what_never_runs_is_not_mutated(text: str) -> None:
    assert python(text) == []


@pytest.mark.long
def test_a_draw_comes_again_by_its_seed_and_goes_on_where_a_shorter_one_ended() -> None:
    drawn = draw(PROJECT, 60, 7)
    assert drawn == draw(PROJECT, 60, 7)
    assert drawn[:20] == draw(PROJECT, 20, 7)
    assert drawn != draw(PROJECT, 60, 8)
    assert [bool(each.function) for each in drawn] == [True, False] * 30
    assert {each.kind for each in drawn if each.function} == {"guard", "comparison", "fail", "not", "quotes", "empty"}


@pytest.mark.slow
def test_whatever_is_drawn_parses() -> None:
    for mutation in draw(PROJECT, 120, 3):
        text = mutation.apply((PROJECT / mutation.path).read_text())
        assert text != (PROJECT / mutation.path).read_text()
        if mutation.function:
            subprocess.run(["dash", "-n"], input=text.encode(), check=True)
        else:
            compile(text, mutation.path, "exec")


@pytest.mark.slow
def test_every_area_and_kind_is_drawn_from() -> None:
    shell_lists, python_lists = candidates(PROJECT)
    assert {each[0].kind for each in shell_lists} == {"guard", "comparison", "fail", "not", "quotes", "empty"}
    kinds = {"guard", "comparison", "and, or", "not", "number", "early return"}
    drawn = {(run._area(each[0].path), each[0].kind) for each in python_lists}  # noqa: SLF001
    assert drawn == {(area, kind) for area in run.AREAS for kind in kinds}


def test_a_mutation_is_shown_as_the_lines_that_change() -> None:
    text = "a\nb\nc\n"
    shown = show(3, Mutation("x.sh", "guard", ((2, 3, ":"),), "f"), text, "caught", "tests/x.py::test_y").splitlines()
    assert shown[0].split() == ["3", "x.sh:2", "guard", "caught", "by", "tests/x.py::test_y"]
    assert shown[1:] == ["     - b", "     + :"]
    inserted = show(3, Mutation("x.py", "early return", ((2, 2, "return\n"),)), text, "survived", "").splitlines()
    assert inserted[1:] == ["     - b", "     + return", "     + b"]


def test_the_examples_of_a_function_concern_it_then_those_of_its_callers_then_other_files() -> None:
    nearest, callers, others = concerned(Mutation("resources/sh/trust.sh", "", (), "is_trusted"), PROJECT)
    assert nearest == ("tests/resources/sh/test_functions.py", "-k", "[is_trusted")
    calling = {f"[{each.name}" for each in functions().values() if "is_trusted" in each.calls}
    assert calling
    assert calling <= set(callers[-1].split(" or "))
    assert "tests/resources/sh/test_trust.py" in others
    assert "tests/resources/sh/test_functions.py" not in others


@pytest.mark.parametrize(
    ("path", "mirror", "further"),
    [
        ("core/benchmarks/dd.py", "tests/core/benchmarks/test_dd.py", "tests/core/cli/test_parse.py"),
        ("core/redaction.py", "tests/core/test_redaction.py", "tests/fuzz/test_fuzz.py"),
        ("core/migration/estimate/draws.py", "tests/core/migration/estimate/test_draws.py", ""),
    ],
)
def test_what_mirrors_or_imports_a_module_concerns_it_then_the_tests_of_its_area(
    path: str, mirror: str, further: str
) -> None:
    words = [word for each in concerned(Mutation(path, "", ()), PROJECT) for word in each]
    assert words[0] == mirror or mirror in words
    assert not further or further in words[1:]
    assert all((PROJECT / word.removeprefix("--ignore=")).exists() for word in words)


@pytest.fixture(scope="module")
def tree() -> Iterator[Tree]:
    with copied() as found:
        yield found


def _by_hand(path: str, before: str, after: str, function: str = "") -> Mutation:
    start = (PROJECT / path).read_text().index(before)
    return Mutation(path, "by hand", ((start, start + len(before), after),), function)


_FOLDER = _by_hand("resources/sh/scratch.sh", "mkdir -m 700", "mkdir -m 755", "make_scratch")


@pytest.mark.long
@pytest.mark.skipif(lab_unavailable() is not None, reason=str(lab_unavailable()))
@pytest.mark.parametrize(
    ("mutation", "seconds", "expected"),
    [
        pytest.param(_FOLDER, 250, "caught", id="of a function"),
        pytest.param(replace(_FOLDER, edits=()), 250, "survived", id="that changes nothing"),
        pytest.param(_by_hand("core/servers/certificates.py", "import", "imports"), 250, "caught", id="that loads not"),
        pytest.param(_FOLDER, 0.1, "out of time", id="whose tests take long"),
    ],
)
def test_a_mutation_ends_in_a_verdict_and_leaves_nothing(
    mutation: Mutation, seconds: float, expected: str, tree: Tree
) -> None:
    before = (tree.folder / mutation.path).read_bytes()
    ended, by = verdict(mutation, tree, seconds)
    assert ended == expected
    assert by.startswith("tests/") == (expected == "caught")
    assert (tree.folder / mutation.path).read_bytes() == before == (PROJECT / mutation.path).read_bytes()


@pytest.mark.long
@pytest.mark.skipif(lab_unavailable() is not None, reason=str(lab_unavailable()))
def test_what_fails_without_the_mutation_too_catches_nothing(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = tree.folder / "tests" / "test_failing.py"
    failing.write_text("def test_it() -> None:\n    raise AssertionError\n")
    monkeypatch.setattr(run, "concerned", lambda *_: [(str(failing.relative_to(tree.folder)),)])
    assert verdict(_FOLDER, tree, 250) == ("unsure", "tests/test_failing.py::test_it")
    failing.unlink()

"""Words that must not come back: docs/glossary.md has the terms, this test the words that they have replaced."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.migration.model.plan import Phase

TOP = Path(__file__).resolve().parent.parent

_AFTER_A_NOUN = (
    "is has was are can cannot runs does did to for with in on at from by or it lacks must may will stays stands starts"
)
_NOUN = (
    r"(?<!too )(?<!however )(?<!are )(?<!default: )(?<![\w:/-])(?<!\{server\} \()"
    r"(?:old|new)\b(?! (?:to|or) (?:the )?new)"
    rf"(?=\s*(?:[.,;)!?]|:(?!/)|$)|\s(?:{'|'.join(_AFTER_A_NOUN.split())})\b)"
)
REPLACED = {
    _NOUN: "the old server, the new cluster …: old and new are no nouns",
    r"\b(?:warm|cold) pass(?:es)?\b": "pre-copy pass, final sync",
    r"\bfinal pass\b": "final sync",
    r"\bin the stop\b": "during the downtime",
    r"\b(?:way back|taken back|takes? back|let go)\b": "rollback, rolled back",
    r"\bcame to\b": "result, or: ended",
    r"\b(?:un)?sealed\b": "signed, unsigned",
    r"\blocal start\b": "local-only start",
    r"\bsum(?:s|med)? (?:up|ahead)\b": "compute checksums, in advance",
    r"\blead the applications\b": "repoint the applications",
    r"\banew\b": "again, from the beginning",
    r"\bpeople (?:come|took|take|time)\b": "manual steps",
    r"\b[Ee]xecutions? from elsewhere\b": "execution of another workstation",
    r"\b(?:major|release) series\b": "major version",
    r"\bopen(?:s|ed|ing)? new\b(?! [a-z])": "allow client connections on the new cluster (cutover)",
    r"\bmeasure the way\b": "transfer test, probe",
    r"\blatency (?:50|95|99|99\.9) ?%": "p50, p95, p99, p99.9",
    r"\b(?:thereof|thereby|whereof|wherefore)\b": "a sentence of its own",
    r"\b[Tt]hrowaway\b": "temporary cluster",
}
"""Each pattern with what stands there instead."""

KNOWN_AGAIN = ("core/reports/recorded.py", "core/history/migrations/versions/")
"""What earlier releases have recorded: the words of then, to know them again."""
_PHASES = {str(phase) for phase in Phase}
"""By these the history knows the parts of a move; a person sees their heading."""


def _docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield statement.value


def of_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and value of each string that has two words and is no docstring."""
    tree = ast.parse(text)
    documentation = {id(each) for each in _docstrings(tree)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in documentation:
            continue
        if " " in node.value.strip() and node.value not in _PHASES:
            yield node.lineno, node.value


def of_shell(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and value of each quoted string that has two words."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("#"):
            for quoted in re.findall(r"\"([^\"]* [^\"]*)\"|'([^']* [^']*)'", line):
                if not re.search(r"\|\||&&", found := "".join(quoted)):
                    yield number, found


def of_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each paragraph, without what is code."""
    plain = re.sub(r"^```.*?^```", lambda code: "\n" * code.group().count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    plain = re.sub(r"`[^`]*`", "`…`", plain)
    number = 1
    for paragraph in re.split(r"(\n\s*\n|\n(?=\||[-*] |\d+\. |#))", plain):
        yield number + len(paragraph) - len(paragraph.lstrip("\n")), " ".join(paragraph.split())
        number += paragraph.count("\n")


def _everything() -> Iterator[tuple[str, int, str]]:
    readers = (
        (of_python, ("core/**/*.py", "gui/**/*.py")),
        (of_shell, ("resources/**/*.sh",)),
        (of_page, ("docs/**/*.md", "*.md")),
    )
    for reader, patterns in readers:
        for path in sorted(each for pattern in patterns for each in TOP.glob(pattern)):
            name = path.relative_to(TOP).as_posix()
            if name.startswith(KNOWN_AGAIN) or name in {"CHANGELOG.md", "docs/glossary.md"}:
                continue
            for number, text in reader(path.read_text(encoding="utf-8")):
                yield name, number, text


def replaced_in(text: str) -> list[str]:
    """Return the words of a text that a term of the glossary has replaced, each with that term."""
    return [
        f"“{found.group()}” — write: {term}" for word, term in REPLACED.items() for found in re.finditer(word, text)
    ]


@pytest.mark.slow
def test_replaced_words_do_not_come_back() -> None:
    found = [f"{name}:{number}: {each}" for name, number, text in _everything() for each in replaced_in(text)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "open new to clients",
        "lead the applications to new",
        "old is a standby",
        "The copy lies on new.",
        "a warm pass of this move",
        "during the final pass",
        "what changes in the stop",
        "The move was taken back",
        "what it came to",
        "a sealed record",
        "the local start",
        "sum up all files",
        "built anew",
        "people come on top",
        "read latency 50 %",
        "an execution from elsewhere",
        "of the same major series",
        "loaded into a throwaway cluster",
    ],
)
def test_each_kind_of_replaced_words_is_found(text: str) -> None:
    assert replaced_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "The files go from the old to the new server.",
        "the disk of the old or the new server",
        "Measure old:/srv and new:/srv.",
        "The OpenSSH of the server is too old: update it.",
        "Check that the new cluster is running",
        "the last pre-copy pass before the stop of the old cluster",
    ],
)
def test_plain_sentences_are_not(text: str) -> None:
    assert replaced_in(text) == []


def test_every_source_is_read() -> None:
    python = 'def f():\n    """open new to all"""\n    return "open new to clients"\n'
    assert list(of_python(python)) == [(3, "open new to clients")]
    assert list(of_shell("# open new\nfail 'open new to clients'\n")) == [(2, "open new to clients")]
    page = "# A page\nwith a line that ends in old\nserver and `open new`\n```sh\nopen new\n```\n"
    assert [text for _, text in of_page(page) if text] == ["# A page with a line that ends in old server and `…`"]

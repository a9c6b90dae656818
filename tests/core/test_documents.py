import ast
import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Literal

import pytest

from core import documents
from core.benchmarks.tool import STRICT
from core.errors import InputError
from core.migration.model.asked import Asked
from tests.german import english_in


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Inner:
    name: str
    at: datetime
    colours: tuple[Colour, ...] = ()


@dataclass(frozen=True, slots=True)
class Outer:
    inner: Inner
    numbers: dict[str, float] = field(default_factory=dict)


VALUE = Outer(Inner('it\'s "ö"', datetime(2026, 11, 21, tzinfo=UTC), (Colour.RED,)), {"read_iops": 903.5})


def test_a_dataclass_goes_to_json_and_back() -> None:
    assert documents.load(Outer, documents.dump(VALUE)) == VALUE


def test_containers_of_dataclasses_are_one_document() -> None:
    document = json.loads(documents.dump({"values": (VALUE, VALUE)}))
    assert document["values"][1]["inner"]["colours"] == ["red"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"inner": 3}', '{"inner": {"name": "x"}}', "null"])
def test_what_is_no_such_document_is_said(text: str) -> None:
    with pytest.raises(InputError, match="no valid outer: "):
        documents.load(Outer, text)


def test_a_wrong_field_is_named_by_its_path() -> None:
    with pytest.raises(InputError, match=r"inner\.at"):
        documents.load(Outer, '{"inner": {"name": "x", "at": "noon"}}')


@dataclass(frozen=True, slots=True)
class Part:
    label: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Fields:
    """A field of each kind that a document of pghaul's has."""

    text: str = ""
    number: int = 0
    fraction: float = 0.0
    either: bool = False
    word: Literal["one", "other"] = "one"
    colour: Colour = Colour.RED
    at: datetime = datetime(2026, 11, 21, tzinfo=UTC)
    many: tuple[str, ...] = ()
    two: tuple[int, int] = (1, 2)
    listed: list[int] = field(default_factory=list)
    several: frozenset[str] = frozenset()
    named: dict[str, float] = field(default_factory=dict)
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class StrictFields(Fields):
    """The same in a file that a DBA edits."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT


WRONG = (
    '"x"',
    '"2026-13-01"',
    "3",
    "3.5",
    "1e300",
    "9" * 30,
    "true",
    "null",
    '["x"]',
    "[1, 2, 3]",
    '{"x": {}}',
    "{}",
)


def refusals(kind: type[Fields], name: str) -> Iterator[InputError]:
    """The errors of the wrong values of a field."""
    for wrong in WRONG:
        try:
            documents.load(kind, f'{{"{name}": {wrong}}}')
        except InputError as error:
            yield error


@pytest.mark.parametrize("kind", [Fields, StrictFields])
@pytest.mark.parametrize("name", [each.name for each in dataclasses.fields(Fields)])
def test_each_wrong_value_has_words_of_its_own_and_pydantics_behind_them(kind: type[Fields], name: str) -> None:
    found = list(refusals(kind, name))
    assert len(found) > 3
    for error in found:
        said, _, original = error.message.partition(" (pydantic says: ")
        assert name in said
        assert not any(words in said for words in (documents.OTHER_PROBLEM, "nput should", "{"))
        assert len(original) > 1
        assert english_in(error) == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('{"number": 3.5}', "number: it must be a whole number"),
        ('{"word": "none"}', "word: it must be one of 'one', 'other'"),
        ('{"strange": 1}', "strange: it is not allowed here"),
        ('{"part": {"label": "x"}}', "part.at: it is missing"),
        ("{", "valid strict fields: it is no valid JSON"),
    ],
)
def test_a_wrong_field_is_told_by_the_type_of_the_error(given: str, words: str) -> None:
    with pytest.raises(InputError) as refused:
        documents.load(StrictFields, given)
    assert words in refused.value.message
    assert english_in(refused.value) == []


def test_what_a_dataclass_refuses_is_told_in_its_own_words() -> None:
    with pytest.raises(InputError, match=r"asked: the downtime is too short or too long \(pydantic") as refused:
        documents.load(Asked, '{"downtime_seconds": -1}')
    assert english_in(refused.value) == []


def test_a_byte_that_was_no_utf_8_stays_an_escape() -> None:
    text = documents.dump(Inner("a\udcff", datetime(2026, 11, 21, tzinfo=UTC)))
    text.encode()  # it can be printed
    assert json.loads(text)["name"] == "a\udcff"


TOP = Path(documents.__file__).parents[1]


def test_pydantic_is_imported_by_this_module_alone() -> None:
    """And for the schemas, which a command of its own writes: two threads that import it at once see parts of it."""
    found = set()
    for path in sorted((*TOP.glob("core/**/*.py"), *TOP.glob("gui/**/*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] == "pydantic" for name in names):
                found.add(path.relative_to(TOP).as_posix())
    assert found == {"core/documents.py", "core/cli/schemas.py"}


TWO_THREADS = """
import sys, threading, time
from core import documents

first_is_at_it, go_on = threading.Event(), threading.Event()

class Held:
    # where Python looks for modules: it keeps the first thread inside of an import of pydantic
    def find_spec(self, name, path=None, target=None):
        if name == "pydantic.type_adapter" and not first_is_at_it.is_set():
            first_is_at_it.set()
            go_on.wait(60)

sys.meta_path.insert(0, Held())
first = threading.Thread(target=documents.load, args=(list[int], "[1]"))
first.start()
first_is_at_it.wait(60)
second = threading.Thread(target=documents.load, args=(list[str], '["a"]'))
second.start()
at_rest, place = 0, None
while at_rest < 100:
    time.sleep(0.002)
    frame = sys._current_frames()[second.ident]
    before, place = place, (frame.f_code.co_filename, frame.f_lasti)
    at_rest = at_rest + 1 if place == before else 0
print(place[0])
go_on.set()
first.join()
second.join()
"""
"""Prints in which file the second of two threads waits that load a document, while the first imports pydantic."""


def test_a_thread_waits_while_another_one_imports_pydantic() -> None:
    words = [sys.executable, "-c", TWO_THREADS]
    ended = subprocess.run(words, cwd=TOP, capture_output=True, text=True, timeout=100, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert Path(ended.stdout.strip()) == Path(documents.__file__)

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

import pytest

from core import documents
from core.errors import InputError


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


def test_a_byte_that_was_no_utf_8_stays_an_escape() -> None:
    text = documents.dump(Inner("a\udcff", datetime(2026, 11, 21, tzinfo=UTC)))
    text.encode()  # it can be printed
    assert json.loads(text)["name"] == "a\udcff"

"""The names in folders, listed by a shell on folders made here."""

from pathlib import Path

import pytest

from core.errors import ParseError
from core.facts.data_files import parse_target_entries, section
from tests.core.facts import asking


def listed(*folders: Path) -> dict[str, tuple[str, ...]]:
    return parse_target_entries(asking.text(section([str(folder) for folder in folders])))


def test_each_folder_with_its_names(tmp_path: Path) -> None:
    held, empty, absent = tmp_path / "it's held", tmp_path / "empty", tmp_path / "absent"
    for folder in (held / "PG_15_202209061", held / " ü [x]", empty):
        folder.mkdir(parents=True)
    found = listed(held, empty, absent)
    assert {folder: set(names) for folder, names in found.items()} == {
        str(held): {"PG_15_202209061", " ü [x]"},
        str(empty): set(),
        str(absent): set(),
    }


@pytest.mark.parametrize("text", ["name =41\n", "folder =4", "folder =41\nnoise\n"])
def test_what_cannot_be_read_is_said(text: str) -> None:
    with pytest.raises(ParseError, match="target-entries"):
        parse_target_entries(text)

"""The names in folders, listed by a shell on folders made here."""

import subprocess
from pathlib import Path

import pytest

from core.errors import ParseError
from core.facts.target_entries import parse_target_entries, section


def listed(*folders: Path) -> dict[str, tuple[str, ...]]:
    asked = section([str(folder) for folder in folders])
    done = subprocess.run(["dash", "-c", asked.shell.text], capture_output=True, text=True, check=True)
    return parse_target_entries(done.stdout)


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

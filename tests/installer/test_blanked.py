"""What is blanked in the frozen program's libraries is found, and nothing that pghaul asks of them is missed."""

import os
import shutil
import struct
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from installer.blanked import blank, blanked, fonts, icu_items, unread

FOLDER = Path(__file__).parents[2] / "resources" / "fonts"

ORDER = """
from PySide6.QtCore import QCollator, QLocale
for language in ("en_US", "de_DE"):
    order = QCollator(QLocale(language))
    order.setNumericMode(True)
    print(sorted(("b10", "b9", "B1", "ä", "a", "z", "_"), key=order.sortKey))
"""
"""What Qt makes of names, as the dialog for files sorts them."""

PAGE = """
import sys
import typst
fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[sys.argv[1]])
sys.stdout.buffer.write(typst.compile(b'#set text(font: "IBM Plex Sans")\\nmoved', font_paths=fonts))
"""


def brought(package: str, pattern: str) -> Path:
    """The library of an installed package."""
    found = find_spec(package)
    assert found is not None
    assert found.origin is not None
    return next(Path(found.origin).parent.glob(pattern))


def icu(*items: tuple[str, bytes]) -> bytes:
    """ICU's common data with these items."""
    names, places, data = b"", [], b""
    for name, content in items:
        places.append((len(names), len(data)))
        names += f"icudt73l/{name}".encode() + b"\0"
        data += content
    head = 4 + 8 * len(items)
    contents = b"".join(struct.pack("<II", head + name, head + len(names) + place) for name, place in places)
    header = struct.pack("<HBBHHBBBB4s", 32, 0xDA, 0x27, 20, 0, 0, 0, 2, 0, b"CmnD").ljust(32, b"\0")
    return header + struct.pack("<I", len(items)) + contents + names + data


def test_a_font_is_found_from_its_directory_to_its_last_table() -> None:
    font = (FOLDER / "IBMPlexSans-Regular.ttf").read_bytes()
    library = b"code" * 99 + font + b"more code" + font
    first = 4 * 99
    assert fonts(library) == [
        range(first, first + len(font)),
        range(first + len(font) + 9, first + 2 * len(font) + 9),
    ]
    assert blanked(library, fonts(library)) == b"code" * 99 + bytes(len(font)) + b"more code" + bytes(len(font))


@pytest.mark.parametrize("cut", [4, 30, 400, 20_000])
def test_what_only_begins_like_a_font_is_left(cut: int) -> None:
    font = (FOLDER / "IBMPlexSans-Regular.ttf").read_bytes()
    assert fonts(font[:cut]) == []


def test_icu_s_items_are_found_by_its_table_of_contents() -> None:
    library = b"\x7fELF" * 8 + icu(("coll/de.res", b"Phonebook"), ("coll/root.res", b"root"), ("root.res", b"end"))
    items = icu_items(library)
    assert {name: library[span.start : span.stop] for name, span in items.items()} == {
        "coll/de.res": b"Phonebook",
        "coll/root.res": b"root",
    }
    assert blanked(library, unread(library)) == library.replace(b"Phonebook", bytes(9))
    assert unread(b"no data of ICU") == []


@pytest.mark.parametrize(
    ("name", "goes"),
    [
        ("coll/ucadata.icu", False),
        ("supplementalData.res", False),
        ("nfc.nrm", False),
        ("coll/zh.res", True),
        ("ibm-943_P15A-2003.cnv", True),
        ("zone/tzdbNames.res", True),
        ("de_AT.res", True),
    ],
)
def test_what_holds_for_all_languages_stays(name: str, goes: bool) -> None:
    library = icu((name, b"12345"), ("z", b""))
    assert bool(unread(library)) == goes


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Qt takes ICU from the system elsewhere")
def test_names_are_sorted_as_before(tmp_path: Path) -> None:
    whole = brought("PySide6", "Qt/lib/libicudata.so.*")
    library = whole.read_bytes()
    assert sum(map(len, unread(library))) > 25_000_000
    changed = tmp_path / whole.name
    changed.write_bytes(blanked(library, unread(library)))
    before, after = (
        subprocess.run(
            [sys.executable, "-c", ORDER], env=os.environ | more, check=True, capture_output=True, text=True
        ).stdout
        for more in ({}, {"LD_PRELOAD": str(changed)})
    )
    assert before.splitlines() == ["['_', 'a', 'ä', 'B1', 'b9', 'b10', 'z']"] * 2
    assert after == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a library that is loaded cannot be replaced there")
def test_typst_sets_a_page_without_the_fonts_that_it_carries(tmp_path: Path) -> None:
    shutil.copytree(brought("typst", "__init__.py").parent, tmp_path / "typst")
    (library,) = (tmp_path / "typst").glob("_typst*.so")
    library.write_bytes(blanked(library.read_bytes(), fonts(library.read_bytes())))
    words = [sys.executable, "-c", PAGE, str(FOLDER)]
    before, after = (
        subprocess.run(words, env=os.environ | more, check=True, capture_output=True).stdout
        for more in ({}, {"PYTHONPATH": str(tmp_path)})
    )
    assert after.startswith(b"%PDF-")
    assert b"IBMPlexSans" in after
    assert len(after) == len(before)


def test_a_library_that_carries_none_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "_internal" / "typst"
    folder.mkdir(parents=True)
    (folder / "_typst.abi3.so").write_bytes(b"\x7fELF")
    with pytest.raises(SystemExit, match="_typst"):
        blank(tmp_path)

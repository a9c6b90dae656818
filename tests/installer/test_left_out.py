"""What the frozen program does without: the lists, held against what PySide6 brings and what pghaul imports."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from installer.left_out import FILES, MODULES, Entry, kept, left_out

TOP = Path(__file__).parents[2]

LINKED = {
    "/qt/libqgtk3.so": ["libgtk-3.so.0", "libQt6Gui.so.6"],
    "/sys/libgtk-3.so.0": ["libcairo.so.2"],
    "/qt/libqxcb.so": ["libQt6Gui.so.6", "libc.so.6"],
    "/py/libpython3.11.so.1.0": ["libz.so.1"],
}
ENTRIES: list[Entry] = [
    ("PySide6/Qt/plugins/platforms/libqxcb.so", "/qt/libqxcb.so", "BINARY"),
    ("PySide6/Qt/plugins/platformthemes/libqgtk3.so", "/qt/libqgtk3.so", "BINARY"),
    ("PySide6/Qt/lib/libQt6Gui.so.6", "/qt/libQt6Gui.so.6", "BINARY"),
    ("libQt6Gui.so.6", "PySide6/Qt/lib/libQt6Gui.so.6", "SYMLINK"),
    ("libgtk-3.so.0", "/sys/libgtk-3.so.0", "BINARY"),
    ("libcairo.so.2", "/sys/libcairo.so.2", "BINARY"),
    ("libpython3.11.so.1.0", "/py/libpython3.11.so.1.0", "BINARY"),
    ("libz.so.1", "/sys/libz.so.1", "BINARY"),
    ("resources/sh/base.sh", "/top/resources/sh/base.sh", "DATA"),
    ("resources/__pycache__/__init__.cpython-311.pyc", "/top/resources/__pycache__/__init__.cpython-311.pyc", "DATA"),
]


def test_what_is_left_out_takes_along_the_libraries_that_only_it_needed() -> None:
    stay = [target for target, _, _ in kept(ENTRIES, lambda path: LINKED.get(path, ()))]
    assert stay == [
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/lib/libQt6Gui.so.6",
        "libQt6Gui.so.6",
        "libpython3.11.so.1.0",
        "libz.so.1",
        "resources/sh/base.sh",
    ]


def test_a_place_is_known_with_the_slashes_of_windows_too() -> None:
    assert left_out(r"PySide6\translations\qtbase_fr.qm")
    assert not left_out(r"PySide6\translations\qtbase_de.qm")
    assert not left_out(r"PySide6\plugins\platforms\qwindows.dll")


@pytest.mark.skipif(sys.platform != "linux", reason="the plugins have other names elsewhere")
@pytest.mark.parametrize("pattern", [each for each in FILES if each.startswith("PySide6")])
def test_each_pattern_still_names_something_that_pyside_brings(pattern: str) -> None:
    found = find_spec("PySide6")
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent
    assert any(re.search(pattern, str(path.relative_to(folder.parent))) for path in folder.rglob("*"))


def _imported() -> Iterator[tuple[str, str]]:
    for path in sorted((*(TOP / "core").rglob("*.py"), *(TOP / "gui").rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((str(path), each.name) for each in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                yield from ((str(path), f"{node.module}.{each.name}") for each in node.names)


@pytest.mark.slow
def test_pghaul_imports_nothing_that_is_left_out() -> None:
    assert [each for each in _imported() if any(f"{each[1]}.".startswith(f"{one}.") for one in MODULES)] == []

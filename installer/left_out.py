"""What the frozen program does without: PyInstaller would bring it, and nothing of pghaul ever loads it.

`pghaul.spec` reads these lists. Sizes are of one freeze on Debian 12, before compression.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import PurePath

Entry = tuple[str, str, str]
"""As PyInstaller lists a file: where it goes, where it comes from, and what it is."""

MODULES = (
    "tkinter",
    # of the developer's tools, which libraries load where they find them
    *("hypothesis", "mypy", "pip", "pytest", "setuptools", "yaml"),
    *("attr", "markdown_it", "pydoc_data", "pygments", "rich"),
    *("numpy.f2py", "numpy.testing", "numpy._core._multiarray_tests"),
    # a window of widgets alone: 9 MB of OpenGL's functions, and Kerberos behind the network
    *("PySide6.QtDBus", "PySide6.QtNetwork", "PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets", "PySide6.QtTest"),
    *("PySide6.QtQml", "PySide6.QtQuick"),
    # Python's own OpenSSL: cryptography and psycopg bring theirs, and hashlib does without
    *("_hashlib", "_ssl", "ssl"),
)
"""Python's modules, with what they need."""

FILES = (
    r"PySide6/(Qt/)?translations/(?!qtbase_de)",  # of Qt's own words those of the languages that there are
    # screens without a desktop, and input devices without one
    r"PySide6/(Qt/)?plugins/(egldeviceintegrations|generic|networkinformation|tls)/",
    r"PySide6/(Qt/)?plugins/platforms/libq(eglfs|linuxfb|minimalegl|vkkhrdisplay|vnc)\.",
    # GTK's theme would bring GTK's libraries of the machine that builds; desktops are asked by their portal
    r"PySide6/(Qt/)?plugins/platformthemes/libqgtk3\.",
    # no picture of these kinds is shown
    r"PySide6/(Qt/)?plugins/imageformats/libq(gif|icns|tga|tiff|wbmp|webp)\.",
    # what GPUs and a compositor of one's own would use
    r"PySide6/(Qt/)?plugins/(wayland-graphics-integration-client|xcbglintegrations)/",
    r"PySide6/(Qt/)?plugins/wayland-shell-integration/lib(fullscreen-shell-v1|ivi-shell|qt-shell|wl-shell-plugin)\.",
    r"(^|/)__pycache__/",
    r"\.dist-info/RECORD$",  # the sums of files as pip installs them
    # what a desktop's own drivers and settings are made for: an older copy beside the program would stand in their way
    r"^lib(X11|X11-xcb|dbus-1|expat|fontconfig|freetype|gcc_s|glib-2\.0|gthread-2\.0|stdc\+\+)\.so\.",
)
"""Files, each a regular expression that is searched for in the place where it would go, with slashes."""

_LIBRARY = re.compile(r"(^|/)lib[^/]+\.so[.\d]*$")
_LOADED_BY_NAME = re.compile(r"(^|/)(libpython3|plugins/)")
"""Shared libraries that no other one names: the interpreter, which the program's own head loads, and Qt's plugins."""


def left_out(target: str) -> bool:
    """Whether the file that would go there stays away."""
    place = target.replace("\\", "/")
    return any(re.search(pattern, place) for pattern in FILES)


def kept(entries: Iterable[Entry], imports: Callable[[str], Iterable[str]]) -> list[Entry]:
    """The entries without what is left out, and without the shared libraries that only that needed.

    Args:
        imports: the base names of the libraries that a file, by its path, is linked to.
    """
    wanted = [entry for entry in entries if not left_out(entry[0])]
    by_name: dict[str, list[Entry]] = {}
    for entry in wanted:
        by_name.setdefault(PurePath(entry[0]).name, []).append(entry)
    seen: set[str] = set()
    names = {name for name, each in by_name.items() if any(_is_root(entry) for entry in each)}
    while names:
        seen |= names
        found = {entry[1] for name in names for entry in by_name[name] if entry[2] in {"BINARY", "EXTENSION"}}
        names = {name for path in found for name in imports(path) if name in by_name} - seen
    return [entry for entry in wanted if PurePath(entry[0]).name in seen]


def _is_root(entry: Entry) -> bool:
    target = entry[0].replace("\\", "/")
    return not _LIBRARY.search(target) or bool(_LOADED_BY_NAME.search(target))

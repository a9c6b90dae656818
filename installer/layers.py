"""Draw the layers of core and of the window: `python -m installer.layers` prints the picture of ARCHITECTURE.md.

It is made from the contracts of `[tool.importlinter]` in pyproject.toml, so it shows what `make check` enforces.
"""

import sys
import textwrap
import tomllib
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
_WIDEST_ROW = 34
"""The length from which a layer goes on in a second line."""
_GAP = 3
_LEGEND = (
    "A layer may import only layers below it.",
    "Modules with | between them may not import",
    "each other. gui may import core.",
)


def read_layers(pyproject: str) -> dict[str, list[str]]:
    """Return the layers of each package that a contract orders, from the top, without the name of the package."""
    found = {}
    for contract in tomllib.loads(pyproject)["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers":
            package = contract.get("containers", [contract["layers"][0].partition(".")[0]])[0]
            found[package] = [layer.replace(f"{package}.", "") for layer in contract["layers"]]
    return found


def draw(layers: dict[str, list[str]]) -> str:
    """Return the picture: the window, to its right core, and to the right of core what is inside core.migration."""
    window, core, migration = (_box(layers[package]) for package in ("gui", "core", "core.migration"))
    row = next(at for at, line in enumerate(core) if line.startswith("│ migration "))
    core[row] = f"{core[row][:-1]}├"
    arrow = "─" * (len(window[0]) + _GAP - len("gui ▶ "))
    left = [f"gui {arrow}▶ core", *_side_by_side(window, core)]
    # The title of the third box stands beside the layer that it shows.
    right = ["", "", *_indented(_LEGEND), *[""] * (row - 1 - len(_LEGEND)), "── core.migration", *_indented(migration)]
    return "".join(f"{line}\n" for line in _side_by_side(left, right, gap=0))


def _box(layers: Iterable[str]) -> list[str]:
    rows = [row for layer in layers for row in _wrapped(layer)]
    width = max(map(len, rows))
    line = "─" * (width + 2)
    return [f"┌{line}┐", *(f"│ {row:{width}} │" for row in rows), f"└{line}┘"]


def _wrapped(layer: str) -> list[str]:
    """Return the layer in lines that end with its bars, the second and later ones indented."""
    # textwrap does not break at a no-break space
    rows = textwrap.wrap(layer.replace(" |", "\xa0|"), _WIDEST_ROW, subsequent_indent="  ")
    return [row.replace("\xa0", " ") for row in rows]


def _indented(lines: Iterable[str]) -> list[str]:
    return [" " * _GAP + line for line in lines]


def _side_by_side(left: Sequence[str], right: Sequence[str], gap: int = _GAP) -> list[str]:
    width = max(map(len, left)) + gap
    return [f"{one:{width}}{other}".rstrip() for one, other in zip_longest(left, right, fillvalue="")]


if __name__ == "__main__":
    sys.stdout.write(draw(read_layers(PYPROJECT.read_text(encoding="utf-8"))))

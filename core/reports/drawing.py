"""Plots as shapes on a sheet in millimetres: drawn once, shown by PDF and SVG alike.

Colours are names of a palette that colour-blind eyes tell apart (after Okabe and Ito, `Color Universal Design`, 2008).
Series also differ in the form of their marks, for a print in black and white.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from core.reports.cutting import before_cut
from core.tones import Tone

WIDTH = 170.0
"""Of every plot: what A4 leaves between its margins."""

PALETTE = {
    "ink": "#1b1f24",
    "muted": Tone.MUTED.on_paper,
    "rule": "#d0d5da",
    "ground": "#f4f5f7",
    "white": "#ffffff",
    "bad": Tone.BAD.on_paper,
    "good": Tone.GOOD.on_paper,
    "mixed": Tone.WARNING.on_paper,
    "accent": Tone.ACCENT.on_paper,
    "planned": "#c3ccd5",
    "set-1": Tone.OLD.on_paper,
    "set-2": Tone.NEW.on_paper,
    "set-3": "#009e73",
    "set-4": "#cc79a7",
    "set-5": "#56b4e9",
    "set-6": "#e69f00",
}
"""The colours of meanings are the window's: the first two sets are the old and the new server, and red is downtime."""
FORMS = ("circle", "square", "diamond", "triangle", "cross", "ring")
_MM_PER_POINT = 0.3528
_UNDER = 5.0
"""Millimetres that a legend takes."""
_NARROW, _WIDE = frozenset("fijlrtI.,:;|!'()[]/ -"), frozenset("mwMWOQG@%&—…")


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle; `outline`: the colour of its edge, or none."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    outline: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line; `width` in points."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str = "rule"
    width: float = 0.5
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """A filled polygon."""

    points: tuple[tuple[float, float], ...]
    fill: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A circle, or a ring where it is not filled."""

    x: float
    y: float
    radius: float
    colour: str
    filled: bool = True


@dataclass(frozen=True, slots=True)
class Words:
    """One line of text beside a point, centred on its height; `anchor`: start, middle or end; `size` in points."""

    x: float
    y: float
    text: str
    size: float = 7.5
    colour: str = "ink"
    anchor: str = "start"
    bold: bool = False


Mark = Box | Line | Shape | Dot | Words


@dataclass(frozen=True, slots=True)
class Drawing:
    """A plot: `alt` says the same in words, `name` is what its file is called."""

    name: str
    alt: str
    height: float
    marks: tuple[Mark, ...]
    width: float = WIDTH


def fitted(text: str, width: float, size: float = 7.5) -> str:
    """The text, its end cut off where it would be longer than so many millimetres."""
    text = before_cut(text)
    room = width / (size * _MM_PER_POINT)
    used = 0.0
    for at, letter in enumerate(text):
        used += _width(letter)
        if used > room:
            return text[: max(1, at - 1)].rstrip() + "…"
    return text


def width_of(text: str, size: float = 7.5) -> float:
    """Millimetres that the text takes, rather too many than too few."""
    return size * _MM_PER_POINT * sum(map(_width, text))


def _width(letter: str) -> float:
    """In parts of the type's size, rather too much than too little (measured in IBM Plex Sans)."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in _NARROW:
        return 0.37
    if letter in _WIDE:
        return 0.9
    return 0.66 if letter.isupper() or letter.isdigit() else 0.58


def beside(plots: Sequence[Drawing], legend: Sequence[Mark], gap: float = 8.0) -> Drawing:
    """Plots in a row under one legend, as one drawing; their words stand one behind the other."""
    made: list[Mark] = [*legend]
    x = 0.0
    for plot in plots:
        made += [moved(mark, x, _UNDER) for mark in plot.marks]
        x += plot.width + gap
    alt = " ".join(plot.alt for plot in plots)
    return Drawing(plots[0].name, alt, _UNDER + max(plot.height for plot in plots), tuple(made))


def moved(mark: Mark, x: float, y: float) -> Mark:
    """The mark so many millimetres to the right and below."""
    if isinstance(mark, Line):
        return replace(mark, x1=mark.x1 + x, x2=mark.x2 + x, y1=mark.y1 + y, y2=mark.y2 + y)
    if isinstance(mark, Shape):
        return replace(mark, points=tuple((a + x, b + y) for a, b in mark.points))
    return replace(mark, x=mark.x + x, y=mark.y + y)


def mark_of(number: int, x: float, y: float, size: float = 1.1) -> tuple[Mark, ...]:
    """The mark of a set of figures, by its number from 0: a form and a colour of its own."""
    colour, form = f"set-{number % 6 + 1}", FORMS[number % 6]
    if form == "square":
        return (Box(x - size * 0.9, y - size * 0.9, 1.8 * size, 1.8 * size, colour),)
    if form == "diamond":
        return (Shape(((x, y - 1.3 * size), (x + 1.3 * size, y), (x, y + 1.3 * size), (x - 1.3 * size, y)), colour),)
    if form == "triangle":
        return (Shape(((x, y - 1.2 * size), (x + 1.2 * size, y + size), (x - 1.2 * size, y + size)), colour),)
    if form == "cross":
        return tuple(Line(x - size, y + way * size, x + size, y - way * size, colour, 1.4) for way in (1, -1))
    return (Dot(x, y, size, colour, filled=form == "circle"),)


# A plot as SVG (W3C Recommendation `Scalable Vector Graphics 1.1`): vectors, in millimetres, with its text as text.

_UNFIT = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff\\ufffe\\uffff]"
)
FONTS = "'IBM Plex Sans', 'Segoe UI', 'DejaVu Sans', sans-serif"
_ANCHORS = {"start": "start", "middle": "middle", "end": "end"}


def svg(drawing: Drawing, *, alone: bool = True) -> str:
    """The plot; `alone`: as a file of its own, else to stand in an HTML file."""
    size = (
        f'width="{drawing.width:g}mm" height="{drawing.height:g}mm" viewBox="0 0 {drawing.width:g} {drawing.height:g}"'
    )
    head = '<?xml version="1.0" encoding="UTF-8"?>\n' if alone else ""
    # a reader of screens says the words instead of the marks
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={quoteattr(_plain(drawing.alt))}>'
    return f"{head}{begin}<title>{escape(_plain(drawing.alt))}</title>{''.join(map(_mark, drawing.marks))}</svg>\n"


def _mark(mark: Mark) -> str:
    if isinstance(mark, Box):
        edge = f' stroke="{PALETTE[mark.outline]}" stroke-width="0.2"' if mark.outline else ""
        return (
            f'<rect x="{mark.x:.2f}" y="{mark.y:.2f}" width="{mark.width:.2f}" height="{mark.height:.2f}" '
            f'fill="{PALETTE[mark.fill]}"{edge}/>'
        )
    if isinstance(mark, Line):
        dashes = ' stroke-dasharray="1 0.8"' if mark.dashed else ""
        return (
            f'<line x1="{mark.x1:.2f}" y1="{mark.y1:.2f}" x2="{mark.x2:.2f}" y2="{mark.y2:.2f}" '
            f'stroke="{PALETTE[mark.colour]}" stroke-width="{mark.width * _MM_PER_POINT:.2f}"{dashes}/>'
        )
    if isinstance(mark, Shape):
        points = " ".join(f"{x:.2f},{y:.2f}" for x, y in mark.points)
        return f'<polygon points="{points}" fill="{PALETTE[mark.fill]}"/>'
    if isinstance(mark, Dot):
        fill = f'fill="{PALETTE[mark.colour]}"'
        ring = f'fill="none" stroke="{PALETTE[mark.colour]}" stroke-width="0.4"'
        return f'<circle cx="{mark.x:.2f}" cy="{mark.y:.2f}" r="{mark.radius:.2f}" {fill if mark.filled else ring}/>'
    return _words(mark)


def _words(mark: Words) -> str:
    weight = ' font-weight="600"' if mark.bold else ""
    return (
        f'<text x="{mark.x:.2f}" y="{mark.y:.2f}" dominant-baseline="central" text-anchor="{_ANCHORS[mark.anchor]}" '
        f'font-family="{FONTS}" font-size="{mark.size * _MM_PER_POINT:.2f}" fill="{PALETTE[mark.colour]}"{weight}>'
        f"{escape(_plain(mark.text))}</text>"
    )


def _plain(text: str) -> str:
    """Without what XML 1.0 does not allow (section 2.2, `Char`), steers a terminal or turns the direction of text."""
    return _UNFIT.sub("\ufffd", text)

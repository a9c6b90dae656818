"""Every declared pair of colours can be told apart, in light and in dark, in the window and on paper."""

import re
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QPalette

import gui
from core.reports.drawing import PALETTE
from core.settings import resource
from core.tones import Tone
from gui.design.palette import Ground, palette

GROUNDS = (Ground.WINDOW, Ground.SURFACE, Ground.ALTERNATE, Ground.SELECTION, Ground.STOPPED)
"""On each of these stand texts of every tone."""
UNDER_MOUSE = (Ground.HOVER, Ground.PRESSED)
LITERAL = re.compile(r"#[0-9a-fA-F]{6}\b|QColor\(\s*\d|Qt\.GlobalColor\.(?!transparent)")
dark = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, contrast ratio of two sRGB colours."""
    bright, dim = sorted((_luminance(QColor(one)), _luminance(QColor(other))), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _luminance(shade: QColor) -> float:
    parts = (shade.redF(), shade.greenF(), shade.blueF())
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@dark
@pytest.mark.parametrize(("text", "ground"), [*product((Ground.TEXT, *Tone), GROUNDS)])
def test_text_can_be_read_on_every_ground(dark: bool, text: Tone | Ground, ground: Ground) -> None:
    assert contrast(text.value[dark], ground.value[dark]) >= 4.5


@dark
@pytest.mark.parametrize("ground", UNDER_MOUSE)
def test_a_button_can_be_read_under_the_mouse(dark: bool, ground: Ground) -> None:
    for text in (Ground.TEXT, Tone.BAD):
        assert contrast(text.value[dark], ground.value[dark]) >= 4.5


@dark
def test_a_primary_button_can_be_read(dark: bool) -> None:
    assert contrast(Ground.ON_ACCENT.value[dark], Tone.ACCENT.value[dark]) >= 4.5


@dark
@pytest.mark.parametrize("ground", [Ground.WINDOW, Ground.SURFACE, Ground.ALTERNATE])
def test_what_is_disabled_can_still_be_read(dark: bool, ground: Ground) -> None:
    assert contrast(Ground.DISABLED.value[dark], ground.value[dark]) >= 3


@dark
@pytest.mark.parametrize("ground", [Ground.WINDOW, Ground.SURFACE, Ground.ALTERNATE, Ground.HOVER])
def test_the_focus_ring_is_seen(dark: bool, ground: Ground) -> None:
    assert contrast(Tone.ACCENT.value[dark], ground.value[dark]) >= 3


@dark
def test_borders_are_seen(dark: bool) -> None:
    """The box of a check box is a line in the muted tone, which is held above."""
    for ground in (Ground.WINDOW, Ground.SURFACE):
        assert contrast(Ground.EDGE.value[dark], ground.value[dark]) >= 1.7
        assert contrast(Ground.BORDER.value[dark], ground.value[dark]) >= 1.25


@dark
def test_tones_differ_from_each_other_in_hue(dark: bool) -> None:
    """Old, new, good, bad and the accent; a warning is near the old server's orange, and always has its sign."""
    hues = [QColor(tone.value[dark]).hue() for tone in (Tone.OLD, Tone.NEW, Tone.GOOD, Tone.BAD, Tone.ACCENT)]
    apart = [min(abs(one - other), 360 - abs(one - other)) for n, one in enumerate(hues) for other in hues[:n]]
    assert min(apart) >= 22


@dark
def test_the_palette_of_the_window_has_the_declared_colours(dark: bool) -> None:
    made = palette(dark=dark)
    for role, of in (
        (QPalette.ColorRole.Window, Ground.WINDOW),
        (QPalette.ColorRole.Base, Ground.SURFACE),
        (QPalette.ColorRole.Text, Ground.TEXT),
        (QPalette.ColorRole.Highlight, Ground.SELECTION),
        (QPalette.ColorRole.PlaceholderText, Tone.MUTED),
    ):
        assert made.color(role).name() == of.value[dark]
    disabled = made.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText)
    assert disabled.name() == Ground.DISABLED.value[dark]


def test_colours_are_declared_in_one_place() -> None:
    top = Path(gui.__file__).parent
    found = [
        f"{path.relative_to(top)}: {line.strip()}"
        for path in sorted(top.rglob("*.py"))
        if path.parent.name != "design"
        for line in path.read_text(encoding="utf-8").splitlines()
        if LITERAL.search(line)
    ]
    assert found == []
    assert LITERAL.search((top / "design" / "palette.py").read_text(encoding="utf-8"))


def test_reports_show_the_colours_of_the_window() -> None:
    for name, tone in (("set-1", Tone.OLD), ("set-2", Tone.NEW), ("bad", Tone.BAD), ("good", Tone.GOOD)):
        assert PALETTE[name] == tone.value[0]
    style = resource("report", "style.typ").read_text(encoding="utf-8")
    for name in ("good", "mixed", "bad"):
        assert f'{name}: rgb("{PALETTE[name]}")' in style
    for name in ("ink", "muted", "rule", "ground"):
        assert f'#let {name} = rgb("{PALETTE[name]}")' in style

"""What the fonts that ship can show, and what stands for what they cannot."""

import shutil
from pathlib import Path

import pytest
import typst
from hypothesis import given, settings
from hypothesis import strategies as st

from core.reports.shapes import pdf
from core.reports.shapes.pdf import characters, printable
from core.settings import resource


def test_text_stays_as_it_is() -> None:
    for text in (
        "gannon-old: /srv/pg 7 118 IOPS, 2.56 ×, – … ≥ → µs",
        "数据库 한국어 قاعدة البيانات שלום Ελλάδα Ж",
        "",
    ):
        assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\U0001f418", "<U+1F418>"),
        ("\x07\x1b[31m", "<U+0007><U+001B>[31m"),
        ("\u202egnp.exe", "<U+202E>gnp.exe"),
        ("\ue000", "<U+E000>"),
        ("क", "<U+0915>"),
        ("a\tb\r\nc\nd\re", "a    b\nc\nd<U+000D>e"),
        ("20\u202f000\u2003x", "20\u00a0000\u00a0x"),
        ("e\u0301", "\u00e9"),
    ],
)
def test_what_has_no_glyph_is_named(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_plain_text_needs_one_font() -> None:
    assert printable("ö ≥ 数", plain=True) == "ö ≥ <U+6570>"


@pytest.mark.parametrize("name", [*pdf.TEXT, *pdf.FALLBACK])
def test_each_font_is_read_as_typst_reads_it(name: str, tmp_path: Path) -> None:
    """Every hundredth character is set with that font alone; a PDF/A refuses one without a glyph."""
    path = resource("fonts", name)
    shutil.copy(path, tmp_path)
    loaded = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[tmp_path])
    (family,) = loaded.families()
    has = sorted(characters(path))
    assert len(has) > 800
    text = " ".join(shown for shown in (printable(chr(code)) for code in has[::100]) if not shown.startswith("<U+"))
    source = f'#set text(font: "{family}")\n#sys.inputs.text'.encode()
    compiler = typst.Compiler(font_paths=loaded)
    assert compiler.compile(source, pdf_standards="a-2a", sys_inputs={"text": text})
    with pytest.raises(typst.TypstError, match="could not be displayed"):
        compiler.compile(source, pdf_standards="a-2a", sys_inputs={"text": "\U0001f418"})


def test_every_font_has_its_licence() -> None:
    folder = resource("fonts")
    licences = {path.name.removesuffix("-LICENSE.txt") for path in folder.glob("*-LICENSE.txt")}
    families = {path.stem.partition("-")[0] for path in folder.glob("*.ttf")}
    assert families == {"IBMPlexSans", "IBMPlexMono", "DejaVuSans", "DroidSansFallback"}
    assert all(any(family.startswith(licence) for licence in licences) for family in families)
    assert {path.name for path in Path(folder).glob("*.ttf")} == {*pdf.TEXT, *pdf.FALLBACK}


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_printable_twice_is_printable_once(text: str) -> None:
    shown = printable(text)
    assert printable(shown) == shown
    assert printable(printable(text, plain=True), plain=True) == printable(text, plain=True)

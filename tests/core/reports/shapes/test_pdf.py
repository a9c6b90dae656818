"""The PDF of each kind: text and structure as a reader finds them, its standard, text that is never markup."""

import dataclasses
import io
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typst
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PageObject, PdfReader
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject, StreamObject

from core.errors import InputError
from core.language import languages, spoken
from core.migration.checks import CHECKS
from core.migration.model.checks import CheckResult, Status
from core.migration.model.plan import Phase
from core.reports.drawing import Drawing, Words
from core.reports.kinds.storage import StorageReport
from core.reports.make import Kind, of_fleet, of_move
from core.reports.model import Cell, Document, Paper, Section, Table, Text
from core.reports.options import Logo, Options
from core.reports.report import Report, build
from core.reports.shapes import pdf
from core.reports.shapes import pdf as shape
from core.reports.shapes.pdf import characters, printable
from core.settings import resource
from tests.core.history import samples
from tests.core.reports.documents import document_of, fleet
from tests.core.reports.hostile import NAME, hostile
from tests.core.reports.shapes.pictures import PNG
from tests.histories import Histories

AT = datetime(2026, 3, 16, 9, 0, tzinfo=UTC)
Make = Callable[[Kind, Options], Document]


@pytest.fixture
def make(full: Report, storages: StorageReport) -> Make:
    """A document of any kind."""

    def made(kind: Kind, options: Options) -> Document:
        return document_of(
            kind, dataclasses.replace(full, made_at=AT), dataclasses.replace(storages, made_at=AT), options
        )

    return made


def _read(document: Document, options: Options) -> PdfReader:
    return PdfReader(io.BytesIO(shape.pdf(document, options)))


def _text(pages: Sequence[PageObject]) -> str:
    return re.sub(r"\s+", " ", " ".join(page.extract_text() for page in pages))


def _structure(reader: PdfReader) -> Iterator[str]:
    """The tags in the order of reading."""

    def below(node: object) -> Iterator[str]:
        node = node.get_object() if isinstance(node, IndirectObject) else node
        if isinstance(node, ArrayObject):
            for child in node:
                yield from below(child)
        elif isinstance(node, DictionaryObject):
            if "/S" in node:
                yield str(node["/S"])
            yield from below(node.get("/K"))

    yield from below(reader.root_object["/StructTreeRoot"])


def _within(holder: DictionaryObject, name: str) -> DictionaryObject:
    found = holder[name].get_object()
    assert isinstance(found, DictionaryObject)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("kind", list(Kind))
def test_each_kind_is_a_tagged_archive_file(make: Make, kind: Kind, language: str) -> None:
    options = Options(language=language, company="Example & Söhne")
    document = make(kind, options)
    reader = _read(document, options)
    root = reader.root_object
    assert str(_within(root, "/MarkInfo")["/Marked"]) == "True"
    assert str(root["/Lang"]) == {"en": "en-GB", "de": "de-DE"}[language]
    assert reader.metadata is not None
    assert reader.metadata.title == f"{document.title}: {document.label}"
    assert reader.metadata.author == "Example & Söhne"
    found = list(_structure(reader))
    assert {"/H1", "/Table", "/TH", "/TD", "/L", "/TOC"} <= set(found)
    assert found.count("/Figure") >= 1 if kind is not Kind.EXECUTION else True
    metadata = _within(root, "/Metadata")
    assert isinstance(metadata, StreamObject)
    xmp = metadata.get_data()
    for said in (b"<pdfaid:part>2<", b"<pdfaid:conformance>A<", b"<pdfuaid:part>1<"):
        assert said in xmp


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(Kind))
def test_pages_contents_and_bookmarks(make: Make, kind: Kind) -> None:
    document = make(kind, Options())
    reader = _read(document, Options())
    pages = len(reader.pages)
    assert pages <= 8
    for number, page in enumerate(reader.pages, 1):
        assert f"Page {number} of {pages}" in page.extract_text()
    marks = [item.title for item in reader.outline if not isinstance(item, list)]
    assert marks == [section.title for section in document.all_sections]
    first = reader.pages[0].extract_text()
    for answer in document.answers:
        assert "".join(answer.words.split()) in "".join(first.split())
    assert "Contents" in first + reader.pages[1].extract_text()


@pytest.mark.slow
def test_contents_stand_on_page_one_where_they_fit(make: Make, full: Report) -> None:
    fitting = _read(make(Kind.FLEET, Options()), Options()).pages
    assert "Contents" in fitting[0].extract_text()
    assert fitting[1].extract_text().startswith("Possible moves")
    plan = make(Kind.PLAN, Options())
    assert "Contents" in _read(plan, Options()).pages[0].extract_text()
    whole = _read(dataclasses.replace(plan, answers=plan.answers + plan.answers[:2]), Options()).pages
    assert whole[1].extract_text().startswith("Contents")
    assert "Checked on" in whole[1].extract_text()
    nothing = _read(of_fleet(dataclasses.replace(fleet(full), moves=(), servers=()), Options()), Options()).pages
    assert len(nothing) == 1
    assert "Contents" not in nothing[0].extract_text()
    assert "Method and units" in nothing[0].extract_text()


@pytest.mark.slow
def test_a_long_name_stays_within_the_page(make: Make) -> None:
    name = "Привет" + "data" * 75
    document = make(Kind.FLEET, Options())
    made = dataclasses.replace(document, title=name, answers=(dataclasses.replace(document.answers[0], question=name),))
    first, second, *_ = (page.extract_text().splitlines() for page in _read(made, Options()).pages)
    assert sum(line.count("data") for line in first) > 70
    assert max(line.count("data") for line in first) < 30
    assert sum(line.count("data") for line in second) < 10
    assert "… · Fleet" in second[-1] + second[-2]


@pytest.mark.slow
@pytest.mark.parametrize("paper", Paper)
@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("kind", Kind)
def test_a_footer_is_one_line(make: Make, kind: Kind, language: str, paper: Paper) -> None:
    options = Options(language=language, paper=paper)
    with spoken(language):
        made = dataclasses.replace(make(kind, options), title="MWMW " * 30)
        lines = _read(made, options).pages[1].extract_text().splitlines()
    (footer,) = (line for line in lines if made.program in line)
    assert footer.startswith("MWMW")
    assert "… · " in footer
    assert re.search(r"09:00 UTC\s*(Page|Seite) 2", footer + "\n".join(lines[lines.index(footer) + 1 :][:1]))


def test_a_tall_chart_leaves_no_page_half_empty(make: Make) -> None:
    document = make(Kind.FLEET, Options())
    tall = Drawing("tall", "A tall one.", 200.0, (Words(0, 100, "IN THE CHART", 8),))
    text = Text("a line of what follows it")
    made = dataclasses.replace(document, sections=(Section("Before", (text,) * 10), Section("With", (tall, text))))
    pages = [page.extract_text() for page in _read(made, Options()).pages[1:]]
    assert len(pages) == 2
    assert pages[0].count("a line of what follows it") == 11
    assert "IN THE CHART" in pages[1]


def _places(pages: Sequence[PageObject], wanted: str) -> list[tuple[int, float]]:
    """Where these words stand: the number of the page, and a figure that is greater the lower they are on it."""
    found: list[tuple[int, float]] = []
    for number, page in enumerate(pages):

        def look(words: str, cm: list[float], tm: list[float], _font: object, _size: object, at: int = number) -> None:
            if wanted in words:
                found.append((at, -(tm[4] * cm[1] + tm[5] * cm[3] + cm[5])))

        page.extract_text(visitor_text=look)
    return found


@pytest.mark.slow
def test_a_tall_chart_stands_behind_the_heading_of_its_section(make: Make) -> None:
    tall = Drawing("tall", "A tall one.", 150.0, (Words(0, 75, "IN THE CHART", 8),))
    text = Text("a line of text")
    for before in range(0, 45, 5):
        sections = (Section("Before", (text,) * before), Section("Of the chart", (tall, *(text,) * 10)))
        document = dataclasses.replace(make(Kind.FLEET, Options()), sections=sections)
        pages = _read(document, Options()).pages[1:]
        (heading,), (chart,) = _places(pages, "Of the chart"), _places(pages, "IN THE CHART")
        assert heading < chart, before


def test_a_report_with_less_space_has_no_page_for_a_line_or_two(make: Make) -> None:
    document = make(Kind.FLEET, Options())

    def lines_of_pages(number: int) -> list[int]:
        section = Section("Lines", (Text("a line of text"),) * number)
        pages = _read(dataclasses.replace(document, sections=(section,)), Options()).pages[1:]
        return [page.extract_text().count("a line of text") for page in pages]

    found = next(lines for number in range(30, 90) if len(lines := lines_of_pages(number)) > 1)
    assert found[0] > 30
    assert found[1] > 2


@pytest.mark.slow
def test_a_short_table_is_whole_and_a_long_one_is_not_cut(make: Make) -> None:
    def shown(cell: str, before: int) -> list[str]:
        table = Table("cells", ("a", "b"), ((cell, "one"), (cell, "two")), (1, 40))
        section = Section("Cells", (*(Text("before"),) * before, Text("of this:"), table))
        document = dataclasses.replace(make(Kind.FLEET, Options()), sections=(section,))
        return [page.extract_text() for page in _read(document, Options()).pages[1:]]

    for before in range(30, 42):
        (holding,) = (page for page in shown("short", before) if "of this:" in page)
        assert "one" in holding
        assert "two" in holding
    assert "".join(shown("Q" * 2000, 0)).count("Q") == 4000


def test_no_line_breaks_within_a_duration(make: Make) -> None:
    row = ("51 s (39 s to 1 min 06 s)", "2 h 10 min (1 h 05 min to 1 d 2 h)")
    section = Section("Cells", (Table("durations", ("a", "b", "c"), ((*row, "w " * 300),), (1, 1, 4)),))
    made = _read(dataclasses.replace(make(Kind.FLEET, Options()), sections=(section,)), Options())
    shown = " ".join(page.extract_text() for page in made.pages[1:]).replace("\u00a0", " ")
    for duration in ("1 min 06 s", "2 h 10 min", "1 h 05 min", "1 d 2 h"):
        assert duration in shown


def test_a_long_word_of_the_language_is_hyphenated_and_a_name_is_not(make: Make) -> None:
    row = ("Client-Authentifizierung (pg_hba.conf)", "productiondatabaseserver", "Streaming-Replikat", "x " * 200)
    table = Table("narrow", ("a", "b", "c", "d"), (row,), (1, 1, 1, 5))
    found = []
    for language in languages():
        options = Options(language=language)
        made = dataclasses.replace(make(Kind.FLEET, options), sections=(Section("A", (table,)),))
        with spoken(language):
            found.append(_text(_read(made, options).pages[1:]))
    english, german = found
    assert "Client-Authen- tifizierung" in german.replace("\u00ad", "-")
    assert "Streaming- Replikat" in german
    assert "-zierung" not in english
    for text in found:
        assert "productiondatabaseserver" in text.replace(" ", "")


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(Kind))
def test_all_fonts_are_inside_and_those_that_ship(make: Make, kind: Kind) -> None:
    reader = _read(make(kind, Options()), Options())
    found = set()
    for page in reader.pages:
        for name in (fonts := _within(_within(page, "/Resources"), "/Font")):
            below = _within(fonts, name)["/DescendantFonts"]
            assert isinstance(below, ArrayObject)
            inside = below[0].get_object()
            assert isinstance(inside, DictionaryObject)
            descriptor = _within(inside, "/FontDescriptor")
            assert {"/FontFile2", "/FontFile3"} & set(descriptor)
            found.add(str(descriptor["/FontName"]).partition("+")[2])
    assert found
    assert all(name.startswith(("IBMPlex", "DejaVuSans", "DroidSans")) for name in found)


def _as_large_as_any(full: Report) -> Report:
    """With every check that there is, six of them open, and the steps of a move with one tablespace."""
    assert full.plan is not None
    held = "/srv/pg needs 610 MiB"
    found = tuple(
        CheckResult(each.id, each.title, Status.WARNING if number < 6 else Status.PASS, held, held, held)
        for number, each in enumerate(CHECKS)
    )
    one, phases = dataclasses.replace(full.plan.steps[1], title="read on old what it has"), list(Phase)
    steps = tuple(dataclasses.replace(one, number=number, phase=phases[number // 6]) for number in range(1, 57))
    return dataclasses.replace(full, checks=found, plan=dataclasses.replace(full.plan, steps=steps), made_at=AT)


@pytest.mark.slow
@pytest.mark.parametrize("paper", list(Paper))
@pytest.mark.parametrize("language", languages())
def test_the_smallest_plan_is_short(full: Report, language: str, paper: Paper) -> None:
    options = Options(language=language, paper=paper)
    reader = _read(of_move(Kind.PLAN, _as_large_as_any(full), options), options)
    assert len(reader.pages) <= 8


def test_letter_is_another_size(make: Make) -> None:
    sizes = {}
    for paper in Paper:
        box = _read(make(Kind.PLAN, Options()), Options(paper=paper)).pages[0].mediabox
        sizes[paper] = (round(box.width), round(box.height))
    assert sizes == {Paper.A4: (595, 842), Paper.LETTER: (612, 792)}


def test_without_its_fonts_there_is_no_report(
    make: Make, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Typst would write a report without a single word."""
    document = make(Kind.PLAN, Options())
    monkeypatch.setattr("core.reports.shapes.pdf.settings.resource", tmp_path_factory.mktemp("none").joinpath)
    with pytest.raises(FileNotFoundError, match="no fonts in"):
        shape.compiler(document, Options())


def test_the_same_report_is_the_same_file(make: Make) -> None:
    document = make(Kind.PLAN, Options())
    assert shape.pdf(document, Options()) == shape.pdf(document, Options())
    other = dataclasses.replace(document, made_at=AT.replace(year=2001))
    assert shape.pdf(other, Options()) != shape.pdf(document, Options())


def test_a_logo_and_one_that_is_broken(make: Make) -> None:
    document = make(Kind.PLAN, Options())
    options = Options(company="Example", logo=Logo(PNG, "png"))
    assert "/Figure" in list(_structure(_read(document, options)))
    with pytest.raises(InputError, match="the logo cannot be read as a picture"):
        shape.pdf(document, dataclasses.replace(options, logo=Logo(PNG[:20], "png")))


@pytest.mark.slow
def test_text_is_never_markup(full: Report) -> None:
    options = Options(functions=True)
    reader = _read(of_move(Kind.PLAN, hostile(full), options), options)
    text = _text(reader.pages[:4])
    assert NAME in text
    assert '#panic("x") #pagebreak() *a* _b_' in text
    for said in ("Привет", "数据库移动", "<U+1F418>", "<U+0915>", "<U+202E>gnp", "<U+0007>"):
        assert said in text
    assert len(reader.pages) > 50


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(Kind))
def test_a_server_of_that_name_in_every_kind(full: Report, storages: StorageReport, kind: Kind) -> None:
    named = dataclasses.replace(storages.compared, old=f"{NAME}:/{'数' * 300}")
    old, move = dataclasses.replace(full.old, name=NAME), dataclasses.replace(full.move, old=NAME)
    everywhere = dataclasses.replace(full, old=old, move=move)
    document = document_of(kind, everywhere, dataclasses.replace(storages, compared=named), Options())
    assert NAME in _text(_read(document, Options()).pages[: 2 if kind is Kind.FLEET else 1])


@pytest.mark.parametrize("kind", [Kind.PLAN, Kind.EXECUTION, Kind.CAPACITY])
def test_a_move_without_anything_is_a_report(empty: Report, kind: Kind) -> None:
    assert 2 <= len(_read(of_move(kind, empty, Options()), Options()).pages) <= 4


def test_letters_between_accents_of_other_fonts(full: Report) -> None:
    """Found by trying: typst gives up on this one although each character has a glyph in some font."""
    odd = dataclasses.replace(full, move=dataclasses.replace(full.move, name="\u05b0\ufe50\u031d ö"))
    reader = _read(of_move(Kind.PLAN, odd, Options()), Options())
    assert reader.metadata is not None
    assert "<U+05B0><U+FE50>" in str(reader.metadata.title)


def test_a_renamed_move_is_reported_under_its_new_name(
    histories: Histories, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with histories.open(tmp_path_factory.mktemp("renamed"), samples.fill) as store:
        store.update_move(dataclasses.replace(samples.MOVE, name="done"), name=samples.MOVE.name)
        report = build(store, "done")
    assert report.plan is not None
    reader = _read(of_move(Kind.PLAN, report, Options()), Options())
    assert reader.metadata is not None
    assert str(reader.metadata.title).startswith("done: ")


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (0.35, ["postgresql@15-main.service", "7713540329208582253"]),
        (0.2, ["postgresql@15-main.", "service", "7713540329208582253"]),
    ],
    ids=["it has room", "parted behind a sign"],
)
def test_a_long_word_is_whole_where_its_column_has_room(make: Make, width: float, lines: list[str]) -> None:
    row = "postgresql@15-main.service 7713540329208582253", "x"
    table = Table("x", ("a", "b"), (row,), (width, 1.0 - width))
    said = dataclasses.replace(make(Kind.PLAN, Options()), sections=(Section("y", (table,)),))
    shown = [line.strip() for page in _read(said, Options()).pages for line in page.extract_text().splitlines()]
    assert [line for line in lines if line not in shown] == []


@pytest.mark.parametrize("width", [0.1, 0.2, 0.35])
def test_a_line_holds_fewer_wide_letters_than_usual_ones(make: Make, width: float) -> None:
    def most(letter: str) -> int:
        table = Table("x", ("a", "b"), ((letter * 200, "x"),), (width, 1.0 - width))
        said = dataclasses.replace(make(Kind.PLAN, Options()), sections=(Section("y", (table,)),))
        lines = [line for page in _read(said, Options()).pages for line in page.extract_text().splitlines()]
        assert sum(line.count(letter * 2) for line in lines) > 10
        return max(line.count(letter) for line in lines)

    usual = most("0")
    # in IBM Plex Sans they are at least 1.3 times as wide
    assert {letter: most(letter) for letter in "wmWM@" if (most(letter) - 1) * 1.3 > usual} == {}


@pytest.mark.parametrize("width", [0.11, 0.12, 0.13, 0.14, 0.17, 0.2, 0.25, 0.3])
def test_a_rate_stands_on_one_line(make: Make, width: float) -> None:
    table = Table("x", ("a", "b"), (("an earlier copy reached 79.9 MB/s at most", "x"),), (width, 1.0 - width))
    said = dataclasses.replace(make(Kind.PLAN, Options()), sections=(Section("y", (table,)),))
    text = " ".join(page.extract_text() for page in _read(said, Options()).pages)
    assert re.search(r"79\.9[ \u00a0]MB/s", text)


def test_backticks_of_a_value_stay(make: Make) -> None:
    value = "cp %p /a/`hostname`"
    table = Table("x", ("a", "b"), ((value, Cell("Look with `df`.", is_prose=True)),), (0.5, 0.5))
    said = dataclasses.replace(make(Kind.PLAN, Options()), sections=(Section("y", (table,)),))
    text = " ".join(page.extract_text() for page in _read(said, Options()).pages)
    assert value in text
    assert "Look with df." in text


def test_code_is_no_text_with_backticks(make: Make) -> None:
    said = dataclasses.replace(make(Kind.PLAN, Options()), sections=(Section("x", (Text("Look with `df -h /a`."),)),))
    text = _text(_read(said, Options()).pages)
    assert "Look with df -h /a." in text


# What the fonts that ship can show, and what stands for what they cannot.


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

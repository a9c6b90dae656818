"""The documentation holds: every command in it is one, every link leads somewhere, the site needs no network."""

import re
import shlex
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from core.cli.main import parser
from core.cli.manual.outline import outline
from core.migration.checks import CHECKS
from installer import site

TOP = Path(__file__).parents[1]
PAGES = sorted([*(TOP / "docs").rglob("*.md"), *TOP.glob("*.md")])


def typed(text: str) -> Iterator[str]:
    """Each line of a `sh` block that runs pghaul, without its remark."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            if re.match(r"(\.venv/bin/)?pghaul( |$)", line):
                yield re.split(r"\s#\s|\s+[|>]", line)[0]


def named(text: str) -> list[str]:
    """Each `pghaul …` between backticks: a command, or the name of one without what it needs."""
    return re.findall(r"`(pghaul [^`\n]*)`", text)


def parses(line: str) -> bool:
    """Whether the command line takes it."""
    try:
        parser().parse_args(shlex.split(line)[1:])
    except SystemExit as end:
        return end.code == 0
    return True


def exists(line: str) -> bool:
    """Whether there is that command, with those options."""
    command = outline(parser())
    words = line.split()[1:]
    while words and command.verbs and not words[0].startswith("-"):
        found = [verb for verb in command.verbs if verb.words[-1] == words[0]]
        if not found:
            return False
        command, words = found[0], words[1:]
    options = {name for each in command.options for name in each.options}
    return {word for word in words if re.match(r"--?[a-z]", word)} <= options


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_every_command_is_one(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = page.read_text(encoding="utf-8")
    assert [line for line in typed(text) if not parses(line)] == [], capsys.readouterr().err
    assert [line for line in named(text) if not exists(line)] == []


def test_a_command_that_is_none_is_found() -> None:
    page = "```sh\npghaul bench spring --sweet quick   # no such thing\nls\n```\n`pghaul move x`, `pghaul check --now`"
    assert [parses(line) for line in typed(page)] == [False]
    assert [exists(line) for line in named(page)] == [False, False]
    assert exists("pghaul check MOVE --waive ID --reason TEXT")


class Page(HTMLParser):
    """What a page of the site leads to, and what a browser fetches to show it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value is not None}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        if tag in {"script", "img", "iframe", "source"} and "src" in found:
            self.fetched.add(found["src"])
        if tag == "link" and found.get("rel") in {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch"}:
            self.fetched.add(found.get("href", ""))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, with a grey pixel for each picture of the window."""
    folder = tmp_path_factory.mktemp("site")
    site.put_together(folder / "source")
    (folder / "source" / "pictures").mkdir()
    text = "".join(path.read_text(encoding="utf-8") for path in (TOP / "docs").rglob("*.md"))
    for name in re.findall(r"pictures/([\w-]+\.png)", text):
        (folder / "source" / "pictures" / name).write_bytes((TOP / "resources/icons/pghaul-256.png").read_bytes())
    site.build(folder / "source", folder / "site")  # Sphinx ends with any page or heading that a link does not find
    return folder / "site"


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in built.rglob("*.html")}


@pytest.mark.slow
def test_every_link_within_the_site_leads_somewhere(pages: dict[Path, Page]) -> None:
    dead = []
    for path, page in pages.items():
        for link in page.links | page.fetched:
            target, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:|//", link) or not (target or anchor):
                continue
            there = (path.parent / target.partition("?")[0]).resolve() if target else path
            known = pages.get(there)
            if not there.exists() or (anchor and known is not None and anchor not in known.anchors):
                dead.append(f"{path.name}: {link}")
    assert dead == []


@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere(built: Path, pages: dict[Path, Page]) -> None:
    assert {link for page in pages.values() for link in page.fetched if re.match(r"[a-z]+:|//", link)} == set()
    styles = [path.read_text(encoding="utf-8") for path in built.rglob("*.css")]
    remote = r"(?:url\(|@import)[\"' ]*(?:https?:)?//[^)]*"
    assert [found for text in styles for found in re.findall(remote, text)] == []


@pytest.mark.slow
def test_the_search_finds_without_a_server(built: Path) -> None:
    assert (built / "searchindex.js").is_file()
    assert "pghaul-fence" in (built / "how-to" / "stopped.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_reference_is_of_this_code(built: Path) -> None:
    command_line = (built / "reference" / "command-line.html").read_text(encoding="utf-8")
    assert "pghaul server install" in command_line
    checks = (built / "reference" / "checks.html").read_text(encoding="utf-8")
    assert [each.id for each, _ in CHECKS if each.id not in checks] == []

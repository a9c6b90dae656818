"""The documentation holds: every command in it exists, every link leads somewhere, the site needs no network."""

import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import pytest

from core.cli.main import parser
from core.cli.manual.outline import outline
from core.migration.checks import CHECKS
from core.migration.estimate.spec import load_spec
from installer import site
from tests.documented import PAGES, TOP, typed


def named(text: str) -> list[str]:
    """Each `pghaul …` between backticks: a command, or the name of one without what it needs."""
    return re.findall(r"`(pghaul [^`\n]*)`", text)


def parses(line: str) -> bool:
    """Whether the command line accepts it. Without arguments the window opens."""
    arguments = shlex.split(line)[1:]
    if not arguments:
        return True
    try:
        parser().parse_args(arguments)
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


def test_the_help_names_commands_and_options_that_exist() -> None:
    commands = outline(parser()).all()
    known = {name for command in commands for each in command.options for name in each.options}
    texts = [text for each in commands for text in (each.help, each.description, *(one.help for one in each.arguments))]
    named_options = {name for text in texts for name in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)}
    assert {"--verify", "--replace"} <= named_options
    assert named_options - known == set()
    examples = [line.strip() for each in commands for line in each.epilog.splitlines() if line.startswith("  pghaul ")]
    shown = [re.split(r"\s{2,}| >", line)[0] for line in examples]  # the purpose stands behind, or a file
    assert "pghaul execute spring --rehearsal" in shown
    assert [line for line in shown if not parses(line)] == []


def test_a_command_that_is_none_is_found() -> None:
    commands = [
        "pghaul bench spring --sweet quick   # no such thing",
        "ls",
        "A=b pghaul sheck",
        "cat x | pghaul parze -",
    ]
    page = "```sh\n" + "\n".join(commands) + "\n```\n`pghaul move x`, `pghaul check --now`"
    assert [parses(line) for line in typed(page)] == [False, False, False]
    assert [exists(line) for line in named(page)] == [False, False]
    assert exists("pghaul check MOVE --waive ID --reason TEXT")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_every_option_of_an_exported_script_is_one(page: Path) -> None:
    runner = (TOP / "resources/script/runner.sh").read_text(encoding="utf-8")
    known = set(re.findall(r"--[a-z-]+", runner.partition("usage:")[2].partition("}")[0]))
    named = set(re.findall(r"\./move\.sh (--[a-z-]+)", page.read_text(encoding="utf-8")))
    assert known >= {"--list", "--back"}
    assert named - known == set()


def test_every_check_that_a_page_names_is_one() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"\b[Cc]heck\s+`([a-z-]+)`", text)) | set(re.findall(r"--waive ([a-z-]+)", text))
    assert {"pending-settings", "access-rules"} <= named
    assert named - {each.id for each in CHECKS} == set()


def test_every_specification_of_an_estimate_can_be_read() -> None:
    blocks = [
        found
        for page in PAGES
        for found in re.findall(r"^```toml\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        if "[cluster]" in found
    ]
    assert [load_spec(block, "spec.toml").cluster.size_bytes for block in blocks] == [1_220_000_000_000]


def test_the_readme_is_short_and_leads_to_pages_that_exist() -> None:
    text = (TOP / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text)]
    assert "docs/first-move.md" in links
    assert [link for link in links if not (TOP / link).is_file()] == []


@pytest.mark.parametrize("path", sorted((TOP / "docs").rglob("*.svg")), ids=lambda path: path.stem)
def test_every_diagram_is_shown_with_colours_for_light_and_dark(path: Path) -> None:
    text, shown = path.read_text(encoding="utf-8"), "".join(page.read_text(encoding="utf-8") for page in PAGES)
    light, scheme, dark = text.partition("@media (prefers-color-scheme: dark)")
    assert f"]({path.parent.name}/{path.name})" in shown
    assert scheme
    classes = set(re.findall(r"\.([a-z]+) \{[^}]*(?:fill|stroke): #", light))
    assert classes == set(re.findall(r"\.([a-z]+) \{", dark.partition("</style>")[0]))


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
    nouns = [f"pghaul-{noun.words[0]}.html" for noun in outline(parser()).verbs]
    assert [name for name in nouns if not (built / "reference" / name).is_file()] == []
    assert "pghaul server install" in (built / "reference" / "pghaul-server.html").read_text(encoding="utf-8")
    history = (built / "reference" / "pghaul-history.html").read_text(encoding="utf-8")
    assert "the note; '' removes it" in history  # as it is typed, with straight quotes
    assert "MaxSessions" in (built / "reference" / "messages.html").read_text(encoding="utf-8")
    checks = (built / "reference" / "checks.html").read_text(encoding="utf-8")
    assert [each.id for each in CHECKS if each.id not in checks] == []

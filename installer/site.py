"""The documentation as a site: `python -m installer.site` writes it to site/, without a network.

docs/ holds what people write. The reference is made of the code here, pages that lie at the top of the repository are
copied, and the window's pictures are drawn, so that none of them can be older than what they show.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from core import units
from core.benchmarks.suites import list_suites, load_suite
from core.benchmarks.tools import TOOLS
from core.cli import schemas
from core.cli.main import parser
from core.cli.manual import markdown
from core.cli.manual.outline import outline
from core.cli.outputs import OUTPUTS
from core.migration.checks import CHECKS, documentation
from core.migration.checks.declaration import Check
from installer.hints import LEFT_OUT, hints

TOP = Path(__file__).resolve().parent.parent
SITE = TOP / "site"
COPIED = {
    "SECURITY.md": "explanation/threat-model.md",
    "ARCHITECTURE.md": "developers/architecture.md",
    "CONTRIBUTING.md": "developers/contributing.md",
    "CHANGELOG.md": "developers/changelog.md",
}
PICTURES = "1024x700"
"""The window as small as its text can still be read in a column of the site; drawn with twice the pixels."""
_ENDINGS = (
    ("bytes_per_second", "bytes a second", 120e6),
    ("bits_per_second", "bits a second", 1e9),
    ("size_bytes", "bytes", 8e9),
    ("latency_mean_seconds", "seconds", 0.0004),
    ("duration_seconds", "seconds", 95.0),
    ("cpu_fraction", "a share of 1", 0.25),
    ("iops", "operations a second", 12_000.0),
    ("transactions_per_second", "transactions a second", 3500.0),
)
"""What the end of a metric's name says, with a value to show."""

_REFERENCE = """\
# Reference
Made of the code: what stands here is what this version does.

```{toctree}
:maxdepth: 1

command-line
exit-codes
settings
json
checks
suites
../suites
../tools
metrics
```
"""

_JSON = f"""\
# JSON
Every command takes `--json` and then prints one document on stdout; messages go to stderr. What it holds has a JSON
Schema (draft 2020-12), which the packages bring along in `resources/schemas`.

This is version {schemas.VERSION} of the contract. Within a version documents gain fields, so read those that you know
and leave the others; where a field goes or means something else, the version is the next, and stands in each `$id`.
Numbers are SI base units: bytes, seconds, bits a second. `null` was not read or measured, and is never zero.

| command | schema |
| --- | --- |
"""


def reference() -> Mapping[str, str]:
    """The pages of the reference that nobody writes, by their names."""
    return {
        "index.md": _REFERENCE,
        "command-line.md": markdown.command_line(outline(parser())),
        "exit-codes.md": markdown.exit_codes(),
        "settings.md": markdown.settings(),
        "json.md": _JSON + "".join(_schema_row(words) for words in OUTPUTS),
        "checks.md": _checks(),
        "suites.md": _suites(),
        "metrics.md": _metrics(),
    }


def _schema_row(words: str) -> str:
    name = schemas.file_name(words)
    return f'| `pghaul {words} --json` | <a href="../schemas/{schemas.VERSION}/{name}">{name}</a> |\n'


def _checks() -> str:
    head = (
        "# Checks\n\nWhat `pghaul check MOVE` looks at, in its order, and what it advises. One that can stop a move "
        f"does so also where it could not be read (unknown). `{LEFT_OUT}` stands for what only your servers know.\n"
    )
    return head + "".join(_check(each) for each in CHECKS)


def _check(check: Check) -> str:
    declared, _ = check
    title, compared = (markdown.prose(text) for text in (declared.title, declared.compares))
    stops = "can stop a move" if declared.blocking else "stops no move"
    said = f"{title[:1].upper()}{title[1:]}. It {stops}, and compares {compared}."
    page = f"[PostgreSQL's page]({documentation(declared.page, None)})"
    advice = "".join(f"- *{severity}*: {markdown.prose(hint)}\n" for severity, hint in hints(check))
    return f"\n## {declared.id}\n\n{said} {page}\n\n{advice}"


def _suites() -> str:
    parts = ["# Suites that ship\n\n`pghaul bench MOVE --suite NAME` runs one; [suites of your own](../suites.md).\n"]
    for listed in list_suites():
        if listed.own:
            continue
        suite = load_suite(listed.name)
        rows = [f"| `{each.name}` | {each.title} | {each.tool} | `{each.headline}` |\n" for each in suite.workloads]
        needs = f"{units.size(listed.bytes_needed)} at most" if listed.bytes_needed else "no fixed size"
        parts.append(
            f"\n## {listed.name}\n\n{listed.title}. At least {listed.repetitions} repetitions; writes {needs}.\n\n"
            "| workload | measures | tool | headline |\n| --- | --- | --- | --- |\n" + "".join(rows)
        )
    return "".join(parts)


def _metrics() -> str:
    endings = [f"| `{name}` | {unit} | {value:g} | {units.metric(name, value)} |\n" for name, unit, value in _ENDINGS]
    tools = [f"| `{each.name}` | {each.headlines} |\n" for each in TOOLS.values()]
    return (
        "# Metrics\n\nA metric is a name and a number in SI base units; the name's end says which. One that is absent "
        "was not measured: it is never zero. fio's latency is that of completion.\n\n"
        "| name, or its end | unit | for example | is shown as |\n| --- | --- | --- | --- |\n"
        + "".join(endings)
        + "\n## What a workload can be compared by\n\n| tool | headlines |\n| --- | --- |\n"
        + "".join(tools)
    )


def put_together(source: Path) -> None:
    """All pages, as Sphinx takes them."""
    shutil.copytree(TOP / "docs", source, ignore=shutil.ignore_patterns("__pycache__"))
    for name, target in COPIED.items():
        shutil.copy(TOP / name, source / target)
    (source / "reference").mkdir()
    for name, text in reference().items():
        (source / "reference" / name).write_text(text, encoding="utf-8")
    shutil.copy(TOP / "resources" / "icons" / "pghaul.svg", source)
    shutil.copytree(TOP / "resources" / "schemas", source / "extra" / "schemas")


def draw(folder: Path) -> None:
    """The window's pages in light and dark."""
    command = [sys.executable, str(TOP / "tests" / "gui" / "pictures.py"), str(folder), PICTURES]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": "2"}
    subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL)


def build(source: Path, target: Path) -> None:
    """Let Sphinx make HTML; whatever it warns of, a link that leads nowhere among it, ends it."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    subprocess.run([*command, "-d", str(target.parent / "doctrees"), str(source), str(target)], check=True)


def main() -> int:
    """Put together, draw, build, and say where it lies."""
    with tempfile.TemporaryDirectory() as scratch:
        source, made = Path(scratch) / "source", Path(scratch) / "site"
        put_together(source)
        draw(source / "pictures")
        build(source, made)
        shutil.rmtree(SITE, ignore_errors=True)
        shutil.move(made, SITE)
    print(f"{SITE / 'index.html'}")  # noqa: T201  a program, run by make
    return 0


if __name__ == "__main__":
    sys.exit(main())

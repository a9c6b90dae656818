"""Build the documentation as a site: `python -m installer.site` writes it to site/, without a network.

docs/ holds the pages that people write. The reference is generated from the code here, pages at the top of the
repository are copied, and the window's pictures are drawn, so that none of them can be older than what it shows.
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
from installer.messages import messages

TOP = Path(__file__).resolve().parent.parent
SITE = TOP / "site"
COPIED = {
    "SECURITY.md": "concepts/threat-model.md",
    "ARCHITECTURE.md": "developers/architecture.md",
    "CONTRIBUTING.md": "developers/contributing.md",
    "CHANGELOG.md": "developers/changelog.md",
}
PICTURES = "1024x700"
"""The size of the window: as small as its text can be read in a column of the site. Drawn with twice the pixels."""
_ENDINGS = (
    ("bytes_per_second", "bytes per second", 120e6),
    ("bits_per_second", "bits per second", 1e9),
    ("size_bytes", "bytes", 8e9),
    ("latency_mean_seconds", "seconds", 0.0004),
    ("duration_seconds", "seconds", 95.0),
    ("cpu_fraction", "fraction of 1", 0.25),
    ("iops", "operations per second", 12_000.0),
    ("transactions_per_second", "transactions per second", 3500.0),
)
"""What the end of a metric's name says about its unit, and a value as an example."""

_REFERENCE = """\
# Reference
These pages are generated from the code. They describe exactly this version.

```{toctree}
:maxdepth: 1

command-line
exit-codes
messages
settings
../settings
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
Every command takes `--json`, and then prints one document to stdout. Messages go to stderr. A JSON Schema
(draft 2020-12) describes each document. The packages contain the schemas in `resources/schemas`.

This is version {schemas.VERSION} of the schemas. Within a version, documents may gain fields. Read the fields that you
know, and ignore the others. If a field is removed or changes its meaning, the version number increases. Each `$id`
contains it.

Numbers are in SI base units: bytes, seconds, bits per second. `null` means that a value was not read or measured. It is
never zero.

| command | schema |
| --- | --- |
"""


def reference() -> Mapping[str, str]:
    """Return the generated pages of the reference, by their file names."""
    return {
        "index.md": _REFERENCE,
        **markdown.command_line(outline(parser())),
        "exit-codes.md": markdown.exit_codes(),
        "messages.md": _messages(),
        "settings.md": markdown.settings(),
        "json.md": _JSON + "".join(_schema_row(words) for words in OUTPUTS),
        "checks.md": _checks(),
        "suites.md": _suites(),
        "metrics.md": _metrics(),
    }


def _schema_row(words: str) -> str:
    name = schemas.file_name(words)
    return f'| `pghaul {words} --json` | <a href="../schemas/{schemas.VERSION}/{name}">{name}</a> |\n'


def _messages() -> str:
    head = (
        "# Messages, and what to do\n\nThese are the messages with which a command or a page of the window may end, "
        f"each with its hint. `{LEFT_OUT}` stands for your own values: search this page for the words between them. "
        "The findings of checks and their hints are on the page [Checks](checks.md).\n"
    )
    return head + "".join(map(_messages_about, messages().items()))


def _messages_about(subject: tuple[str, list[tuple[str, str]]]) -> str:
    title, found = subject
    rows = (tuple(markdown.prose(text).replace("|", "\\|") for text in each) for each in found)
    return f"\n## {title}\n\n| message | what to do |\n| --- | --- |\n" + "".join(
        f"| {message} | {hint} |\n" for message, hint in rows
    )


def _checks() -> str:
    head = (
        "# Checks\n\n`pghaul check MOVE` runs these checks in this order. Below each check are its hints. A check that "
        f"can stop a move also stops it if its status is unknown. `{LEFT_OUT}` stands for values from your servers.\n"
    )
    return head + "".join(_check(each) for each in CHECKS)


def _check(check: Check) -> str:
    title, compared = (markdown.prose(text) for text in (check.title, check.compares))
    stops = "can stop a move" if check.blocking else "never stops a move"
    said = f"{_sentence(title)}. It {stops}. It compares: {compared}."
    page = f"[PostgreSQL's manual]({documentation(check.page, None)})"
    advice = "".join(f"- *{severity}*: {markdown.prose(hint)}\n" for severity, hint in hints(check))
    return f"\n## {check.id}\n\n{said} {page}\n\n{advice}"


def _sentence(text: str) -> str:
    """Return the text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def _suites() -> str:
    head = (
        "# Suites\n\n`pghaul bench MOVE --suite NAME` runs one of these. You can also write "
        "[suites of your own](../suites.md).\n"
    )
    parts = [head]
    for listed in list_suites():
        if listed.own:
            continue
        suite = load_suite(listed.name)
        rows = [f"| `{each.name}` | {each.title} | {each.tool} | `{each.headline}` |\n" for each in suite.workloads]
        needs = f"at most {units.size(listed.bytes_needed)}" if listed.bytes_needed else "no fixed amount"
        parts.append(
            f"\n## {listed.name}\n\n{_sentence(listed.title)}. The suite repeats each workload at least "
            f"{listed.repetitions} times, and writes {needs}.\n\n"
            "| workload | measures | tool | headline |\n| --- | --- | --- | --- |\n" + "".join(rows)
        )
    return "".join(parts)


def _metrics() -> str:
    endings = [f"| `{name}` | {unit} | {value:g} | {units.metric(name, value)} |\n" for name, unit, value in _ENDINGS]
    tools = [f"| `{each.name}` | {each.headlines} |\n" for each in TOOLS.values()]
    return (
        "# Metrics\n\nA metric is a name and a number in SI base units. The end of the name says which unit. A metric "
        "that is absent was not measured: it is never zero. The latency of fio is its completion latency.\n\n"
        "| name, or its end | unit | example | shown as |\n| --- | --- | --- | --- |\n"
        + "".join(endings)
        + "\n## Metrics by which workloads can be compared\n\n| tool | headlines |\n| --- | --- |\n"
        + "".join(tools)
    )


def put_together(source: Path) -> None:
    """Write all pages into the folder `source`, as Sphinx reads them."""
    shutil.copytree(TOP / "docs", source, ignore=shutil.ignore_patterns("__pycache__"))
    for name, target in COPIED.items():
        shutil.copy(TOP / name, source / target)
    (source / "reference").mkdir()
    for name, text in reference().items():
        (source / "reference" / name).write_text(text, encoding="utf-8")
    shutil.copy(TOP / "resources" / "icons" / "pghaul.svg", source)
    shutil.copytree(TOP / "resources" / "schemas", source / "extra" / "schemas")


def draw(folder: Path) -> None:
    """Draw the pages of the window into the folder, in light and dark."""
    command = [sys.executable, str(TOP / "tests" / "gui" / "pictures.py"), str(folder), PICTURES]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": "2"}
    subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL)


def build(source: Path, target: Path) -> None:
    """Let Sphinx write HTML from `source` to `target`. Every warning is an error, for example a dead link."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    subprocess.run([*command, "-d", str(target.parent / "doctrees"), str(source), str(target)], check=True)


def main() -> int:
    """Collect the pages, draw the pictures, build the site, and print where it is."""
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

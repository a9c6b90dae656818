"""How much of a plan a person has to read: the demo's move, planned from facts made by hand, without servers.

Prints the commands shown, the runbook's pages and the script's bytes, each against what it may be at most; fails where
one is more. For the script's parts it prints what they would take without what only helps to read them.
"""

import math
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from core.migration.model.plan import Plan
from core.migration.plan import runbook, script
from core.migration.plan.runbook import APPENDIX
from tests.core.migration.builders import space
from tests.core.migration.plan.plans import plan
from tests.lab import clusters

COLUMNS, LINES = 100, 50
"""What a printed page holds beside the room that headings take."""

WANTED_BYTES = 40_000
"""What a script should take, to be read in one go."""

MOST_BYTES = 165_000
"""What it may take: it holds every guard of the move, and must not grow unseen. Three quarters are the functions."""

MOST_PAGES, MOST_LETTERS = 12, 600
"""What a runbook without its appendix and the longest command have reached; they must not grow unseen either."""

_PARTS = {
    "head and settings": "",
    "functions": "# --- functions",
    "how a step runs": "# --- end of the functions",
    "steps": "# --- steps",
    "the rollback": "# --- rollback",
}
"""Name of a part -> how the line begins with which it does."""

_FOR_PEOPLE = re.compile(r"^ *(?:#(?!!)|does |like ).*\n|^ +|\n(?=\n)", re.MULTILINE)
"""Comments, indentation, native commands, empty lines."""


def main() -> int:
    """Print the figures; 1 where one misses its target."""
    made, failed = demo(), False
    shown = [len(line) for step in made.steps for line in step.shown]
    text = script(made)
    say(f"{'the plan of the demo':44} {len(made.steps):>10} steps")
    for name, found, most, unit in (
        ("median command shown", statistics.median(shown), 160, "characters"),
        ("longest command shown", max(shown), MOST_LETTERS, "characters"),
        ("runbook without its appendix", pages(runbook(made).partition(APPENDIX)[0]), MOST_PAGES, "pages"),
        ("script with its functions", len(text.encode()), MOST_BYTES, "bytes"),
        ("what shellcheck finds in it", len(list(complaints(text))), 0, "lines"),
    ):
        failed |= found > most
        verdict = "at most" if found <= most else "MISSED:"
        say(f"{name:44} {round(found, 1):>10,} {unit:10} {verdict} {most:,}")
    for each in complaints(text):
        say(f"  {each}")
    say_parts(text)
    return int(failed)


def say_parts(text: str) -> None:
    """What each part of the script takes, and what it would without comments, indentation and native commands."""
    say(f"\n{'of the script':44} {'bytes':>10} {'bare':>10}")
    begins = [text.index(mark) for mark in _PARTS.values()]
    whole = bare = 0
    for name, begin, end in zip(_PARTS, begins, [*begins[1:], len(text)], strict=True):
        part = text[begin:end]
        taken, least = len(part.encode()), len(_FOR_PEOPLE.sub("", part).encode())
        whole, bare = whole + taken, bare + least
        say(f"{name:44} {taken:>10,} {least:>10,}")
    say(f"{'all of it':44} {whole:>10,} {bare:>10,}")
    say(f"{'wanted':44} {WANTED_BYTES:>10,}")


def say(line: str) -> None:
    """A line of figures."""
    sys.stdout.write(f"{line}\n")


def demo() -> Plan:
    """The lab's cluster, which runs and has a tablespace, to its place on new."""
    changes = {
        "data_directory": clusters.DATA,
        "config_file": f"{clusters.DATA}/postgresql.conf",
        "running": True,
        "tablespaces": (space(clusters.SPACE),),
    }
    return plan(changes, {"target": clusters.NEW_DATA})


def pages(text: str) -> float:
    """Pages that it fills, a long line on as many lines as it takes; blank ones are Markdown's, not the page's."""
    return sum(math.ceil(len(line) / COLUMNS) for line in text.splitlines()) / LINES


def complaints(text: str) -> Iterator[str]:
    """What shellcheck says of it."""
    program = str(Path(sys.executable).parent / "shellcheck")
    done = subprocess.run([program, "--format=gcc", "-"], input=text, capture_output=True, text=True, check=False)
    yield from done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())

"""How much of a plan a person has to read: the demo's move, planned from facts made by hand, without servers.

Prints the commands shown, the runbook's pages and the script's bytes against their targets. Fails where one is missed.
"""

import math
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


def main() -> int:
    """Print the figures; 1 where one misses its target."""
    made, failed = demo(), False
    shown = [len(line) for step in made.steps for line in step.shown]
    text = script(made)
    say(f"{'the plan of the demo':44} {len(made.steps):>10} steps")
    for name, found, most, unit in (
        ("median command shown", statistics.median(shown), 160, "characters"),
        ("longest command shown", max(shown), 500, "characters"),
        ("runbook without its appendix", pages(runbook(made).partition(APPENDIX)[0]), 8, "pages"),
        ("script with its functions", len(text.encode()), 40_000, "bytes"),
        ("what shellcheck finds in it", len(list(complaints(text))), 0, "lines"),
    ):
        failed |= found > most
        verdict = "at most" if found <= most else "MISSED:"
        say(f"{name:44} {round(found, 1):>10,} {unit:10} {verdict} {most:,}")
    for each in complaints(text):
        say(f"  {each}")
    return int(failed)


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

"""How fast a report is made of a history: prints what it takes, without servers.

    python benchmarks/reports.py

Each figure is the best of five rounds, each in a process of its own, as typst remembers what it has set once. Reading
the history, fonts and template is part of it, starting Python is not. Bounds hold for seconds of processor, which are
what it takes on a machine that does nothing else; what the clock said is printed beside them.

    first page of a move's plan             under 0.5 s
    a plan of 50 pages, its functions too   under 2 s
"""

import io
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from pypdf import PdfReader

from core import settings
from core.history.store import Store
from core.migration.checks import CHECKS
from core.migration.model.checks import CheckResult, Status
from core.reports.make import Format, Kind, content, of_move
from core.reports.options import Options
from core.reports.report import Report, build
from tests.core.history import samples
from tests.steps import change_step

ROUNDS = 5
STEPS, LINES = 55, 3_300
"""A usual plan's steps; of the functions as many lines as fill it up to 50 pages."""
FIRST_PAGE, WHOLE = 0.5, 2.0


def main() -> int:
    """Print the figures; 1 where a bound is missed. With a word: one round of it."""
    if len(sys.argv) > 1:
        return _round(whole=sys.argv[1] == "whole")
    return (
        0 if all([_judged("page", "first page of a move's plan", FIRST_PAGE), _judged("whole", "a plan", WHOLE)]) else 1
    )


def _round(*, whole: bool) -> int:
    """Make one report, print its seconds, those of the processor, and its pages."""
    text = "".join(path.read_text() for path in sorted(settings.resource("sh").glob("*.sh")))
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder)) as store:
        samples.fill(store)
        begun, busy = time.perf_counter(), time.process_time()
        report = _as_usual(store, "\n".join(text.splitlines()[:LINES]) if whole else "")
        options = Options(functions=whole)
        document = of_move(Kind.PLAN, report, options)
        made = content(document if whole else replace(document, sections=()), options, Format.PDF)[""]
        took = time.perf_counter() - begun, time.process_time() - busy
    sys.stdout.write(f"{took[0]} {took[1]} {len(PdfReader(io.BytesIO(made)).pages)}\n")
    return 0


def _as_usual(store: Store, functions: str = "") -> Report:
    """The move of the samples with every check and as many steps as a usual one has."""
    report = build(store, samples.MOVE.name)
    if report.plan is None:
        raise ValueError("the samples have no plan")
    steps = tuple(change_step(report.plan.steps[1], number=number, native=()) for number in range(1, STEPS + 1))
    held = "/srv/pg needs 610 MiB"
    checks = tuple(
        CheckResult(one.id, one.title, Status.WARNING if number < 6 else Status.PASS, held, held, held)
        for number, one in enumerate(CHECKS)
    )
    return replace(report, checks=checks, plan=replace(report.plan, steps=steps, functions=functions))


def _judged(word: str, title: str, bound: float) -> bool:
    command = [sys.executable, "-P", __file__, word]
    rounds = [
        tuple(map(float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()))
        for _ in range(ROUNDS)
    ]
    clock, busy = (min(one[which] for one in rounds) for which in (0, 1))
    pages = int(rounds[0][2])
    said = f"{title}, {pages} {'page' if pages == 1 else 'pages'}"
    verdict = "" if busy < bound else "  TOO SLOW"
    sys.stdout.write(
        f"{said:<40} {busy:5.2f} s of processor  {clock:5.2f} s by the clock  bound {bound:.1f} s{verdict}\n"
    )
    return busy < bound


if __name__ == "__main__":
    sys.exit(main())

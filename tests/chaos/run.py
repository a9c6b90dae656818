"""`make chaos`: whole moves between two hosts with systemd, under load, each with a fault at a random moment.

A line a round, then the sum; 1 where anything was lost. What was typed and said is in chaos/.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from core import units
from tests.chaos import cluster
from tests.chaos.draw import draw
from tests.chaos.faults import FAULTS, Place
from tests.chaos.round import Played, play
from tests.chaos.workstation import MOVE, PROJECT, HangsError, set_up
from tests.lab import lab as labs
from tests.lab.hosts import Kind
from tests.lab.machine import LabError, lab_unavailable
from tests.lab.systemd import systemd_unavailable


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    reason = lab_unavailable() or systemd_unavailable()
    if reason is not None:
        print(reason, file=sys.stderr)
        return 2
    numbers = [options.round] if options.round else list(range(1, options.rounds + 1))
    waiting = iter(numbers)
    with ThreadPoolExecutor() as pool:
        pairs = [
            pool.submit(list, _rounds(f"chaos-{pair}", options, waiting))
            for pair in range(min(options.pairs, len(numbers)))
        ]
    endings = Counter(_verdict(played) for pair in pairs for played in pair.result())
    print(
        f"{units.counted(endings.total(), 'round')} of seed {options.seed}: "
        + ", ".join(f"{n} {what}" for what, n in endings.items())
    )
    return 1 if endings["LOST"] or endings["STUCK"] else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=1, help="so many pairs of hosts play side by side")
    parser.add_argument("--round", type=int, help="that round alone")
    parser.add_argument("--fault", action="append", choices=FAULTS, help="none but these; it draws anew")
    parser.add_argument(
        "--dressed",
        type=float,
        metavar="SECONDS",
        help="each with a dress rehearsal, and its fault so soon behind its start",
    )
    return parser


def _rounds(name: str, options: argparse.Namespace, numbers: Iterator[int]) -> Iterator[Played]:
    """Rounds on the same hosts, until one leaves these as no move finds them; other pairs take from `numbers` too."""
    number = next(numbers, None)
    while number is not None:
        with _place(name) as place:
            steps = _steps(place)
            good = True
            while good and number is not None:
                played = _round(place, options, number, steps)
                good = not played.wrong
                number = next(numbers, None)
                yield played


@contextmanager
def _place(name: str) -> Iterator[Place]:
    """Fresh hosts with the cluster, and a workstation."""
    with labs.lab(name, kind=Kind.SYSTEMD, size="1500M") as lab:
        cluster.create(lab.old, lab.new)
        cluster.begin_anew(lab.old, lab.new)
        yield Place(lab, set_up(lab))


def _steps(place: Place) -> int:
    """How many steps the plan has."""
    place.workstation.pghaul("check", MOVE)
    return len(json.loads(place.workstation.pghaul("plan", MOVE, "--json", "--quiet").said)["steps"])


def _round(place: Place, options: argparse.Namespace, number: int, steps: int) -> Played:
    seed, drawn = options.seed, draw(options.seed, number, options.fault or list(FAULTS))
    again = f"make chaos SEED={seed} ROUND={number}"
    for fault in options.fault or ():
        again += f" FAULT='{fault}'"
    if options.dressed is not None:
        drawn = replace(drawn, dressed=True, within=options.dressed)
        again += f" DRESSED={options.dressed:g}"
    try:
        played = play(place, drawn, steps)
    except (LabError, HangsError) as error:
        played = Played("?", "broken off", (f"the round itself: {error}",), (), 0.0)
    print(
        f"{number:4} {drawn.fault:24} {played.moment:24} {' '.join(played.typed):40.90} {played.ending:10} "
        f"{_verdict(played):5} {played.seconds:4.0f} s",
        flush=True,
    )
    for each in played.wrong:
        print(f"     {each}", flush=True)
    kept = _keep(place, seed, number)
    if played.wrong:
        print(f"     again: {again}; what was typed and said: {kept}", flush=True)
    return played


def _keep(place: Place, seed: int, number: int) -> Path:
    """What was typed and said in that round, in a file."""
    folder = PROJECT / "chaos"
    folder.mkdir(exist_ok=True)
    file = folder / f"{seed}-{number}.log"
    file.write_text("\n".join(place.workstation.log) + "\n")
    return file


def _verdict(played: Played) -> str:
    if not played.wrong:
        return "ok"
    return "STUCK" if played.ending == "stuck" else "LOST"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

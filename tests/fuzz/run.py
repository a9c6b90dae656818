"""`make fuzz SECONDS=n`: every target in turn, again and again, each time with another seed, until the time is over.

A finding ends it: its input lies in `fuzz-findings/`, and `python -m tests.fuzz.run --target NAME --input FILE` has it
read again.
"""

import argparse
import hashlib
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from tests.fuzz import inputs, limits, receiver
from tests.fuzz.targets import Target, targets

FINDINGS = Path("fuzz-findings")
_EXAMPLES = 60
_RECEIVER = 0.25
"""Of the time: what the copy's key lets in is asked by words and not by bytes, so it has a loop of its own."""


def main() -> int:
    options = _options()
    chosen = [target for target in targets() if options.target in ("", target.name)]
    limits.bounded_memory()
    if options.input is not None:
        for target in chosen:
            limits.read_or_refuse(target.read, options.input.read_bytes())
        return 0
    if not options.target and receiver.main(options.seconds * _RECEIVER, options.seed) != 0:
        return 1
    until = time.monotonic() + options.seconds * (1 if options.target else 1 - _RECEIVER)
    number = options.seed
    while time.monotonic() < until:
        number += 1
        for target in chosen:
            if time.monotonic() < until:
                hold(target, number)
    print(f"{len(chosen)} targets, seeds {options.seed + 1} to {number}: no finding")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", default="", choices=["", *(target.name for target in targets())])
    parser.add_argument("--input", type=Path)
    return parser.parse_args()


def hold(target: Target, number: int) -> None:
    """A round of inputs; raises what one of them ended with, and keeps that one."""
    tried: list[bytes] = []

    @seed(number)
    @settings(
        max_examples=_EXAMPLES,
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,  # the input is kept: nobody reads it in the output
        phases=[Phase.generate],  # what is found is kept as it is: to make it smaller may take long
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs.of(target.samples))
    def held(data: bytes) -> None:
        tried[:] = [data]
        limits.read_or_refuse(target.read, data)

    well = False
    try:
        held()
        well = True
    finally:
        if not well:
            _keep(target, tried[0])


def _keep(target: Target, data: bytes) -> None:
    FINDINGS.mkdir(exist_ok=True)
    path = FINDINGS / f"{target.name.replace('/', '-').replace(' ', '-')}-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    print(f"a finding: --target '{target.name}' --input {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

"""`pghaul probe --watch` and `--sustained`: measurements that take longer than a probe."""

import argparse
from datetime import UTC
from typing import TYPE_CHECKING

from core import units
from core.cli.context import Context, print_document
from core.cli.sizes import size
from core.cli.terminal import show, table
from core.errors import InputError
from core.migration.model.asked import seconds_of
from core.migration.model.probe import Probe
from core.migration.model.watch import AGES, WatchResult
from core.servers.shell import quoted

if TYPE_CHECKING:
    from core.api.migration import Watching

_OF_A_WATCH = ("status", "collect", "end")


def register(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--watch",
        nargs="?",
        const="",
        metavar="TIME",
        help="instead of probing, record in the background how much changes on the old cluster, for minutes to days, "
        "for example 24h; the next estimate uses the result",
    )
    parser.add_argument("--status", action="store_true", help="with --watch: show the state of the watch")
    parser.add_argument("--collect", action="store_true", help="with --watch: fetch the results so far")
    parser.add_argument(
        "--end",
        action="store_true",
        help="with --watch: fetch the results, end the watch and remove it from the old server",
    )
    parser.add_argument(
        "--sustained",
        metavar="TIME",
        help="instead of probing, write to the disk of the new server for at most this long, for example 10m: shows "
        "its speed once its caches are full",
    )


def asked(options: argparse.Namespace) -> bool:
    """Whether one of them was given; raises InputError where they do not go together."""
    chosen = [each for each in _OF_A_WATCH if getattr(options, each)]
    if chosen and options.watch is None:
        raise InputError(f"--{chosen[0]} needs --watch", f"pghaul probe {quoted(options.move)} --watch --{chosen[0]}")
    if options.watch is not None and len(chosen) + bool(options.watch) != 1:
        raise InputError(
            "--watch needs either a time or one of --status, --collect and --end", "for example: --watch 24h"
        )
    if options.watch is not None and options.sustained is not None:
        raise InputError("--watch and --sustained cannot be combined", "run one after the other")
    longer = options.watch is not None or options.sustained is not None
    if longer and options.forecast:
        raise InputError("--forecast is of the probes alone", f"pghaul probe {quoted(options.move)} --forecast")
    return longer


def run(context: Context, options: argparse.Namespace) -> int:
    """Do what was asked."""
    from core.api import migration

    session, job, move = context.session, context.job, options.move
    if options.sustained is not None:
        taken = migration.probe_sustained_write(session, move, seconds_of(options.sustained), job)
        if options.json:
            print_document({"probes": (taken,)})
        else:
            show(probes_text((taken,)))
        return 0
    if options.watch:
        now = migration.begin_watch(session, move, seconds_of(options.watch), job)
    elif options.status:
        now = migration.watch_status(session, move, job)
    else:
        now = migration.collect_watch(session, move, job, end=options.end)
    if options.json:
        print_document({"watch": {"job": now.job, "running": now.running, "seen": now.watch}})
    else:
        show(watching_text(move, now))
    return 0


def probes_text(probes: tuple[Probe, ...]) -> str:
    """Probes for people, those of an earlier pass as kept."""
    newest = max((p.began_at for p in probes if p.began_at is not None), default=None)
    rows = [
        (
            p.quantity,
            units.rate(p.bytes_per_second),
            size(p.bytes),
            units.duration(p.seconds),
            f"{p.taken_at.astimezone(UTC):%Y-%m-%d %H:%M}{'' if p.began_at == newest else ', kept'}",
            p.method,
        )
        for p in probes
    ]
    return table(("link", "throughput", "size", "duration", "measured (UTC)", "method"), rows, right=(1, 2, 3))


def watching_text(move: str, now: "Watching") -> str:
    """How a watch stands, for people."""
    lines = [f"{now.job.title}: {'running' if now.running else 'ended'}, in {now.job.folder} as {now.job.user}"]
    lines += _seen(now.watch) if now.watch is not None else ["there are no results yet"]
    if now.running:
        lines.append(f"state, results so far, end: pghaul probe {quoted(move)} --watch --status, --collect or --end")
    return "\n".join(lines)


def _seen(watch: WatchResult) -> list[str]:
    steps = watch.wal
    began = f"{watch.began_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    lines = [f"{units.counted(len(watch.looks), 'observation')} since {began}, over {units.duration(watch.seconds)}"]
    if steps:
        grown, seconds = sum(each[2] for each in steps), sum(each[1] for each in steps)
        lines.append(f"WAL: {size(grown)}, {size(3600 * grown / seconds)} per hour")
    hour, day = (size(watch.looks[-1].touched[AGES.index(age)]) for age in (3600, 86_400))
    lines.append(f"size of the files that were written to: {hour} in the last hour, {day} in the last day")
    return [*lines, *([f"warning: {watch.complaint}"] if watch.complaint else [])]

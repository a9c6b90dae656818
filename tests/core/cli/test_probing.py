"""The options of `pghaul probe` that begin something longer: which go together, and what a watch's standing says."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from core.cli.main import main
from core.cli.probing import probes_text, watching_text
from core.migration.model.probe import Quantity
from core.migration.model.watch import parse_watch
from core.migration.probing.watching import Watching
from core.servers.remote_jobs import RemoteJob
from tests.core.migration.builders import NOW, probe
from tests.core.migration.watches import log

JOB = RemoteJob("old", "/var/tmp/pghaul-job.x", "watch of spring, 0123", "postgres", None, "watch_changes")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--status"], "--watch"),
        (["--watch"], "--status, --collect and --end"),
        (["--watch", "24h", "--end"], "--status, --collect and --end"),
        (["--watch", "--status", "--collect"], "--status, --collect and --end"),
        (["--watch", "24h", "--sustained", "10m"], "--sustained"),
        (["--sustained", "10m", "--forecast"], "--forecast"),
        (["--watch", "tomorrow"], "tomorrow "),
        (["--sustained", "0"], " 0 "),
    ],
)
def test_what_does_not_go_together_is_said(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "spring", *options]) == 2
    assert said in capsys.readouterr().err


def test_a_watch_says_how_it_stands() -> None:
    text = watching_text("spring", Watching(JOB, running=True, log="", watch=parse_watch(log(2))))
    assert re.search(r" /var/tmp/pghaul-job\.x .*\bpostgres\b", text)
    assert re.search(r"\b9 .* 2026-03-07 20:00 UTC", text)
    assert "953.7 MiB " in text
    assert "pghaul probe spring --watch --status, --collect or --end" in text
    over = watching_text(
        "spring", Watching(JOB, running=False, log="", watch=parse_watch(log(1) + "pghaul: no luck\n"))
    )
    assert over.endswith("warning: no luck")
    assert "there are no results yet" in watching_text("spring", Watching(JOB, running=True, log="", watch=None))


def test_each_figure_tells_when_it_was_measured_and_an_earlier_one_that_it_was_kept() -> None:
    earlier = NOW - timedelta(minutes=40)
    read = replace(probe(Quantity.READ, 80e6), taken_at=earlier, began_at=earlier, seconds=1.5)
    write = replace(probe(Quantity.WRITE, 90e6), taken_at=NOW, began_at=NOW - timedelta(seconds=9))
    _, _, kept, new = probes_text((read, write)).splitlines()
    assert f"1.5 s  {earlier:%Y-%m-%d %H:%M}, kept" in kept
    assert f"{NOW:%Y-%m-%d %H:%M}" in new
    assert "kept" not in new
    assert "kept" not in probes_text((replace(write, began_at=None),))

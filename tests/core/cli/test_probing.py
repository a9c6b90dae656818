"""The options of `pghaul probe` that begin something longer: which go together, and what a watch's standing says."""

import pytest

from core.cli.main import main
from core.cli.probing import watching_text
from core.migration.model.watch import parse_watch
from core.migration.probing.watching import Watching
from core.servers.remote_jobs import RemoteJob
from tests.core.migration.watches import log

JOB = RemoteJob("old", "/var/tmp/pghaul-job.x", "watch of spring, 0123", "postgres", None, "watch_changes")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--status"], "--status goes with --watch"),
        (["--watch"], "--watch takes a time, or one of --status, --collect and --end"),
        (["--watch", "24h", "--end"], "--watch takes a time, or one of"),
        (["--watch", "--status", "--collect"], "--watch takes a time, or one of"),
        (["--watch", "24h", "--sustained", "10m"], "do not go together"),
        (["--watch", "tomorrow"], "tomorrow is no duration"),
        (["--sustained", "0"], "0 is no duration"),
    ],
)
def test_what_does_not_go_together_is_said(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "spring", *options]) == 2
    assert said in capsys.readouterr().err


def test_a_watch_says_how_it_stands() -> None:
    text = watching_text("spring", Watching(JOB, running=True, log="", watch=parse_watch(log(2))))
    assert "it runs, in /var/tmp/pghaul-job.x as postgres" in text
    assert "9 looks since 2026-03-07 20:00 UTC" in text
    assert "953.7 MiB an hour" in text
    assert "pghaul probe spring --watch --status, --collect, --end" in text
    over = watching_text(
        "spring", Watching(JOB, running=False, log="", watch=parse_watch(log(1) + "pghaul: no luck\n"))
    )
    assert over.endswith("warning: no luck")
    assert "it has not looked yet" in watching_text("spring", Watching(JOB, running=True, log="", watch=None))

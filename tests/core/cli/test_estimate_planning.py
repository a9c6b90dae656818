"""What the command line says beyond the methods."""

import json
import re
from pathlib import Path

import pytest

from core import settings
from core.cli.main import main
from core.history.example import MOVE, lay
from core.migration.model.estimate import method_title

SPEC = """[cluster]
size_bytes = 1.22e12
growth_bytes_per_month = 20e9
change_bytes_per_hour = 1e9
[copy]
observed_bytes_per_second = 50e6
[old]
capacity_bytes = 1.6e12
used_bytes = 1.25e12
"""


def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC)
    code = main(["estimate", "--spec", str(spec), *options])
    out, err = capsys.readouterr()
    return code, out + err


def test_a_window_says_by_when_old_must_be_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(tmp_path, capsys, "--window", "22:00-02:00", "--price", "5000")
    assert code == 0
    assert "has to fit into: window 22:00-02:00 (clock of the old server)\n" in out
    warm = next(line for line in out.splitlines() if line.startswith(method_title("warm-copy")) and "%" in line)
    assert "01:" in warm
    assert re.search(r" (9\d|100) %", warm)
    cold = next(line for line in out.splitlines() if line.startswith(method_title("cold-copy")) and "%" in line)
    assert " 0 %" in cold
    assert re.search(r"[\d.]+ MB/s.* [\d.]+ MB/s", cold)
    assert "what would help" in out
    assert "in 12 months" in out
    assert re.search(r"\bold\b.* 80 % .*\b2 months", out)


def test_the_same_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(tmp_path, capsys, "--downtime", "10m", "--growth", "1T", "--json")
    assert code == 0
    planning = json.loads(out)["planning"]
    must_hold = {each["method"]: each["must_hold"] for each in planning["fits"]}
    assert must_hold["streaming-replica"] == ""
    assert "" not in {must_hold["cold-copy"], must_hold["warm-copy"]}
    assert planning["later"][1]["size_bytes"] == pytest.approx(4.22e12)
    assert planning["helps"]


def test_what_is_asked_stands_with_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A number without a unit is seconds, which a person sees here."""
    _, out = run(tmp_path, capsys, "--downtime", "10", "--growth", "1T")
    assert "has to fit into: longest downtime 10s\n" in out
    (head,) = (line for line in out.splitlines() if line.startswith("time "))
    for method in ("cold-copy", "warm-copy", "dump-restore"):
        assert f"{method_title(method)}, downtime" in head
        assert method not in head


@pytest.mark.parametrize(
    "option",
    [
        ("--downtime", "ten"),
        ("--downtime", "0m"),
        ("--window", "22-02"),
        ("--window", "25:00-02:00"),
        ("--growth", "much"),
        ("--growth", "80"),
        ("--price", "5000"),
        ("--price", "nan"),
        ("--price", "-1"),
    ],
)
def test_nonsense_is_refused(option: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(tmp_path, capsys, *option)
    assert code == 2
    assert option[1].lstrip("-") in said


def place_example() -> None:
    """Put the shipped example in the place of the empty history."""
    for each in settings.data_folder().iterdir():
        each.unlink()
    lay(settings.data_folder())


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_the_window_and_the_downtime_of_a_move_are_kept_until_others_are_given(
    capsys: pytest.CaptureFixture[str],
) -> None:
    place_example()
    window = [22 * 3600.0, 2 * 3600.0]
    for options, kept in (
        ((), (None, None)),
        (("--window", "22:00-02:00"), (window, None)),
        (("--downtime", "10m"), (window, 600.0)),
        ((), (window, 600.0)),
        (("--price", "5000"), (window, 600.0)),
        (("--window", "none"), (None, 600.0)),
        (("--downtime", "none", "--window", "23:00-01:00"), ([23 * 3600.0, 3600.0], None)),
        (("--window", "none"), (None, None)),
    ):
        made = json.loads(said(capsys, "estimate", MOVE, *options, "--json"))
        shown = json.loads(said(capsys, "move", "show", MOVE, "--json"))["asked"]
        assert (shown["window"], shown["downtime_seconds"]) == kept
        assert made["asked"] == shown
        assert bool(made["planning"]["fits"]) is (kept != (None, None))
        assert {each["cost"] is None for each in made["planning"]["fits"]} <= {"--price" not in options}
        told = said(capsys, "move", "show", MOVE)
        assert ("22:00-02:00" in told) is (kept[0] == window)
        assert ("longest downtime 10m" in told) is (kept[1] == 600.0)
        assert bool(re.search(r"likelihood \d+ %", told)) is (kept != (None, None))


def test_a_price_needs_something_that_is_kept_or_given(capsys: pytest.CaptureFixture[str]) -> None:
    place_example()
    assert main(["estimate", MOVE, "--price", "5000"]) == 2
    assert "--window or --downtime" in capsys.readouterr().err

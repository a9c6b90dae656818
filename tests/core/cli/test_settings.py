"""`pghaul settings`, and that an option wins over the file, and the file over the default."""

import json
from pathlib import Path
from typing import Any

import pytest

from core import units
from core.cli.main import main, parser
from core.cli.own_settings import apply
from core.settings import data_folder
from core.user_settings import file
from core.user_settings.declaration import declared
from tests.core.history import samples
from tests.histories import Histories


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(run(capsys, *words, "--json"))


def test_settings_are_set_shown_and_unset(capsys: pytest.CaptureFixture[str]) -> None:
    assert document(capsys, "settings", "path") == {"path": str(file.path())}
    assert run(capsys, "settings", "path").strip() == str(file.path())
    assert document(capsys, "settings", "show")["exists"] is False
    assert run(capsys, "settings", "set", "survey.jobs", "16") == "survey.jobs = 16 (file)\n"
    shown = document(capsys, "settings", "show")
    assert shown["exists"]
    assert [each["key"] for each in shown["settings"]] == list(declared())
    assert {each["key"]: each["value"] for each in shown["settings"] if each["source"] == "file"} == {"survey.jobs": 16}
    (line,) = (line for line in run(capsys, "settings", "show").splitlines() if line.startswith("survey.jobs"))
    assert line.split()[:3] == ["survey.jobs", "16", "file"]
    assert document(capsys, "settings", "unset", "survey.jobs")["value"] == 8
    assert file.load().given == frozenset()


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("report.mask", "true", True),
        ("report.company", "true", "true"),
        ("report.company", "12", "12"),
        ("report.company", "", ""),
        ("move.precopy_limit", "50", 50),
    ],
)
def test_what_is_typed_becomes_a_value_of_the_setting(
    key: str, typed: str, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert document(capsys, "settings", "set", key, typed)["value"] == value
    assert file.load().settings.value(key) == value


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("set", "report.mask", "yes"), "report.mask must be true or false"),
        (("set", "survey.jobs", "65"), "survey.jobs must be from 1 to 64"),
        (("set", "survey.jobs", "٣"), "survey.jobs must be a whole number"),
        (("set", "report.papr", "a4"), "invalid choice: 'report.papr'"),
        (("unset", "papr"), "invalid choice: 'papr'"),
    ],
)
def test_what_is_no_value_is_refused(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", *words]) == 2
    assert said in capsys.readouterr().err
    assert not file.path().exists()


@pytest.mark.parametrize("words", [("move", "list"), ("settings", "show"), ("settings", "set", "survey.jobs", "4")])
def test_no_command_runs_half_configured(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    file.path().parent.mkdir(parents=True, exist_ok=True)
    file.path().write_text("[report]\npapr = 'a4'\n")
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        f"pghaul: the settings file {file.path()} cannot be used, line 2: there is no setting report.papr",
        "  hint: did you mean report.paper?",
    ]
    assert main(["settings", "path"]) == 0
    assert main(["completion", "bash"]) == 0


MOVE = ("move", "add", "m", "--old", "a", "--new", "b", "--cluster", "/srv/pg")
SERVER = ("server", "add", "db1", "192.0.2.1")
REPORT = ("report", "spring", "-o", "x.pdf")


@pytest.mark.parametrize(
    ("command", "option", "key", "in_file", "default", "by_file", "by_option"),
    [
        (REPORT, ("--language", "de"), "report.language", "de", "en", "de", "de"),
        (REPORT, ("--language", "en"), "report.language", "de", "en", "de", "en"),
        (REPORT, ("--paper", "a4"), "report.paper", "letter", "a4", "letter", "a4"),
        (REPORT, ("--units", "binary"), "display.units", "decimal", "binary", "decimal", "binary"),
        (REPORT, ("--decimal",), "display.units", "binary", "binary", "binary", "decimal"),
        (REPORT, ("--no-mask",), "report.mask", True, False, True, False),
        (REPORT, ("--mask",), "report.mask", False, False, False, True),
        (REPORT, ("--company", ""), "report.company", "Acme", "", "Acme", ""),
        (REPORT, ("--logo", ""), "report.logo", "/a.png", "", "/a.png", ""),
        (("plan", "m"), ("--verify", "changed"), "move.verify", "all", "changed", "all", "changed"),
        (("estimate", "m"), ("--verify", "changed"), "move.verify", "all", "changed", "all", "changed"),
        (("execute", "m"), ("--verify", "changed"), "move.verify", "all", "changed", "all", "changed"),
        (("survey",), ("--jobs", "3"), "survey.jobs", 4, 8, 4, 3),
        (("bench", "m"), ("--suite", "raid"), "benchmark.suite", "quick", "standard", "quick", "raid"),
        (MOVE, ("--precopy-limit", "none"), "move.precopy_limit", 50, 0, 50_000_000, 0),
        (MOVE, ("--precopy-limit", "7"), "move.precopy_limit", 50, 0, 50_000_000, 7_000_000),
        (SERVER, ("--user", ""), "server.user", "dba", "", "dba", ""),
        (SERVER, ("--rights", "sudo"), "server.rights", "none", "sudo", "none", "sudo"),
        (SERVER, ("--database-user", "pg"), "server.database_user", "db", "postgres", "db", "pg"),
    ],
)  # fmt: skip
def test_an_option_wins_over_the_file_and_the_file_over_the_default(
    command: tuple[str, ...],
    option: tuple[str, ...],
    key: str,
    in_file: str | int,
    default: object,
    by_file: object,
    by_option: object,
) -> None:
    name = next(name for name, (of, _) in parser().parse_args(command).from_settings.items() if of == key)

    def value(*more: str) -> object:
        options = parser().parse_args([*command, *more])
        apply(options)
        return getattr(options, name)

    assert value() == default
    assert value(*option) == by_option
    file.change({key: in_file})
    assert value() == by_file
    assert value(*option) == by_option


def test_a_report_takes_company_paper_language_and_units_from_the_file(
    histories: Histories, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    histories.copy(data_folder(), samples.fill)
    file.change({"report.company": "Acme & Söhne", "report.language": "de", "display.units": "decimal"})
    written, own = tmp_path / "a.html", tmp_path / "b.html"
    run(capsys, "report", samples.MOVE.name, "-o", str(written))
    text = written.read_text(encoding="utf-8")
    assert "Acme &amp; Söhne" in text
    assert '<html lang="de"' in text
    run(capsys, "report", samples.MOVE.name, "-o", str(own), "--company", "Other", "--language", "en")
    text = own.read_text(encoding="utf-8")
    assert "Acme" not in text
    assert "Other" in text
    assert '<html lang="en"' in text


def test_a_pdf_has_the_paper_of_the_file(
    histories: Histories, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pypdf import PdfReader

    histories.copy(data_folder(), samples.fill)
    file.change({"report.paper": "letter"})
    run(capsys, "report", samples.MOVE.name, "-o", str(tmp_path / "a.pdf"))
    run(capsys, "report", samples.MOVE.name, "-o", str(tmp_path / "b.pdf"), "--paper", "a4")
    widths = [round(PdfReader(tmp_path / f"{name}.pdf").pages[0].mediabox.width) for name in ("a", "b")]
    assert widths == [612, 595]


def test_sizes_are_shown_in_the_units_of_the_file_and_recorded_as_ever(
    histories: Histories, capsys: pytest.CaptureFixture[str]
) -> None:
    histories.copy(data_folder(), samples.fill)
    facts = ("facts", samples.MOVE.old, "--last")
    usual = run(capsys, *facts)
    file.change({"display.units": "decimal"})
    decimal = run(capsys, *facts)
    assert "GiB" in usual
    assert "GiB" not in decimal
    assert " GB" in decimal
    assert units.size(2**30) == "1.0 GiB"  # what a command words to record it

"""What `--json` prints has a schema, which is published; tests/contracts.py holds each printed document against it."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from core import documents
from core.benchmarks.model import Forecast
from core.cli import schemas
from core.cli.main import main, parser
from core.cli.manual.outline import outline
from core.cli.outputs import OUTPUTS, Chosen, Forecasts, Installed, Probes, Report, Tried
from core.history.store import Store
from core.migration.model.transport import Route, Transport
from core.settings import data_folder
from core.sides import Side
from tests.contracts import closed, hold, validator
from tests.core.history import samples
from tests.histories import Histories

TOP = Path(__file__).parents[3]
SPRING = samples.MOVE.name
RECORDED: tuple[tuple[str, ...], ...] = (
    ("server", "list"),
    ("server", "add", "third", "192.0.2.3"),
    ("server", "remove", "spare"),
    ("move", "list"),
    ("move", "show", SPRING),
    ("move", "hook", SPRING),
    ("move", "add", "other", "--old", samples.MOVE.old, "--new", samples.MOVE.new, "--cluster", "/srv/15"),
    ("move", "remove", SPRING, "--yes"),
    ("facts", samples.MOVE.old, "--last"),
    ("bench", "--list"),
    ("compare", SPRING),
    ("diagnose", SPRING, "--last"),
    ("storage", "what-if", SPRING, "--drives", "4"),
    ("storage", "what-if", "--drives", "4", "--controller", "--read-iops", "100"),
    ("storage", "prepare", "/srv/pg", "/dev/sdb"),
    ("check", "--list"),
    ("estimate", "--record"),
    ("execute", SPRING, "--status"),
    ("functions", "count_lines"),
    ("history", "list"),
    ("history", "runs", SPRING),
    ("history", "run", "1"),
    ("history", "commands"),
    ("history", "where"),
    ("history", "backup"),
    ("history", "check"),
    ("history", "prune", "--before", "1d", "--dry-run"),
    ("completion", "moves"),
    *(("history", "show", kind, "1") for kind in ("facts", "run", "probe", "checks", "estimate", "plan", "execution")),
    ("history", "show", "move", "1"),
)
"""Of what a history holds."""
FILED: tuple[tuple[str, ...], ...] = (
    ("server", "import", "fleet.csv"),
    ("move", "edited", SPRING, "file"),
    ("history", "note", "run", "1", "cable swapped #night"),
    ("history", "backup", "-o", "backup.sqlite3"),
    ("history", "restore", "backup.sqlite3"),
    ("history", "export", SPRING, "-o", "spring.pghaul"),
    ("history", "example", "example"),
    ("parse", "fio", "output.txt"),
    ("import", SPRING, "output.txt"),
    ("settings", "set", "move.precopy_limit", "50"),
    ("settings", "show"),
    ("settings", "unset", "move.precopy_limit"),
    ("settings", "path"),
    ("history", "import", "spring.pghaul"),
)
"""Of what they read and write, one after the other."""
_VOLUME = samples.runs(Side.OLD)[0].volume
ANSWERS: dict[str, object] = {
    "facts": samples.facts(Side.NEW),
    "server test": Tried("old", ("connected",), ()),
    "server install": Installed("old", ("fio",), "apt-get install fio", ()),
    "bench": Forecasts((Forecast(_VOLUME, 600.0, 3 * 2**30, 2**40),)),
    "check": {"checks": samples.checks()},
    "probe": Probes(samples.probes(), Chosen(Transport(Route.SSH), "it was the fastest", None)),
    "plan": samples.plan(),
    "report": Report(Path("/tmp/spring.pdf")),
}
"""Of what servers answer, made of what a history holds."""
ELSEWHERE = {
    "survey": "tests/live/test_survey.py",
    "execute": "tests/live/command_line.py",
    **dict.fromkeys(("history use", "history copy", "history grants"), "tests/core/cli/test_history_place.py"),
}
"""Of two servers, and of a team's database: the files whose tests print them, which tests/contracts.py sees."""


def test_every_command_with_json_has_a_schema_and_no_other_has() -> None:
    commands = [each for each in outline(parser()).all() if not each.verbs]
    printing = {" ".join(each.words) for each in commands if any("--json" in one.options for one in each.options)}
    assert printing == set(OUTPUTS)


@pytest.mark.slow
@pytest.mark.parametrize("words", OUTPUTS)
def test_a_schema_is_one(words: str) -> None:
    Draft202012Validator.check_schema(schemas.schemas()[words])
    assert schemas.schemas()[words]["$id"].startswith(f"urn:pghaul:json:{schemas.VERSION}:")


@pytest.mark.slow
@pytest.mark.parametrize("arguments", RECORDED, ids=" ".join)
def test_a_document_is_what_its_schema_says(
    arguments: tuple[str, ...], histories: Histories, capsys: pytest.CaptureFixture[str]
) -> None:
    histories.copy(data_folder(), samples.fill)
    with Store.open() as store:
        store.add_profile(replace(samples.OLD, name="spare"))
    assert main([*arguments, "--json"]) == 0, capsys.readouterr().err  # tests/contracts.py looks at what it prints
    json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_a_document_of_files_is_what_its_schema_says(
    histories: Histories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    histories.copy(data_folder(), samples.fill)
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    Path("fleet.csv").write_text("name,address\napp1,192.0.2.21\n")
    shutil.copy(TOP / "tests/data/fio/v1.57-four-groups-ext3.txt", "output.txt")
    for arguments in FILED:
        if arguments == FILED[-1]:  # on a second workstation
            monkeypatch.setenv("PGHAUL_DATA", str(tmp_path / "second"))
        assert main([*arguments, "--json"]) == 0, capsys.readouterr().err
        json.loads(capsys.readouterr().out)


def test_a_document_of_each_command_is_validated() -> None:
    """Here, or where a command has what it needs."""
    seen = {*ANSWERS, *ELSEWHERE}
    for words in OUTPUTS:
        noun_and_verb = tuple(words.split())
        seen |= {words for each in (*RECORDED, *FILED) if each[: len(noun_and_verb)] == noun_and_verb}
    assert set(OUTPUTS) - seen == set()
    printed = {words: (TOP / path).read_text(encoding="utf-8") for words, path in ELSEWHERE.items()}
    typed = {words: ", ".join(f'"{word}"' for word in words.split()) for words in ELSEWHERE}
    assert [words for words, text in printed.items() if '"--json"' not in text or typed[words] not in text] == []


def test_an_estimate_of_a_night_is_what_its_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text("[cluster]\nsize_bytes = 1e12\n[old]\ncapacity_bytes = 2e12\n")
    asked = ["--window", "22:00-02:00", "--price", "1000", "--growth", "20GB"]
    assert main(["estimate", "--spec", str(spec), *asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["planning"]["helps"]


def test_what_servers_answer_is_what_its_schema_says() -> None:
    for words, answer in ANSWERS.items():
        hold(words, documents.dump(answer))


@pytest.mark.parametrize(
    "damage", [lambda it: it.pop("servers"), lambda it: it.update(more=1), lambda it: it.update(servers=1)]
)
def test_a_document_that_is_another_is_found(damage: Callable[[dict[str, object]], object]) -> None:
    document: dict[str, object] = {"servers": []}
    hold("server list", json.dumps(document))
    damage(document)
    with pytest.raises(AssertionError, match="server list"):
        hold("server list", json.dumps(document))


def test_a_command_without_schema_is_found() -> None:
    with pytest.raises(AssertionError, match=r"outputs\.py"):
        validator("server frighten")


def test_the_published_ones_leave_room_for_fields_to_come() -> None:
    schema = schemas.schemas()["server list"]
    document = {"servers": [], "of a later version": 1}
    assert Draft202012Validator(schema).is_valid(document)
    assert not Draft202012Validator(closed(schema)).is_valid(document)

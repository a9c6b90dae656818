"""A tool is declared in one object and listed in one place: a toy shows that nothing else has to know of it."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from core.benchmarks import bonnie, dd, pg_test_fsync, sysbench
from core.benchmarks.fio import job as fio_job
from core.benchmarks.fio import tool as fio
from core.benchmarks.installing import installable
from core.benchmarks.model import Output, Result, Workload
from core.benchmarks.page import page
from core.benchmarks.pgbench import tool as pgbench
from core.benchmarks.suites import list_suites
from core.benchmarks.tool import Machine, Phase, Procedure, Reading, Tool
from core.benchmarks.tools import TOOLS, how_to_install, programs_of
from core.cli.main import main
from gui.models.benchmarks import describe_suite

PAGE = Path(__file__).parents[3] / "docs" / "tools.md"
PARAMETERS = {
    "bonnie": bonnie.Parameters,
    "dd": dd.Parameters,
    "fio": fio.Parameters,
    "fio-job": fio_job.Parameters,
    "pg_test_fsync": pg_test_fsync.Parameters,
    "pgbench": pgbench.Parameters,
    "sysbench": sysbench.Parameters,
}
SUITE = """
title = "toys"
[[workload]]
name = "w"
title = "w"
tool = "toy"
headline = "write_iops"
[workload.parameters]
plan_file = "plan.txt"
"""


def parse_toy(text: str) -> Output:
    return Output("toy", None, (Result("w", {"write_iops": float(text)}),))


def procedure(workload: Workload, machine: Machine) -> Procedure:
    assert workload.parameters == {"plan": "as fast as you can"}
    return Procedure(
        program="toybench",
        headlines=("write_iops",),
        phases=(Phase(("toybench",), 1.0, 60.0),),
        read=lambda outputs: Reading(parse_toy(outputs[0]).results[0].metrics),
        fresh_bytes=machine.threads or 0,
    )


TOY = Tool(
    name="toy",
    program="toybench",
    package="toybench",
    procedure=procedure,
    parse=parse_toy,
    files={"plan_file": "plan"},
    repeats=True,
    parameters="`plan_file`: what to do",
    headlines="`write_iops`",
)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A tool more; the folder of a suite that uses it."""
    monkeypatch.setitem(TOOLS, TOY.name, TOY)
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path))
    folder = tmp_path / "suites"
    folder.mkdir()
    (folder / "toys.toml").write_text(SUITE)
    (folder / "plan.txt").write_text("as fast as you can")
    return folder


@pytest.mark.usefixtures("toy")
def test_the_command_line_knows_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    outputs = [tmp_path / "old.txt", tmp_path / "new.txt"]
    for path, figure in zip(outputs, (100, 150), strict=True):
        path.write_text(str(figure))
    assert main(["bench", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert "toy" in listed["tools"]
    assert [suite["tools"] for suite in listed["suites"] if suite["name"] == "toys"] == [["toy"]]
    assert main(["parse", "toy", str(outputs[0]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["metrics"] == {"write_iops": 100.0}
    assert main(["compare", "--tool", "toy", "--outputs", *map(str, outputs)]) == 0
    assert "1.5" in capsys.readouterr().out


@pytest.mark.usefixtures("toy")
def test_the_window_and_the_documentation_know_it() -> None:
    (suite,) = [suite for suite in list_suites() if suite.name == "toys"]
    assert describe_suite(suite) == "Toys: 1 workload with toy. Each is repeated 5 times or more."
    assert suite.bytes_needed == 1
    assert "| `toy` | toybench | `plan_file`: what to do | `write_iops` |\n" in page()


@pytest.mark.usefixtures("toy")
def test_servers_are_asked_for_it_and_get_it() -> None:
    assert "toybench" in programs_of(Machine(None, None))
    assert "toybench" in installable()
    assert how_to_install("toybench", "debian").endswith(": apt-get install toybench")


def test_the_page_is_what_the_tools_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m core.benchmarks.page >docs/tools.md"


def test_every_parameter_is_documented() -> None:
    assert set(PARAMETERS) == set(TOOLS)
    for name, parameters in PARAMETERS.items():
        assert [field.name for field in fields(parameters) if f"`{field.name}`" not in TOOLS[name].parameters] == []

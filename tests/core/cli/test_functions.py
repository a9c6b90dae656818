import json

import pytest

from core.cli.main import main
from core.servers.functions import functions


def test_one_function_is_printed_with_its_comment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["functions", "fail"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# fail WORDS...   ")
    assert printed == functions()["fail"].text.rstrip("\n") + "\n"


def test_without_a_name_all_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["functions", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["functions"]
    assert [each["name"] for each in found] == list(functions())
    assert {"subject", "comment", "text", "calls"} <= set(found[0])


def test_what_is_no_function_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["functions", "fail", "fall"]) == 2
    assert " fall\n" in capsys.readouterr().err


def test_without_a_name_each_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["functions"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(functions())
    assert any(line.startswith("fence ") and " roll_back_target DATA   " in line for line in lines)
    unfinished = [line for line in lines if not line.endswith(".") or ". " in line.rpartition("   ")[2]]
    assert unfinished == []

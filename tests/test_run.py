"""The parts of the tests as `make` has them run: `tests/run.py`."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import run

TOP = Path(__file__).parents[1]
MAKEFILE = (TOP / "Makefile").read_text(encoding="utf-8")


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What pytest was run with; it found none of the tests asked for."""
    heard: list[str] = []

    def main(arguments: Sequence[str]) -> pytest.ExitCode:
        heard[:] = arguments
        return pytest.ExitCode.NO_TESTS_COLLECTED

    monkeypatch.setattr(pytest, "main", main)
    monkeypatch.setattr(run, "load_once", lambda *_: [])
    monkeypatch.delenv("STRICT", raising=False)
    monkeypatch.chdir(tmp_path)
    return heard


def test_a_part_without_such_a_test_says_so(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["-n", "3", "nfs", "-k", "nothing", "-n0", "tests/core"]) == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "-k nothing -n0 tests/core" in capsys.readouterr().err
    assert words == ["-m", "nfs", "--repeat", "--junitxml=build/tests/nfs.xml", "-k", "nothing", "-n0", "tests/core"]


def test_a_word_that_only_begins_as_a_place_is_none(words: list[str]) -> None:
    run.main(["nfs", "-k", "tests_of_the_lab"])
    assert words[-2:] == ["-k", "tests_of_the_lab"]


@pytest.mark.parametrize("word", ["tests/cor", "tests/test_rum.py::test_a"])
def test_a_place_that_is_not_there_is_refused(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run.main(["fast", "-k", "facts", word])
    assert ended.value.code == 2
    assert word.partition("::")[0] in capsys.readouterr().err


def test_a_part_that_holds_no_test_at_all_is_red(words: list[str]) -> None:
    assert run.main(["nfs"]) == pytest.ExitCode.NO_TESTS_COLLECTED
    assert words[:2] == ["-m", "nfs"]


def test_no_step_of_a_whole_part_may_be_empty(words: list[str]) -> None:
    run.main(["core"])
    assert "--whole" in words
    run.main(["core", "tests/core"])
    assert "--whole" not in words


def test_usual_tests_run_on_many_hosts_then_without_then_what_measures(words: list[str]) -> None:
    run.main(["-n", "2", "core"])
    then = [shlex.split(word.removeprefix("--then=")) for word in words if word.startswith("--then=")]
    usual = "not clean_debian and not long and not nfs and not systemd"
    assert (words[:2], words[words.index("-m") + 1]) == (["-n", "8"], f"(lab or filling) and {usual} and not measures")
    assert words[words.index("--whole") - len(run.FILLING) - 1 : words.index("--whole")] == ["tests/live", *run.FILLING]
    assert [each[each.index("-m") + 1] for each in then] == [
        f"not lab and not filling and {usual} and not measures",
        f"{usual} and measures",
    ]
    assert then[0][:2] == ["-n", "3"]
    assert "-n" not in then[1]
    assert set(run.files_that_measure()) <= set(then[1])


@pytest.mark.parametrize(
    ("given", "hosts"),
    [
        (["tests/core", "-k", "facts"], False),
        (["tests/test_run.py::test_a"], False),
        (["tests/core", "tests/live/test_facts.py::test_a[1]"], True),
        (["tests"], True),
        (["-k", "facts"], True),
        (["-k", "core"], True),  # which is a folder, too
        (["--ignore", "tests/gui"], True),
        (["--deselect", "tests/test_run.py::test_a"], True),
    ],
)
def test_no_worker_waits_for_hosts_where_no_test_wants_them(words: list[str], given: list[str], *, hosts: bool) -> None:
    run.main(["core", *given])
    expression = words[words.index("-m") + 1]
    assert expression.startswith("(lab or filling) and " if hosts else "not lab and not clean_debian and ")
    thens = [shlex.split(word) for word in words if word.startswith("--then=")]
    assert [each[-len(given) :] for each in [*thens, words]] == [given] * (3 if hosts else 2)


@pytest.mark.parametrize(("strict", "repeats"), [("1", False), ("0", True), ("", True)])
def test_strict_repeats_nothing(
    words: list[str], monkeypatch: pytest.MonkeyPatch, strict: str, *, repeats: bool
) -> None:
    monkeypatch.setenv("STRICT", strict)
    run.main(["nfs"])
    assert ("--repeat" in words) == repeats


@pytest.mark.slow
def test_files_that_were_never_loaded_are_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "TOP", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    tests = tmp_path / "tests"
    tests.mkdir()
    (tmp_path / "pytest.ini").touch()
    for name in ("a", "b", "c"):
        (tests / f"test_{name}.py").write_text("def test_a(): ...\n")
    assert run.load_once(2) == []
    made = sorted(path.name.split(".")[0] for path in (tests / "__pycache__").glob("*-pytest-*.pyc"))
    assert made == ["test_a", "test_b", "test_c"]
    next((tests / "__pycache__").glob("test_a.*")).unlink()
    assert run.load_once(2) == []  # most are: each worker does what is left
    assert len(list((tests / "__pycache__").glob("*.pyc"))) == 2


@pytest.mark.slow
def test_what_the_first_step_runs_is_loaded_before_it_and_the_rest_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "TOP", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    (tmp_path / "pytest.ini").touch()
    os.mkfifo(tmp_path / "held")
    for name, text in {"live": "", "core": "open('held').close()\n"}.items():
        (tmp_path / "tests" / name).mkdir(parents=True)
        (tmp_path / "tests" / name / "test_a.py").write_text(f"{text}def test_a(): ...\n")
    (rest,) = run.load_once(2, ["tests/live"])
    assert len(list((tmp_path / "tests" / "live" / "__pycache__").glob("test_a.*-pytest-*.pyc"))) == 1
    assert rest.poll() is None
    (tmp_path / "held").open("w").close()
    assert rest.wait() == 0
    assert len(list((tmp_path / "tests" / "core" / "__pycache__").glob("test_a.*-pytest-*.pyc"))) == 1


def test_a_failure_is_handed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pytest, "main", lambda _: pytest.ExitCode.INTERRUPTED)
    monkeypatch.setattr(run, "load_once", lambda *_: [])
    assert run.main(["fast"]) == 2
    assert Path("build/tests/fast.status").read_text() == "2"


def test_every_file_that_measures_is_named() -> None:
    found = run.files_that_measure()
    assert {"tests/gui/test_watchdog.py", "tests/live/test_lab.py"} <= set(found)
    assert all((TOP / name).is_file() for name in found)


def test_every_target_of_all_is_one_of_make_and_runs_that_part() -> None:
    for target, part in run.TARGETS.items():
        recipe = MAKEFILE.split(f"\n{target}: ")[1].split("\n\n")[0]
        assert part is None or re.search(rf"\$\(RUN\)( -n \$\(\w+\))? {part} \$\(PYTEST\)", recipe)
        assert part is None or part in run.PARTS


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for make")
def test_all_runs_each_part_and_says_which_were_red(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make = tmp_path / "programs" / "make"
    make.parent.mkdir()
    make.write_text("""#!/bin/sh
echo "$2" >>called
case $2 in
test) mkdir -p build/tests; echo '<r><testsuite tests="7" skipped="2"/></r>' >build/tests/core.xml; exit 1 ;;
test-long) echo '<r><testsuite tests="9" skipped="0"/></r>' >build/tests/long.xml ;;
test-nfs) eval "$WITHOUT_LAB" ;;
esac
""")
    make.chmod(0o755)
    for name in ("bash", "mkdir", "sh", "touch"):
        (make.parent / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(make.parent))  # there is no apt
    monkeypatch.setattr(run, "NEEDED", {"test-pdf": ("no-such-program", "sh")})
    monkeypatch.chdir(tmp_path)
    assert run.main(["all"]) == 1
    assert Path("called").read_text().split() == ["test", "test-long", "test-nfs", "test-systemd", "chaos"]
    assert capsys.readouterr().out.split("make test-all:\n")[1].splitlines() == [
        "    test           red: 7 tests, 2 of them skipped",
        "    test-long      green: 9 tests, 0 of them skipped",
        "    test-nfs       left out: this machine cannot host the lab",
        "    test-systemd   red: it left no record of its tests",
        "    test-pdf       left out: there is no no-such-program",
        "    chaos          green",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for make")
@pytest.mark.parametrize(
    ("asked", "status", "others", "said", "ends"),
    [
        ("tests/core", 5, True, "holds none", 0),
        ("tests/core", 5, False, "holds none", 1),  # no part holds it
        ("tests/core", 4, True, "red: 0 tests", 1),  # what failed is something else
        ("", 5, True, "red: 0 tests", 1),
    ],
)
@pytest.mark.parametrize("hosted", [True, False])
def test_all_says_which_part_holds_none_of_the_tests_asked_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    asked: str,
    status: int,
    said: str,
    ends: int,
    *,
    others: bool,
    hosted: bool,
) -> None:
    part = "core" if hosted else "unhosted"
    make = tmp_path / "make"
    make.write_text(f"""#!/bin/sh
mkdir -p build/tests
[ "$2" = test ] || {{ echo '<r><testsuite tests="3" skipped="0"/></r>' >build/tests/long.xml; exit 0; }}
{"" if hosted else 'eval "$WITHOUT_LAB"'}
echo '<r><testsuite tests="0" skipped="0"/></r>' >build/tests/{part}.xml
echo '{status}' | tr -d '\\n' >build/tests/{part}.status
exit 2
""")
    make.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("PYTEST", asked)
    monkeypatch.setattr(run, "TARGETS", {"test": "core", **({"test-long": "long"} if others else {})})
    monkeypatch.chdir(tmp_path)
    assert run.main(["all"]) == ends
    where = "" if hosted or not said.startswith("red") else " without the lab"
    assert f"    test           {said[:3] + where + said[3:] if where else said}" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for make")
def test_all_says_what_ran_without_the_lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = MAKEFILE.split("\ntest: ")[1].split("\n\n")[0]
    assert "WITHOUT_LAB='$(if $(WITHOUT_LAB),$(WITHOUT_LAB); )$(RUN)" in recipe
    make = tmp_path / "make"
    make.write_text("""#!/bin/sh
eval "$WITHOUT_LAB"
mkdir -p build/tests
echo '<r><testsuite tests="7" skipped="2"/></r>' >build/tests/unhosted.xml
""")
    make.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr(run, "TARGETS", {"test": "core"})
    monkeypatch.chdir(tmp_path)
    assert run.main(["all"]) == 0
    assert "    test           green without the lab: 7 tests, 2 of them skipped\n" in capsys.readouterr().out


def test_a_part_selects_its_tests_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run.main(["core", "-m", "long"])
    assert ended.value.code == 2
    assert "-k" in capsys.readouterr().err

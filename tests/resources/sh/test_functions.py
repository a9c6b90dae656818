"""Every function of the remote half, in both shells: it does its work; and whatever breaks under it, it says so."""

import importlib.util
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.servers.functions import functions
from tests.resources.sh.examples import SHELLS, WATCHED, Ended, Example, Stage, make_shims

HERE = Path(__file__).parent


def _examples() -> list[Example]:
    """Those of every `examples_SUBJECT.py` beside this file."""
    found: list[Example] = []
    for path in sorted(HERE.glob("examples_*.py")):
        described = importlib.util.spec_from_file_location(path.stem, path)
        assert described is not None
        assert described.loader is not None
        module = importlib.util.module_from_spec(described)
        described.loader.exec_module(module)
        found += module.EXAMPLES
    return found


EXAMPLES = _examples()
WORKING = [each for each in EXAMPLES if each.status == 0]
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may do that")


def _cases(examples: list[Example]) -> list[object]:
    return [pytest.param(each, id=str(each), marks=[AS_ROOT] if each.as_root else []) for each in examples]


@pytest.fixture(scope="session")
def shims(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shims")
    make_shims(folder)
    return folder


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("example", _cases(EXAMPLES))
def test_it_does_its_work(example: Example, shell: str, tmp_path: Path) -> None:
    stage = Stage(tmp_path, shell, example)
    ended = stage.run()
    assert ended.status == example.status, ended.stderr
    assert example.complains in ended.stderr
    if example.status != 0:
        assert ended.says_why, ended.stderr
    if example.prints is not None:
        assert ended.stdout == example.prints.replace("@folder@", str(stage.folder))
    if example.matches is not None:
        assert re.fullmatch(example.matches.replace("@folder@", str(stage.folder)), ended.stdout), ended.stdout
    stage.look()


def _breaks(example: Example, used: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    for program in used:
        for behind in (False, True):
            key = f"{program} behind" if behind else program
            if program not in example.tolerates and key not in example.tolerates:
                yield program, behind


@pytest.fixture(scope="session")
def runs() -> dict[int, Ended]:
    """The undisturbed runs so far, by their places in EXAMPLES: to see what there is to break, one is enough."""
    return {}


@pytest.fixture
def whole(example: Example, runs: dict[int, Ended], tmp_path: Path, shims: Path) -> Ended:
    """The undisturbed run of the test's example."""
    place = EXAMPLES.index(example)
    if place not in runs:
        stage = Stage(tmp_path / "whole", "dash", example, shims / "watched")
        ended = stage.run()
        runs[place] = replace(ended, stdout=stage.without_folder(ended.stdout))
    return runs[place]


@pytest.mark.slow
@pytest.mark.parametrize("example", _cases(WORKING))
def test_whatever_program_fails_it_says_so(example: Example, whole: Ended, tmp_path: Path, shims: Path) -> None:
    for number, (program, behind) in enumerate(_breaks(example, whole.used)):
        broken = shims / "broken" / program
        ended = Stage(tmp_path / str(number), SHELLS[number % 2], example, broken).run(program, behind=behind)
        when = "behind its output" if behind else "at once"
        # a clock decides whether some are run at all, such as the sleep before a last look
        told = ended.says_why or program not in ended.used
        assert told, f"{program} failed {when}: ended with {ended.status}, said {ended.stderr!r}"


@pytest.mark.slow
@pytest.mark.parametrize("example", _cases(WORKING))
def test_a_full_disk_is_never_taken_for_success(example: Example, whole: Ended, tmp_path: Path) -> None:
    stage = Stage(tmp_path / "full", "dash", example)
    full = stage.run(full_disk=True)
    if full.status == 0 and "full disk" not in example.tolerates:
        assert stage.without_folder(full.stdout) == whole.stdout or example.matches is not None
        stage.look()
    else:
        assert full.says_why or "full disk" in example.tolerates, full.stderr


def test_every_function_has_an_example_that_works() -> None:
    known = {each.function for each in WORKING}
    assert sorted(set(functions()) - known - HELPERS) == []


_HELPERS = """
fail refuse not_for end_mark job_keep job_take serve_daemon keep_flushing show_streams run_streams warm_listed
warm_streams warm_whole cold_whole cold_streams sum_words keep_sums list_alike by_path part_known add_sums list_sum
time_sample sample_pass drop_sample not_ours not_opened throwaway_give_up timed_zeros zeros enclose enclosed
give_own ours job_orphans list_touched session_harms serves ours_or_another another_keeps
copyable_names watch_room own_socket again_refuses not_reached files_not_in_force sql_reach debian_not_opened
debian_words own_log has_six
"""
HELPERS = frozenset(_HELPERS.split())
"""What only says something, and parts of others that have no sense by themselves: seen in the examples of those."""


_COMMAND = re.compile(r"(?:^\s*|[|;&(]\s*|\b(?:then|do|else|if|while|until|!)\s+)([a-z][a-z0-9_.-]*)(?=\s|$|\))")


def test_every_program_that_a_function_runs_is_broken_in_turn() -> None:
    """Whatever stands where a command stands, and is a program of this machine, is watched."""
    builtin = {
        "test",
        "echo",
        "printf",
        "kill",
        "true",
        "false",
        "[",
        "read",
        "pwd",
        "time",
        "do",
        "done",
        "if",
        "then",
    }
    for each in functions().values():
        code = "\n".join(line for line in each.text.splitlines() if not line.lstrip().startswith("#"))
        for found in _COMMAND.findall(re.sub(r"'[^']*'", "''", code)):
            program = found not in builtin and found not in functions() and shutil.which(found) is not None
            assert not program or found in WATCHED, f"{each.name}: {found} is missing from WATCHED"
    assert {"rsync", "find", "sort", "sha256sum", "awk", "df", "mktemp"} <= WATCHED

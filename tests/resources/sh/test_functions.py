"""Every function of the remote half, in dash and once in bash: it does its work; whatever breaks, it says so."""

import importlib.util
import os
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from core.servers.functions import functions, library
from tests.resources.sh.examples import WATCHED, Ended, Example, Stage, make_shims
from tests.sshd import turn

pytestmark = pytest.mark.filling

HERE = Path(__file__).parent


def _examples() -> list[Example]:
    """Those of every `examples_SUBJECT.py` beside this file; the last subjects first, as theirs wait longest."""
    found: list[Example] = []
    for path in sorted(HERE.glob("examples_*.py"), reverse=True):
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
    """A case for a function's examples, and one for those of them that only root may run."""
    cases: dict[tuple[str, bool], list[Example]] = {}
    for each in examples:
        cases.setdefault((each.function, each.as_root), []).append(each)
    return [
        pytest.param(each, id=f"{function}-as root" if as_root else function, marks=[AS_ROOT] if as_root else [])
        for (function, as_root), each in cases.items()
    ]


@pytest.fixture(scope="session")
def shims(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shims")
    make_shims(folder)
    return folder


_MISSING = re.compile(r"^(?:cat|head|sed|tail|od): .*: No such file or directory$", re.MULTILINE)
"""What a program says of a file that a function should have looked for first."""


def _run(stage: Stage) -> Ended:
    """Run its example, and look whether that did what it should."""
    example = stage.example
    ended = stage.run()
    what = f"{example} in {stage.shell}"
    assert ended.status == example.status, f"{what}: ended with {ended.status}, said {ended.stderr!r}"
    assert example.complains in ended.stderr, what
    assert not _MISSING.search(ended.stderr), f"{what}: {ended.stderr!r}"
    assert example.status == 0 or ended.says_why, f"{what}: {ended.stderr!r}"
    printed = stage.without_folder(ended.stdout)
    if example.prints is not None:
        assert printed == example.prints, what
    if example.matches is not None:
        assert re.fullmatch(example.matches, printed), f"{what}: {printed!r}"
    stage.look()
    return replace(ended, stdout=printed)


@pytest.fixture
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder by a short name: the path of a Unix socket has 107 bytes at most (unix(7))."""
    folder = tmp_path_factory.mktemp("f")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def _undisturbed(examples: list[Example]) -> Iterator[None]:
    """Who takes the lock for benchmarks of this machine is refused while another test measures it."""
    locks = any("bench_lock() {" in library([each.function]) for each in examples)
    with turn() if locks else nullcontext():
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("_undisturbed")
@pytest.mark.parametrize("examples", _cases(EXAMPLES))
def test_it_does_its_work(examples: list[Example], short: Path) -> None:
    """Each that fails by hand, in dash; and the first that works, in bash: below all of those work in dash."""
    works = next((each for each in examples if each.status == 0), None)
    for number, example in enumerate(examples):
        if example.status != 0:
            _run(Stage(short / str(number), "dash", example))
        elif example is works:
            _run(Stage(short / str(number), "bash", example))


@pytest.mark.slow
@pytest.mark.usefixtures("_undisturbed")
@pytest.mark.parametrize("examples", _cases(WORKING))
def test_whatever_fails_it_says_so(examples: list[Example], short: Path, shims: Path) -> None:
    """Each program that a function runs fails once, behind its whole output; the disk is full in each example.

    What is noticed behind the whole output is noticed without any, too: a program fails at once only where the other
    is declared as harmless.
    """
    broken: set[tuple[str, bool]] = set()
    for number, example in enumerate(examples):
        room = short / str(number)
        whole = _run(Stage(room / "watched", "dash", example, shims / "watched"))
        breaks = [each for each in _breaks(example, whole.used) if each not in broken]
        broken.update(breaks)
        runs = _runs(room, example, whole, breaks, shims)
        if example.function not in WAIT:
            for run in runs:
                run()
            continue
        made = list(runs)  # before any begins: no program can be run that another thread still writes (ETXTBSY)
        with ThreadPoolExecutor(AT_ONCE) as beside:
            for begun in [beside.submit(run) for run in made]:
                begun.result()


AT_ONCE = 8
WAIT = {"dress_pass", "dress_run_copy", "roll_back_target", "watch_changes"}
"""Functions that wait most of the time, and look at nothing outside of their folders: they run side by side."""


def _runs(
    room: Path, example: Example, whole: Ended, breaks: list[tuple[str, bool]], shims: Path
) -> Iterator[Callable[[], None]]:
    """Yield what runs the example with a full disk, then what does with each broken program; each makes its folder."""
    yield partial(_with_a_full_disk, Stage(room / "full", "dash", example), whole)
    for place, (program, behind) in enumerate(breaks):
        stage = Stage(room / str(place), "dash", example, shims / "broken" / program)
        yield partial(_with_broken, stage, program, behind=behind)


def _breaks(example: Example, used: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    for program in used:
        if program not in example.tolerates:
            yield program, f"{program} behind" not in example.tolerates


def _with_broken(stage: Stage, program: str, *, behind: bool) -> None:
    ended = stage.run(program, behind=behind)
    what = f"{stage.example} in {stage.shell}: {program} failed {'behind its output' if behind else 'at once'}"
    # a clock decides whether some are run at all, such as the sleep before a last look
    told = ended.says_why or program not in ended.used
    assert told, f"{what}: ended with {ended.status}, said {ended.stderr!r}"


def _with_a_full_disk(stage: Stage, whole: Ended) -> None:
    """That is never taken for success."""
    example = stage.example
    full = stage.run(full_disk=True)
    if full.status == 0 and "full disk" not in example.tolerates:
        assert stage.without_folder(full.stdout) == whole.stdout or example.matches is not None, f"{example}: full disk"
        stage.look()
    else:
        assert full.says_why or "full disk" in example.tolerates, f"{example}: full disk: {full.stderr!r}"


def test_every_function_has_an_example_that_works() -> None:
    known = {each.function for each in WORKING}
    assert sorted(set(functions()) - known - HELPERS) == []


_HELPERS = """
fail refuse refuse_command print_end_mark job_keep job_store serve_daemon keep_flushing show_streams run_streams
precopy_listed precopy_streams precopy_everything full_single_stream full_streams set_checksum_options
update_checksums list_entries sort_by_path split_known exclude_parts add_checksums checksum_list time_sample
sample_pass time_connection uncache_sample refuse_target fail_client_start temporary_cluster_fail time_zeros write_zeros
enclose run_enclosed make_folder_here is_own_process job_has_orphans session_end_harms server_is_running
process_still_runs another_holds_session report_uncopyable watch_free_space is_own_socket fail_restart
report_unreachable print_settings_not_in_force sql_reach fail_debian_start print_debian_logs print_server_log
has_ipv6 find_first_files print_configuration_file queue_named_file dress_begin_backup dress_send dress_await
dress_fail_ended dress_watch_session dress_end_session dress_free_space dress_wal_question dress_write_settings
dress_copy_control dress_stop_backup dress_send_wal dress_clean_up dress_try_copy dress_set_links dress_knows_link
dress_check_wal dress_start_server dress_wait dress_print_error dress_load_question dress_set_version
end_process_tree trial_clean_up trial_inside trial_mount_memory trial_unpack trial_show_paths trial_source_of
trial_mount trial_link_folder trial_check_replaceable trial_add_path trial_isolate_folders trial_prepare
trial_by_pg_ctl trial_options trial_protect_host trial_print_log trial_list_missing_addresses clean_up_queries
measure_watched watch_queries connect_as_owner is_followed run_while_followed
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

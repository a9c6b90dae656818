"""Suite files: those that ship, and what is wrong with a DBA's own."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.benchmarks.suites import list_suites, load_suite, parse_suite, suites
from core.benchmarks.tool import Machine, bytes_needed, expected_seconds
from core.benchmarks.tools import how_to_install, procedure_of
from core.errors import InputError
from core.settings import resource

GIB = 2**30
GOOD = """
title = "mine"
repetitions = 3
[[workload]]
name = "w"
title = "w"
tool = "fio"
headline = "read_iops"
[workload.parameters]
pattern = "randread"
direct = true
size_bytes = 8192
runtime_seconds = 1
"""


SERVER = Machine(
    memory_bytes=64 * GIB,
    threads=8,
    bin_directories=("/usr/lib/postgresql/15/bin",),
    fio_engine="libaio",
    address="192.0.2.11",
    other_programs="/usr/lib/postgresql/15/bin",
)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No suites but those that ship, and those that a test writes."""
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "config"))
    folder = tmp_path / "config" / "suites"
    folder.mkdir(parents=True)
    return folder


def test_what_ships() -> None:
    assert {"controllers", "raid", "file-systems", "depths"} <= set(suites())
    assert suites()[:2] == ("quick", "standard")
    standard = {workload.name for workload in load_suite("standard").workloads}
    assert {"fio-random-write-direct", "fio-random-write-buffered", "fio-sequential-read-direct", "dd"} <= standard


SHIPPED = [path.stem for path in resource("suites").glob("*.toml")]


@pytest.mark.parametrize("name", SHIPPED)
def test_every_workload_can_run(name: str) -> None:
    for workload in load_suite(name).workloads:
        procedure = procedure_of(workload, SERVER)
        assert procedure.phases
        assert all(phase.deadline > phase.seconds for phase in procedure.phases)


@pytest.mark.parametrize("name", SHIPPED)
def test_five_repetitions_are_the_least_but_for_a_first_look_and_whole_databases(name: str) -> None:
    suite = load_suite(name)
    assert suite.repetitions >= (3 if name in {"quick", "drift"} else 5)
    assert suite.limit >= suite.repetitions


@pytest.mark.parametrize(
    ("name", "seconds", "size"),
    [
        ("quick", 60, GIB),
        ("standard", 15 * 60, 4 * GIB),
        ("depths", 20 * 60, 2 * GIB),
        ("file-systems", 20 * 60, 11 * GIB),
        ("controllers", 2 * 3600, 32 * GIB),
    ],
)
def test_what_is_said_of_suites_holds_on_any_server(name: str, seconds: float, size: int) -> None:
    suite = load_suite(name)
    for memory in (GIB, 1024 * GIB):
        procedures = [procedure_of(workload, replace(SERVER, memory_bytes=memory)) for workload in suite.workloads]
        assert expected_seconds(procedures, suite.repetitions) < seconds
        assert bytes_needed(procedures) < size


def test_the_list_tells_what_depends_on_the_memory(own_folder: Path) -> None:
    (own_folder / "broken.toml").write_text("title = ")
    (own_folder / "small.toml").write_text(GOOD)
    listed = {suite.name: suite for suite in list_suites()}
    assert (listed["standard"].memory_multiple, listed["standard"].own) == (0, False)
    procedures = [
        procedure_of(workload, replace(SERVER, memory_bytes=0)) for workload in load_suite("standard").workloads
    ]
    assert listed["standard"].bytes_needed == bytes_needed(procedures)
    assert (listed["raid"].memory_multiple, listed["controllers"].memory_multiple) == (2, 0)
    assert (listed["small"].own, listed["small"].workloads, listed["small"].bytes_needed) == (True, ("w",), 8192)
    assert "TOML" in listed["broken"].problem


def test_a_suite_of_the_own_folder_by_its_name_also_in_place_of_one_that_ships(own_folder: Path) -> None:
    (own_folder / "nightly.toml").write_text(GOOD)
    (own_folder / "quick.toml").write_text(GOOD.replace('"mine"', '"my quick one"'))
    assert load_suite("nightly").title == "mine"
    assert load_suite("quick").title == "my quick one"
    assert suites().count("quick") == 1


def test_a_job_file_of_a_suite_lies_beside_it(own_folder: Path) -> None:
    (own_folder / "own.fio").write_text("[w]\nrw=write\nsize=8m\n")
    (own_folder / "with.toml").write_text(
        'title = "t"\n[[workload]]\nname = "w"\ntitle = "w"\ntool = "fio-job"\nheadline = "write_iops"\n'
        '[workload.parameters]\njob_file = "own.fio"\n'
    )
    (workload,) = load_suite("with").workloads
    assert workload.parameters == {"job": "[w]\nrw=write\nsize=8m\n"}
    (own_folder / "own.fio").unlink()
    with pytest.raises(InputError, match=r"no suite 'own\.fio'|there is no such file|own\.fio"):
        load_suite("with")


def test_a_job_file_is_a_suite(tmp_path: Path) -> None:
    path = tmp_path / "mine.fio"
    path.write_text("[a]\nrw=write\nsize=8m\n[b]\nstonewall\nrw=randread\nsize=8m\n")
    suite = load_suite(str(path))
    assert (suite.name, [workload.name for workload in suite.workloads], suite.repetitions) == ("mine", ["a", "b"], 5)


def test_workloads_share_what_was_laid_out() -> None:
    procedures = [procedure_of(workload, SERVER) for workload in load_suite("quick").workloads]
    reading, _, random_read, random_write = procedures
    assert set(reading.laid_out) == set(random_read.laid_out) == set(random_write.laid_out)
    assert bytes_needed(procedures) == 5 * 64 * 2**20 + 512 * 2**20


def test_a_suite_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "it's $(mine).toml"
    path.write_text(GOOD)
    assert load_suite(str(path)).name == "it's $(mine)"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "mine"', "", " title: "),
        (
            "repetitions = 3",
            'repetitions = "3"',
            "repetitions: it must be a whole number .*Input should be a valid integer",
        ),
        ("repetitions = 3", "repetitions = 0", "repetitions = 0"),
        ('name = "w"', 'name = "w"\nsize = 3', "workload.0.size: it is not allowed here"),
        ('tool = "fio"', 'tool = "iozone"', "'iozone'"),
        ('"read_iops"', '"write_iops"', "'write_iops'"),
        ('"randread"', '"trim"', "pattern: it must be one of 'read', 'write'"),
        ("size_bytes = 8192", "size_bytes = 8192\nblok = 3", "workload w: .*blok"),
        ("size_bytes = 8192", "size_bytes = 8191", "size_bytes is 8191"),
        ("size_bytes = 8192", "size_bytes = -8192", "size_bytes is -8192"),
        ("size_bytes = 8192", "size_bytes = 1970-01-01", "size_bytes"),
        ("direct = true", "direct = false", "page cache"),
        ("runtime_seconds = 1", "runtime_seconds = 1\njobs = 2\nfiles = 2", "jobs and files"),
        ("[[workload]]", "[[workload", "TOML"),
    ],
)
def test_a_wrong_field_is_named(old: str, new: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_suite(GOOD.replace(old, new, 1), "mine")


def test_no_workload_and_two_of_one_name() -> None:
    with pytest.raises(InputError, match="no workload"):
        parse_suite('title = "x"\nrepetitions = 1\nworkload = []', "mine")
    with pytest.raises(InputError, match="two workloads named w"):
        parse_suite(GOOD + GOOD[GOOD.index("[[") :], "mine")


@pytest.mark.parametrize("name", ["no-such-suite", "/", "a\0b", "~nobody-here/x"])
def test_no_such_file(name: str) -> None:
    with pytest.raises(InputError) as caught:
        load_suite(name)
    assert " quick, standard, " in caught.value.hint


def test_no_text(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=re.escape(str(path))):
        load_suite(str(path))


def test_how_to_install() -> None:
    assert how_to_install("fio", "debian").endswith(": apt-get install fio")
    assert how_to_install("dd", "rocky").endswith(": dnf install coreutils")
    assert how_to_install("fio", None).endswith(" fio")


def test_a_file_without_end() -> None:
    with pytest.raises(InputError, match="/dev/zero"):
        load_suite("/dev/zero")


DOCUMENTED = (Path(__file__).parents[3] / "docs" / "suites.md").read_text()


def example(language: str) -> str:
    """The documentation's one example in that language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENTED, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_documented_suite_is_one(own_folder: Path) -> None:
    (own_folder / "nightly.toml").write_text(example("toml"))
    suite = load_suite("nightly")
    assert {workload.tool for workload in suite.workloads} == {"fio", "sysbench", "bonnie", "pg_test_fsync", "dd"}
    assert (suite.repetitions, suite.most_repetitions, suite.target_variation) == (5, 10, 0.05)


def test_the_documented_job_file_is_one(tmp_path: Path) -> None:
    path = tmp_path / "our-load.fio"
    path.write_text(example("ini"))
    assert [workload.name for workload in load_suite(str(path)).workloads] == ["readers+writer", "afterwards"]

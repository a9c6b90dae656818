"""A program that somebody else can change, or exchange, is trusted by nobody."""

import os
import subprocess
from pathlib import Path

import pytest

from core.servers.functions import library
from tests.resources.sh.examples import SHELLS


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "prefix" / "bin" / "tool"
    path.parent.mkdir(mode=0o755, parents=True)
    path.touch(mode=0o755)
    return path


def trusted(*paths: Path, uid: int | None = None) -> set[bool]:
    words = "is_trusted", str(os.geteuid() if uid is None else uid), *map(str, paths)
    text = library(["is_trusted"]) + '\n"$@"\n'
    ended = [subprocess.run([shell, "-c", text, "sh", *words], check=False).returncode for shell in SHELLS]
    assert set(ended) <= {0, 1}
    return {status == 0 for status in ended}


def test_a_program_of_ones_own_is_trusted(program: Path) -> None:
    assert trusted(program) == {True}


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
def test_one_that_others_may_write_to_is_not(program: Path, mode: int) -> None:
    program.chmod(mode)
    assert trusted(program) == {False}


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_several_are_trusted_if_each_is(program: Path, tmp_path: Path, mode: int) -> None:
    """Whichever it is, and however the way to it leads."""
    other = program.with_name("other tool")
    other.touch()
    other.chmod(mode)
    link = tmp_path / "link"
    link.symlink_to(other)
    for several in ((program, other), (other, program), (program, link), (link, program)):
        assert trusted(*several) == {mode == 0o755}
    assert trusted(program, tmp_path / "none") == {False}


def test_one_in_a_folder_that_others_may_write_to_is_not(program: Path) -> None:
    for folder in (program.parent, program.parent.parent):
        folder.chmod(0o777)
        assert trusted(program) == {False}
        folder.chmod(0o1777)  # as /tmp: names that are there stay
        assert trusted(program) == {True}
        folder.chmod(0o755)


def test_a_link_is_as_good_as_what_it_leads_to_and_the_folder_that_it_lies_in(program: Path, tmp_path: Path) -> None:
    place = tmp_path / "links"
    place.mkdir(mode=0o755)
    link = place / "tool"
    link.symlink_to(program)
    assert trusted(link) == {True}
    place.chmod(0o775)
    assert trusted(link) == {False}
    place.chmod(0o755)
    program.chmod(0o666)
    assert trusted(link) == {False}
    program.unlink()
    assert trusted(link) == {False}


@pytest.mark.usefixtures("program")
def test_every_link_on_the_way_counts(tmp_path: Path) -> None:
    """Who can turn one in the middle has another program run."""
    place = tmp_path / "theirs"
    place.mkdir(mode=0o755)
    (place / "current").symlink_to("../prefix")
    (tmp_path / "pgsql").symlink_to("theirs/./current/../prefix")
    assert trusted(tmp_path / "pgsql" / "bin" / "tool") == {True}
    place.chmod(0o777)
    assert trusted(tmp_path / "pgsql" / "bin" / "tool") == {False}
    (tmp_path / "round").symlink_to("round")
    assert trusted(tmp_path / "round" / "tool") == {False}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_strangers_is_not_but_roots_is_to_everybody(program: Path) -> None:
    assert trusted(program, uid=60001) == {True}
    os.chown(program, 60001, 60001)
    assert trusted(program, uid=60001) == {True}
    assert trusted(program, uid=60002) == {False}
    assert trusted(program, uid=0) == {False}


def loaded_as(name: str) -> set[tuple[int, str]]:
    """How `loadable` ends, and by which name the library would be loaded."""
    text = (
        library(["check_library"])
        + '\n"$@"\nended=$?; [ "$ended" -ne 0 ] || printf %s "$loadable_file"; exit "$ended"\n'
    )
    words = "check_library", str(os.geteuid()), name
    ended = [
        subprocess.run([shell, "-c", text, "sh", *words], check=False, capture_output=True, text=True)
        for shell in SHELLS
    ]
    return {(each.returncode, each.stdout) for each in ended}


@pytest.mark.parametrize("name", ["pg_trgm", "$libdir/pg_trgm", "$libdir/plugins/own"])
def test_a_library_among_the_servers_own_is_loaded_by_its_name(name: str) -> None:
    assert loaded_as(name) == {(0, name)}


@pytest.mark.parametrize("name", ["$libdir/../../tmp/x", "../x", "x/y", "/no/such/library", "$libdir/.."])
def test_one_that_leads_elsewhere_is_not(name: str) -> None:
    assert {status for status, _ in loaded_as(name)} <= {1, 2}


def test_a_library_by_its_path_is_loaded_where_it_lies_if_nobody_else_may_write_there(program: Path) -> None:
    """PostgreSQL takes the name without `.so` too: then it is loaded by the very file that was looked at."""
    link = program.parent.parent / "link"
    made = program.rename(program.with_name("lib.so"))
    link.symlink_to(made)
    assert loaded_as(str(link)) == loaded_as(str(made.with_name("lib"))) == {(0, str(made))}
    program.parent.chmod(0o777)
    assert loaded_as(str(link)) == loaded_as(str(made.with_name("lib"))) == {(1, "")}

"""The set-up scripts on this very machine, run as somebody who may install nothing."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
SCRIPTS = [*(TOP / "installer").glob("*.sh"), *(TOP / "benchmarks").glob("*.sh"), TOP / ".ci" / "run"]

needs_debian = pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="this is no Debian")


@pytest.fixture
def tree() -> Iterator[Path]:
    """A copy of the scripts where every user can read them."""
    if sys.platform == "win32" or os.geteuid() != 0:
        pytest.skip("only root can run a script as somebody else")
    with tempfile.TemporaryDirectory(prefix="pghaul-scripts-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(TOP / "installer", folder / "installer", ignore=shutil.ignore_patterns("build", "__pycache__"))
        yield folder


def as_nobody(tree: Path, script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script of the tree as the user who may do nothing, without a terminal."""
    return subprocess.run(
        ["sh", f"installer/{script}", *arguments],
        cwd=tree,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C", **variables},
        user="nobody",
        group="nogroup",
        extra_groups=[],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_finds_nothing(script: Path) -> None:
    answer = subprocess.run(
        ["shellcheck", "--external-sources", str(script)], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stdout) == (0, "")


@needs_debian
def test_nothing_is_said_or_done_where_all_is_installed(tree: Path) -> None:
    (tree / "list.txt").write_text("# always there\ndpkg\nlibc6  # and this\n\n", encoding="utf-8")
    answer = as_nobody(tree, "system-packages.sh", "list.txt")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


@needs_debian
def test_only_the_missing_packages_are_named(tree: Path) -> None:
    (tree / "list.txt").write_text("dpkg\nzz-no-such-package\naa-no-such-package\n", encoding="utf-8")
    answer = as_nobody(tree, "system-packages.sh", "list.txt")
    assert answer.returncode == 1
    assert answer.stderr == (
        "pghaul: these Debian packages are missing and you are not root and cannot use sudo; "
        "ask for: apt-get install aa-no-such-package zz-no-such-package \n"
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="another sentence elsewhere")
def test_without_rights_one_line_says_so_and_the_rest_is_done(tree: Path) -> None:
    answer = as_nobody(tree, "with-lab.sh", "echo", "the lab", WITHOUT_LAB="echo no lab; exit 7")
    assert answer.returncode == 7
    assert answer.stdout == (
        "pghaul: this machine cannot host the lab, because you are not root and cannot use sudo; "
        "doing what works without it\nno lab\n"
    )


def test_an_interpreter_that_is_no_python_3_11_is_refused(tree: Path) -> None:
    answer = as_nobody(tree, "environment.sh", PYTHON="/bin/false", PATH="/usr/bin:/bin")
    assert answer.returncode == 1
    assert answer.stderr.startswith("pghaul: no Python 3.11 that can make an environment; install it")
    assert not (tree / ".venv-tools").exists()


def test_every_list_holds_package_names_alone() -> None:
    lists = [*(TOP / "installer").glob("packages-*.txt"), *(TOP / "tests" / "lab").glob("packages.txt")]
    for path in lists:
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split("#")[0].split()
            assert len(words) <= 1, f"{path.name}: one package a line, not {line!r}"
            assert all(set(word) <= set("abcdefghijklmnopqrstuvwxyz0123456789+-.") for word in words), line

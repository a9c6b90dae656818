"""`make mutations`: single mutations of shell functions and parsers, each with the tests that concern it.

Prints each mutation with the test that caught it, then the sums. A mutation that survived changes nothing, or it is a
defect that no test would notice: a person decides. Ends with 1 where a test failed without the mutation, too.
"""

import argparse
import fnmatch
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import cache_from_source
from itertools import chain, islice
from pathlib import Path

from core.servers.functions import functions
from tests.mutations.kinds import Mutation, python_mutations, shell_mutations

PROJECT = Path(__file__).parents[2]
SECONDS = 120.0
"""For all tests of one mutation, unless `--seconds` gives them more; `_EACH`: for one test."""
_EACH = 45
_MARKS = "not lab and not clean_debian and not long and not measures and not nfs and not systemd and not xvfb_display"

_NONE_FOUND = 5
"""What pytest ends with where no test is of that name."""
_EXAMPLES = "tests/resources/sh/test_functions.py"
_PARSE, _FUZZ = "tests/core/cli/test_parse.py", "tests/fuzz/test_fuzz.py"
AREAS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "outputs": (
        (
            "core/benchmarks/*output.py",
            "core/benchmarks/fio/normal_output.py",
            "core/benchmarks/fio/job.py",
            "core/benchmarks/pgbench/output.py",
            *(
                f"core/benchmarks/{name}.py"
                for name in ("dd", "hammerdb", "hdparm", "ioping", "pg_test_fsync", "phoronix")
            ),
            *(f"core/benchmarks/{name}.py" for name in ("reading", "recognition", "latencies", "devices", "traffic")),
            "core/pasted.py",
            "core/text.py",
        ),
        ("tests/core/benchmarks", _PARSE, _FUZZ),
    ),
    "redaction": (("core/redaction.py", "core/redaction.py"), ("tests/core/test_redaction.py", _FUZZ)),
    "checks": (("core/migration/checks/*.py",), ("tests/core/migration/checks",)),
    "estimate": (("core/migration/estimate/*.py",), ("tests/core/migration/estimate",)),
    "answers": (
        (
            "core/facts/*.py",
            "core/servers/lists/*.py",
            "core/servers/certificates.py",
            "core/migration/execution/difference.py",
            "core/migration/execution/rsync_log.py",
            "core/migration/findings/releases.py",
            *(f"core/migration/probing/{name}.py" for name in ("binaries", "iperf3", "timing")),
            "core/migration/transports/rsync_output.py",
            "core/text.py",
        ),
        ("tests/core/facts", _FUZZ),
    ),
}
"""What Python is drawn from -> the tests that concern it besides those that mirror or import its module."""


def candidates(tree: Path) -> tuple[list[list[Mutation]], list[list[Mutation]]]:
    """All mutations of the tree's shell and of its Python, a list for each kind (and area)."""
    shell: dict[str, list[Mutation]] = {}
    for path in sorted(tree.glob("resources/sh/*.sh")):
        own = [each for each in functions().values() if each.subject == path.stem]
        for mutation in shell_mutations(str(path.relative_to(tree)), path.read_text(encoding="utf-8"), own):
            shell.setdefault(mutation.kind, []).append(mutation)
    python: dict[tuple[str, str], list[Mutation]] = {}
    for path in sorted(tree.glob("core/**/*.py")):
        name = str(path.relative_to(tree))
        area = _area(name)
        for mutation in python_mutations(name, path.read_text(encoding="utf-8")) if area is not None else ():
            python.setdefault((str(area), mutation.kind), []).append(mutation)
    return list(shell.values()), list(python.values())


def draw(tree: Path, count: int, seed: int) -> list[Mutation]:
    """The first mutations of a seed: of shell and of Python in turn, every kind and area as often as any other."""
    halves = [_shuffled(lists, random.Random(f"{seed} {half}")) for half, lists in enumerate(candidates(tree))]
    pairs = zip(*((each for each in half if _parses(each, tree)) for half in halves), strict=False)
    return list(islice(chain.from_iterable(pairs), count))


def _shuffled(lists: list[list[Mutation]], drawing: random.Random) -> Iterator[Mutation]:
    for each in lists:
        drawing.shuffle(each)
    drawing.shuffle(lists)
    while any(lists):
        for each in lists:
            if each:
                yield each.pop()


def _parses(mutation: Mutation, tree: Path) -> bool:
    text = mutation.apply((tree / mutation.path).read_text(encoding="utf-8"))
    if mutation.path.endswith(".sh"):
        done = subprocess.run(["dash", "-n"], input=text.encode(), capture_output=True, check=False)
        return done.returncode == 0
    compile(text, mutation.path, "exec")
    return True


def _area(path: str) -> str | None:
    """The area that a module is in."""
    matching = (name for name, (drawn, _) in AREAS.items() if any(fnmatch.fnmatch(path, each) for each in drawn))
    return next(matching, None)


def concerned(mutation: Mutation, tree: Path) -> Iterator[tuple[str, ...]]:
    """The tests that concern a mutation: words of pytest, the nearest tests first."""
    if mutation.function:
        return _concerned_by_shell(mutation.function, tree)
    return _concerned_by_python(mutation.path, tree)


def _concerned_by_shell(name: str, tree: Path) -> Iterator[tuple[str, ...]]:
    """The examples of the function, whose ids begin with its name; those of its callers; further files naming these."""
    yield _EXAMPLES, "-k", f"[{name}"
    callers = _callers(name)
    if callers:
        yield _EXAMPLES, "-k", " or ".join(f"[{each}" for each in callers)
    others = [path for path in sorted(tree.glob("tests/resources/sh/test_*.py")) if path != tree / _EXAMPLES]
    naming = [path for path in others if {name, *callers} & set(re.findall(r"\w+", path.read_text(encoding="utf-8")))]
    if naming:
        yield tuple(str(path.relative_to(tree)) for path in naming)


def _callers(name: str) -> list[str]:
    """The functions that call it, and those that call these."""
    found: list[str] = []
    ahead = [name]
    while ahead:
        called = ahead.pop(0)
        further = [each.name for each in functions().values() if called in each.calls and each.name not in found]
        found += further
        ahead += further
    return found


def _concerned_by_python(path: str, tree: Path) -> Iterator[tuple[str, ...]]:
    """The tests that mirror the module or import from it; then those of its area."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    mirror = tree / "tests" / Path(path).parent / f"test_{Path(path).name}"
    importing = re.compile(rf"\b{re.escape(module)}\b")
    tests = sorted(tree.glob("tests/core/**/test_*.py"))
    near = [each for each in tests if each == mirror or importing.search(each.read_text(encoding="utf-8"))]
    names = [str(each.relative_to(tree)) for each in near]
    if names:
        yield tuple(names)
    area = _area(path)
    assert area is not None
    further = [each for each in AREAS[area][1] if each not in names and (tree / each).exists()]
    if further:
        yield *further, *(f"--ignore={each}" for each in names)


_UNSHARED = ("unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc")
_ROOM = """
real=$(findmnt --real --raw --noheadings --output TARGET) || exit 9
for mounted in $real; do mount -o remount,bind,ro "$mounted" || exit 9; done
mount --bind "$1" /mnt && mount -o remount,bind,rw /mnt && mount --bind "$2" /mnt/.venv || exit 9
for own in /tmp /var/tmp /dev/shm /run; do mount -t tmpfs tmpfs "$own" || exit 9; done
ip link set lo up && cd /mnt && shift 2 && exec "$@"
"""
"""A mutated function may remove or kill what it should not. So it sees only its own processes, and it can write only to
the copy and to folders in memory."""


class BrokenError(Exception):
    """The run itself failed."""


@dataclass(frozen=True)
class Tree:
    """A copy of the work tree, in which tests are run."""

    folder: Path

    @contextmanager
    def mutated(self, mutation: Mutation) -> Iterator[None]:
        """Have that mutation alone in it."""
        path = self.folder / mutation.path
        whole = path.read_bytes()
        path.write_bytes(mutation.apply(whole.decode()).encode())
        _forget_compiled(path)
        try:
            yield
        finally:
            path.write_bytes(whole)
            _forget_compiled(path)

    def tests(self, words: tuple[str, ...], seconds: float) -> tuple[int, list[str]]:
        """Run tests until the first fails: pytest's status, and which failed.

        Raises:
            subprocess.TimeoutExpired: they took longer.
            BrokenError: they could not be begun.
        """
        for left in (".pytest_cache", ".hypothesis"):
            shutil.rmtree(self.folder / left, ignore_errors=True)
        room = (*_UNSHARED, "sh", "-c", _ROOM, "sh", self.folder, PROJECT / ".venv")
        pytest = (".venv/bin/python", "-m", "pytest", "-q", "-x", "--tb=no", "-m", _MARKS, f"--timeout={_EACH}")
        done = subprocess.run(
            [*room, *pytest, "--hypothesis-seed=0", *words],
            env={**os.environ, "PYTHONPATH": "/mnt", "HOME": "/tmp", "TMPDIR": "/tmp"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        if done.returncode not in range(6):
            raise BrokenError(f"tests cannot be run: {done.stderr.decode()[-2000:]}")
        failed = self.folder / ".pytest_cache/v/cache/lastfailed"
        return done.returncode, list(json.loads(failed.read_text())) if failed.exists() else []


def _forget_compiled(path: Path) -> None:
    """Python compiles a module again where its size or the second of its time differs: of two mutations neither may."""
    Path(cache_from_source(path)).unlink(missing_ok=True)


@contextmanager
def copied(tests_of: str = "") -> Iterator[Tree]:
    """A copy of the work tree as it is; `tests_of`: the commit that `tests` are taken from."""
    listed = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard").decode().split("\0")
    with tempfile.TemporaryDirectory(prefix="pghaul-mutations-") as kept:
        folder = Path(kept)
        folder.chmod(0o755)  # tests of functions run as other users, too
        for name in filter(None, listed):
            if (PROJECT / name).is_file() and not (tests_of and name.startswith("tests/")):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(PROJECT / name, folder / name)
        if tests_of:
            archive = _git("archive", tests_of, "tests")
            subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        (folder / ".venv").mkdir()
        yield Tree(folder)


def _git(*words: str) -> bytes:
    done = subprocess.run(["git", "-C", PROJECT, *words], capture_output=True, check=False)
    if done.returncode != 0:
        raise BrokenError(done.stderr.decode().strip())
    return done.stdout


def verdict(mutation: Mutation, tree: Tree, seconds: float = SECONDS) -> tuple[str, str]:
    """How a mutation ended (caught, survived, out of time, unsure), and by which test."""
    until = time.monotonic() + seconds
    with tree.mutated(mutation):
        try:
            words, failed = _first_failing(mutation, tree, until)
        except subprocess.TimeoutExpired:
            return "out of time", ""
    if not words:
        return "survived", ""
    try:
        # what does not even load has no test's name: then its tests are at least collected again
        status, _ = tree.tests(tuple(failed) or (*words, "--collect-only"), seconds)
    except subprocess.TimeoutExpired:
        status = 1
    by = failed[0] if failed else " ".join(words)
    return ("caught" if status == 0 else "unsure"), by


def _first_failing(mutation: Mutation, tree: Tree, until: float) -> tuple[tuple[str, ...], list[str]]:
    """The first words of pytest with which a test fails, and which; none where all pass."""
    none_named = True
    for words in concerned(mutation, tree.folder):
        status, failed = tree.tests(words, until - time.monotonic())
        if status == _NONE_FOUND:
            continue
        if status != 0:
            return words, failed
        none_named = False
    if none_named:
        status, failed = tree.tests((_EXAMPLES,), until - time.monotonic())
        if status != 0:
            return (_EXAMPLES,), failed
    return (), []


def show(number: int, mutation: Mutation, text: str, ended: str, by: str) -> str:
    """A mutation's lines of the table."""
    before, after = text.splitlines(), mutation.apply(text).splitlines()
    same = mutation.line(text) - 1
    end = 0
    while end < min(len(before), len(after)) - same - 1 and before[-1 - end] == after[-1 - end]:
        end += 1
    lines = [f"{number:4} {f'{mutation.path}:{same + 1}':56} {mutation.kind:13} {ended}{' by ' * bool(by)}{by}"]
    lines += [f"     - {line.strip()}" for line in before[same : len(before) - end]]
    lines += [f"     + {line.strip()}" for line in after[same : len(after) - end]]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if sys.platform != "linux" or os.geteuid() != 0:
        print("mutated functions are run in namespaces of their own: this takes Linux and root", file=sys.stderr)
        return 2
    endings: dict[str, Counter[str]] = {"shell": Counter(), "Python": Counter()}
    try:
        with copied(options.tests_of) as tree:
            drawn = draw(tree.folder, max(options.only, default=options.count), options.seed)
            for number in options.only or range(1, len(drawn) + 1):
                mutation = drawn[number - 1]
                text = (tree.folder / mutation.path).read_text(encoding="utf-8")
                ended, by = verdict(mutation, tree, options.seconds)
                endings["shell" if mutation.function else "Python"][ended] += 1
                print(show(number, mutation, text, ended, by), flush=True)
    except BrokenError as error:
        print(error, file=sys.stderr)
        return 1
    whose = f" with the tests of {options.tests_of}" if options.tests_of else ""
    for half, ends in endings.items():
        sums = ", ".join(f"{many} {ended}" for ended, many in sorted(ends.items()))
        print(f"{half}: {ends.total()} mutations of seed {options.seed}{whose}: {sums}")
    return 1 if any(ends["unsure"] for ends in endings.values()) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make mutations", description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="+", default=[], help="the mutations of these numbers alone")
    parser.add_argument("--tests-of", default="", metavar="COMMIT", help="with the tests of that commit")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="for the tests of one mutation; more on a busy machine"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Each command of a page that needs no server is run, on the history of a move that was carried out."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.benchmarks.model import Run
from core.cli.main import main, parser
from core.cli.manual.outline import outline
from core.history.store import Store
from core.migration.model.checks import CheckResult, Status
from core.sides import Side
from tests.documented import ELSEWHERE, PAGES, TOP, Elsewhere, commands, connects, lines, run
from tests.postgresql import Server

pytestmark = pytest.mark.filling

OUTPUT = "tests/data/fio/08-v3.25-fdatasync-clat-nsec-k8s-homelab.txt"
FILES = {
    "old-server.txt": OUTPUT,
    "vendor.txt": OUTPUT,
    "vendor.json": "tests/data/fio-json/02-v2.17-group-reporting-perfkitbenchmarker.json",
    "ext3.txt": "tests/data/fio/v1.57-four-groups-ext3.txt",
    "ext4.txt": "tests/data/fio/v1.57-four-groups-ext3.txt",
    "xfs.txt": "tests/data/fio/v1.57-four-groups-ext3.txt",
}
WRITTEN = {
    "fleet.csv": "name,address,user\napp1,192.0.2.21,dba\n",
    "hosts.ini": "[db]\napp2 ansible_host=192.0.2.22\n",
    "home/.ssh/config": "Host app3\n  HostName 192.0.2.23\n",
}
INVENTORY = (
    '{"_meta": {"hostvars": {"app4": {"ansible_host": "192.0.2.24", "ansible_user": "dba"}}}, '
    '"all": {"children": ["ungrouped"]}, "ungrouped": {"hosts": ["app4"]}}'
)
"""One host, in the format of `ansible-inventory --list`."""
DESCRIBED = (
    "pghaul server add db1 192.0.2.11 --user dba",
    "pghaul server add db2 192.0.2.12 --user dba",
)
Play = Callable[[Path, Callable[[str], str]], str]
ROLES = ("anna", "ben", "carl", "dora")
ESTIMATE = TOP / "docs" / "how-to" / "estimate.md"
TEAM = TOP / "docs" / "how-to" / "team-history.md"


def moved_to(run: Run, mount_point: str) -> Run:
    """The run as if it had measured another disk."""
    return replace(run, volume=replace(run.volume, mount_point=mount_point, folder=f"{mount_point}/bench"))


def without_move(run: Run) -> Run:
    """The run as if it belonged to no move."""
    return replace(run, move=None, volume=replace(run.volume, side=None, folder=f"{run.volume.mount_point}/alone"))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the history: the moves spring and autumn, and benchmarks of further volumes."""
    folder = tmp_path_factory.mktemp("documented")
    archive = str(folder / "example.pghaul")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PGHAUL_CONFIG", str(folder / "config"))
        environment.setenv("PGHAUL_DATA", str(folder / "example"))
        assert main(["history", "example", str(folder / "example")]) == 0
        assert main(["history", "export", "example", "-o", archive]) == 0
        environment.setenv("PGHAUL_DATA", str(folder / "data"))
        assert main(["history", "import", archive, "--name", "spring"]) == 0
        assert main(["history", "import", archive, "--name", "autumn"]) == 0
    with Store.open(folder / "data") as store:
        found = store.runs("spring")
        old, new = ([run for run in found if run.volume.side is side] for side in Side)
        store.add_runs([moved_to(each, volume) for each in new for volume in ("/mnt/a", "/mnt/b")])
        store.add_runs([without_move(moved_to(each, "/mnt/a")) for each in new])
        before = datetime(2026, 10, 30, tzinfo=UTC)
        store.add_runs([replace(without_move(each), started_at=before, ended_at=before) for each in old])
        warning = CheckResult("access-rules", "Access rules", Status.WARNING, "samenet", "samenet", "x", "y")
        others = [each for each in store.checks("spring") or () if each.id != warning.id]
        store.save_checks("spring", (*others, warning))
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path) -> Path:
    """A copy of it, with the files that the pages name."""
    made = tmp_path / "page"
    shutil.copytree(prepared, made)
    for name, source in FILES.items():
        shutil.copy(TOP / source, made / name)
    for name, text in WRITTEN.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    specification = re.search(
        r"^```toml\n(\[cluster\].*?)^```", ESTIMATE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert specification is not None
    (made / "spec.toml").write_text(specification[1])
    ansible = made / "programs" / "ansible-inventory"
    ansible.parent.mkdir()
    ansible.write_text(f"#!/bin/sh\n[ \"$*\" = --list ] && echo '{INVENTORY}'\n")
    ansible.chmod(0o755)
    return made


@pytest.fixture
def database(postgresql: Server) -> Iterator[Server]:
    """A server on which the people of the pages have roles, and no database of the name is left."""
    with postgresql.connect() as connection:
        for name in ROLES:
            connection.execute(f'CREATE ROLE "{name}" LOGIN CREATEDB')
    yield postgresql
    with postgresql.connect() as connection:
        connection.execute("DROP DATABASE IF EXISTS pghaul WITH (FORCE)")
        for name in ROLES:
            connection.execute(f'DROP ROLE "{name}"')


def typed_here(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of a line and what was said: pghaul runs in this process, what it is piped to in a shell."""
    own, mark, rest = re.fullmatch(r"(.*?)(?:\s*([>|])\s*([^'\"]*))?", line).groups()  # type: ignore[union-attr]
    home = os.environ["HOME"]
    words = [re.sub(r"(?<![^=])~(?=/)", home, word) for word in shlex.split(own)]
    if words[0].startswith("PGHAUL_DATA="):
        monkeypatch.setenv("PGHAUL_DATA", words.pop(0).partition("=")[2])
    if words[0].removeprefix(".venv/bin/") != "pghaul":
        done = run(line, Path.cwd())
        return done.returncode, done.stderr
    code = main(words[1:])
    said = capsys.readouterr()
    if code or mark is None:
        return code, said.err
    if mark == ">":
        Path(rest.replace("~", home)).write_text(said.out, encoding="utf-8")
        return 0, ""
    return shell(rest, said.out)


def shell(line: str, given: str = "") -> tuple[int, str]:
    """The exit code of what pghaul's output is piped to, and what it complained about."""
    done = subprocess.run(["sh", "-c", line], check=False, input=given, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.fixture
def play(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Play:
    """Runs the commands of a page that need no server, in their order; those that failed, with what they said.

    What describes servers and moves begins with an empty history, as a reader does. An import is done on a second
    workstation.
    """
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("PGHAUL_CONFIG", str(folder / "config"))
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(folder / "home" / ".ssh" / "config"))

    def played(page: Path, changed: Callable[[str], str]) -> str:
        found = [line for line in commands(page) if not connects(line)]
        adding = ("pghaul server add", "pghaul server import", "pghaul move add")
        monkeypatch.setenv("PGHAUL_DATA", str(folder / "empty"))
        if not any(line.startswith("pghaul server add") for line in found):
            found = [*DESCRIBED, *found]
        wrong = []
        for line in found:
            data = (
                "empty" if line.startswith(adding) else "second" if line.startswith("pghaul history import") else "data"
            )
            monkeypatch.setenv("PGHAUL_DATA", str(folder / data))
            code, said = typed_here(changed(line), monkeypatch, capsys)
            if code:
                wrong.append(f"{line}: {code}: {said}")
        return "\n".join(wrong)

    return played


def of_a_page(page: Path) -> str:
    return str(page.relative_to(TOP))


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page != TEAM and commands(page)], ids=of_a_page)
def test_the_commands_of_a_page_succeed(page: Path, play: Play) -> None:
    assert play(page, lambda line: line.replace("/safe/", "")) == ""


@pytest.mark.slow
def test_the_commands_for_a_team_succeed(database: Server, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for --password: there is no keyring."""
    monkeypatch.setenv("PATH", f"{database.programs}:{os.environ['PATH']}")
    monkeypatch.setenv("PGHOST", str(database.folder))  # of createdb
    monkeypatch.setenv("PGUSER", "anna")

    def there(line: str) -> str:
        line = line.removesuffix(" --password").replace("-h db.example.com", f"-h {database.folder}")
        return line.replace("@db.example.com/pghaul", f"@/pghaul?host={database.folder}")

    assert play(TEAM, there) == ""


def names(words: tuple[str, ...], text: str) -> bool:
    """Whether a test runs this command: its noun, and its verb if it has one, are words of a command line there."""
    command = next(each for each in outline(parser()).verbs if each.words == words[:1])
    wanted = words[: 1 + bool(command.verbs)]
    return ", ".join(f'"{word}"' for word in wanted) in text


@pytest.mark.parametrize("each", ELSEWHERE, ids=lambda each: each.commands)
def test_what_is_not_run_is_on_a_page_and_is_tested_elsewhere(each: Elsewhere) -> None:
    found = [line for page in PAGES for line in lines(page.read_text(encoding="utf-8"))]
    found = [line.strip() for line in found if re.fullmatch(each.commands, line.strip())]
    text = (TOP / each.tests).read_text(encoding="utf-8")
    assert found
    typed = {tuple(re.findall(r"[a-z]+", line)[1:3]) for line in found if re.match(r"pghaul [a-z]", line)}
    assert {words for words in typed if not names(words, text)} == set()
    options = {word for line in found if line.startswith("pghaul") for word in line.split() if word.startswith("--")}
    assert {option for option in options if option not in text} == set()

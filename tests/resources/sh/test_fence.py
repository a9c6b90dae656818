"""The fence, broken off at each of its commands: called again it comes to its end, and nobody starts it meanwhile."""

import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from core.servers.functions import library

pytestmark = pytest.mark.filling

COMMANDS = ("mkdir", "mv", "rm", "sync", "touch")
CONTROL, FENCED = "global/pg_control", "pghaul-fence/global/pg_control"
VERSION, HIDDEN = "PG_VERSION", "pghaul-fence/PG_VERSION"
SUM = "pghaul-fence/control"
MARK, OPENED, SERVER, LOCK = "pghaul-fence/mark", "pghaul-fence/opened", "pghaul-fence/server", "postmaster.pid"

States = tuple[str, set[str], set[str], bool]
CALLS: dict[str, States] = {
    # what is there before, what is there in the end, and whether nobody may be able to start it at any time meanwhile
    "fence_cluster": ("fence_cluster data", {CONTROL, VERSION}, {FENCED, VERSION}, False),
    "unfence_cluster": ("unfence_cluster data", {FENCED, VERSION}, {CONTROL, VERSION}, False),
    "empty target": ("fence_target data 'identifier 1'", set(), {MARK}, True),
    "a half copy": ("fence_target data 'identifier 1'", {MARK, FENCED, VERSION}, {MARK, FENCED, VERSION}, True),
    "undecided, after a power cut": (
        "fence_target data 'identifier 1'",
        {MARK, CONTROL, HIDDEN, SERVER, LOCK},
        {MARK, FENCED, VERSION},
        True,
    ),
    "the way back": ("roll_back_target data", {MARK, CONTROL, HIDDEN, SERVER, LOCK}, {MARK, FENCED, VERSION}, True),
    "the way back of a failed opening": (
        "roll_back_target data",
        {OPENED, CONTROL, VERSION, SERVER, LOCK, SUM},
        {MARK, FENCED, VERSION},
        False,
    ),
    "lift_fence": (
        "lift_fence data",
        {MARK, CONTROL, HIDDEN, SERVER},
        {OPENED, CONTROL, VERSION, SERVER, SUM},
        False,
    ),
    "page checksums": (
        'check_pages "$PATH" pg_checksums data',
        {MARK, FENCED, VERSION},
        {MARK, FENCED, VERSION},
        True,
    ),
}


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """Programs that count, and end who called them at the count that `at` names, when they have done their work.

    Ahead of the next command all is as it is behind this one.
    """
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in COMMANDS:
        real = "true" if name == "sync" else f"/bin/{name}"
        (programs / name).write_text(
            f'#!/bin/sh\ncount=$(($(cat "$ROOM/count") + 1))\necho "$count" >"$ROOM/count"\n'
            f'{real} "$@" || exit\n[ "$count" != "$AT" ] || kill -9 "$PPID"\n'
        )
        (programs / name).chmod(0o755)
    (programs / "pg_checksums").write_text(f"#!/bin/sh\n[ -e data/{CONTROL} ] && [ ! -e data/{VERSION} ]\n")
    (programs / "pg_checksums").chmod(0o755)
    return tmp_path


def put(room: Path, names: set[str]) -> None:
    subprocess.run(["rm", "-rf", "data"], cwd=room, check=True)
    (room / "data/global").mkdir(parents=True)
    for name in names:
        (room / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (room / "data" / name).write_text(f"{Path(name).name}\n")
    if SUM in names:
        (room / "data" / SUM).write_text(f"{sha256((room / 'data' / CONTROL).read_bytes()).hexdigest()}  -\n")


def there(room: Path) -> set[str]:
    data = room / "data"
    return {str(path.relative_to(data)) for path in data.rglob("*") if path.is_file()}


def run(room: Path, call: str, at: int = 0) -> int:
    (room / "count").write_text("0")
    known = {"PATH": f"{room}/programs:{os.environ['PATH']}", "ROOM": str(room), "AT": str(at), "LC_ALL": "C"}
    text = f"{library([call.partition(' ')[0]])}\n{call}\n"
    return subprocess.run(["dash", "-c", text], cwd=room, env=known, check=False, capture_output=True).returncode


@pytest.mark.slow
@pytest.mark.parametrize(("call", "before", "after", "fenced"), CALLS.values(), ids=CALLS)
def test_what_is_broken_off_anywhere_is_called_again(
    room: Path, call: str, before: set[str], after: set[str], fenced: bool
) -> None:
    for number in range(1, 99):
        put(room, before)
        status = run(room, call, number)
        found = there(room)
        assert not (fenced and {CONTROL, VERSION} <= found), f"somebody could start it after command {number}"
        whole = {Path(name).name for name in found} >= {
            Path(name).name for name in before & {CONTROL, FENCED, VERSION, HIDDEN}
        }
        assert whole, f"something is lost after command {number}: {found}"
        if status == 0:
            assert number > 3
            break
        assert run(room, call) == 0, number
        assert there(room) == after, number
    assert there(room) == after

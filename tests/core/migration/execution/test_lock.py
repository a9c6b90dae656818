"""The lock: who gets it, and the list of a server's locks, read back."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from core.errors import ParseError
from core.jobs import Job
from core.language import spoken
from core.migration.execution.lock import HeldError, Holder, parse_locks, take, text
from core.reports.recorded import is_known
from core.servers.connection import Completed, Server
from core.servers.profiles import Profile
from core.servers.shell import call
from core.sides import Side
from tests.core.migration.execution.builders import execution
from tests.core.migration.running import run

ONE, OTHER = "/var/tmp/pghaul-lock-0123456789ab", "/var/tmp/pghaul-lock-ba9876543210"


def test_each_lock_has_its_token_and_whose_it_is() -> None:
    text = f"{ONE} token dba@here since 2026-11-22 08:00 UTC\n{OTHER} strange\n# 2 locks\n"
    assert parse_locks(text) == (
        Holder(ONE, "token", "dba@here since 2026-11-22 08:00 UTC"),
        Holder(OTHER, "strange", "strange"),
    )


def test_none_is_said() -> None:
    assert parse_locks("# 0 locks\n") == ()


@pytest.mark.parametrize("text", ["", f"{ONE} token dba\n", f"{ONE} token dba\n# 2 locks\n", "# 0 locks\n# who"])
def test_a_list_that_is_not_whole_is_never_taken_for_none(text: str) -> None:
    with pytest.raises(ParseError):
        parse_locks(text)


@pytest.mark.slow
def test_of_several_at_once_at_most_one_has_it(tmp_path: Path) -> None:
    """Those who look while two are there all go away, and whoever comes later gets it."""

    def take(token: str) -> int:
        return run(call("take_lock", f"{tmp_path}/lock", f"{token} dba@here")).returncode

    for _ in range(5):
        with ThreadPoolExecutor(8) as several:
            ended = list(several.map(take, "abcdefgh"))
        assert set(ended) <= {0, 75}
        assert ended.count(0) <= 1
        assert len(list(tmp_path.iterdir())) == ended.count(0)
        for lock in tmp_path.iterdir():
            lock.unlink()
    assert take("later") == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes what belongs to another user")
def test_what_another_user_has_made_is_no_lock(tmp_path: Path) -> None:
    for name in ("lock", "lock-0123"):
        link = tmp_path / name
        link.symlink_to("0123 somebody@somewhere")
        os.chown(link, 65534, 65534, follow_symlinks=False)
    assert run(call("take_lock", f"{tmp_path}/lock", "ours dba@here")).returncode == 0
    assert [str(each.readlink()) for each in tmp_path.iterdir() if each.lstat().st_uid == 0] == ["ours dba@here"]


class Locked:
    """A server on which every lock is held."""

    name = "old"
    profile = Profile("old", "192.0.2.1")

    def __init__(self, text: str) -> None:
        self._said = f"{ONE} {text}\n"

    def run(self, *_: object, **__: object) -> Completed:
        return Completed("", 75, self._said, "", 0.1)


def test_a_lock_from_before_a_take_over_is_told_from_that_of_another_execution() -> None:
    mine = execution()
    for holder, own in ((replace(mine, token="0ld"), True), (replace(mine, owner="ada@desk"), False)):
        with pytest.raises(HeldError) as held:
            take(cast("Server", Locked(text(holder))), Side.OLD, "/a", mine, Job())
        assert ("its own earlier lock" in held.value.hint) is own
        assert f"rm -f -- {ONE}" in held.value.hint
        with spoken("de"):
            assert is_known(held.value.message)
            assert is_known(held.value.hint)

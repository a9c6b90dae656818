"""What the proof of a copy reads, and when; by tools and on file systems that carry less than today's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.migration.model import step_ids
from core.migration.model.execution import Execution, State
from core.migration.model.move import Hook
from core.servers.connection import Server
from core.servers.profiles import Profile
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.moving import ROOT, Moving, Person, sql

pytestmark = pytest.mark.lab

_LOG = "/var/tmp/summed"
_NOTES = f"""#!/bin/sh
printf '%s\\n' "$@" | grep '^\\./' >>{_LOG}
exec /usr/bin/${{0##*/}} "$@"
"""
_OLD_RSYNC = """#!/bin/sh
[ "$*" != --version ] || { echo 'rsync  version 3.0.9  protocol version 30'; exit; }
exec /usr/bin/rsync --protocol=30 "$@"
"""


@contextmanager
def in_place_of(host: Host, body: str, *programs: str) -> Iterator[None]:
    """Programs of ours ahead of the host's own."""
    paths = [f"/usr/local/bin/{program}" for program in programs]
    for path in paths:
        host.exec("sh", "-c", "mkdir -p ${0%/*} && cat >$0 && chmod 755 $0", path, input=body)
    try:
        yield
    finally:
        host.exec("rm", "-f", *paths, _LOG)


@pytest.fixture
def begin(
    cluster: Lab,
    old_server: Server,
    new_server: Server,
    old_profile: Profile,
    new_profile: Profile,
    tmp_path: Path,
) -> Callable[[], Moving]:
    """A move of the running cluster, with facts of what the hosts have now."""
    servers = {"old": old_server, "new": new_server}

    def made() -> Moving:
        site.clear(cluster)
        site.start(cluster.old)
        facts = site.read_facts(servers.__getitem__)
        return site.moving(tmp_path, old_profile, new_profile, servers.__getitem__, facts)

    return made


def summed(host: Host) -> int:
    """How many files were summed up since the last look."""
    return int(host.exec("sh", "-c", f"grep -c '' {_LOG}; : >{_LOG}", check=False).stdout or 0)


def states(host: Host) -> set[str]:
    """What tells there that a file is the one whose sum is known."""
    return set(host.exec("find", f"{ROOT}/", "-type", "f", "-printf", r"%C@ %T@ %i %P\n").stdout.splitlines())


@pytest.mark.long
def test_what_does_not_change_is_read_while_old_runs(cluster: Lab, begin: Callable[[], Moving]) -> None:
    ahead: list[int] = []
    behind: list[int] = []
    known: list[set[str]] = []
    hosts = (cluster.old, cluster.new)
    with (
        in_place_of(cluster.old, _NOTES, "sha256sum", "openssl"),
        in_place_of(cluster.new, _NOTES, "sha256sum", "openssl"),
    ):
        for host in hosts:
            host.exec("install", "-m", "666", "/dev/null", _LOG)

        def stopping() -> None:
            ahead.extend(map(summed, hosts))
            known.append(states(cluster.new))

        def deciding() -> None:
            behind.extend(map(summed, hosts))
            known.append(states(cluster.new))

        done = begin().execute(Person(at={Hook.STOP_APPLICATIONS: stopping, step_ids.DECIDE: deciding}))
    assert done.state is State.DONE
    files = int(sql(cluster.new, "select count(*) from pg_class where relkind in ('r', 'i', 't')"))
    assert min(ahead) > files
    passes = [(run.title, run.output) for run in done.steps if run.bytes is not None]
    changed = sorted(known[1] - known[0])
    assert max(behind) < files / 4, (ahead, behind, passes, changed)


def final_bytes(done: Execution) -> int:
    return sum(
        run.bytes or 0
        for run in done.steps
        if step_ids.family_of(done.plan.steps[run.number - 1].id, step_ids.FINAL_SYNC_REST)
    )


@pytest.mark.long
def test_an_rsync_that_carries_whole_seconds_is_no_difference(cluster: Lab, begin: Callable[[], Moving]) -> None:
    with in_place_of(cluster.old, _OLD_RSYNC, "rsync"):
        move = begin()
        tool = move.facts[0].tool("rsync")
        assert tool is not None
        assert tool.version == "3.0.9"
        done = move.execute()
    assert done.state is State.DONE
    times = cluster.new.exec(
        "sh", "-c", f"find {ROOT} -name '[0-9]*' -type f -printf '%T@\\n' | grep -c '[.]0*$'"
    ).stdout
    assert int(times) > 500
    assert sql(cluster.new, "select count(*) from pgbench_accounts") == "100000"


@pytest.mark.long
def test_a_file_system_with_whole_seconds_is_no_difference_and_sends_nothing_twice(
    cluster: Lab, begin: Callable[[], Moving]
) -> None:
    """ext4 with inodes of 128 bytes, as old ones have them."""
    image = "/srv/pg/seconds"
    move = begin()
    cluster.new.exec(
        "sh", "-ec", f"truncate -s 400M {image}; mkfs.ext4 -q -I 128 {image} 2>/dev/null; mount -o loop {image} {ROOT}"
    )
    try:
        cluster.new.exec("chown", "postgres:", ROOT)
        done = move.execute()
        assert done.state is State.DONE
        assert final_bytes(done) < 5_000_000
        assert sql(cluster.new, "select count(*) from pgbench_accounts") == "100000"
    finally:
        site.pg_ctl(cluster.new, "-m", "immediate", "stop", check=False)
        cluster.new.exec("sh", "-c", f"umount {ROOT}; rm -rf {image} /run/mount")

"""Moves between hosts with service managers, by the commands of the product, in every layout; then both restart."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import debian, layouts
from tests.lab import lab as labs
from tests.lab.demo import host_key_fingerprint
from tests.lab.extra import put_tree
from tests.lab.hosts import Host, Kind
from tests.lab.lab import Lab
from tests.lab.layouts import BUILT, DEBIAN, FORKING, LAYOUTS, NOTIFY, Layout, sql
from tests.lab.machine import lab_unavailable, wait_until
from tests.lab.systemd import systemd_unavailable
from tests.live.moving import give_up

pytestmark = [pytest.mark.systemd, pytest.mark.timeout(600)]

PROJECT = Path(__file__).resolve().parents[2]
ROWS = "select count(*), sum(hashtext(note)) from kept"


@pytest.fixture
def hosts() -> Iterator[Lab]:
    reason = lab_unavailable() or systemd_unavailable()
    if reason is not None:
        pytest.skip(reason)
    with labs.lab("layout", kind=Kind.SYSTEMD, size="1G") as made:
        yield made


def create(old: Host, layout: Layout) -> str:
    """A cluster in that layout; what its rows come to."""
    layouts.create(old, layout)
    sql(old, layout, "create table kept as select n, md5(n::text) as note from generate_series(1, 20000) n")
    return sql(old, layout, ROWS)


def pghaul(*words: str, accept: tuple[int, ...] = (0,)) -> str:
    """All that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "gui.entry", *words],
        cwd=PROJECT, env=os.environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in accept, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def described(hosts: Lab, here: Layout, there: Layout) -> None:
    """Both servers, and the move `spring`, with its checks."""
    for host in (hosts.old, hosts.new):
        pghaul("server", "add", host.name, host.address, "--user", host.user, "--identity", str(host.key))
        pghaul("server", "test", host.name, "--host-key", host_key_fingerprint(host))
        pghaul("facts", host.name)
    ends = ["--old", "old", "--new", "new", "--old-volume", "/srv/pg", "--new-volume", "/srv/pg"]
    pghaul("move", "add", "spring", *ends, "--cluster", here.data, "--target", there.data)
    pghaul("check", "spring", accept=(0, 1))


def moved(hosts: Lab, here: Layout, there: Layout) -> None:
    """By the commands that a person types, from one layout to another; then both hosts are restarted."""
    described(hosts, here, there)
    pghaul("execute", "spring", "--confirm", here.named, "--manual-steps-done")
    assert layouts.active(hosts.new, there)
    assert not layouts.active(hosts.old, here)
    for name in ("old", "new"):
        hosts.restart(name)
    assert not layouts.active(hosts.old, here)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_new_belongs_to_its_service_manager(hosts: Lab, layout: Layout) -> None:
    rows = create(hosts.old, layout)
    assert layouts.active(hosts.old, layout)
    layouts.prepare(hosts.new, layout)
    moved(hosts, layout, layout)
    if layout.enable:  # a user's own systemd may still be starting when the host's is up
        wait_until(lambda: layouts.active(hosts.new, layout), "new to come up with its host", seconds=60)
    else:
        assert not layouts.active(hosts.new, layout)  # as on old, a person starts it after a boot
        hosts.new.exec("sh", "-c", layout.start)
    assert sql(hosts.new, layout, ROWS) == rows
    refused = hosts.old.exec("sh", "-c", layout.start, check=False)
    assert not layouts.active(hosts.old, layout), refused
    give_up(hosts, pghaul("execute", "spring", "--status", "--json"))
    assert sql(hosts.old, layout, ROWS) == rows
    refused = hosts.new.exec("sh", "-c", layout.start, check=False)
    assert not layouts.active(hosts.new, layout), refused


def test_a_cluster_of_debians_is_registered_where_new_has_none(hosts: Lab) -> None:
    rows = create(hosts.old, DEBIAN)
    hosts.new.exec("install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", DEBIAN.data)
    moved(hosts, DEBIAN, DEBIAN)
    assert layouts.active(hosts.new, DEBIAN)
    assert sql(hosts.new, DEBIAN, ROWS) == rows


def test_a_unit_of_ones_own_becomes_a_cluster_of_debians(hosts: Lab) -> None:
    """Its configuration travels in the data directory, where Debian's tools do not look for it."""
    rows = create(hosts.old, NOTIFY)
    layouts.prepare(hosts.new, DEBIAN)
    moved(hosts, NOTIFY, DEBIAN)
    assert layouts.active(hosts.new, DEBIAN)
    assert sql(hosts.new, DEBIAN, ROWS) == rows


def test_an_older_debian_with_a_build_of_its_own() -> None:
    """Its glibc sorts by other rules, its rsync and systemd are two years older."""
    reason = lab_unavailable() or systemd_unavailable()
    if reason is not None:
        pytest.skip(reason)
    with labs.lab("older", kind=Kind.SYSTEMD, size="1G", old_debian=debian.OLDER) as hosts:
        put_tree(hosts.old, "15.5", "/opt/pgsql")
        rows = create(hosts.old, BUILT)
        layouts.prepare(hosts.new, FORKING)
        moved(hosts, BUILT, FORKING)
        assert layouts.active(hosts.new, FORKING)
        assert sql(hosts.new, FORKING, ROWS) == rows


def test_a_unit_that_does_not_start_leaves_the_way_back(hosts: Lab) -> None:
    rows = create(hosts.old, NOTIFY)
    layouts.prepare(hosts.new, NOTIFY)
    described(hosts, NOTIFY, NOTIFY)
    spoil = "mkdir -p {0} && printf '[Service]\\nExecStartPre=/bin/false\\n' >{0}/own.conf && systemctl daemon-reload"
    hosts.new.exec("sh", "-c", spoil.format("/etc/systemd/system/shop.service.d"))
    said = pghaul("execute", "spring", "--confirm", "shop", "--manual-steps-done", accept=(1, 3))
    assert "no client could connect to it" in said
    pghaul("execute", "spring", "--rollback")
    assert layouts.active(hosts.old, NOTIFY)
    assert sql(hosts.old, NOTIFY, ROWS) == rows
    assert hosts.new.exec("systemctl", "is-enabled", "shop", check=False).stdout == "disabled\n"
    for name in ("old", "new"):
        hosts.restart(name)
    assert sql(hosts.old, NOTIFY, ROWS) == rows
    assert not layouts.active(hosts.new, NOTIFY)

"""Moves between hosts with service managers, by the commands of the product, in every layout; then both restart."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab import layouts
from tests.lab.demo import host_key_fingerprint
from tests.lab.hosts import Kind
from tests.lab.lab import Lab
from tests.lab.layouts import LAYOUTS, Layout, sql
from tests.lab.machine import lab_unavailable
from tests.lab.systemd import systemd_unavailable

pytestmark = [pytest.mark.systemd, pytest.mark.timeout(600)]

PROJECT = Path(__file__).resolve().parents[2]
ROWS = "select count(*), sum(hashtext(note)) from kept"


@pytest.fixture
def hosts(layout: Layout) -> Iterator[Lab]:
    """Old with a cluster in that layout, new with all but the cluster."""
    reason = lab_unavailable() or systemd_unavailable()
    if reason is not None:
        pytest.skip(reason)
    with labs.lab("layout", kind=Kind.SYSTEMD, size="1G") as made:
        layouts.create(made.old, layout)
        sql(made.old, layout, "create table kept as select n, md5(n::text) as note from generate_series(1, 20000) n")
        layouts.prepare(made.new, layout)
        yield made


def pghaul(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "gui.entry", *words],
        cwd=PROJECT, env=os.environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1 if words[0] == "check" else 0), f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def described(hosts: Lab, layout: Layout) -> None:
    """Both servers, and the move `spring`."""
    for host in (hosts.old, hosts.new):
        pghaul("server", "add", host.name, host.address, "--user", host.user, "--identity", str(host.key))
        pghaul("server", "test", host.name, "--host-key", host_key_fingerprint(host))
        pghaul("facts", host.name)
    ends = ["--old", "old", "--new", "new", "--old-volume", "/srv/pg", "--new-volume", "/srv/pg"]
    pghaul("move", "add", "spring", *ends, "--cluster", layout.data, "--target", layout.data)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_new_belongs_to_its_service_manager(hosts: Lab, layout: Layout) -> None:
    assert layouts.active(hosts.old, layout)
    rows = sql(hosts.old, layout, ROWS)
    described(hosts, layout)
    pghaul("check", "spring")
    pghaul("execute", "spring", "--confirm", layout.named, "--yes-to-hooks")
    assert sql(hosts.new, layout, ROWS) == rows
    assert layouts.active(hosts.new, layout)
    assert not layouts.active(hosts.old, layout)
    for name in ("old", "new"):
        hosts.restart(name)
    assert not layouts.active(hosts.old, layout)
    assert layouts.active(hosts.new, layout) == bool(layout.enable)
    if not layout.enable:  # as on old, a person starts it after a boot
        hosts.new.exec("sh", "-c", layout.start)
    assert sql(hosts.new, layout, ROWS) == rows
    refused = hosts.old.exec("sh", "-c", layout.start, check=False)
    assert not layouts.active(hosts.old, layout), refused

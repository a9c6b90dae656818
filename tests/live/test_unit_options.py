"""An option that the old server's unit gives and the new one's lacks is said before anything is stopped."""

from dataclasses import replace

import pytest

from tests.lab import layouts
from tests.lab.lab import Lab
from tests.lab.layouts import NOTIFY, Layout, sql
from tests.live.test_layouts import described, hosts, pghaul

__all__ = ["hosts"]

pytestmark = [pytest.mark.systemd, pytest.mark.timeout(600)]

_SAME = "-c work_mem=4MB -p 5432"
"""What PostgreSQL's own defaults are too."""


def with_options(options: str) -> Layout:
    return replace(NOTIFY, install=NOTIFY.install.replace("-D /srv/pg/shop", f"-D /srv/pg/shop {options}"))


def test_an_option_that_the_new_unit_lacks_is_a_blocker_before_the_stop(hosts: Lab) -> None:
    lost = "-c max_connections=137 -c temp_buffers=9MB"
    here = with_options(f"{_SAME} {lost}")
    layouts.create(hosts.old, here)
    layouts.prepare(hosts.new, NOTIFY)
    described(hosts, here, NOTIFY)
    said = pghaul("check", "spring", "--all", accept=(0, 1))
    assert "max_connections is 137 from the command line or the environment of the old server" in said
    assert "work_mem" not in said
    pghaul("execute", "spring", "--confirm", "shop", "--manual-steps-done", accept=(1,))
    assert sql(hosts.old, here, "show max_connections") == "137"

    layouts.prepare(hosts.new, with_options(lost))
    pghaul("facts", "new")
    assert "PASS     Command-line options of PostgreSQL" in pghaul("check", "spring", "--all", accept=(0, 1))

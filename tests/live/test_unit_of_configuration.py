"""Units that do not name the data directory: that of the configuration, or none."""

from dataclasses import replace

import pytest

from tests.lab import layouts
from tests.lab.lab import Lab
from tests.lab.layouts import NOTIFY, Layout, sql
from tests.live.moving import lost_behind_the_stop
from tests.live.test_layouts import described, hosts, pghaul

__all__ = ["hosts"]

pytestmark = [pytest.mark.systemd, pytest.mark.timeout(600)]

_FOLDER = "/etc/pg-shop"
_SOCKETS = "/srv/pg/sockets"
_APART = f"""
install -d -o postgres -g postgres {_FOLDER}
cat >{_FOLDER}/postgresql.conf <<'S'
data_directory = '/srv/pg/shop'
work_mem = 5MB
unix_socket_directories = '/tmp,{_SOCKETS}'
S
echo 'local all all trust' >{_FOLDER}/pg_hba.conf
touch {_FOLDER}/pg_ident.conf
chown -R postgres: {_FOLDER}
"""


_SCRIPT = "/usr/local/bin/start-shop"
_BY_SCRIPT = f"""
printf '%s\\n' '#!/bin/sh' 'exec "$PROGRAMS/postgres" -D /srv/pg/shop' >{_SCRIPT}
chmod 755 {_SCRIPT}
"""


def by_script(restart: str) -> Layout:
    """Nothing in the unit tells that it starts a server of PostgreSQL."""
    unit = NOTIFY.install.replace("-D /srv/pg/shop", "").replace("Restart=on-failure", f"Restart={restart}")
    programs = NOTIFY.install.partition("ExecStart=")[2].partition("/postgres ")[0]
    install = unit.replace(f"{programs}/postgres", _SCRIPT) + _BY_SCRIPT.replace("$PROGRAMS", programs)
    return replace(NOTIFY, install=install, named="/srv/pg/shop")


def apart() -> Layout:
    install = NOTIFY.install.replace("-D /srv/pg/shop", f"-D {_FOLDER}") + _APART
    return replace(NOTIFY, install=install, named="/srv/pg/shop")


def test_a_rollback_starts_the_old_server_by_its_unit(hosts: Lab) -> None:
    """The local-only start fails, for a folder that the new server has lost since the stop."""
    layout = apart()
    for host in (hosts.old, hosts.new):
        host.exec("install", "-d", "-o", "postgres", _SOCKETS)
    layouts.create(hosts.old, layout)
    layouts.prepare(hosts.new, layout)
    described(hosts, layout, layout)
    with lost_behind_the_stop(hosts, _SOCKETS, layout.named):
        said = pghaul("execute", "spring", "--confirm", layout.named, "--manual-steps-done", accept=(1, 3))
    assert "could not create lock file" in said
    assert not layouts.active(hosts.old, layout)
    said = pghaul("execute", "spring", "--rollback")
    assert layouts.active(hosts.old, layout)  # in the control group of its unit
    assert "runs again, with the same port, options and settings as before" in said
    assert sql(hosts.old, layout, "show config_file") == f"{_FOLDER}/postgresql.conf"


def test_a_unit_that_names_no_folder_is_a_blocker_where_it_would_undo_the_stop(hosts: Lab) -> None:
    layouts.create(hosts.old, by_script("always"))
    layouts.prepare(hosts.new, NOTIFY)
    described(hosts, by_script("always"), NOTIFY)
    assert "(Restart=always)" in pghaul("check", "spring", accept=(1,))
    pghaul("execute", "spring", "--confirm", "/srv/pg/shop", "--manual-steps-done", accept=(1,))
    assert layouts.active(hosts.old, NOTIFY)

    layouts.prepare(hosts.old, by_script("on-failure"))
    pghaul("facts", "old")
    pghaul("execute", "spring", "--confirm", "/srv/pg/shop", "--manual-steps-done")
    assert layouts.active(hosts.new, NOTIFY)
    assert not layouts.active(hosts.old, NOTIFY)

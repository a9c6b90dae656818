"""Set-ups with a service manager, and what becomes of their move."""

from dataclasses import replace

import pytest

from tests.lab import layouts
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.layouts import DEBIAN, NOTIFY, Layout, sql
from tests.live.test_layouts import ROWS, create, described, hosts, pghaul

__all__ = ["hosts"]

pytestmark = [pytest.mark.systemd, pytest.mark.timeout(600)]

_FOLDER = "/srv/pg/conf"
_LINKED = "/var/lib/postgresql/15/main"
_APART = f"""
install -d -o postgres -g postgres {_FOLDER}
cat >{_FOLDER}/postgresql.conf <<'S'
data_directory = '/srv/pg/shop'
unix_socket_directories = '/tmp'
work_mem = 5MB
S
echo 'local all all trust' >{_FOLDER}/pg_hba.conf
touch {_FOLDER}/pg_ident.conf
chown -R postgres: {_FOLDER}
"""


def unit(options: str = "", of: str = "/srv/pg/shop", restart: str = "on-failure", more: str = "") -> Layout:
    """A unit of one's own for the cluster in /srv/pg/shop."""
    install = NOTIFY.install.replace("-D /srv/pg/shop", f"-D {of} {options}".rstrip())
    install = install.replace("Restart=on-failure", f"Restart={restart}")
    return replace(NOTIFY, install=install + more, named="/srv/pg/shop" if of != "/srv/pg/shop" else NOTIFY.named)


def moved(hosts: Lab, here: Layout, there: Layout, rows: str) -> None:
    described(hosts, here, there)
    pghaul("execute", "spring", "--confirm", here.named, "--manual-steps-done")
    assert layouts.active(hosts.new, there)
    assert not layouts.active(hosts.old, here)
    assert sql(hosts.new, there, ROWS) == rows


def test_an_option_of_both_units_that_shadows_a_setting_is_moved(hosts: Lab) -> None:
    layout = unit("-c max_connections=137")
    shadowed = replace(layout, create=f"{layout.create}echo max_connections = 90 >>{layout.data}/postgresql.conf\n")
    rows = create(hosts.old, shadowed)
    layouts.prepare(hosts.new, layout)
    moved(hosts, layout, layout, rows)
    assert sql(hosts.new, layout, "show max_connections") == "137"


def test_a_unit_of_the_configuration_is_stopped_for_good_and_starts_new(hosts: Lab) -> None:
    """Nothing of the configuration lies with the data, pg_hba.conf neither."""
    layout = unit(of=_FOLDER, restart="always", more=_APART)
    rows = create(hosts.old, layout)
    bare = "rm postgresql.conf pg_hba.conf pg_ident.conf && systemctl restart shop"
    hosts.old.exec("sh", "-c", f"cd {layout.data} && {bare}")
    layouts.prepare(hosts.new, layout)
    described(hosts, layout, layout)
    pghaul("execute", "spring", "--confirm", layout.named, "--manual-steps-done")
    assert hosts.old.exec("pgrep", "-x", "postgres", check=False).stdout == ""
    assert sql(hosts.new, layout, ROWS) == rows
    assert layouts.active(hosts.new, layout)  # in the control group of its unit


def test_a_configuration_that_sets_hardly_anything_is_moved(hosts: Lab) -> None:
    layout = unit(of=_FOLDER, more=_APART.replace("work_mem = 5MB\n", ""))
    rows = create(hosts.old, layout)
    layouts.prepare(hosts.new, layout)
    moved(hosts, layout, layout, rows)


def linked(old: Host) -> None:
    """As a DBA moves a full cluster to another disk: the folder, and a link where it was."""
    old.exec("pg_createcluster", "15", "main", "--", "--locale=C.UTF-8")
    for script in (
        "pg_conftool 15 main set unix_socket_directories /tmp",
        "sed -i 's/^local.*/local all all trust/' /etc/postgresql/15/main/pg_hba.conf",
        "install -d -o postgres -g postgres /srv/pg/15",
        f"mv {_LINKED} {DEBIAN.data} && ln -s {DEBIAN.data} {_LINKED}",
        "pg_ctlcluster 15 main start",
    ):
        old.exec("sh", "-c", script)


def test_a_cluster_of_debians_behind_a_link_is_moved_to_a_server_without_the_link(hosts: Lab) -> None:
    """Its configuration names the link, behind which Debian's tools would look for it."""
    linked(hosts.old)
    described(hosts, DEBIAN, DEBIAN)
    pghaul("execute", "spring", "--confirm", DEBIAN.named, "--manual-steps-done")
    assert layouts.active(hosts.new, DEBIAN)
    assert hosts.new.exec("test", "-e", _LINKED, check=False).returncode == 1
    assert sql(hosts.new, DEBIAN, "show data_directory") == DEBIAN.data


def test_a_stopped_cluster_of_debians_behind_a_link_is_moved(hosts: Lab) -> None:
    """Whoever names its folder does not know where its configuration lies; Debian's tools know it by the link."""
    linked(hosts.old)
    described(hosts, DEBIAN, DEBIAN)
    hosts.old.exec("pg_ctlcluster", "15", "main", "stop")
    said = pghaul("check", "spring", "--all", accept=(0, 1))
    assert "server program cannot read its configuration" not in said
    pghaul("execute", "spring", "--confirm", DEBIAN.named, "--manual-steps-done")
    assert layouts.active(hosts.new, DEBIAN)
    assert sql(hosts.new, DEBIAN, "show data_directory") == DEBIAN.data


_RULES = f"""
install -d -o postgres -g postgres /srv/pg/rules
sed 's/^host.*/host all all all reject/' /etc/postgresql/15/main/pg_hba.conf >/srv/pg/rules/shop.conf
chown postgres: /srv/pg/rules/shop.conf
pg_conftool 15 main set hba_file /srv/pg/rules/shop.conf
echo "data_directory = '{_LINKED}'" >/etc/postgresql/15/main/conf.d/data.conf
pg_ctlcluster 15 main restart
"""


def test_a_cluster_of_debians_behind_a_link_keeps_its_own_rules(hosts: Lab) -> None:
    """A file that its configuration includes names the link once more."""
    linked(hosts.old)
    hosts.old.exec("sh", "-c", f"set -eu\n{_RULES}")
    described(hosts, DEBIAN, DEBIAN)
    said = pghaul("execute", "spring", "--confirm", DEBIAN.named, "--manual-steps-done")
    assert "warning: The setting" not in said
    assert layouts.active(hosts.new, DEBIAN)
    assert sql(hosts.new, DEBIAN, "show data_directory") == DEBIAN.data
    assert sql(hosts.new, DEBIAN, "show hba_file") == "/srv/pg/rules/shop.conf"


_TLS = """
cd /etc/postgresql/15/main
openssl req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=old -keyout server.key -out server.crt 2>/dev/null
chgrp postgres server.key && chmod 640 server.key && chmod 644 server.crt
pg_conftool 15 main set ssl_key_file $PWD/server.key
pg_conftool 15 main set ssl_cert_file $PWD/server.crt
pg_conftool 15 main set ssl on
pg_ctlcluster 15 main restart
"""


def test_a_key_that_root_lets_the_owner_read_arrives_as_the_owner_s(hosts: Lab) -> None:
    rows = create(hosts.old, DEBIAN)
    hosts.old.exec("sh", "-c", f"set -eu\n{_TLS}")
    assert sql(hosts.old, DEBIAN, "show ssl") == "on"
    moved(hosts, DEBIAN, DEBIAN, rows)
    assert sql(hosts.new, DEBIAN, "show ssl") == "on"


def test_a_condition_of_the_new_unit_that_is_not_met_is_a_blocker(hosts: Lab) -> None:
    """One that the move itself meets is none, and none is hidden by it."""
    rows = create(hosts.old, NOTIFY)
    layouts.prepare(hosts.new, NOTIFY)
    described(hosts, NOTIFY, NOTIFY)
    folder = "/etc/systemd/system/shop.service.d"
    hosts.new.exec("mkdir", "-p", folder)
    unmet = "ConditionPathExists=/none/mounted\n"
    taken_back = "AssertHost=elsewhere\nAssertPathExists=\nAssertUser=root\nAssertPathExists=/etc/systemd/system/%n\n"
    either = f"ConditionPathExists=|/none/either\nConditionPathExists=|{NOTIFY.data}/PG_VERSION\n"
    met = f"ConditionPathExists={NOTIFY.data}/PG_VERSION\nConditionPathExists=!{NOTIFY.data}/not-there\n"
    met = f"{taken_back}{either}{met}"
    hosts.new.exec("tee", f"{folder}/own.conf", input=f"[Unit]\n{unmet}{met}")
    hosts.new.exec("systemctl", "daemon-reload")
    said = pghaul("execute", "spring", "--confirm", "shop", "--manual-steps-done", accept=(1,))
    assert "ConditionPathExists=/none/mounted" in said
    assert "PG_VERSION" not in said
    assert layouts.active(hosts.old, NOTIFY)
    hosts.new.exec("tee", f"{folder}/own.conf", input=f"[Unit]\n{met}")
    hosts.new.exec("systemctl", "daemon-reload")
    said = pghaul("check", "spring", "--all", accept=(0, 1))
    unjudged = f"conditions of shop.service will be met: ConditionPathExists=!{NOTIFY.data}/not-there."
    assert f"It was not judged whether these {unjudged}" in " ".join(said.split())
    assert "/none" not in said
    assert "AssertHost" not in said
    pghaul("execute", "spring", "--confirm", "shop", "--manual-steps-done")
    assert layouts.active(hosts.new, NOTIFY)
    assert sql(hosts.new, NOTIFY, ROWS) == rows


def test_a_condition_that_a_hook_of_the_move_may_meet_is_a_warning(hosts: Lab) -> None:
    """Behind the hook systemd is asked again, before the old server is stopped."""
    rows = create(hosts.old, NOTIFY)
    layouts.prepare(hosts.new, NOTIFY)
    folder = "/etc/systemd/system/shop.service.d"
    hosts.new.exec("mkdir", "-p", folder)
    hosts.new.exec("tee", f"{folder}/own.conf", input="[Unit]\nConditionPathExists=/run/ready\n")
    hosts.new.exec("systemctl", "daemon-reload")
    described(hosts, NOTIFY, NOTIFY)
    hook = ("move", "hook", "spring", "stop-applications", "--side", "new", "--as", "root", "--command")
    pghaul(*hook, "true")
    said = " ".join(pghaul("check", "spring", "--all", accept=(0, 1)).split())
    assert "ConditionPathExists=/run/ready. Your command for stop-applications, which runs before" in said
    said = pghaul("execute", "spring", "--confirm", "shop", "--manual-steps-done", accept=(1,))
    assert "On the new server systemd would not start the unit of the new cluster any more" in " ".join(said.split())
    assert layouts.active(hosts.old, NOTIFY)
    pghaul(*hook, "touch /run/ready")
    pghaul("execute", "spring", "--confirm", "shop", "--manual-steps-done", "--start-over")
    assert layouts.active(hosts.new, NOTIFY)
    assert sql(hosts.new, NOTIFY, ROWS) == rows


_OTHER = "/srv/pg/other"


def another(host: Host) -> None:
    """Another cluster, which does not run."""
    owned = ("-o", "postgres", "-g", "postgres")
    host.exec("install", "-d", "-m", "700", *owned, _OTHER)
    host.exec(f"{NOTIFY.binaries}/initdb", "-D", _OTHER, user="postgres")
    host.exec("tee", "-a", f"{_OTHER}/postgresql.conf", input="port = 5999\nunix_socket_directories = '/tmp'\n")


def test_a_stopped_cluster_of_new_keeps_the_configuration_that_leads_to_it(hosts: Lab) -> None:
    """What it would be started with is put aside by no move, whether pghaul knows of it by its facts or not."""
    layout = unit(of=_FOLDER, more=_APART)
    create(hosts.old, layout)
    layouts.prepare(hosts.new, layout)
    file = f"{_FOLDER}/postgresql.conf"
    another(hosts.new)
    hosts.new.exec("sed", "-i", f"s|/srv/pg/shop|{_OTHER}|", file)
    before = hosts.new.exec("cat", file).stdout
    described(hosts, layout, layout)
    said = pghaul("execute", "spring", "--confirm", layout.named, "--manual-steps-done", accept=(1, 3))
    assert f"{file} on the new server configures another cluster, in {_OTHER}," in " ".join(said.split())
    assert hosts.new.exec("cat", file).stdout == before
    assert layouts.active(hosts.old, layout)
    hosts.new.exec("rm", "-r", _OTHER)
    pghaul("execute", "spring", "--confirm", layout.named, "--manual-steps-done", "--resume")
    assert layouts.active(hosts.new, layout)


def test_a_stopped_cluster_of_debians_keeps_its_name_until_its_data_is_gone(hosts: Lab) -> None:
    rows = create(hosts.old, DEBIAN)
    hosts.new.exec("install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", DEBIAN.data)
    hosts.new.exec("pg_createcluster", "15", "main", f"--datadir={_OTHER}")
    described(hosts, DEBIAN, DEBIAN)
    said = pghaul("execute", "spring", "--confirm", DEBIAN.named, "--manual-steps-done", accept=(1,))
    assert f"Cluster 15/main on the new server has its data in {_OTHER}" in " ".join(said.split())
    assert layouts.active(hosts.old, DEBIAN)
    hosts.new.exec("rm", "-r", _OTHER)
    pghaul("facts", "new")
    pghaul("execute", "spring", "--confirm", DEBIAN.named, "--manual-steps-done")
    assert layouts.active(hosts.new, DEBIAN)
    assert sql(hosts.new, DEBIAN, ROWS) == rows


_BY_HAND = f"""
systemctl stop shop
runuser -u postgres -- {NOTIFY.binaries}/pg_ctl -D {NOTIFY.data} -w -l /dev/null start
"""
_GIVEN_AWAY = f"""
mkdir -p /etc/systemd/system/shop.service.d
cat >/etc/systemd/system/shop.service.d/other.conf <<'S'
[Service]
ExecStart=
ExecStart={NOTIFY.binaries}/postgres -D {_OTHER}
S
systemctl daemon-reload
systemctl start shop
"""
_GIVEN_BACK = """
systemctl stop shop
rm -r /etc/systemd/system/shop.service.d
systemctl daemon-reload
echo true >/usr/local/bin/give-away
"""
_BY_UNIT = f"""
runuser -u postgres -- {NOTIFY.binaries}/pg_ctl -D {NOTIFY.data} -w -m fast stop
systemctl start shop
"""


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_unit_that_was_given_to_another_cluster_meanwhile_is_neither_started_nor_stopped(
    hosts: Lab, side: str
) -> None:
    rows = create(hosts.old, NOTIFY)
    layouts.prepare(hosts.new, NOTIFY)
    host = hosts.old if side == "old" else hosts.new
    another(host)
    script = f"set -e\n{_BY_HAND if side == 'old' else ''}{_GIVEN_AWAY}"
    host.exec("tee", "/usr/local/bin/give-away", input=script)
    described(hosts, NOTIFY, NOTIFY)
    given = ("--side", side, "--as", "root", "--command", "sh /usr/local/bin/give-away >/dev/null 2>&1")
    pghaul("move", "hook", "spring", "stop-applications", *given)
    said = pghaul("execute", "spring", "--confirm", NOTIFY.named, "--manual-steps-done", accept=(1, 3))
    assert f"shop.service now runs another server, in {_OTHER}, and none in {NOTIFY.data}" in " ".join(said.split())
    main = host.exec("systemctl", "show", "-p", "MainPID", "--value", "shop").stdout.strip()
    assert host.exec("readlink", f"/proc/{main}/cwd").stdout.strip() == _OTHER
    host.exec("sh", "-c", f"set -e\n{_GIVEN_BACK}{_BY_UNIT if side == 'old' else ''}")
    pghaul("execute", "spring", "--confirm", NOTIFY.named, "--manual-steps-done", "--resume")
    assert layouts.active(hosts.new, NOTIFY)
    assert sql(hosts.new, NOTIFY, ROWS) == rows

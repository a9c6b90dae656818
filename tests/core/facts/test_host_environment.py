"""What stands around the clusters of a host, from texts as servers print them."""

import os
from pathlib import Path

import pytest

from core.errors import ParseError
from core.facts.accounts import parse_accounts
from core.facts.block_devices import parse_datasets, parse_disk_health
from core.facts.data_files import IRREGULAR_FILES, parse_irregular_files
from core.facts.ha_and_poolers import parse_ha_and_poolers, parse_virtual_addresses
from core.facts.host_environment import UNLIMITED, Account, HaOrPooler, Limits
from core.facts.kernel import SESSION, parse_kernel, parse_process, parse_session_limits
from core.facts.machine import compare_clock, parse_now, parse_synchronised
from core.facts.security_policy import parse_firewall, parse_security_policy
from core.facts.starters import parse_autostart, parse_schedules
from core.redaction import MASK
from tests.core.facts import asking


def arguments(*words: str) -> str:
    joined = "\0".join(words)
    return f"process ={joined.encode().hex()}\n"


def test_accounts() -> None:
    assert parse_accounts("root:0:0\npostgres:101:104\npostgres:101:104\n") == (
        Account("root", 0, 0),
        Account("postgres", 101, 104),
    )
    with pytest.raises(ParseError, match="NAME:UID:GID"):
        parse_accounts("passwd: command not found")


def test_a_clock_is_told_within_half_of_the_answers_time() -> None:
    read = compare_clock(parse_now("now=1005.250000000\n"), 1000.0, 1000.5)
    assert (read.ahead_seconds, read.error_seconds) == (5.0, 0.25)
    assert compare_clock(parse_now("now=1005.%N\n"), 1000.0, 1000.0).error_seconds == 0.5
    for nonsense in ("", "now=yesterday", "1005.25"):
        with pytest.raises(ParseError):
            parse_now(nonsense)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("NTPSynchronized=yes\n", True),
        ("      Local time: …\nSystem clock synchronized: no\n", False),
        ("Reference ID    : C0A80001\nLeap status     : Normal\n", True),
        ("Leap status     : Not synchronised\n", False),
        ("", None),
    ],
)
def test_whether_a_time_server_keeps_the_clock(text: str, kept: bool | None) -> None:
    assert parse_synchronised(text) is kept


def test_companions_are_told_by_their_program_alone() -> None:
    text = (
        arguments("/usr/bin/python3", "/usr/bin/patroni", "/etc/patroni/15-main.yml")
        + arguments("vim", "/etc/keepalived/keepalived.conf")
        + arguments("pgpool: PgpoolLogger")
        + arguments("sh", "-c", "grep repmgrd")
        + "file /etc/patroni/15-main.yml\nunit keepalived.service\nunit pgbouncer@x.service\nunit ssh.service\n"
    )
    assert parse_ha_and_poolers(text) == (
        HaOrPooler("patroni", "manager", running=True, enabled=False, files=("/etc/patroni/15-main.yml",)),
        HaOrPooler("keepalived", "manager", running=False, enabled=True),
        HaOrPooler("pgbouncer", "pooler", running=False, enabled=True),
        HaOrPooler("pgpool", "pooler", running=True, enabled=False),
    )
    assert parse_ha_and_poolers("") == ()


def test_virtual_addresses() -> None:
    text = """\
1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever
2: eth0    inet 10.0.0.11/24 brd 10.0.0.255 scope global eth0\\       valid_lft forever
2: eth0    inet 10.0.0.50/24 scope global secondary eth0:1\\       valid_lft forever
2: eth0    inet 10.0.0.60/32 scope global eth0\\       valid_lft forever
2: eth0    inet6 2001:db8::5/64 scope global secondary dynamic mngtmpaddr\\ valid
virtual 10.0.0.70
"""
    assert parse_virtual_addresses(text) == ("10.0.0.50", "10.0.0.60", "10.0.0.70")
    with pytest.raises(ParseError):
        parse_virtual_addresses("unread ip\n")


def test_schedules_keep_what_bears_on_postgresql_and_no_secret() -> None:
    text = """\
place /etc/crontab -
: SHELL=/bin/sh
: 17 * * * * root cd / && run-parts --report /etc/cron.hourly
place /etc/cron.d/backup -
: 0 3 * * * postgres PGPASSWORD='very secret' /opt/backup.sh
: 0 4 * * * root pg_dump postgres://app:hunter2@old/shop
: 0 5 * * * root tar -C /srv/pg/data -c .
place /var/spool/cron/crontabs/postgres postgres
: @daily ~/vacuum.sh
place /var/spool/cron/crontabs/root root
: 5 5 * * * updatedb
"""
    found = parse_schedules(text, ["/srv/pg/data"])
    assert [(each.user, each.line.partition("* * * ")[2] or each.line) for each in found] == [
        ("postgres", f"postgres PGPASSWORD={MASK} /opt/backup.sh"),
        ("root", f"root pg_dump postgres://app:{MASK}@old/shop"),
        ("root", "root tar -C /srv/pg/data -c ."),
        ("postgres", "@daily ~/vacuum.sh"),
    ]


def test_autostart() -> None:
    found = parse_autostart(
        "enabled ssh.service\nmasked postgresql.service\nrestart /lib/systemd/system/postgresql@.service on-failure\n"
        "restart /etc/systemd/system/postgresql@.service.d/my.conf always\nstart 15/main manual\nstart 16/x \n"
        "script /etc/rc3.d/S01postgresql\n"
    )
    assert (found.enabled, found.masked, found.scripts) == (("ssh.service",), ("postgresql.service",), ("postgresql",))
    assert found.restart == {"postgresql@.service": "always"}
    assert found.start_conf == {"15/main": "manual", "16/x": "auto"}


def test_a_process_and_a_session() -> None:
    process = parse_process(
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max locked memory         unlimited            unlimited            bytes     \n"
        "Max open files            1024                 524288               files     \n"
        "0::/system.slice/system-postgresql.slice/postgresql@15-main.service\nparent=init\n"
    )
    assert process is not None
    assert process.limits == Limits(1024, UNLIMITED)
    assert (process.unit, process.parent) == ("postgresql@15-main.service", "init")
    assert process.memory_limit_bytes is None
    assert parse_process("") is None
    assert parse_session_limits(asking.text(SESSION)).open_files is not None
    assert parse_session_limits("open_files=unlimited\nlocked_kilobytes=64\n") == Limits(UNLIMITED, 65536)
    with pytest.raises(ParseError):
        parse_session_limits("ulimit: not found")


@pytest.mark.parametrize(
    ("said", "limit"), [("8589934592", 8 << 30), ("max", None), ("-1", None), ("8 GiB", None), ("9" * 40, None)]
)
def test_the_memory_limit_of_a_server_process(said: str, limit: int | None) -> None:
    files = "Max open files            1024                 524288               files"
    process = parse_process(f"{files}\nmemory_limit={said}\n")
    assert process is not None
    assert process.memory_limit_bytes == limit


def test_guards() -> None:
    found = parse_security_policy("selinux=1\napparmor=Y\nprofile /usr/lib/postgresql/15/bin/postgres (enforce)\n")
    assert (found.selinux, found.apparmor) == ("enforcing", True)
    assert found.profiles == ("/usr/lib/postgresql/15/bin/postgres (enforce)",)
    assert parse_security_policy("selinux=Permissive\n").selinux == "permissive"
    assert parse_security_policy("apparmor=Y\nprofiles unread\n").profiles is None
    with pytest.raises(ParseError):
        parse_security_policy("")


NFT = (
    "listed\n: table inet x {\n: \ttype filter hook input priority filter; policy drop;\n: \ttcp dport 22 accept\n: }\n"
)
IPTABLES = "listed\n: *filter\n: :INPUT DROP [0:0]\n: -A INPUT -p tcp -m tcp --dport 5432 -j ACCEPT\n"


def test_firewalls() -> None:
    nft, iptables, none = (parse_firewall(text) for text in (NFT, IPTABLES, "listed\n"))
    assert (nft.drops, nft.lines) == (True, ("tcp dport 22 accept",))
    assert (iptables.drops, iptables.lines) == (True, ("-A INPUT -p tcp -m tcp --dport 5432 -j ACCEPT",))
    assert not none.drops
    with pytest.raises(ParseError, match="listed"):
        parse_firewall("")


FIREWALLD = (
    "listed\n: table inet firewalld {\n: \tchain filter_INPUT {\n"
    ": \t\ttype filter hook input priority filter + 10; policy accept;\n: \t\tct state { established } accept\n"
    ": \t\tjump filter_INPUT_ZONES\n: \t\tct state invalid drop\n: \t\treject with icmpx admin-prohibited\n: \t}\n: }\n"
)
"""As RHEL 9 has it: its policy accepts, and its last rule rejects."""


@pytest.mark.parametrize(
    ("text", "drops"),
    [
        (FIREWALLD, True),
        (FIREWALLD.replace("reject with", "counter packets 3 bytes 180 reject with"), True),
        (FIREWALLD.replace("hook input", "hook forward"), False),
        (FIREWALLD.replace(": \t\treject with icmpx admin-prohibited\n", ""), False),
        ("listed\n: -A INPUT -j REJECT --reject-with icmp-host-prohibited\n", True),
        ('listed\n: -A INPUT -m comment --comment "the rest" -j DROP\n', True),
        ("listed\n: -A INPUT -s 192.0.2.1/32 -j DROP\n", False),
        ("listed\n: -A INPUT -m conntrack --ctstate INVALID -j DROP\n", False),
        ("listed\n: -A FORWARD -j DROP\n", False),
    ],
)
def test_a_firewall_drops_the_rest_by_its_policy_or_its_last_rule(text: str, drops: bool) -> None:
    assert parse_firewall(text).drops is drops


def test_kernel() -> None:
    assert parse_kernel(": nodev\tsysfs\n: nodev\tnfs4\nmodprobe\nrelease 3.10.0\n").nfs is True
    assert parse_kernel(": \text4\nmodprobe\nrelease 3.10.0\n").nfs_udp is True
    modern = parse_kernel(": \text4\nrelease 6.1.0\nconfig CONFIG_NFS_DISABLE_UDP_SUPPORT=y\n")
    assert (modern.nfs, modern.nfsd, modern.nfs_udp) == (None, None, False)
    with pytest.raises(ParseError):
        parse_kernel("sed: no such file")


def test_disks_and_datasets() -> None:
    assert parse_disk_health("without\n") is None
    assert parse_disk_health("") == ()
    found = parse_disk_health(
        "disk sda\n: smartctl 7.3\n: SMART overall-health self-assessment test result: PASSED\n"
        "disk sdb\n: SMART Health Status: FAILED!\ndisk sdc\n: Device is in STANDBY mode, exit(2)\n"
    )
    assert found is not None
    good, bad, asleep = found
    assert (good.healthy, bad.healthy, asleep.healthy) == (True, False, None)
    assert asleep.said == "Device is in STANDBY mode, exit(2)"
    (dataset,) = parse_datasets("tank/pg\tmountpoint\t/srv/pg\ntank/pg\tcompression\tlz4\n")
    assert (dataset.mount_point, dataset.properties) == ("/srv/pg", {"compression": "lz4"})


def walked(folder: Path) -> str:
    return asking.text(IRREGULAR_FILES, cluster_folder=folder)


def test_odd_files_are_found_by_a_real_walk(tmp_path: Path) -> None:
    data, outside = tmp_path / "data", tmp_path / "space"
    (data / "pg_tblspc").mkdir(parents=True)
    outside.mkdir()
    (data / "pg_tblspc" / "16400").symlink_to(outside)
    (data / "plain").write_bytes(b"x" * 100_000)
    data.chmod(0o700)
    mode, none = parse_irregular_files(walked(data))
    assert (mode, none.hard_links, none.sparse, none.foreign, none.partial, none.empty) == ("700", 0, 0, 0, 0, 0)
    (outside / "two names").hardlink_to(data / "plain")
    with (data / "line\nbreak").open("wb") as hollow:
        hollow.truncate(8 << 20)
    (data / ".16385.aB3dEf").touch()
    (outside / ".~tmp~").mkdir()
    if os.geteuid() == 0:
        os.chown(data / "plain", 12345, 12345)
    data.chmod(0o755)
    mode, found = parse_irregular_files(walked(data))
    assert (mode, found.hard_links, found.sparse, found.partial, found.empty) == ("755", 1, 1, 2, 1)
    assert found.sparse_bytes == 8 << 20
    assert found.examples["sparse"] == (f"{data}/line\nbreak",)
    assert os.geteuid() != 0 or found.foreign >= 1


@pytest.mark.parametrize(
    "text", ["", "mode 700\n", "mode 700\nholes 0\nsparse =zz\n", "mode rwx\nholes 0\n", "find: no"]
)
def test_a_walk_that_did_not_end_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_irregular_files(text)

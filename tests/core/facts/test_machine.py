"""System, processor, memory, network and tools: typical, poor and broken texts."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core import documents
from core.errors import ParseError
from core.facts.machine import parse_memory, parse_processor, parse_system
from core.facts.model import HugePages, Memory, NetworkLink, Processor, Tool
from core.facts.network import parse_network
from core.facts.programs import parse_tools

LSCPU = Path(__file__).parents[2] / "data" / "lscpu"

RELEASE = """PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
ID=debian
VERSION_ID="12"
HOME_URL="https://www.debian.org/"
"""
OURS = """facts_hostname=old
facts_kernel=6.1.0-18-amd64
facts_architecture=x86_64
facts_libc=glibc 2.36
facts_init=systemd
facts_time_zone=/usr/share/zoneinfo/Europe/Vienna
facts_clock=2024-03-01T12:00:05
facts_machine_id=0b1c2d3e4f5061728394a5b6c7d8e9f0
facts_boot_id=5f0e6c2e-2d5b-4f0e-9a53-6f2f0a3f1d11
"""


def test_system() -> None:
    system = parse_system(RELEASE + "\n" + OURS)
    assert system.name == "Debian GNU/Linux 12 (bookworm)"
    assert (system.distribution, system.distribution_version) == ("debian", "12")
    assert (system.libc, system.init, system.time_zone) == ("glibc 2.36", "systemd", "Europe/Vienna")
    assert system.machine_id == "0b1c2d3e4f5061728394a5b6c7d8e9f0"
    assert system.boot_id == "5f0e6c2e-2d5b-4f0e-9a53-6f2f0a3f1d11"
    assert system.clock == datetime(2024, 3, 1, 12, 0, 5, tzinfo=UTC)


def test_system_without_release_file_and_with_empty_values() -> None:
    system = parse_system(
        "facts_hostname=h\nfacts_kernel=2.6.18\nfacts_architecture=i686\nfacts_libc=\nfacts_clock=x\nfacts_boot_id=\n"
    )
    assert (system.machine_id, system.boot_id) == (None, None)
    assert (system.name, system.libc, system.clock, system.distribution) == ("Linux", None, None, None)


def test_system_without_kernel_is_refused() -> None:
    with pytest.raises(ParseError, match=r"^system: "):
        parse_system("facts_hostname=h\n")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("02-offline-cpu-insights-core.txt", Processor("Intel Core Processor (Haswell, no TSX)", 1, 1, 1)),
        ("05-aarch64-64cpu-bom-virtualclient.txt", Processor("Neoverse-N1", 1, 64, 64)),
        (
            "08-ppc64-power7-no-arch-line-util-linux.txt",
            Processor("POWER7 (architected), altivec supported", 4, 4, 16),
        ),
        ("11-de-vmware-f29106812066.txt", Processor(None, None, None, 2)),
        ("util-linux-2.38-x86_64.txt", Processor("AMD EPYC", 1, 2, 2)),
    ],
)
def test_lscpu(name: str, expected: Processor) -> None:
    assert parse_processor((LSCPU / name).read_text(encoding="utf-8")) == expected


def test_cpuinfo_counts_sockets_and_cores() -> None:
    one = "processor\t: {0}\nmodel name\t: Xeon\nphysical id\t: {1}\ncore id\t\t: {2}\n\n"
    text = "".join(one.format(number, number // 4, number % 2) for number in range(8))
    assert parse_processor(text) == Processor("Xeon", 2, 4, 8)
    assert parse_processor("processor\t: 0\n\nprocessor\t: 1\n\nHardware\t: BCM\n") == Processor(None, None, None, 2)


@pytest.mark.parametrize(
    ("allowed", "threads"),
    [("0", 1), ("0-2,5", 4), ("0-63", 8), ("", 8), ("none", 8), ("5-2", 8), ("0-9999999", 8), ("0-1,", 8)],
)
def test_a_session_may_use_fewer_processors_than_there_are(allowed: str, threads: int) -> None:
    said = "CPU(s): 8\nOn-line CPU(s) list: 0-7\n"
    assert parse_processor(f"{said}Cpus_allowed_list:\t{allowed}\n").threads == threads


@pytest.mark.parametrize("text", ["", "lscpu: error", "CPU(s): many\n", "CPU(s): 0\n"])
def test_no_processors(text: str) -> None:
    with pytest.raises(ParseError):
        parse_processor(text)


def test_memory() -> None:
    text = (
        "MemTotal:       32819636 kB\nMemFree:  1 kB\nMemAvailable:   30021280 kB\nSwapTotal:       2097148 kB\n"
        "Active(anon): 5 kB\nHugePages_Total:     512\nHugepagesize:       2048 kB\n"
    )
    assert parse_memory(text) == Memory(32819636 * 1024, 30021280 * 1024, 2097148 * 1024, 512, 2048 * 1024)
    # in a container, /sys may not show them
    text += "HugePages_Free:      500\nHugePages_Rsvd:      100\n"
    assert parse_memory(text).huge_pages == (HugePages(2048 * 1024, 512, 500, 100),)
    folder = "/sys/kernel/mm/hugepages/hugepages-{0}kB/{1}_hugepages:{2}\n"
    numbers = [("1048576", "nr", 4), ("1048576", "free", 3), ("1048576", "resv", 0)]
    numbers += [("2048", "nr", 512), ("2048", "free", 500), ("2048", "resv", 101), ("64", "nr", 1)]
    numbers += [("2048", "nr_overcommit", 30), ("2048", "surplus", 10)]
    assert parse_memory(text + "".join(folder.format(*each) for each in numbers)).huge_pages == (
        HugePages(2048 * 1024, 512, 500, 101, 30, 10),
        HugePages(1 << 30, 4, 3, 0),
    )


def test_free_huge_pages_are_those_that_nobody_was_promised() -> None:
    pages = HugePages(2 << 20, 512, 500, 100)
    assert (pages.total_bytes, pages.available_bytes, pages.surplus_bytes) == (1 << 30, 400 * (2 << 20), 0)


@pytest.mark.parametrize(("overcommit", "surplus", "more"), [(30, 10, 20), (30, 30, 0), (0, 10, 0)])
def test_surplus_pages_are_those_that_the_kernel_may_still_make(overcommit: int, surplus: int, more: int) -> None:
    assert HugePages(2 << 20, 512, 500, 100, overcommit, surplus).surplus_bytes == more * (2 << 20)


def test_memory_of_an_old_kernel_says_nothing_of_available() -> None:
    assert parse_memory("MemTotal: 1024 kB\nMemFree: 5 kB\n") == Memory(1024 * 1024, None, 0)


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("control_group_limit=1024", 1024),
        (f"control_group_limit={1024 * 1024 - 1}", 1024 * 1024 - 1),
        (f"control_group_limit={1024 * 1024}", None),  # limits nothing
        (f"control_group_limit={'9' * 18}", None),
        (f"control_group_limit={'9' * 40}", None),
        *((f"control_group_limit={word}", None) for word in ("", "0", "max", "-1", "1 kB", "\u0663")),
    ],
)
def test_a_control_group_may_limit_the_memory(said: str, limit: int | None) -> None:
    memory = parse_memory(f"MemTotal: 1024 kB\n{said}\n")
    assert (memory.total_bytes, memory.limit_bytes) == (1024 * 1024, limit)
    assert memory.usable_bytes == (limit or 1024 * 1024)


def test_memory_that_was_read_before_limits_were_has_none() -> None:
    known = Memory(1024, 512, 0, limit_bytes=100)
    assert documents.load(Memory, documents.dump(known)) == known
    earlier = {name: value for name, value in documents.to_plain(known).items() if name != "limit_bytes"}
    assert documents.load(Memory, json.dumps(earlier)) == replace(known, limit_bytes=None)


@pytest.mark.parametrize("text", ["", "MemTotal: lots\n", "MemTotal: 0 kB\n"])
def test_no_memory(text: str) -> None:
    with pytest.raises(ParseError, match="MemTotal"):
        parse_memory(text)


IP = r"""1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN \    link/loopback 00:00:00:00:00:00
2: eth0@if5: <BROADCAST,UP> mtu 9000 qdisc mq state UP qlen 1000\    link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff
3: ib0: <BROADCAST> mtu 2044 qdisc mq state DOWN \    link/ether 02:fc:00:00:00:07 brd ff:ff:ff:ff:ff:ff
1: lo    inet 127.0.0.1/8 scope host lo\       valid_lft forever preferred_lft forever
2: eth0    inet 10.0.0.11/24 brd 10.0.0.255 scope global eth0\       valid_lft forever
2: eth0    inet6 fe80::fc:ff:fe00:1/64 scope link \       valid_lft forever
"""


def test_network_from_ip_with_the_speed_of_sysfs() -> None:
    links = parse_network(
        IP + "sysfs eth0 up 9000 02:fc:00:00:00:01 10000\nsysfs lo unknown 65536 00:00:00:00:00:00 -\n"
    )
    assert links[1] == NetworkLink("eth0", "up", 10_000_000_000, 9000, ("10.0.0.11/24", "fe80::fc:ff:fe00:1/64"))
    assert links[2] == NetworkLink("ib0", "down", None, 2044, ())


@pytest.mark.parametrize("speed", ["-1", "4294967295", "-", "0"])
def test_network_speed_that_is_none(speed: str) -> None:
    (link,) = parse_network(f"sysfs eth0 up 1500 02:fc:00:00:00:01 {speed}\n")
    assert link == NetworkLink("eth0", "up", None, 1500, ())


def test_network_of_another_name_space_is_not_taken_for_ours() -> None:
    assert parse_network(IP + "sysfs eth0 up 1400 aa:aa:aa:aa:aa:aa 10000\n")[1].bits_per_second is None


def test_no_network() -> None:
    with pytest.raises(ParseError, match="an interface"):
        parse_network("sh: ip: not found\n")


def test_tools() -> None:
    tools = parse_tools(
        "tool fio /usr/bin/fio\n: fio-3.33\n"
        "tool dd /bin/dd\n: dd (coreutils) 9.1\n: Copyright\n"
        "tool bonnie++ /usr/sbin/bonnie++\n: usage:\n: Version: 1.03e\n"
        "tool pg_test_fsync /opt/pg dir/bin/pg_test_fsync\n: pg_test_fsync (PostgreSQL) 18beta1\n"
        "tool ssh /usr/bin/ssh\n: OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026\n"
        "tool rsync /usr/bin/rsync\n: rsync  version 3.2.7  protocol version 31\n"
        "tool lz4 /usr/bin/lz4\n: *** LZ4 command line interface 64-bits v1.9.4, by Yann Collet ***\n"
        "tool socat \ntool nc /bin/nc\n"
    )
    assert tools == (
        Tool("fio", "/usr/bin/fio", "3.33"),
        Tool("dd", "/bin/dd", "9.1"),
        Tool("bonnie++", "/usr/sbin/bonnie++", "1.03e"),
        Tool("pg_test_fsync", "/opt/pg dir/bin/pg_test_fsync", "18beta1"),
        Tool("ssh", "/usr/bin/ssh", "9.2p1"),
        Tool("rsync", "/usr/bin/rsync", "3.2.7"),
        Tool("lz4", "/usr/bin/lz4", "1.9.4"),
        Tool("socat", None, None),
        Tool("nc", "/bin/nc", None),
    )


def test_tools_with_a_line_of_nobody() -> None:
    with pytest.raises(ParseError, match=r"^tools: "):
        parse_tools("Segmentation fault\n")

"""Files of every shape, written whole or not at all; masking; what tables and plots become."""

import csv
import dataclasses
import io
import json
import os
import re
import sys
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from core.errors import InputError
from core.facts.catalog import Certificate, ClusterWide, HbaRule, Receiver, RoleSetting, Setting, Slot
from core.facts.host_environment import HostEnvironment, Scheduled
from core.facts.model import Cluster, Facts, FileSystem
from core.migration.model.checks import Status
from core.reports.kinds.storage import StorageReport
from core.reports.make import Format, Kind, content, of_move, of_storage, write
from core.reports.masking import Mask, server_names, user_names
from core.reports.model import Document, Section, Text, drawings, tables
from core.reports.options import Options
from core.reports.report import Report
from core.servers.profiles import Profile
from tests.core.reports.documents import document_of
from tests.core.reports.reading import words

HOSTILE = "<script>alert(1)</script>|`x`\n=cmd()\u202e"


@pytest.fixture
def document(full: Report) -> Document:
    return of_move(Kind.PLAN, full, Options())


@pytest.fixture
def hostile(full: Report) -> Document:
    checks = tuple(dataclasses.replace(one, message=HOSTILE, old=HOSTILE) for one in full.checks or ())
    move = dataclasses.replace(full.move, name=HOSTILE)
    return of_move(Kind.PLAN, dataclasses.replace(full, move=move, checks=checks), Options())


def _one(document: Document, shape: Format) -> str:
    return content(document, Options(), shape)[""].decode()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        assert not any(name in {"src", "href"} and not str(value).startswith(("data:", "#")) for name, value in attrs)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_html_is_one_file_that_loads_nothing(hostile: Document) -> None:
    read = _Tags()
    read.feed(_one(hostile, Format.HTML))
    assert "script" not in read.found
    assert read.found.count("svg") == len(drawings(hostile))
    assert read.found.count("table") == len(tables(hostile))
    text = "".join(read.text)
    assert "<script>alert(1)</script>|`x`" in text
    assert "\u202e" not in text
    assert "<U+202E>" in text


def test_html_shows_code_as_such(full: Report) -> None:
    told = dataclasses.replace(next(iter(full.checks or ())), status=Status.WARNING, message="x", hint="Run `a <b>`.")
    made = _one(of_move(Kind.PLAN, dataclasses.replace(full, checks=(told,)), Options()), Format.HTML)
    assert "Run <code>a &lt;b&gt;</code>." in made


def test_markdown_holds_no_markup_of_others(hostile: Document) -> None:
    text = _one(hostile, Format.MARKDOWN)
    assert "<script>" not in text
    assert r"\<script\>alert(1)\</script\>\|\`x\`" in text
    heads = [line for line in text.splitlines() if re.fullmatch(r"\| (---:?( \| )?)+ \|", line)]
    assert len(heads) == len(tables(hostile))
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line in heads:
            cells = len(re.findall(r"(?<!\\)\|", line))
            assert len(re.findall(r"(?<!\\)\|", lines[number - 1])) == cells
            assert len(re.findall(r"(?<!\\)\|", lines[number + 1])) == cells


def test_tables_as_csv_hold_figures_and_no_formulas(hostile: Document, storages: StorageReport) -> None:
    files = content(of_storage(storages, Options()), Options(), Format.CSV)
    rows = list(csv.reader(io.StringIO(files["storage.csv"].decode(), newline="")))
    assert rows[0][:2] == ["Workload", "Metric"]
    assert float(rows[3][2]) == pytest.approx(83.9e6 * (1 + 0.013 / 3))
    checks = content(hostile, Options(), Format.CSV)["checks.csv"].decode()
    for row in csv.reader(io.StringIO(checks, newline="")):
        assert not any(cell.startswith(("=", "+", "@")) for cell in row)
    assert len(files) == len(tables(of_storage(storages, Options())))


def test_json_holds_all(document: Document) -> None:
    read = json.loads(_one(document, Format.JSON))
    assert read["schema_version"] == 1
    assert [one["words"] for one in read["answers"]] == [one.words for one in document.answers]
    assert len(read["sections"]) == len(document.all_sections)
    assert '"value": 13680.0' in _one(document, Format.JSON)


def test_plots_as_svg_are_xml_with_their_words(hostile: Document) -> None:
    files = content(hostile, Options(), Format.SVG)
    assert len(files) == len(drawings(hostile))
    for made, plot in zip(files.values(), drawings(hostile), strict=True):
        read = ET.fromstring(made.decode())  # noqa: S314  made here
        assert read.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(read) == len(plot.marks) + 1


@pytest.mark.parametrize("kind", list(Kind))
def test_masking_leaves_no_name(full: Report, storages: StorageReport, kind: Kind) -> None:
    """Also where a name begins a sentence, and in the raw outputs of tools."""
    options = Options(masked=True, functions=True, raw=True)
    assert full.old_facts is not None
    assert full.old_facts.system is not None
    hostname = full.old_facts.system.hostname
    named = f"Measured on {hostname.upper()} by dba@desk, with acme_app and acme-sb1"
    said = dataclasses.replace(full.runs[0].repetitions[0], raw=named)
    run = dataclasses.replace(full.runs[0], repetitions=(said, *full.runs[0].repetitions[1:]))
    clusters = tuple(dataclasses.replace(each, wide=WIDE) for each in full.old_facts.clusters)
    facts = dataclasses.replace(full.old_facts, clusters=clusters)
    checks = tuple(dataclasses.replace(each, old=named) for each in full.checks or ())
    full = dataclasses.replace(full, runs=(run, *full.runs[1:]), old_facts=facts, checks=checks)
    storages = dataclasses.replace(storages, runs=full.runs, facts=(facts,))
    made = document_of(kind, full, storages, options)
    everything = (words(made.all_sections) + made.title + made.subtitle + str(made.answers)).lower()
    assert hostname.lower() not in everything
    for name in ("gannon-old", "gannon-new", "10.0.0.35", "10.0.0.36", "bastion", "dba@desk", "acme"):
        assert name not in everything
    assert "server-1" in everything
    plain = document_of(kind, full, storages, Options())
    assert "gannon-old" in words(plain.all_sections)


def test_a_mask_knows_a_name_in_whatever_letters_it_is_written() -> None:
    mask = Mask(["srv-s", "DB1"]).text
    assert mask("SRV-S, db1 and \u017frv-\u017f") == "server-1, server-2 and server-1"
    assert mask("srv-s.example and adb1") == "server-1.example and adb1"


NAMELESS = {
    "{}:/export on /backup type nfs4 (rw,addr=10.0.0.9)": "nfs1.corp.example",
    "admins@{}:/srv/backup": "nfs3",
    "mon1,mon2,{}:6789:/ /ceph": "mon3",
    "//{}/share /mnt cifs": "filer.corp.example",
    "primary_conninfo = 'user=repl host={} port=5432'": "standby1",
    "host={}": "standby1.corp.example",
    "host={},b.example port=1": "a.example",
    "host=a.example,{}.": "b.example",
    "hostaddr='{}'": "10.0.0.9",
    'host = "{}"': "standby2",
    "pg_dump -h {} -p 5433 main": "standby3",
    "psql --host={}": "standby4",
    "psql --host {} main": "standby5",
    "postgresql://{}:5432/main": "standby6",
    "postgresql://a.example,{}/main": "standby7",
    "postgres://repl:x@{}": "standby8",
    "link/ether {} brd ff:ff:ff:ff:ff:ff": "52:54:00:12:34:56",
    "eth0: {}.": "52:54:00:AB:cd:eF",
    "Physical Address: {}": "52-54-00-12-34-56",
    "arp {}": "5254.0012.3456",
    "{}: UP": "enx525400123456",
    "10.0.0.9:5432 and {}:22": "10.0.0.10",
    "{}:/export on /backup type nfs (rw)": "10.0.0.11",
    "listens on {} and [::]:5432": "::ffff:10.0.0.9",
    "ldap ldapserver={} ldapport=389": "ldap1.corp.example",
    'radiusservers="a.example,{}"': "radius2",
    "ldaps://{}:636/dc=corp": "ldap2",
    "application_name={}": "standby9",
    "application_name = '{}'": "web-01",
    "primary_conninfo = 'application_name={} sslmode=require'": "standby10",
    "postgresql://a.example/shop?fallback_application_name={}": "batch4",
    "synchronous_standby_names = 'FIRST 2 (a.example, {})'": "standby11",
    "synchronous_standby_names=ANY 1 ({},b.example)": "standby12",
    "synchronous_standby_names = 'a.example, {}'": "standby13",
    'synchronous_standby_names = 2 (a.example, "{}")': "standby14",
    "synchronous_standby_names={}, wal_level=replica": "standby15",
    "ALTER SYSTEM SET synchronous_standby_names TO '{}'": "standby16",
    "{}:gv0 /srv/pg fuse.glusterfs rw,relatime 0 0": "gluster1",
    "{}:gv0 on /srv/pg type fuse.glusterfs (rw)": "gluster2.corp.example",
    "a.example:/gv0 /srv glusterfs backup-volfile-servers={}:b.example 0 0": "gluster3",
    "backupvolfile-server={}": "gluster4",
    "gluster+tcp://{}:24007/gv0": "gluster5",
    "/dev/disk/by-path/ip-10.0.0.9:3260-iscsi-{}-lun-1": "iqn.2001-04.com.example:storage.disk-1",
    "InitiatorName={}": "iqn.1993-08.org.debian:01:4f2a9c",
    "tcp: [1] 10.0.0.9:3260,1 {} (non-flash)": "iqn.2003-01.org.linux-iscsi.san1.x8664:sn.4a",
    "target {}, lun 3": "IQN.2001-04.com.example",
    "subsysnqn={}": "nqn.2014-08.com.example:nvme:disk2",
    "primary_conninfo = 'user={} password=x'": "repl_shop",
    "User={}": "acme_pg",
    "//a.example/share /mnt cifs username={},vers=3": "acme_smb",
    "psql -U {} shop": "acme_app",
    "pg_dump --username={} shop": "acme_dump",
    "pg_dump --username {} shop": "acme_dump",
    "postgresql://{}:x@localhost/shop": "acme_web",
    "postgresql://{}@localhost/shop": "acme_web",
    "sudo -u {} psql": "acme_os",
    "link/infiniband {}": "80:00:02:08:fe:80:00:00:00:00:00:00:f4:52:14:03:00:7b:cb:a1",
}

ALSO_NAMELESS = ("mon1", "mon2", "a.example", "b.example", "10.0.0.9", "repl")


@pytest.mark.parametrize(("text", "name"), NAMELESS.items())
@pytest.mark.parametrize("around", ["{}", "It says: {}", "({})", "{}\nand\n{}"])
def test_a_mask_replaces_what_nobody_has_named(text: str, name: str, around: str) -> None:
    mask = Mask(["gannon"], ["dba"])
    said = around.replace("{}", text.replace("{}", name))
    expected = re.escape(said)
    for each in (name, *ALSO_NAMELESS):
        expected = re.sub(rf"(?<!\w){re.escape(re.escape(each))}(?!\w)", r"(?:server|address|user)-\\d", expected)
    masked = mask.text(said)
    assert re.fullmatch(expected, masked)
    assert name not in masked
    assert mask.text(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "Copy changed files: /srv/pg/data",
        "https://www.postgresql.org/docs/15/app-pgbasebackup.html",
        "file:///srv/x and file:/srv/x",
        "link/loopback 00:00:00:00:00:00 brd ff:ff:ff:ff:ff:ff",
        "2026-03-14 05:06:07 UTC, 05:06:07",
        "host=/var/run/postgresql host=localhost",
        "df -h /srv; pg_dump -h /tmp -h localhost",
        "localhost:/export, old:/srv, new:/srv",
        "host all all samenet scram-sha-256",
        "/srv//a/b and 1/2//3",
        "SHA256:ab:cd:ef, aes128-gcm@openssh.com",
        "pci 0000:00:1f.2",
        "application_name=psql application_name = pg_basebackup",
        "cluster_name = '15/main' application_name=15/main",
        "synchronous_standby_names = '*' or '' or synchronous_standby_names=, wal_level=replica",
        "synchronous_standby_names=\nwal_level=replica\nuser=\nshop",
        "User=postgres user=root superuser=x database_user=y",
        "sudo -u postgres psql -U postgres -U 5",
        "only a user to whom psql answers",
    ],
)
def test_a_mask_leaves_what_names_no_server(text: str) -> None:
    assert Mask(["gannon"], ["dba"]).text(text) == text


WIDE = ClusterWide(
    settings=(Setting("synchronous_standby_names", 'ANY 1 (acme-sb1, "acme-sb2")', "configuration file"),),
    hba=(
        HbaRule(1, "host", "shop", "acme_app,+acme_admins", "pool.acme.example", "md5", ""),
        HbaRule(2, "host", "all", "all,backup", ".acme.test", "ldap", "", ("ldapserver=ad1.acme.example ad2",)),
        HbaRule(3, "host", "replication", "/^acme_r[0-9]", "10.0.0.0/255.0.0.0", "md5", ""),
    ),
    role_settings=(RoleSetting("", "acme_batch", "timezone", "UTC"),),
    slots=(Slot("acme_sb3", "physical", "", active=True), Slot("acme_changes", "logical", "shop", active=True)),
    receivers=(Receiver("acme-sb4", "10.0.0.5", "streaming"), Receiver("walreceiver", "10.0.0.6", "streaming")),
    certificate=Certificate("server.crt", datetime(2027, 1, 1, tzinfo=UTC), ("db.acme.example", "*.acme.test")),
)
NAMING = Facts(
    "pluto",
    datetime(2026, 11, 30, tzinfo=UTC),
    1.0,
    1,
    clusters=(Cluster("/srv/pg", "15", "15.5", running=True, port=5432, owner="acme_pg", wide=WIDE),),
    file_systems=(FileSystem("/srv", "acme-gl1:gv0", "fuse.glusterfs", (), 1, 1),),
    host_environment=HostEnvironment(schedule=(Scheduled("/etc/crontab", "acme_cron", "true"),)),
)
SERVERS = {
    *("acme-gl1", "acme-sb1", "acme-sb2", "acme_sb3", "acme-sb4", "ad1.acme.example", "ad2"),
    *("db.acme.example", "acme.test", "pool.acme.example"),
}
USERS = {"acme_app", "acme_admins", "acme_r", "acme_batch", "acme_pg", "acme_cron", "acme_queries", "acme_os"}


def test_facts_name_servers_and_users_besides_those_of_the_profiles() -> None:
    profile = Profile("pluto", "192.0.2.1", database_user="acme_os")
    assert set(server_names((), (NAMING, None))) == SERVERS
    assert set(user_names((profile,), (NAMING, None), ("acme_queries", "backup"))) == USERS


def test_what_facts_name_is_replaced_wherever_it_stands_and_sentences_stay_whole() -> None:
    """A role may be called as a word of the report is, such as `backup` or `all`."""
    mask = Mask(server_names((), (NAMING,)), ("ada",), user_names((), (NAMING,)))
    for name in SERVERS:
        assert re.fullmatch(r"A server-\d+, and no more\.", mask.text(f"A {name.upper()}, and no more."))
    for name in USERS - {"acme_queries", "acme_os"}:
        masked = mask.text(f"pg_hba.conf line 5: host shop all,+{name} samenet")
        assert re.fullmatch(r"pg_hba.conf line 5: host shop all,\+user-\d samenet", masked)
    said = "Take a base backup of all databases: the existing ones end with the old cluster. 15/main, walreceiver."
    assert mask.text(said) == said


def test_a_server_has_one_word_wherever_it_stands() -> None:
    mask = Mask(["nfs1"]).text
    assert (
        mask("nfs1:/a nfs1.corp.example:/b host=NFS1 //nfs1/c") == "server-1:/a server-1:/b host=server-1 //server-1/c"
    )
    assert mask("b.example:/x host=b.example") == "server-2:/x host=server-2"


@pytest.mark.parametrize("shape", [Format.PDF, Format.HTML])
def test_it_replaces_a_file_in_one_go(document: Document, tmp_path: Path, shape: Format) -> None:
    path = tmp_path / "it's $(touch x) ö.pdf"
    path.write_text("the report of last week")
    write(document, Options(), shape, path, replacing=True)
    assert path.read_bytes().startswith(b"%PDF" if shape is Format.PDF else b"<!DOCTYPE html>")
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("path", "shape", "said"),
    [
        ("missing/report.pdf", Format.PDF, "there is no folder"),
        ("file/report.pdf", Format.PDF, "there is no folder"),
        (".", Format.PDF, "is a folder"),
        ("file", Format.CSV, "is a file"),
    ],
)
def test_a_target_that_cannot_be(document: Document, tmp_path: Path, path: str, shape: Format, said: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=said):
        write(document, Options(), shape, tmp_path / path)
    assert sorted(found.name for found in tmp_path.iterdir()) == ["file"]


@pytest.mark.parametrize("shape", list(Format))
def test_it_replaces_nothing_unasked(document: Document, tmp_path: Path, shape: Format) -> None:
    path = tmp_path / "report"
    first = next(iter(content(document, Options(), shape)))
    there = path / first if first else path
    there.parent.mkdir(exist_ok=True)
    there.write_text("the report of last week")
    with pytest.raises(InputError, match="exists already") as refused:
        write(document, Options(), shape, path)
    assert "--replace" in refused.value.hint
    assert there.read_text() == "the report of last week"
    assert [found.name for found in there.parent.iterdir()] == [there.name]
    write(document, Options(), shape, path, replacing=True)
    assert there.read_bytes() != b"the report of last week"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, a folder that takes no file even from root")
def test_a_folder_that_takes_no_file(document: Document) -> None:
    with pytest.raises(InputError, match="cannot be written") as refused:
        write(document, Options(), Format.HTML, Path("/proc/report.html"))
    assert "choose a folder" in refused.value.hint


def test_a_disk_that_fills_up_keeps_the_old_file(
    document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "report.html").write_text("the report of last week")

    def full_disk(descriptor: int) -> None:  # noqa: ARG001  as os.fsync
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InputError, match="cannot be written: the disk is full"):
        write(document, Options(), Format.HTML, folder / "report.html", replacing=True)
    assert (folder / "report.html").read_text() == "the report of last week"
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize(
    ("text", "shown"), [("15. March", r"15\. March"), ("2) b", r"2\) b"), ("- a", r"\- a"), ("1.5 GB", "1.5 GB")]
)
def test_markdown_begins_no_list_of_its_own(document: Document, text: str, shown: str) -> None:
    made = dataclasses.replace(document, sections=(Section("S", (Text(text),)),))
    assert shown in _one(made, Format.MARKDOWN).splitlines()

"""What a data directory weighs and leads to, what SQL says of it, and how a cluster is put together."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from core.errors import ParseError
from core.facts.catalog import Bloated, Catalogs, Collation, Edited, Extension, Library, Ordered, Setting, Slot
from core.facts.cluster_configuration import ConfigurationFile, parse_start_files
from core.facts.clusters import read_clusters
from core.facts.data_files import LINKS, SIZE, WRITTEN, Contents, parse_links, parse_size, parse_written, total_size
from core.facts.databases import catalog_gaps, parse_settings, parse_sql
from core.facts.discovery import Candidate
from core.facts.model import Database, Gap, Link, Tablespace
from core.facts.reader import NOT_REACHED
from core.facts.sections import Answer
from tests.core.facts import asking

CONTROL = Path(__file__).parents[2] / "data" / "pg_controldata" / "translated-15.18-C.txt"
HORRIBLE = 'it\'s $(touch x) "ö"\n\udcff'


def digits(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").hex()


def test_the_size_of_a_folder_is_what_du_says_and_hard_links_count_once(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(os.fsencode(HORRIBLE))
    (folder / "base").mkdir(parents=True)
    (folder / "base" / "one").write_bytes(b"x" * 300_000)
    (folder / "base" / "two").hardlink_to(folder / "base" / "one")
    with (folder / "sparse").open("wb") as sparse:
        sparse.truncate(50_000_000)
    (folder / "link").symlink_to("/etc")
    said = subprocess.run(["du", "-s", "-B1", "--", folder], capture_output=True, check=True).stdout
    # a copy reads and writes the holes of a sparse file, and what a file system compressed, whole
    taken = (folder / "sparse").stat().st_blocks * 512
    assert parse_size(asking.text(SIZE, cluster_folder=folder)) == (int(said.split()[0]) - taken + 50_000_000, 3)


def test_what_was_written_to_lately_counts_whole_but_for_wal(tmp_path: Path) -> None:
    folder, space = tmp_path / "data", tmp_path / os.fsdecode(os.fsencode(HORRIBLE))
    for each in (folder / "pg_tblspc", folder / "pg_wal", folder / "base", space):
        each.mkdir(parents=True)
    (folder / "pg_tblspc" / "16400").symlink_to(space)
    for name, size in {"pg_wal/segment": 16, "base/written": 300, "base/old": 5000}.items():
        (folder / name).write_bytes(b"x" * size)
    (space / "relation").write_bytes(b"x" * 7)
    os.utime(folder / "base" / "old", (1_600_000_000, 1_600_000_000))
    assert parse_written(asking.text(WRITTEN, cluster_folder=folder, cluster_pid="1")) == 307


@pytest.mark.parametrize("text", ["", "-", "1 2", "1e9", "-5"])
def test_written_bytes_that_are_none(text: str) -> None:
    with pytest.raises(ParseError):
        parse_written(text)


def test_links_tablespaces_and_leftovers_of_any_name(tmp_path: Path) -> None:
    folder, space, wal = tmp_path / "data", tmp_path / os.fsdecode(os.fsencode(HORRIBLE)), tmp_path / "wal"
    for each in (folder / "pg_tblspc", folder / "base" / "pgsql_tmp", space, wal):
        each.mkdir(parents=True)
    (wal / "segment").write_bytes(b"x" * 8192)
    (folder / "pg_tblspc" / "16400").symlink_to(space)
    (folder / "pg_wal").symlink_to("../wal")
    (folder / "gone").symlink_to("/nowhere/at all")
    (folder / "server.crt").symlink_to("/etc/hostname")
    (wal / "lost+found").mkdir(mode=0)
    (folder / "base" / "pgsql_tmp" / "pgsql_tmp12.0").touch()
    found = parse_links(asking.text(LINKS, cluster_folder=folder))
    size = parse_size(asking.text(SIZE, cluster_folder=wal))
    assert found.links == (
        Link("gone", "/nowhere/at all", dangling=True, written="/nowhere/at all"),
        Link("pg_wal", str(wal), dangling=False, size_bytes=size[0], files=1, written="../wal"),
        Link("server.crt", "/etc/hostname", dangling=False, to_file=True, written="/etc/hostname"),
    )
    (tablespace,) = found.tablespaces
    assert (tablespace.oid, tablespace.link, tablespace.files) == (16400, "pg_tblspc/16400", 0)
    assert tablespace.location == str(tmp_path) + "/" + HORRIBLE
    assert found.leftovers == ("base/pgsql_tmp/pgsql_tmp12.0",)


@pytest.mark.parametrize("text", ["", "- -", "12", "12 a", "-1 2"])
def test_a_size_that_is_none(text: str) -> None:
    with pytest.raises(ParseError):
        parse_size(text)


@pytest.mark.parametrize(
    "text",
    [
        "find: x\n",
        "link folder 1 2 =zz =aa =aa\n",
        "leftover =abc\n",
        "link gone - - =61 = =\n",
        "link file - - =61 =62\n",
    ],
)
def test_links_that_are_none(text: str) -> None:
    with pytest.raises(ParseError, match=r"^links: "):
        parse_links(text)


def test_the_total_counts_every_place_once() -> None:
    contents = Contents(
        tablespaces=(
            Tablespace(1, "pg_tblspc/1", "/fast/space", 1000, 10),
            Tablespace(2, "pg_tblspc/2", "/srv/data/inside", 500, 5),
        ),
        links=(
            Link("pg_wal", "/wal", dangling=False, size_bytes=300, files=3),
            Link("also", "/wal", dangling=False, size_bytes=300, files=3),
            Link("deeper", "/wal/deeper", dangling=False, size_bytes=100, files=1),
            Link("gone", "/gone", dangling=True),
            Link("server.crt", "/etc/server.crt", dangling=False, to_file=True),
        ),
        leftovers=(),
    )
    assert total_size("/srv/data", (7000, 70), contents) == (8300, 83)


def test_the_total_is_unknown_where_one_place_is() -> None:
    contents = Contents((), (Link("certificate", "/etc/ssl/key", dangling=False),), ())
    assert total_size("/srv/data", (7000, 70), contents) is None


def row(kind: str, *values: object) -> str:
    return "|".join((kind, *(digits(str(value)) for value in values))) + "\n"


SQL = (
    row("setting", "server_version", "15.5 (Debian 15.5-0)")
    + row("setting", "port", 5433)
    + row("setting", "cluster_name", "")
    + row("setting", "unix_socket_directories", "@hidden, /run/x")
    + row("database", "shop|x", 8000, "UTF8", "de_AT.UTF-8", "C", "c", "", "2.36", "2.36", "f")
    + row("database", "template1", 7000, "UTF8", "C", "C", "c", "", "", "", "t")
    + "libc de_AT.UTF-8\n"
    + row("recovery", "f")
    + row("source", "ssl_key_file", "/etc/key", "f", "configuration file", "/etc/postgresql.conf", 7)
    + row("source", "primary_conninfo", "", "t", "command line", "", "")
    + row("slot", "standby", "physical", "", "t")
    + row("kept", 33554432)
    + row("idle", 50331648)
    + row("wide", "postgres")
    + row("detail", "shop|x", 12, 4000, 900)
    + row("objects", 5, 4, 3)
    + row("toasted", 2)
    + row("bloated", "public.bay", 4000, 1500)
    + row("extension", "pg_trgm", "1.6")
    + row("library", "$libdir/pg_trgm", 31, "show_trgm")
    + row("collation", "default", "c", "de_AT.UTF-8", "2.36", "2.36", 3, 900)
    + row("ordered", "index", "public.i\n1", "t", "default,und-x-icu", 900)
    + row("unlogged", 2)
    + row("whole", "shop|x")
    + f"sorted de_AT.UTF-8 {'0' * 64}\n"
)
"""What the section prints: settings, databases, the cluster as a whole, each database, sums of a sorted list."""


def test_sql() -> None:
    answers = parse_sql(SQL)
    assert answers.settings["cluster_name"] == ""
    shop, template = answers.databases
    assert shop == Database(
        "shop|x",
        8000,
        12,
        4000,
        900,
        "UTF8",
        "de_AT.UTF-8",
        "C",
        "libc",
        "de_AT.UTF-8",
        "2.36",
        "2.36",
        catalogs=Catalogs(
            (Extension("pg_trgm", "1.6"),),
            (Library("$libdir/pg_trgm", 31, "show_trgm"),),
            (Collation("default", "libc", "de_AT.UTF-8", "2.36", "2.36", 3, 900),),
            (Ordered("index", "public.i\n1", "t", ("default", "und-x-icu"), 900),),
            unlogged=2,
            tables=5,
            indexes=4,
            large_objects=3,
            toast_tables=2,
            bloated=(Bloated("public.bay", 4000, 1500),),
        ),
    )
    assert (template.template, template.catalogs) == (True, None)
    assert answers.wide is not None
    assert (answers.wide.kept_wal_bytes, answers.wide.idle_wal_bytes) == (33554432, 50331648)
    assert answers.wide.slots == (Slot("standby", "physical", "", active=True),)
    assert answers.wide.settings[0] == Setting(
        "ssl_key_file", "/etc/key", "configuration file", "/etc/postgresql.conf", 7
    )
    assert answers.wide.settings[1].value is None
    assert answers.collation_order == {"de_AT.UTF-8": "0" * 64}
    assert catalog_gaps(answers, "", "/srv/data") == ()


def test_what_a_database_did_not_end_is_not_believed() -> None:
    """Its last line is missing, for a query failed: what came before it is not whole, and no other database's."""
    cut = SQL.replace(row("whole", "shop|x"), "").replace(row("wide", "postgres"), "")
    cut += row("detail", "gone", 1, 1, 1) + row("whole", "gone")
    answers = parse_sql(cut)
    assert (answers.databases[0].relations, answers.databases[0].catalogs, answers.wide) == (12, None, None)
    said = "psql:<stdin>:9: ERROR:  canceling statement due to lock timeout\nmore\n"
    assert catalog_gaps(answers, said, "/srv/data") == (
        Gap("sql", "catalogs of shop|x of /srv/data", "canceling statement due to lock timeout", "/srv/data"),
        Gap(
            "sql", "catalogs of the whole cluster of /srv/data", "canceling statement due to lock timeout", "/srv/data"
        ),
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "psql: error: connection failed\n", "database|xyz|1\n", "setting|a|b\n", "sorted x y\n"),
        SQL + row("detail", "shop|x", "many", 1, 1) + row("whole", "shop|x"),
    ],
)
def test_sql_that_is_none(text: str) -> None:
    with pytest.raises(ParseError, match=r"^(psql|sort): "):
        parse_sql(text)


def test_settings_of_a_stopped_cluster() -> None:
    assert parse_settings(f"port={digits('5432')}\nssl=\n") == {"port": "5432", "ssl": ""}
    for text in ("FATAL: no\n", "unknown=00\n", "port=xy\n"):
        with pytest.raises(ParseError, match=r"^postgres -C: "):
            parse_settings(text)


def answered(number: int, **texts: str) -> dict[str, Answer]:
    named = {f"{number}/{word.replace('_', '-')}": text for word, text in texts.items()}
    return {name: Answer(name, text.encode(), "", 0) for name, text in named.items()}


def place(folder: str, inode: int = 5) -> str:
    return f"id=8:{inode}\nuid=1500\nowner=postgres\nfolder={digits(folder)}\n"


TOOL = "tool=pg_controldata (PostgreSQL) 15.5\n"
LIMITS = "Max open files            1024                 524288               files     \nparent=init\nrestart=always\n"
IDENTITY = (
    f"series=15\npid=77\nport=5433\nversion=postgres (PostgreSQL) 15.5\nbin={digits('/opt/pg/bin')}\n"
    f"socket={digits('/tmp')}\nleftover postmaster.pid\n"
)


def test_a_running_cluster() -> None:
    answers = answered(
        0,
        place=place("/srv/data"),
        identity=IDENTITY,
        control=TOOL + CONTROL.read_text(encoding="utf-8"),
        process=LIMITS,
        irregular_files="mode 700\nholes 0\n",
        size="4096 3\n",
        written="2048\n",
        links=f"link folder 1000 2 ={digits('pg_wal')} ={digits('/wal')} ={digits('/wal')}\n",
        sql=SQL,
        start_files=f"edited port f - {digits('5432')}|{digits('5433')}\nedited ssl_passphrase_command t - |\n"
        f"option work_mem f kB {digits('5120')}|{digits('4096')}\nwhole\n",
        configuration_files=f"file 1 settings required file absolute 0 {digits('/srv/data/postgresql.conf')}\nwhole\n",
    )
    found = read_clusters([Candidate("/data", ("named",), name="mine")], answers)
    (cluster,) = found.clusters
    assert found.gaps == ()
    assert cluster.start_complaints == ()
    assert cluster.configuration_files == (
        ConfigurationFile("/srv/data/postgresql.conf", "settings", "required", "file"),
    )
    assert cluster.edited == (Edited("port", "5432", "5433"), Edited("ssl_passphrase_command", None, None))
    assert cluster.options == (Edited("work_mem", "5120", "4096", "kB"),)
    assert (cluster.data_directory, cluster.version, cluster.running) == ("/srv/data", "15.5", True)
    assert (cluster.port, cluster.socket_directory, cluster.bin_directory) == (5433, "/tmp", "/opt/pg/bin")
    assert (cluster.size_bytes, cluster.files, cluster.written_bytes) == (5096, 5, 2048)
    assert cluster.settings["data_checksums"] == "off"
    assert "server_version" not in cluster.settings
    assert cluster.leftovers == ()
    assert "/srv/data: control" in found.raw
    assert (cluster.owner_uid, cluster.mode) == (1500, "700")
    assert cluster.control is not None
    assert cluster.control.read_by == "15.5"
    assert cluster.process is not None
    assert (cluster.process.limits.open_files, cluster.process.restart) == (1024, "always")


@pytest.mark.parametrize(
    ("settings", "config", "hba"),
    [
        ("", "/etc/o w=n.conf", None),
        (f"config_file={digits('/etc/real.conf')}\nhba_file={digits('/etc/hba')}\n", "/etc/real.conf", "/etc/hba"),
    ],
)
def test_files_that_the_last_start_of_a_stopped_cluster_named(settings: str, config: str, hba: str | None) -> None:
    """The server program tells what it reads, if it can be asked."""
    stopped = IDENTITY.replace("pid=77", "pid=")
    stopped += f"named={digits('config_file=/etc/o w=n.conf' + chr(10))}\nlost={digits('hba_file=hba' + chr(10))}\n"
    answers = answered(0, place=place("/srv/data"), identity=stopped, settings=settings)
    (cluster,) = read_clusters([Candidate("/srv/data", ("named",))], answers).clusters
    assert cluster.start_files == {"config_file": "/etc/o w=n.conf"}
    assert cluster.lost_start_files == {"hba_file": "hba"}
    assert (cluster.config_file, cluster.hba_file) == (config, hba)


def test_a_folder_found_under_two_names_is_one_cluster() -> None:
    answers = answered(0, place=place("/srv/data"), identity=IDENTITY) | answered(1, place=place("/srv/data"))
    found = read_clusters([Candidate("/srv/data", ("folder",)), Candidate("/data", ("systemd",), unit="u")], answers)
    (cluster,) = found.clusters
    assert (cluster.found_by, cluster.unit) == (("folder", "systemd"), "u")
    assert (cluster.size_bytes, cluster.control) == (None, None)
    assert {(gap.section, gap.of) for gap in found.gaps} == {
        (each, "/srv/data")
        for each in (
            *("configuration-files", "control", "irregular-files", "links", "process"),
            *("settings", "size", "sql", "start-files", "written"),
        )
    }


def test_programs_of_another_series_are_not_believed() -> None:
    answers = answered(0, place=place("/srv/data"), identity=IDENTITY.replace("15.5", "16.2"))
    (cluster,) = read_clusters([Candidate("/srv/data", ("folder",))], answers).clusters
    assert (cluster.version, cluster.bin_directory) == (None, None)


@pytest.mark.parametrize("tool", ["14.11", "16.2", "9.6.24", "18beta1"])
def test_a_control_data_tool_of_another_series_is_not_believed(tool: str) -> None:
    control = f"tool=pg_controldata (PostgreSQL) {tool}\n" + CONTROL.read_text(encoding="utf-8")
    found = read_clusters(
        [Candidate("/srv/data", ("folder",))], answered(0, place=place("/srv/data"), identity=IDENTITY, control=control)
    )
    assert found.clusters[0].control is None
    reason = next(gap.reason for gap in found.gaps if gap.subject == "control data of /srv/data")
    assert re.match(rf"pg_controldata {re.escape(tool)} .*\b15\b", reason)


@pytest.mark.parametrize("identity", ["series=\n", "hello\nseries=\n", "series=15\nbin=xx\n", ""])
def test_a_folder_that_is_no_cluster(identity: str) -> None:
    found = read_clusters([Candidate("/x", ("named",))], answered(0, place=place("/x"), identity=identity))
    assert found.clusters == ()
    assert found.gaps[0].subject == "version of /x"


def test_a_folder_that_was_never_reached() -> None:
    found = read_clusters([Candidate("/x", ("named",))], {})
    assert found.clusters == ()
    assert (found.gaps[0].subject, found.gaps[0].reason) == ("data directory /x", NOT_REACHED)


def test_what_keeps_a_server_from_starting() -> None:
    said = parse_start_files(f"complaint {digits(HORRIBLE)}\ncomplaint {digits('two')}\nwhole\n")
    assert (said.complaints, said.edited) == ((HORRIBLE, "two"), ())
    many = parse_start_files("beyond edited\nbeyond option\nwhole\n")
    assert (many.edited, many.options) == (None, None)
    for text in (
        "",
        "complaint 61",
        "complaint x\nwhole",
        "edited port f - 61\nwhole",
        "edited port f 61|62\nwhole",
        "edited port\nwhole",
        "beyond reason\nwhole",
        "new a f 61|61\nwhole",
    ):
        with pytest.raises(ParseError):
            parse_start_files(text)

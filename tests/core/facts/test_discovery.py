"""Where clusters may lie: Debian's list, systemd units, running servers, folders."""

import json

import pytest

from core.errors import ParseError
from core.facts.discovery import (
    Candidate,
    Unit,
    merge_candidates,
    parse_debian_clusters,
    parse_folders,
    parse_postmasters,
    parse_unit_candidates,
    parse_units,
    server_options,
    split_words,
)


def digits(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").hex()


DEBIAN = {
    "version": 15,
    "cluster": "main",
    "pgdata": "/srv/my data/15/main",
    "configdir": "/etc/postgresql/15/main",
    "port": "5432",
    "running": 0,
}


def test_debian_clusters_as_json() -> None:
    (found,) = parse_debian_clusters(json.dumps([DEBIAN]))
    assert found == Candidate(
        "/srv/my data/15/main",
        ("pg_lsclusters",),
        name="15/main",
        config_file="/etc/postgresql/15/main/postgresql.conf",
        unit="postgresql@15-main.service",
    )


def test_debian_clusters_as_text() -> None:
    found = parse_debian_clusters(
        "9.6 main 5433 online postgres /srv/my data/9.6/main /var/log/postgresql/postgresql-9.6-main.log\n"
        "15  main 5432 down   postgres /var/lib/postgresql/15/main syslog\n"
    )
    assert [(one.folder, one.name) for one in found] == [
        ("/srv/my data/9.6/main", "9.6/main"),
        ("/var/lib/postgresql/15/main", "15/main"),
    ]
    assert parse_debian_clusters("") == ()


@pytest.mark.parametrize(
    "text", ["[", "[1]", '[{"version": 15}]', '[{"pgdata": "x", "configdir": "/"}]', "Error: no clusters", "[" * 99_999]
)
def test_debian_clusters_that_are_none(text: str) -> None:
    with pytest.raises(ParseError, match=r"^pg_lsclusters: "):
        parse_debian_clusters(text)


UNITS = r"""unit /usr/lib/systemd/system/postgresql-15.service
: Environment=PGDATA=/var/lib/pgsql/15/data/
: ExecStart=/usr/pgsql-15/bin/postmaster -D ${PGDATA}
unit /etc/systemd/system/postgresql-15.service.d/override.conf
: Environment="PGDATA=/srv/pg \"data\"/it\x27s" OTHER=x
unit /etc/systemd/system/own.service
: ExecStart=-/opt/pg/bin/pg_ctl start -D '/data/own' -o "-p 5433"
unit /etc/systemd/system/split.service
: ExecStart=/usr/local/pgsql/bin/postgres -D /data/split -c config_file=/etc/pg/split.conf
unit /usr/lib/systemd/system/postgresql@.service
: ExecStart=-/usr/bin/pg_ctlcluster --skip-systemctl-redirect %i start
unit /usr/lib/systemd/system/pg-many@.service
: Environment=PGDATA=/srv/%i/data
: ExecStart=/usr/bin/postgres -D ${PGDATA}
unit /usr/lib/systemd/system/backup.service
: ExecStart=/usr/bin/pg_dumpall -f /backup/all.sql
"""


def test_units() -> None:
    assert parse_units(UNITS) == (
        Unit("postgresql-15.service", '/srv/pg "data"/it\'s', "/usr/pgsql-15/bin", None, options=()),
        Unit("own.service", "/data/own", "/opt/pg/bin", None, options=(("port", "5433"),)),
        Unit(
            "split.service",
            "/data/split",
            "/usr/local/pgsql/bin",
            "/etc/pg/split.conf",
            options=(("config_file", "/etc/pg/split.conf"),),
        ),
    )
    assert parse_units("") == ()


def test_units_of_users_and_files_of_their_environment() -> None:
    text = """unit /etc/systemd/system/own.service
: Environment=PGDATA=/srv/first
: EnvironmentFile=PGDATA="/srv/pg 2"
: ExecStart=/opt/pg/bin/pg_ctl start
user ann /home/ann
linger
enabled own.service
unit /home/ann/.config/systemd/user/own.service
: ExecStart=/opt/pg/bin/postgres -D %h/data
user bob /home/bob
enabled own.service
unit /home/bob/.config/systemd/user/own.service
: ExecStart=/opt/pg/bin/postgres -D /srv/bob
"""
    assert parse_units(text) == (
        Unit("own.service", "/srv/pg 2", "/opt/pg/bin", None, options=()),
        Unit("own.service", "/home/ann/data", "/opt/pg/bin", None, "ann", enabled=True, options=()),
        Unit("own.service", "/srv/bob", "/opt/pg/bin", None, "bob", enabled=False, options=()),
    )


def test_a_unit_names_its_candidate() -> None:
    found = parse_unit_candidates(UNITS)
    assert (found[0].name, found[0].unit, found[0].found_by) == ("postgresql-15", "postgresql-15.service", ("systemd",))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a b  c", ["a", "b", "c"]),
        (r"'a b'\x20c", ["a b c"]),
        (r'"PGDATA=/a\"b"', ['PGDATA=/a"b']),
        (r"a\sb", ["a b"]),
        ("", []),
        ('"unclosed', ["unclosed"]),
    ],
)
def test_words_of_systemd(line: str, expected: list[str]) -> None:
    assert split_words(line) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-D", "/a"], ("/a", None)),
        (["-D/a b"], ("/a b", None)),
        (["--pgdata=/a", "-c", "config_file=/etc/x"], ("/a", "/etc/x")),
        (["--config-file=/etc/x", "--data-directory=/a"], ("/a", "/etc/x")),
        (["-D"], (None, None)),
        ([], (None, None)),
    ],
)
def test_options_of_a_server(arguments: list[str], expected: tuple[str | None, str | None]) -> None:
    assert server_options(arguments) == expected


def test_postmasters() -> None:
    arguments = digits("/usr/bin/postgres\0-D\0/etc/pg\0-c\0config_file=/etc/pg/postgresql.conf\0")
    found = parse_postmasters(
        f"postmaster 12 seen ={digits('/srv/ö')} ={arguments}\n"
        f"postmaster 13 unseen = ={digits('postgres')}00{digits('-D')}00{digits('/data')}00\n"
        f"postmaster 14 foreign ={digits('/var/lib/postgresql/data')} ={digits('postgres')}00\n"
        "postmaster 15 unseen = =\n"
    )
    assert [(one.folder, one.config_file) for one in found.candidates] == [
        ("/srv/ö", "/etc/pg/postgresql.conf"),
        ("/data", None),
    ]
    assert (found.pids, found.hidden) == ((12, 13, 14, 15), (14, 15))
    with pytest.raises(ParseError, match=r"^postmasters: "):
        parse_postmasters("postmaster\n")


def test_folders_of_any_name() -> None:
    name = '/srv/it\'s $(touch x) "ö"\n\udcff'
    assert parse_folders(f"folder ={digits(name)}\n") == (Candidate(name, ("folder",)),)
    with pytest.raises(ParseError, match="hexadecimal"):
        parse_folders("folder =abc\n")


def test_one_folder_found_in_several_ways_is_one_candidate() -> None:
    (found,) = merge_candidates(
        [
            Candidate("/srv/pg/data", ("postmaster",)),
            Candidate("/srv/pg//data/", ("systemd",), name="own", unit="own.service", bin_directory="/opt/pg/bin"),
            Candidate("/srv/pg/data", ("named",), name="other"),
        ]
    )
    assert found == Candidate(
        "/srv/pg/data",
        ("postmaster", "systemd", "named"),
        name="own",
        bin_directory="/opt/pg/bin",
        unit="own.service",
    )


def test_an_instance_of_a_template_has_the_folder_that_its_name_gives() -> None:
    text = r"""instance pg@data.service
instance pg@a-b\x2dc.service
instance other@x.service
unit /etc/systemd/system/pg@.service
: Environment=PGDATA=/srv/%I
: ExecStart=/opt/pg/bin/postgres -D /srv/pg/%i -c cluster_name=%p-%j-%N
unit /etc/systemd/system/env@.service
: Environment=PGDATA=/srv/%I
: ExecStart=/opt/pg/bin/postgres
unit /etc/systemd/system/env@a-b\x2dc.service.d/own.conf
: Environment=OTHER=1
"""
    found = {unit.name: unit for unit in parse_units(text)}
    assert {name: unit.folder for name, unit in found.items()} == {
        "pg@data.service": "/srv/pg/data",
        r"pg@a-b\x2dc.service": r"/srv/pg/a-b\x2dc",
        r"env@a-b\x2dc.service": "/srv/a/b-c",
    }
    assert found["pg@data.service"].options == (("cluster_name", "pg-pg-pg@data"),)


def test_what_variables_and_specifiers_give() -> None:
    text = """instance pg@srv-pg.service
instance same@main.service
unit /usr/lib/systemd/system/arch.service
: Environment=PGROOT=/srv/db
: ExecStart=/usr/bin/postgres -D ${PGROOT}/data $OPTIONS
: Environment="OPTIONS=-p 5433 -N 50"
unit /usr/lib/systemd/system/unset.service
: ExecStart=/usr/bin/postgres -D ${ROOT}/data
: Environment=PGDATA=/srv/unset
unit /usr/lib/systemd/system/pg@.service
: ExecStart=/usr/bin/postgres -D %f/%%i
unit /usr/lib/systemd/system/same@.service
: ExecStart=/usr/bin/postgres -D /srv/same -c cluster_name=%i
"""
    found = {unit.name: (unit.folder, unit.options) for unit in parse_units(text)}
    assert found == {
        "arch.service": ("/srv/db/data", (("max_connections", "50"), ("port", "5433"))),
        "unset.service": ("/srv/unset", ()),
        "pg@srv-pg.service": ("/srv/pg/%i", ()),
        "same@main.service": ("/srv/same", (("cluster_name", "main"),)),
    }

"""The settings that a dress rehearsal sends, of a real server that is asked in a session with other values."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.servers.functions import library, named_in
from tests.resources.sh.test_hostile_databases import INSTALLED, KNOWN, OWNER, PORT, SECONDS, Stage

pytestmark = [
    pytest.mark.filling,
    pytest.mark.slow,
    pytest.mark.skipif(not (INSTALLED and KNOWN), reason="there is no PostgreSQL with an account for it"),
]

_LOADED = r"""
jit = off
search_path = 'app, "$user"'
statement_timeout = 5min
lock_timeout = 7s
synchronous_commit = off
client_connection_check_interval = 3s
application_name = 'shop'
Work_Mem = 32MB
WORK_MEM = 64MB
temp_buffers = 16MB
DateStyle = 'sql, dmy'
log_line_prefix = 'it''s \\%m '
maintenance_work_mem = 70MB
"""
_EDITED = "maintenance_work_mem = 80MB\nhash_mem_multiplier = 3\n"
_OVERRIDDEN = f"""
alter role "{OWNER}" set work_mem = '1GB';
alter role "{OWNER}" set search_path = '$user', public;
alter role "{OWNER}" in database postgres set temp_buffers = '24MB';
alter role all set datestyle = 'german';
alter database postgres set statement_timeout = '1min';
alter system set cursor_tuple_fraction = 0.25;
select pg_reload_conf();
create role plain superuser login;
create database plain;
"""
_IN_FORCE = """
select name || '=' || setting from pg_settings where name <> 'application_name' and context <> 'internal'
  and source in ('configuration file', 'command line') and name not in
  ('config_file', 'data_directory', 'hba_file', 'ident_file') order by name;
"""
"""Of a session of which the role and the database override nothing but the date style."""


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    folder = Path(tempfile.mkdtemp(prefix="dress-", dir="/tmp"))  # a socket's name is short
    found = Stage(folder, INSTALLED[0])
    if os.geteuid() == 0:
        shutil.chown(folder, OWNER)
    try:
        found.runs("initdb", "-N", "-D", found.data, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        written = found.data / "postgresql.conf"
        with written.open("a") as file:
            file.write(_LOADED)
        given = f"-c listen_addresses='' -c unix_socket_directories={folder} -c port={PORT} -c fsync=off"
        found.runs("pg_ctl", "-D", found.data, "-w", "-s", "-l", folder / "log", "-o", given, "start")
        try:
            found.sql("postgres", _OVERRIDDEN)
            with written.open("a") as file:
                file.write(_EDITED)
            yield found
        finally:
            found.runs("pg_ctl", "-D", found.data, "-s", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def test_every_setting_in_force_is_sent_whatever_the_session_that_asks_has(stage: Stage) -> None:
    sent = stage.folder / "lists" / "dress" / "pghaul-fence" / "dress"
    asked = (
        f"copy_folder={stage.folder}/lists\n"
        f"connect_to {stage.programs}:/usr/bin:/bin {stage.folder} {PORT} {stage.series} {SECONDS}\n"
        f"dress_write_settings {stage.series}\n"
    )
    stage.runs("mkdir", "-p", sent)
    assert stage.runs("sh", "-c", f"{library(named_in(asked))}\n{asked}").stdout == ""
    in_force = dict(line.split("=", 1) for line in stage.sql("plain", _IN_FORCE, "plain").splitlines())
    in_force |= {"application_name": "shop", "DateStyle": "SQL, DMY"}  # every session has another value of these
    named = {line.split(" = ")[0] for line in (sent / "postgresql.conf").read_text().splitlines()}
    assert named == set(in_force)
    words = ["postgres", "-D", str(stage.data), "-c", f"config_file={sent}/postgresql.conf"]
    read = {name: stage.runs(*words, "-C", name).stdout.removesuffix("\n") for name in sorted(named)}
    assert read == in_force

"""Nothing of a name is left in a masked report, whatever its kind and shape, wherever it stands, however it is cut."""

import base64
import io
import re
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pypdf import PdfReader

from core.api import reports
from core.api.session import Session
from core.benchmarks.model import Run
from core.documents import each_text
from core.history import example
from core.history.store import Store
from core.reports.kinds.storage import StorageReport
from core.reports.make import Format, Kind, content, of_fleet, of_move, of_storage
from core.reports.masking import Mask, machine_names, people_names, server_names
from core.reports.model import Document
from core.reports.options import Options
from core.reports.report import Report, build
from core.servers.profiles import Nobody, Profile
from tests.core.reports.documents import fleet

SECRET = "zyxel"
"""How each name begins: what is cut off a name is its end."""
OLD = f"{SECRET}-frankfurt-billing-production-primary-of-the-first-room-01"
NEW = f"{SECRET}-amsterdam-billing-production-primary-of-the-second-room-02"
JUMPED = f"{SECRET}ada@{SECRET}gate.example:2222,{SECRET}gate2"
OTHER = f"{SECRET}9"
OWNER = f"{SECRET}carol@{SECRET}desk"
SAID = (
    f"{OTHER} and /backup/{OTHER}_2026 and the slot standby_{OTHER}: {SECRET}gate.example refused {SECRET}ada "
    f"{SECRET}gate2 {SECRET}desk {SECRET}carol 192.0.2.77_x"
)
BONNIE = Path("tests/data/bonnie/v2.00a-long-name.txt").read_text()
FIO = Path("tests/data/fio/v3.33-two-clients.txt").read_text().replace("<vm>", "<vm-7>")
OPTIONS = Options(masked=True, raw=True, functions=True)


@pytest.fixture(scope="module")
def told(full: Report) -> Report:
    """A move of which all that was recorded tells names."""
    named = each_text(full, lambda text: text.replace("gannon-old", OLD).replace("gannon-new", NEW))
    checks = tuple(replace(each, message=SAID, hint=SAID, old=SAID) for each in named.checks or ())
    checks = (*checks, replace(checks[0], message=f"{'x' * 60}/{OLD}", old=f"{OLD} {SAID}"))
    return replace(
        named,
        old=replace(named.old, jump=JUMPED),
        checks=checks,
        executions=tuple(replace(each, owner=OWNER, message=SAID) for each in named.executions),
        others=(Profile(OTHER, f"{OTHER}.example"),),
    )


def _document(kind: Kind, told: Report, storages: StorageReport) -> Document:
    if kind is Kind.STORAGE:
        named = each_text(storages, lambda text: text.replace("gannon-old", OLD).replace("gannon-new", NEW))
        return of_storage(replace(named, profiles=(told.old, told.new, *told.others)), OPTIONS)
    if kind is Kind.FLEET:
        many = fleet(told)
        moves = tuple(replace(each, moved_by=OWNER if each.moved_at else "") for each in many.moves)
        failed = tuple(replace(each, failed=(told.made_at, SAID)) for each in many.servers)
        return of_fleet(replace(many, moves=moves, servers=failed, others=told.others), OPTIONS)
    return of_move(kind, told, OPTIONS)


def _read(shape: Format, made: bytes) -> str:
    if shape is not Format.PDF:
        return re.sub(r"base64,\S+", "", made.decode())
    read = PdfReader(io.BytesIO(made))
    attached = [part for parts in read.attachments.values() for part in parts]
    pages = "".join(page.extract_text() for page in read.pages)
    alt = "".join(str(each) for each in map(read.get_object, range(1, len(read.xref_objStm) + 1)))
    return f"{pages} {read.metadata} {read.outline} {alt} {base64.b64encode(b''.join(attached))!r} {made!r}"


@pytest.mark.parametrize("shape", list(Format))
@pytest.mark.parametrize("kind", list(Kind))
def test_no_name_is_in_any_shape(told: Report, storages: StorageReport, kind: Kind, shape: Format) -> None:
    for name, made in content(_document(kind, told, storages), OPTIONS, shape).items():
        said = name + _read(shape, made)
        assert re.findall(rf".{{0,60}}{SECRET}.{{0,20}}", said, re.IGNORECASE) == []
        assert "192.0.2.77" not in said


@pytest.mark.parametrize(
    ("tool", "output", "name"), [("bonnie", BONNIE, "a-very-long-mac"), ("fio", FIO, "vm-7")], ids=["bonnie", "fio"]
)
def test_a_machine_is_masked_that_only_the_output_of_a_tool_names(
    storages: StorageReport, tool: str, output: str, name: str
) -> None:
    first = storages.runs[0]
    repeated = tuple(replace(each, raw=output) for each in first.repetitions)
    run: Run = replace(first, workload=replace(first.workload, tool=tool), repetitions=repeated)
    mask = Mask(machine_names([run])).text
    assert re.search(rf"\b{name}", output)
    assert not re.search(rf"\b{name}", mask(output))
    made = of_storage(replace(storages, runs=(run, *storages.runs[1:])), OPTIONS)
    assert not re.search(rf"\b{name}", content(made, OPTIONS, Format.JSON)[""].decode())


@pytest.mark.parametrize("jump", ["", ",", "@", "a@", "::", "a@b@c,,-x:99999999"])
def test_what_is_no_jump_host_does_not_prevent_a_report(jump: str) -> None:
    profile = Profile("db1", "db1.example", jump=jump)
    assert server_names((profile,), ())[:2] == ("db1", "db1.example")
    assert "dba" in people_names((replace(profile, user="dba"),), ())


@pytest.mark.parametrize(
    "jump", ["ada@gate:22, bob@[fd00::7]:22,gate2", "ssh://ada@gate:22/,ssh://bob@[fd00::7],ssh://gate2"]
)
def test_each_jump_host_and_its_user_is_known(jump: str) -> None:
    profile = Profile("db1", "db1.example", jump=jump)
    assert server_names((profile,), ())[2:] == ("gate", "fd00::7", "gate2")
    assert people_names((profile,), ()) == ("ada", "bob")


def test_a_server_without_a_jump_host_does_not_mask_the_word_none() -> None:
    assert server_names((Profile("db1", "192.0.2.1", jump="none"),), ()) == ("db1", "192.0.2.1")


@pytest.mark.parametrize("jump", [":1" * 2**15 + " x", "a@" * 2**15, "1" * 2**15 + "x", "," * 2**15])
def test_a_long_jump_host_of_an_archive_does_not_delay_a_report(jump: str) -> None:
    begun = time.process_time()
    assert server_names((Profile("db1", "db1.example", jump=jump),), ())[:2] == ("db1", "db1.example")
    assert time.process_time() - begun < 5


def test_every_kind_knows_every_server_of_the_history(tmp_path: Path) -> None:
    example.lay(tmp_path)
    with Store.open(tmp_path) as store:
        store.add_profile(Profile(OTHER, f"{OTHER}.example"))
        session, at = Session(store, Nobody()), datetime.now(UTC)
        assert OTHER in {each.name for each in reports.make_fleet_report(session, [example.MOVE], at).others}
        assert OTHER in {each.name for each in build(store, example.MOVE).others}
        assert OTHER in {each.name for each in reports.make_storage_report(session, [example.MOVE], at).profiles}


SETTINGS = "log_directory data_directory max_wal_size archive_command primary_conninfo hot_standby pg_hba.conf db_name"


@pytest.mark.parametrize("name", ["log", "data", "wal", "archive", "primary", "standby", "backup", "pg", "db"])
def test_a_name_that_is_a_word_is_no_part_of_settings(name: str) -> None:
    mask = Mask([name], [name], [name]).text
    assert mask(SETTINGS) == SETTINGS
    assert mask(f"The server {name} is up.") == "The server server-1 is up."


@pytest.mark.parametrize("name", ["user", "person", "address", "server"])
def test_a_text_that_is_masked_twice_says_the_same(name: str) -> None:
    """It is masked before it is cut, and once more with the finished document."""
    mask = Mask(["db1"], [name, "ada"], ["bob"]).text
    once = mask("db1: user=bob, ada, 192.0.2.7, 00:16:3e:11:22:33, carol@example.org, user=dave")
    assert mask(once) == once

"""Whatever a server prints, a parser reads it or says that it cannot: it never crashes and never invents."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import ParseError
from core.facts.accounts import parse_accounts
from core.facts.block_devices import parse_arrays, parse_block_devices, parse_datasets, parse_disk_health
from core.facts.cluster_configuration import parse_start_files
from core.facts.clusters import read_clusters
from core.facts.collation_order import parse_collation_order
from core.facts.control_data import parse_control_data, read_control_data
from core.facts.data_files import parse_irregular_files, parse_links, parse_size, parse_written
from core.facts.databases import parse_settings, parse_sql
from core.facts.discovery import (
    Candidate,
    parse_debian_clusters,
    parse_folders,
    parse_postmasters,
    parse_unit_candidates,
)
from core.facts.file_systems import parse_df, parse_mounts
from core.facts.ha_and_poolers import parse_ha_and_poolers, parse_virtual_addresses
from core.facts.kernel import parse_kernel, parse_process, parse_session_limits
from core.facts.machine import parse_memory, parse_processor, parse_synchronised, parse_system
from core.facts.network import parse_listening, parse_network
from core.facts.programs import parse_server_programs, parse_tools
from core.facts.sections import Answer, parse_answers
from core.facts.security_policy import parse_firewall, parse_security_policy
from core.facts.starters import parse_autostart, parse_schedules
from core.facts.versions import parse_version

DATA = Path(__file__).parents[2] / "data"
PARSERS: list[Callable[[str], object]] = [
    parse_accounts,
    parse_arrays,
    parse_autostart,
    parse_block_devices,
    parse_ha_and_poolers,
    parse_control_data,
    parse_datasets,
    parse_disk_health,
    parse_debian_clusters,
    parse_df,
    parse_firewall,
    parse_folders,
    parse_security_policy,
    parse_kernel,
    parse_links,
    parse_listening,
    parse_memory,
    parse_mounts,
    parse_network,
    parse_irregular_files,
    parse_start_files,
    parse_postmasters,
    parse_process,
    parse_processor,
    parse_schedules,
    parse_session_limits,
    parse_settings,
    parse_size,
    parse_written,
    parse_collation_order,
    parse_sql,
    parse_synchronised,
    parse_system,
    parse_server_programs,
    parse_tools,
    parse_unit_candidates,
    parse_version,
    parse_virtual_addresses,
    read_control_data,
]
SAMPLES = [
    path.read_text(encoding="utf-8")
    for tool in ("mdstat", "pg_controldata", "pg_version", "lscpu", "lsblk", "df", "mount")
    for path in sorted((DATA / tool).glob("*"))
    if path.name != "expected.json"
]
# Pieces that lead a parser further in than noise does.
PIECES = st.sampled_from(
    [
        *("=", ":", "：", "\n", " ", '"', "\\", "\\040", "\0", "[", "]", "{", "}", "|", "/", "%", "-D", "²", "٣", "½"),
        *("0" * 40, "9" * 400, "\udcff", "\ufeff", "tool ", ": ", "unit ", "link folder 1 2 =", "folder ="),
        *(
            "postmaster 1 seen =",
            "setting|port|",
            "detail|",
            "detail|61|31|31|31\nwhole|61\n",
            "hba|",
            "md0 : active ",
            "series=15\n",
            "id=",
            "PostgreSQL 15",
        ),
        *("place /x -\n", "process =", "mode 700\nholes 0\n", "count sparse ", "enabled ", "disk sda\n", "selinux="),
        *(
            "listed\n: ",
            "parent=",
            "Max open files  9 9 files\n",
            "open_files=",
            "virtual ",
            "restart /x/y ",
            "a:1:2\n",
        ),
        *("MemTotal: ", "CPU(s): ", "Filesystem x\n", "sysfs eth0 up ", "Database system identifier: "),
        *("7642011472967116994\n", "pg_control: ", "float8: ", '{"blockdevices": [', "recovery = 12."),
    ]
)
GARBAGE = st.one_of(st.text(max_size=200), st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=25).map("".join))


def _read_or_refuse(text: str) -> None:
    """By every parser: to make up a text takes longer than they all do with it."""
    for parse in PARSERS:
        with suppress(ParseError):
            parse(text)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(text=GARBAGE)
def test_garbage_is_read_or_refused(text: str) -> None:
    _read_or_refuse(text)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(sample=st.sampled_from(SAMPLES), start=st.integers(0, 4000), length=st.integers(0, 60), put=GARBAGE)
def test_damaged_outputs_are_read_or_refused(sample: str, start: int, length: int, put: str) -> None:
    _read_or_refuse(sample[:start] + put + sample[start + length :])


@settings(max_examples=200, deadline=None)
@given(sample=st.sampled_from([text for text in SAMPLES if "pg_control" in text]), cut=st.integers(0, 6000))
def test_a_control_file_that_is_cut_holds_only_numbers_that_stand_there(sample: str, cut: int) -> None:
    part = sample[:cut]
    try:
        values = read_control_data(part)
    except ParseError:
        return
    for name, value in values.items():
        if name not in ("state", "float8_by_value"):
            assert re.search(rf"(?<![0-9A-Z]){re.escape(str(value))}(?![0-9])", part)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts=st.lists(GARBAGE, min_size=8, max_size=8), status=st.sampled_from([0, 0, 0, 1, 124, None]))
def test_any_answer_makes_clusters_or_gaps(texts: list[str], status: int | None) -> None:
    names = ("identity", "control", "size", "links", "sql", "settings")
    found = {"0/place": Answer("0/place", b"id=1:1\nowner=x\nfolder=2f78\n", "", 0)} | {
        f"0/{name}": Answer(f"0/{name}", text.encode("utf-8", "surrogateescape"), texts[6], status)
        for name, text in zip(names, texts, strict=False)
    }
    result = read_clusters([Candidate("/x", ("named",))], found)
    assert result.clusters or result.gaps


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(output=st.binary(max_size=300), complaints=st.text(max_size=100))
def test_any_stream_is_split(output: bytes, complaints: str) -> None:
    marked = b"\n==m== begin a\n" + output + b"\n==m== end 0\n" + output
    assert parse_answers("==m==", ("a",), marked, complaints)["a"].output.startswith(output[:1])

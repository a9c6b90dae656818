"""iperf3's results as JSON, as a stream of events and as its report; failures and cut-off outputs."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ParseError
from core.migration.probing.iperf3 import Iperf3Summary, parse_iperf3_summary

DATA = Path(__file__).parents[3] / "data" / "iperf3"
REPORTS = [path.read_text() for path in sorted(DATA.glob("*.txt")) if "refused" not in path.name]
TCP = (DATA / "02-v3.6-tcp-three-intervals-f6933648048.json").read_bytes().decode()


def _end(**sums: dict[str, Any]) -> str:
    return json.dumps({"start": {}, "end": sums})


def test_an_event_stream() -> None:
    events = [
        {"event": "start", "data": {"version": "iperf 3.17"}},
        {"event": "interval", "data": {"sum": {"bits_per_second": 1}}},
        {"event": "end", "data": {"sum_sent": {"bits_per_second": 9.0}, "sum_received": {"bits_per_second": 8.0}}},
    ]
    assert parse_iperf3_summary("\n".join(map(json.dumps, events))) == Iperf3Summary(9.0, 8.0, None)
    failed = json.dumps({"event": "error", "data": "the server is busy"})
    with pytest.raises(ParseError, match="the server is busy"):
        parse_iperf3_summary(failed)


def test_text_around_and_the_last_of_several() -> None:
    first = _end(sum_sent={"bits_per_second": 1}, sum_received={"bits_per_second": 1})
    assert parse_iperf3_summary(f"warning: {{\n{first}\n{TCP}\nbye") == parse_iperf3_summary(TCP)


def test_what_only_filled_a_socket_is_no_result() -> None:
    with pytest.raises(ParseError, match=r"^iperf3: .*\bJSON\b"):
        parse_iperf3_summary(_end(sum_sent={"bits_per_second": 5e6}, sum_received={"bits_per_second": 0}))


@pytest.mark.parametrize("value", [True, "9", None, -1, 10**400, float("nan"), float("inf"), [1], {}])
def test_what_is_no_rate_is_not_read(value: object) -> None:
    with pytest.raises(ParseError):
        parse_iperf3_summary(_end(sum_sent={"bits_per_second": value}))


def test_retransmits_that_a_platform_does_not_count_are_absent() -> None:
    sums = {"sum_sent": {"bits_per_second": 2, "retransmits": -1}, "sum_received": {"bits_per_second": 1}}
    assert parse_iperf3_summary(_end(**sums)).retransmits is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"end": []}', '{"end": {}}', "iperf3: command not found"])
def test_no_result(text: str) -> None:
    with pytest.raises(ParseError, match=r"^iperf3: .*\bJSON\b"):
        parse_iperf3_summary(text)


@pytest.mark.parametrize("text", REPORTS)
def test_a_cut_off_report_says_nothing_that_the_whole_does_not(text: str) -> None:
    whole = asdict(parse_iperf3_summary(text))
    for cut in range(len(text)):
        try:
            part = asdict(parse_iperf3_summary(text[:cut]))
        except ParseError:
            continue
        assert {name: value for name, value in part.items() if value is not None}.items() <= whole.items()


@given(st.integers(0, len(TCP.rstrip()) - 1))
def test_cut_off_json_is_refused(cut: int) -> None:
    with pytest.raises(ParseError):
        parse_iperf3_summary(TCP[:cut])


@given(st.text(max_size=200))
def test_any_text_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_iperf3_summary(text)


@pytest.mark.parametrize(
    ("file", "until", "said"),
    [
        ("3.12-tcp.json", '"end":\t{', "Its intervals cover 3.0 s, with 952 Mbit/s on average"),
        ("3.12-udp.json", '"end":\t{', "Its intervals cover 1.0 s, with 50.1 Mbit/s on average"),
        ("3.12-tcp.json", '"intervals":', "before its first interval, so that it has no result"),
        ("3.12-udp.txt", "- - - -", "Its intervals cover 1.0 s, with 50.1 Mbit/s on average"),
        ("3.12-parallel.txt", "- - - -", "Its intervals cover 1.0 s, with 16.2 Gbit/s on average"),
    ],
)
def test_what_a_cut_off_output_has_is_said(file: str, until: str, said: str) -> None:
    whole = (DATA / file).read_text()
    with pytest.raises(ParseError, match="the output is cut off before ") as found:
        parse_iperf3_summary(whole[: whole.index(until)])
    assert found.value.message.endswith(said)


def test_the_sum_in_the_end_is_no_further_interval() -> None:
    whole = (DATA / "3.12-udp.json").read_text()
    with pytest.raises(ParseError, match=r"Its intervals cover 1\.0 s, "):
        parse_iperf3_summary(whole[: whole.index('"cpu_utilization_percent"')])


def test_a_stream_of_events_without_its_end_is_cut_off() -> None:
    events = [
        {"event": "start", "data": {"connected": []}},
        *(
            {"event": "interval", "data": {"sum": {"seconds": 1.0, "bits_per_second": 2e9, "omitted": at == 0}}}
            for at in range(3)
        ),
    ]
    text = "\n".join(map(json.dumps, events))
    with pytest.raises(ParseError, match=r"Its intervals cover 2\.0 s, with 2\.00 Gbit/s on average"):
        parse_iperf3_summary(text)


@pytest.mark.parametrize(
    "text",
    [
        "[  5]   0.00-1.00   sec  1.0 MBytes  8.39 Mbits/sec\n[  7]   0.00-1.00   sec  1.0 MBytes  8.39 Mbits/sec\n",
        "[  5]   0.00-1.00   sec  1.0 MBytes  8.39 Mbits/sec\n[  5]   0.00-1.00   sec  0 Bytes  0 bits/sec  receiver\n",
        '{"intervals": [{"sum": {"seconds": 1.0, "bits": }}, {"sum": {"seconds": -1.0, "bits_per_second": 5}}',
        "hello",
        "",
    ],
)
def test_no_mean_is_made_of_what_does_not_tell_it(text: str) -> None:
    with pytest.raises(ParseError) as found:
        parse_iperf3_summary(text)
    assert "on average" not in found.value.message

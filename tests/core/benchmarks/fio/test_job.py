"""A DBA's own fio job files: what becomes of their sections, and which may not run."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.benchmarks.fio.job import sections_of, workloads_of
from core.benchmarks.model import Workload
from core.benchmarks.tool import Machine
from core.benchmarks.tools import procedure_of
from core.errors import InputError

DATA = Path(__file__).parents[3] / "data" / "fio-sync"
ANY = Machine(None, None)
JOB = """\
; as a DBA writes it
[global]
size=5g
bs=8k
numjobs=5
runtime=10
group_reporting

[reader]
rw=randread
direct=1
[writer]
rw=randwrite
direct=1
fsync=1
[alone]
stonewall
rw=write
size=512m
numjobs=1
"""


def test_sections_that_run_together_are_one_workload() -> None:
    together, alone = workloads_of(JOB)
    assert (together.name, together.headline) == ("reader+writer", "write_iops")
    assert (alone.name, alone.headline) == ("alone", "write_bytes_per_second")
    assert together.parameters == {"job": JOB, "sections": "reader,writer"}
    procedure = procedure_of(together, ANY)
    assert sum(procedure.laid_out.values()) == 2 * 5 * 5 * 2**30
    assert 10 < procedure.seconds < 15
    assert procedure.phases[0].shown.endswith("fio_job --section=reader --section=writer --output-format=json")
    assert sum(procedure_of(alone, ANY).laid_out.values()) == 512 * 2**20


def test_the_file_travels_whole_whatever_it_holds() -> None:
    job = "[a]\nrw=write\nsize=8k\n; it's \"$(touch x)\" 'ö'\n"
    words = procedure_of(workloads_of(job)[0], ANY).phases[0].words
    assert words[:7] == ("bench_with_input", 4, *job.splitlines(), "fio_job")


def test_rates_are_summed_and_latencies_kept_where_one_section_has_them() -> None:
    job = "[reader]\nrw=randread\nsize=4m\n[writer]\nrw=randwrite\nsize=4m\n"
    reading = procedure_of(workloads_of(job)[0], ANY).read([(DATA / "v3.33-two-sections.json").read_text()])
    assert reading.metrics["read_iops"] == pytest.approx(8133.0)
    assert reading.metrics["write_iops"] == pytest.approx(7832.167832)
    assert {"read_latency_p99_seconds", "write_latency_p99_seconds"} <= set(reading.metrics)
    twice = (DATA / "v3.33-two-sections.json").read_text().replace('"writer"', '"other"').replace('"reader"', '"third"')
    both = procedure_of(workloads_of(job)[0], ANY).read([(DATA / "v3.33-two-sections.json").read_text() + "\n" + twice])
    assert both.metrics["read_iops"] == pytest.approx(2 * 8133.0)
    assert not [name for name in both.metrics if "latency" in name]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("filename=/dev/sda", "line 3 of the job file: filename=/dev/sda "),
        ("filename=../x", "outside of the folder"),
        ("filename=a:/etc/passwd", "outside of the folder"),
        (r"filename=\/dev\/sda", "outside of the folder"),
        ("directory=/msa70/fio/data/", "directory=/msa70/fio/data/ names a place outside"),
        ("directory=sub", "names a place outside"),
        ("filename_format=/tmp/$jobnum", "names a place outside"),
        ("filename=${HOME}", "contains a variable"),
        ("filename_format=${HOME}x", "contains a variable"),
        ("exec_prerun=rm -rf /", "exec_prerun is not an option"),
        ("write_bw_log=/tmp/x", "write_bw_log "),
        ("write_iolog=x", "write_iolog "),
        ("read_iolog=x", "read_iolog "),
        ("include other.fio", "is not an option"),
        ("fill_device=1", "fill_device "),
        ("filesize=1t", "filesize "),
        ("offset=1t", "offset "),
        ("opendir=/etc", "opendir "),
        ("mem=mmap:/etc/passwd", "mem "),
        ("ioengine=external:/tmp/x.so", "external:/tmp/x.so"),
        ("ioengine=rbd", "rbd"),
        ("size=50%", "size=50%"),
        ("size=1g ; big", "size=1g ; big"),
        ("rw=trim", "has rw=trim"),
        ("numjobs=0", "numjobs=0"),
        ("numjobs=9999", "9999"),
        ("nrfiles=many", "nrfiles=many"),
        ("time_based", "time_based, .*runtime"),
        ("[a]", "two sections named a"),
        ("[$(reboot)]", "a section named"),
        ("[-x]", "a section named '-x'"),
    ],
)
def test_what_may_not_run_is_named(line: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        workloads_of(f"[a]\nsize=1m\n{line}\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no section other than"),
        ("[global]\nsize=1m\n", "no section other than"),
        ("size=1m\n[a]\n", "line 1 of the job file is not in any section"),
        ("[a]\nrw=read\n", "section a of the job file has no size"),
        ("[a]\nsize=0\n", "a size of 0"),
        ("[a]\nsize=1m\n" + "; x\n" * 30_000, "characters"),
    ],
)
def test_no_job_file(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        workloads_of(text)


@pytest.mark.parametrize(
    ("sections", "said"),
    [("nobody", "no section nobody"), ("", "be one workload"), ("writer,alone", "be one workload")],
)
def test_sections_that_cannot_be_one_workload(sections: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        procedure_of(Workload("w", "w", "fio-job", "write_iops", {"job": JOB, "sections": sections}), ANY)


@pytest.mark.parametrize(
    ("size", "number"),
    [("8192", 8192), ("4k", 4096), ("4KiB", 4096), ("3m", 3 << 20), ("2GB", 2 << 30), ("1t", 1 << 40)],
)
def test_sizes_as_fio_writes_them(size: str, number: int) -> None:
    assert sections_of(f"[a]\nsize={size}\n")[0].size_bytes == number


@pytest.mark.parametrize(("time", "seconds"), [("10", 10), ("2m", 120), ("1500ms", 1.5), ("1h", 3600)])
def test_times_as_fio_writes_them(time: str, seconds: float) -> None:
    assert sections_of(f"[a]\nsize=1m\nruntime={time}\n")[0].seconds == pytest.approx(seconds)


@given(st.text(alphabet="[]=agslobri zew1mk/$\n;#", max_size=200))
def test_any_text_is_refused_or_stays_inside(text: str) -> None:
    try:
        sections = sections_of(text)
    except InputError:
        return
    for section in sections:
        assert section.size_bytes > 0
        assert not section.options.keys() & {"directory", "opendir"}
        assert "/" not in section.options.get("filename", "")

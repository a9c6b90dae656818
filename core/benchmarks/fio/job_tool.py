"""A DBA's own fio job file, run section by section.

Sections that fio would start together make one workload; one that waits for those before it (`stonewall`) begins the
next. So each has cold caches and results of its own. Rates of sections that run together are summed; a latency is kept
where one section alone has it, since latencies cannot be summed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from core.benchmarks.fio.job_file import Section, groups, sections_of
from core.benchmarks.fio.output import failure_of, parse_fio
from core.benchmarks.model import Metrics, Workload
from core.benchmarks.tool import (
    ASSUMED_BYTES_PER_SECOND,
    STRICT,
    Machine,
    Phase,
    Procedure,
    Reading,
    Tool,
    Words,
    deadline,
    strictly,
)
from core.errors import InputError

NAME = "fio-job"


@dataclass(frozen=True, slots=True)
class Parameters:
    """A workload's parameters: the text of the job file, and the sections to run, separated by commas (empty: all)."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    job: str
    sections: str = ""


def workloads_of(text: str) -> tuple[Workload, ...]:
    """Return a workload for each group of sections of a job file that run together.

    Raises:
        InputError: no job file, or one that may not run.
    """
    return tuple(
        Workload(
            name="+".join(section.name for section in group),
            title=f"fio job {', '.join(section.name for section in group)}",
            tool=NAME,
            headline=_headlines(group)[0],
            parameters={"job": text, "sections": ",".join(section.name for section in group)},
        )
        for group in groups(sections_of(text))
    )


def procedure(workload: Workload, machine: Machine) -> Procedure:  # noqa: ARG001  every tool's module has this face
    """Return what runs for the workload.

    Raises:
        InputError: a parameter is unknown or of the wrong kind; the job file may not run; there are no such sections,
            or they do not run together.
    """
    parameters = strictly(Parameters, workload.parameters)
    chosen = _chosen(parameters)
    # sections of a group run at once: their files add up, their times do not
    total = sum(section.size_bytes for section in chosen)
    seconds = max(section.seconds for section in chosen) + 1
    names = [f"--section={section.name}" for section in chosen]
    # fio lays out whatever a section reads before it starts to count
    writing = total / ASSUMED_BYTES_PER_SECOND
    laying = _fio(parameters.job, *names, "--create_only=1")
    measuring = _fio(parameters.job, *names, "--output-format=json")
    return Procedure(
        program="fio",
        headlines=_headlines(chosen),
        phases=(Phase(measuring, seconds, deadline(seconds, total)),),
        read=_read,
        prepare=Phase(laying, writing, deadline(writing, total)),
        # named after the workload: two job files may well have sections of one name
        laid_out={f"job {workload.name}": total},
    )


def _chosen(parameters: Parameters) -> tuple[Section, ...]:
    """Return the sections that the workload names. They are all of one group."""
    known = sections_of(parameters.job)
    wanted = [name.strip() for name in parameters.sections.split(",") if name.strip()] or [one.name for one in known]
    missing = [name for name in wanted if name not in {section.name for section in known}]
    if missing:
        raise InputError(
            f"the job file has no section {missing[0]}", f"choose one of {', '.join(one.name for one in known)}"
        )
    chosen = tuple(section for section in known if section.name in wanted)
    if any(section.waits for section in chosen[1:]):
        raise InputError(
            f"the sections {', '.join(wanted)} cannot be one workload, because one waits for those before it",
            "make a workload for each section, and name the section in the workload's parameter sections",
        )
    return chosen


def _headlines(sections: Sequence[Section]) -> tuple[str, ...]:
    """Return the possible headlines, the default first: IOPS of random patterns, the rate of sequential ones."""
    sides = [side for side in ("write", "read") if any(side in section.sides for section in sections)]
    random = any(section.random for section in sections)
    # the first is what people compare such patterns by
    what = ("iops", "bytes_per_second") if random else ("bytes_per_second", "iops")
    return tuple(f"{side}_{unit}" for side in sides for unit in what)


def _fio(text: str, *words: str) -> Words:
    """Return the command for the job file. Each line is an argument, because arguments contain no line breaks."""
    lines = text.splitlines()
    return ("bench_with_input", len(lines), *lines, "fio_job", *words)


def _read(outputs: Sequence[str]) -> Reading:
    output = parse_fio("\n".join(outputs))
    metrics: Metrics = {}
    # what two sections measured is summed, if it can be
    several: set[str] = set()
    for result in output.results:
        for name, value in result.metrics.items():
            if name in metrics:
                several.add(name)
            metrics[name] = metrics.get(name, 0.0) + value
    kept = {name: value for name, value in metrics.items() if "latency" not in name or name not in several}
    failures = [failure for result in output.results if (failure := failure_of(outputs, result))]
    return Reading(kept, output.version, failures[0] if failures else "")


FIO_JOB = Tool(
    name=NAME,
    program="fio",
    package="fio",
    procedure=procedure,
    files={"job_file": "job"},
    parameters="`job_file`: a fio job file, beside the suite file or by its path (`job`: its text); `sections`: those "
    "of it to run, where they do not all run together",
    headlines="as its sections read and write",
)

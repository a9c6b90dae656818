"""A DBA's own fio job file: its sections, whether it may run on a server, and how it runs, section by section.

Whatever could reach beyond the folder of the run is refused: only options that are known to stay inside are let
through (HOWTO of fio 3.36, "Job file parameters"), and each section states a size, from which the space is forecast.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

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

LONGEST = 65_536
"""The largest number of characters, because the text is passed on a command line."""
MOST_JOBS = 512
ENGINES = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap"})
# fmt: off
OPTIONS = frozenset((
    "ba", "blockalign", "blocksize", "blocksize_range", "bs", "bsrange", "bssplit", "buffer_compress_percentage",
    "buffered", "clat_percentiles", "cpus_allowed", "cpus_allowed_policy", "create_fsync", "create_on_open",
    "create_serialize", "dedupe_percentage", "description", "direct", "disable_bw_measurement", "disable_clat",
    "disable_lat", "disable_slat", "end_fsync", "fallocate", "fdatasync", "file_service_type", "filename",
    "filename_format", "fsync", "fsync_on_close", "group_reporting", "gtod_reduce", "invalidate", "iodepth",
    "iodepth_batch", "iodepth_batch_complete", "iodepth_batch_submit", "iodepth_low", "ioengine", "lat_percentiles",
    "loops", "name", "new_group", "nice", "norandommap", "nrfiles", "numjobs", "openfiles", "overwrite",
    "percentage_random", "percentile_list", "prio", "prioclass", "ramp_time", "random_distribution",
    "random_generator", "randrepeat", "randseed", "rate", "rate_iops", "rate_min", "rate_process", "readwrite",
    "refill_buffers", "runtime", "rw", "rwmixread", "rwmixwrite", "scramble_buffers", "size", "slat_percentiles",
    "softrandommap", "startdelay", "stonewall", "sync", "sync_file_range", "thinktime", "thinktime_blocks", "thread",
    "time_based", "timeout", "unified_rw_reporting", "unlink", "unlink_each_loop", "use_os_rand", "wait_for_previous",
    "zero_buffers",
))
# fmt: on
_SECTION = re.compile(r"\[(?P<name>[^\]\r\n]+)\]")
_SIZE = re.compile(r"(?P<number>\d{1,15})\s*(?P<unit>[kmgtp]?)(?:i?b)?", re.IGNORECASE)
_SCALE = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_TIME = re.compile(r"(?P<number>\d{1,9})\s*(?P<unit>us|ms|s|m|h|d)?", re.IGNORECASE)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_READS = {"read", "randread", "rw", "readwrite", "randrw"}
_WRITES = {"write", "randwrite", "rw", "readwrite", "randrw"}


@dataclass(frozen=True, slots=True)
class Section:
    """A section with the options of `[global]`. Of an option that is given several times, the last value counts."""

    name: str
    options: Mapping[str, str]

    @property
    def waits(self) -> bool:
        """Whether it starts only after the sections before it have ended."""
        # an option without a value is on
        return any(self.options.get(name, "0") != "0" for name in ("stonewall", "wait_for_previous"))

    @property
    def size_bytes(self) -> int:
        """The size of the files of all its jobs together. Raises InputError if no size is given."""
        size = self.options.get("size")
        found = _SIZE.fullmatch(size) if size else None
        if found is None:
            raise InputError(
                f"section {self.name} of the job file has size={size}, which is not a number of bytes"
                if size
                else f"section {self.name} of the job file has no size",
                "set a size, such as size=1g: pghaul must know beforehand how much the job writes",
            )
        return int(found["number"]) * _SCALE[found["unit"].lower()] * self.jobs

    @property
    def jobs(self) -> int:
        return _count(self, "numjobs")

    @property
    def seconds(self) -> float:
        """The expected duration: its runtime if it has one, otherwise the time for its bytes at the assumed rate."""
        # timeout is runtime's older name
        limit = self.options.get("runtime") or self.options.get("timeout")
        before = sum(_seconds(self.options.get(name)) for name in ("ramp_time", "startdelay"))
        whole = _count(self, "loops") * self.size_bytes / ASSUMED_BYTES_PER_SECOND
        # without time_based it may end earlier: this is for a forecast
        return before + (_seconds(limit) or whole)

    @property
    def pattern(self) -> str:
        # `randread:8` does eight requests before it moves on; `read` is fio's default
        return (self.options.get("rw") or self.options.get("readwrite") or "read").partition(":")[0]

    @property
    def random(self) -> bool:
        return self.pattern.startswith("rand")

    @property
    def sides(self) -> tuple[str, ...]:
        """The directions: read, write or both."""
        return tuple(side for side, kinds in (("read", _READS), ("write", _WRITES)) if self.pattern in kinds)


def sections_of(text: str) -> tuple[Section, ...]:
    """Return the sections of a job file, each with the options of `[global]` before it.

    Raises:
        InputError: no job file, or an option that may not run on a server; names the line.
    """
    if len(text) > LONGEST:
        raise InputError(f"the job file has {len(text)} characters", f"shorten it to at most {LONGEST} characters")
    common: dict[str, str] = {}
    found: list[tuple[str, dict[str, str]]] = []
    current: dict[str, str] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        # both begin a comment in an INI file of fio
        if not line or line[0] in ";#":
            continue
        if (heading := _SECTION.fullmatch(line)) is not None:
            name = heading["name"].strip()
            # a copy: [global] may come again further down and must not reach back
            current = common if name == "global" else dict(common)
            if name != "global":
                found.append((_named(name, number), current))
        elif current is None:
            raise InputError(
                f"line {number} of the job file is not in any section: {line}", "begin the file with [global]"
            )
        else:
            option, _, value = (part.strip() for part in line.partition("="))
            # before it is kept: no line of a refused file goes anywhere
            _hold(option, value, number)
            current[option] = value or "1"
    if not found:
        raise InputError("the job file has no section other than [global]", "add one, such as [random-write]")
    names = [name for name, _ in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"the job file has two sections named {twice[0]}", "give each section its own name")
    sections = tuple(Section(name, options) for name, options in found)
    for section in sections:
        _hold_section(section)
    return sections


def groups(sections: Sequence[Section]) -> tuple[tuple[Section, ...], ...]:
    """Return the sections in groups that run together."""
    found: list[list[Section]] = []
    for section in sections:
        # the first section starts a group whether it waits or not
        if not found or section.waits:
            found.append([])
        found[-1].append(section)
    return tuple(map(tuple, found))


def _named(name: str, number: int) -> str:
    # it becomes a word on fio's command line, and part of file names
    if not re.fullmatch(r"[\w.+ -]+", name, re.ASCII) or name.startswith("-"):
        raise InputError(
            f"line {number} of the job file has a section named {name!r}, which pghaul does not accept",
            "use only letters, digits, spaces and . + - _ in the name, and do not begin it with -",
        )
    return name


def _hold(option: str, value: str, number: int) -> None:
    """Raise InputError if the option could have an effect outside of the run's own folder."""
    where = f"line {number} of the job file: {option}"
    if option in {"directory", "filename"} and (option == "directory" or _leaves(value)):
        raise InputError(
            f"{where}={value} names a place outside of the folder of the benchmark",
            "remove the folder: pghaul creates a folder for the files on the volume",
        )
    # what is not known to be harmless is refused: exec_prerun runs commands, write_bw_log writes anywhere
    if option not in OPTIONS:
        raise InputError(f"{where} is not an option that a benchmark may use", "remove this line")
    if option == "ioengine" and value not in ENGINES:
        raise InputError(
            f"{where}={value} is not an I/O engine for files", f"choose one of {', '.join(sorted(ENGINES))}"
        )
    if option == "filename_format" and "/" in value:
        raise InputError(
            f"{where}={value} names a place outside of the folder of the benchmark",
            "remove the folder: pghaul creates a folder for the files on the volume",
        )
    # fio replaces ${NAME} by the environment's, and $ncpus and its like by arithmetic
    if "${" in value or ("$" in value and option != "filename_format"):
        raise InputError(f"{where}={value} contains a variable of fio", "write the value instead of the variable")


def _leaves(value: str) -> bool:
    """Return whether a file name, or one of several separated by colons, contains a path."""
    # a colon separates names, a backslash before it does not
    return any("/" in name or "\\" in name or name.startswith(("-", ".")) for name in value.split(":"))


def _hold_section(section: Section) -> None:
    if not section.sides:
        pattern = section.options.get("rw") or section.options.get("readwrite")
        raise InputError(
            f"section {section.name} of the job file has rw={pattern}, which pghaul does not measure",
            f"choose one of {', '.join(sorted(_READS | _WRITES))}",
        )
    for name in ("numjobs", "nrfiles", "loops"):
        _count(section, name)
    if section.jobs > MOST_JOBS:
        raise InputError(
            f"section {section.name} of the job file starts {section.jobs} jobs",
            f"set numjobs so that it starts at most {MOST_JOBS}",
        )
    # fio drops time_based then: the job would be another than the one that is written
    if section.options.get("time_based", "0") != "0" and not {"runtime", "timeout"} & section.options.keys():
        raise InputError(
            f"section {section.name} of the job file has time_based, but no runtime",
            "set a runtime, such as runtime=60",
        )
    if section.size_bytes < 1:
        raise InputError(f"section {section.name} of the job file has a size of 0", "set a size, such as size=1g")


def _count(section: Section, option: str) -> int:
    value = section.options.get(option, "1")
    if not re.fullmatch(r"[1-9]\d{0,4}", value):
        raise InputError(
            f"section {section.name} of the job file has {option}={value}",
            f"set {option} to a whole number from 1 to 99999",
        )
    return int(value)


def _seconds(text: str | None) -> float:
    found = _TIME.fullmatch(text) if text else None
    return int(found["number"]) * _SECONDS[(found["unit"] or "s").lower()] if found is not None else 0.0


# A DBA's own fio job file, run section by section.
#
# Sections that fio would start together make one workload; one that waits for those before it (`stonewall`) begins the
# next. So each has cold caches and results of its own. Rates of sections that run together are summed; a latency is
# kept where one section alone has it, since latencies cannot be summed.

NAME = "fio-job"


@dataclass(frozen=True, slots=True)
class Parameters:
    """A workload's parameters: the text of the job file, and the sections to run, separated by commas (empty: all)."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

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

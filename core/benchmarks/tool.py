"""What a benchmark tool declares: its name, what runs for a workload of it, and how to read what it prints.

A tool is one `Tool` in one module (core/benchmarks/pg_test_fsync.py is the shortest), listed in
core/benchmarks/tools.py; nothing else names it. `core/benchmarks/runs.py` carries a procedure out and knows no tool.
Every command runs with the run's own folder as its working directory, so that file names are plain and relative.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import ConfigDict

from core import documents
from core.benchmarks.model import Metrics, Output, Workload
from core.facts.model import Cluster
from core.servers.shell import Secret, command

ASSUMED_BYTES_PER_SECOND = 100e6
"""For a forecast, before anything was measured: about what one disk or a gigabit of storage network does."""
LEAST_BYTES_PER_SECOND = 2e6
"""A device under this is broken, or the command hangs: it sets the deadlines."""

CACHE_SECONDS = 0.5
"""What dropping the caches takes where nothing else writes."""
READY = "pghaul-ready"
"""The line by which a background process says that it serves."""
STRICT = ConfigDict(extra="forbid", strict=True)
"""For what people write: no unknown field, and "5" is no number."""

T = TypeVar("T")
Words = tuple[str | int | float, ...]
"""A command, word by word; quoted where it is run."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What a workload's commands may depend on; None where it is not known.

    Attributes:
        bin_directories: of the server's clusters, and of what PostgreSQL's packages brought besides.
        versions: program -> version, of the installed ones that say it.
        fio_engine: the asynchronous engine that fio works with there: libaio or io_uring.
        user: who runs the benchmarks, where that is not the login user.
        series: of PostgreSQL, as the move's cluster has it.
        programs: the PATH that finds the programs of that series.
        database_user: who runs PostgreSQL where root measures.
        address: where the other server of the move reaches this one.
        other_programs: the PATH that finds PostgreSQL's programs there; None: no other server takes part.
        clusters: those that are there; None: no server is known yet.
    """

    memory_bytes: int | None
    threads: int | None
    bin_directories: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    fio_engine: str | None = None
    user: str | None = None
    series: str | None = None
    programs: str = ""
    database_user: str = "postgres"
    address: str | None = None
    other_programs: str | None = None
    clusters: tuple[Cluster, ...] | None = None


@dataclass(frozen=True, slots=True)
class Background:
    """What runs on the measured server beside the phases that name it, such as a database server.

    Attributes:
        words: a function of the remote half with its words; runs in the folder, prints a line READY once it serves, and
            ends when its input ends or at TERM.
        seconds: the most that it may take to serve, and to end.
    """

    title: str
    words: Words
    seconds: float


@dataclass(frozen=True, slots=True)
class Phase:
    """One command of a repetition, run inside the folder; caches are dropped before it.

    Attributes:
        words: a program, or a function of the remote half (`resources/sh/benchmark_tools.sh`), with its words.
        seconds: expected.
        warm: the caches stay as the phase before left them.
        background: runs while the phase does; phases in a row that name the same one share it.
        from_other: the other server of the move runs it, outside of any folder.
        secrets: of its environment; they stand on no command line.
        served_from: a folder outside of the benchmark's: what the processes that work in it move is the phase's own.
    """

    words: Words
    seconds: float
    deadline: float
    warm: bool = False
    background: Background | None = None
    from_other: bool = False
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    served_from: str | None = None

    @property
    def shown(self) -> str:
        """As a person would write it."""
        return command(str(self.words[0]), *self.words[1:]).shown


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from the outputs of a repetition's phases."""

    metrics: Metrics
    version: str | None = None
    failure: str = ""
    """The tool's own error where it printed figures in spite of it; empty: none."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """A workload, ready to run.

    Attributes:
        program: the program that must be installed.
        headlines: the metrics that may stand for the workload.
        phases: one repetition.
        read: from the outputs of the phases, in their order; raises ParseError.
        fresh_bytes: what a repetition writes into files that are gone at its end.
        prepare: makes the files of `laid_out`; where they are there already, it does nothing.
        laid_out: name -> bytes of the files that repetitions read or overwrite; workloads may share them.
        writes_zeros: a volume that compresses answers faster than its disks.
    """

    program: str
    headlines: tuple[str, ...]
    phases: tuple[Phase, ...]
    read: Callable[[Sequence[str]], Reading]
    fresh_bytes: int = 0
    prepare: Phase | None = None
    laid_out: Mapping[str, int] = field(default_factory=dict)
    writes_zeros: bool = False

    @property
    def seconds(self) -> float:
        """Expected for one repetition."""
        return sum(phase.seconds for phase in self.phases)


@dataclass(frozen=True, slots=True)
class Reader:
    """How to read what a program has printed, whoever ran it.

    Attributes:
        name: in `pghaul parse` and in the history.
        parse: an output of any version, also one that somebody else produced; raises ParseError.
        repeats: whether results of one name in one output are repetitions, not different ones (a write and a read).
        common_name: of all its results where it names them after the machine, as machines are compared; None: each has
            a name of its own.
    """

    name: str
    parse: Callable[[str], Output]
    repeats: bool = False
    common_name: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A benchmark tool, declared once.

    Attributes:
        name: in suites, in the history and in `pghaul parse`.
        program: what must be installed for it.
        package: of a distribution, which holds the program; None: it comes with PostgreSQL.
        procedure: what to run for a workload on a machine; raises InputError.
        parameters, headlines: what a workload may state, and what may stand for it; for people, in Markdown.
        parse: an output of any version, also one that somebody else produced; raises ParseError. None: it is another
            tool's output, read under that one's name.
        files: parameter that names a file on the workstation -> the parameter that its text becomes.
        repeats: whether results of one name in one output are repetitions, not different ones (a write and a read).
        one_file: whether its rates are those of one long file, written and read in one go.
        named_after_host: whether it names a result after the machine: compared are machines, under the program's name.
    """

    name: str
    program: str
    package: str | None
    procedure: Callable[[Workload, Machine], Procedure]
    parameters: str
    headlines: str
    parse: Callable[[str], Output] | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    repeats: bool = False
    one_file: bool = False
    named_after_host: bool = False


def bytes_needed(procedures: Sequence[Procedure]) -> int:
    """The most that lies on the volume at one time: what is laid out stays to the end, the rest is gone before."""
    laid_out: dict[str, int] = {}
    for procedure in procedures:
        laid_out |= procedure.laid_out
    # fresh files are gone before the next workload makes its own
    return sum(laid_out.values()) + max((procedure.fresh_bytes for procedure in procedures), default=0)


def expected_seconds(procedures: Sequence[Procedure], repetitions: int) -> float:
    """The sum over all repetitions, with the caches dropped before each phase and files laid out once."""
    total = 0.0
    laid_out: set[str] = set()
    for procedure in procedures:
        # workloads of one layout share it: laid out once
        if procedure.prepare is not None and not laid_out.issuperset(procedure.laid_out):
            total += procedure.prepare.seconds
            laid_out.update(procedure.laid_out)
        total += repetitions * (procedure.seconds + CACHE_SECONDS * sum(not phase.warm for phase in procedure.phases))
    return total


def deadline(seconds: float, size_bytes: float) -> float:
    """How long a command may take that is expected to take `seconds` and moves `size_bytes` at the least rate."""
    # a minute for a busy server, twice what is expected, and the slowest device that still works
    return 60 + 2 * seconds + size_bytes / LEAST_BYTES_PER_SECOND


def strictly(kind: type[T], value: object) -> T:
    """The dataclass `kind`, marked STRICT, from what was read from TOML; raises InputError with each wrong field.

    It goes through JSON because there pydantic is strict with numbers and texts, yet takes tables for dataclasses.
    """
    return documents.load(kind, json.dumps(value, default=str))

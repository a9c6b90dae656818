"""The declaration of a benchmark tool: its name, what runs for its workloads, and how its output is parsed.

A tool is one `Tool` in one module (core/benchmarks/pg_test_fsync.py is the shortest), listed in
core/benchmarks/tools.py; nothing else names it. `core/benchmarks/runs.py` carries a procedure out and knows no tool.
Every command runs with the run's own folder as its working directory, so that file names are plain and relative.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from core import documents
from core.benchmarks.model import Metrics, Output, Workload
from core.errors import InputError
from core.facts.model import Cluster
from core.servers.shell import Secret, command

ASSUMED_BYTES_PER_SECOND = 100e6
"""The assumed rate in a forecast, before anything was measured: about that of one disk, or of 1 Gbit/s."""
LEAST_BYTES_PER_SECOND = 2e6
"""The rate from which deadlines are computed. A slower device is broken, or the command hangs."""

CACHE_SECONDS = 0.5
"""The time for dropping the caches if nothing else writes."""
READY = "pghaul-ready"
"""The line that a background process prints when it is ready."""
STRICT: dict[str, object] = {"extra": "forbid", "strict": True}
"""The validation of files that people write: no unknown fields, and "5" is not a number."""

T = TypeVar("T")
Words = tuple[str | int | float, ...]
"""The words of a command. They are quoted when it is run."""


class ParameterError(InputError):
    """A parameter of a workload has a value that is not possible, or does not fit another parameter.

    Attributes:
        parameters: the names of the parameters concerned.
    """

    def __init__(self, parameters: Sequence[str], message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.parameters = tuple(parameters)


def with_prefix(error: InputError, prefix: str) -> InputError:
    """Return the same error, its message prefixed by the place where it was found."""
    message = f"{prefix}: {error.message}"
    if isinstance(error, ParameterError):
        return ParameterError(error.parameters, message, error.hint)
    return InputError(message, error.hint)


@dataclass(frozen=True, slots=True)
class Machine:
    """The properties of a server on which the commands of a workload depend; None if not known.

    Attributes:
        bin_directories: the program folders of the server's clusters, and of further packages of PostgreSQL.
        versions: the versions of the installed programs that report one.
        fio_engine: the asynchronous engine that works with fio: libaio or io_uring.
        user: the user who runs the benchmarks, if this is not the login user.
        series: the major version of the move's cluster.
        programs: the PATH for the programs of that major version.
        database_user: the user who runs PostgreSQL if root runs the benchmark.
        address: the address at which the other server of the move reaches this one.
        other_programs: the PATH for PostgreSQL's programs on the other server; None: no other server takes part.
        clusters: the clusters of the server; None: no server is known yet.
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
    """A process that runs on the measured server during the phases that name it, such as a database server.

    Attributes:
        words: a shell function with its arguments; it runs in the folder, prints the line READY when it is ready, and
            ends when its input ends or when it gets TERM.
        seconds: the time limit for becoming ready, and for ending.
    """

    title: str
    words: Words
    seconds: float


@dataclass(frozen=True, slots=True)
class LiveOutput:
    """What a tool says of its rates while it runs, before its results.

    Attributes:
        program: the tool.
        options: the options with which it does so. They change no rate.
        line: matches each line that it says.
        read: returns the rates of such a line as metrics; none if the line has none.
        beginning: the beginning of these lines, by which they are told from its results; empty: it writes its results
            to descriptor 5. Where another thread has written into such a line, `line` does not match the result, which
            may contain an error and belongs to the output.
    """

    program: str
    options: Words
    line: re.Pattern[str]
    read: Callable[[re.Match[str]], Metrics]
    beginning: str = ""

    @property
    def run(self) -> Words:
        """Return the shell function that tells what it says from its results, with the arguments before the command."""
        return ("bench_run_telling", self.beginning) if self.beginning else ("bench_run_live",)


@dataclass(frozen=True, slots=True)
class Phase:
    """One command of a repetition. It runs inside the folder, after the caches were dropped.

    Attributes:
        words: a program or a shell function (`resources/sh/benchmark_tools.sh`), with its arguments.
        seconds: the expected duration.
        warm: the caches are not dropped.
        background: a process that runs during the phase; consecutive phases with the same process share it.
        from_other: the other server of the move runs the command, outside of any folder.
        secrets: secret variables of its environment, which are on no command line.
        live: what the command says of its rates while it runs; None: nothing.
        served_from: a folder outside of the benchmark's; traffic of the processes that work in it belongs to the phase.
    """

    words: Words
    seconds: float
    deadline: float
    warm: bool = False
    background: Background | None = None
    from_other: bool = False
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    live: LiveOutput | None = None
    served_from: str | None = None

    @property
    def run_words(self) -> Words:
        """Return the words that run the command so that it says its rates."""
        return self.words if self.live is None else (*self.live.run, *self.words, *self.live.options)

    @property
    def shown(self) -> str:
        """Return the command as a person would type it."""
        return command(str(self.words[0]), *self.words[1:]).shown


@dataclass(frozen=True, slots=True)
class Reading:
    """The metrics in the outputs of a repetition's phases."""

    metrics: Metrics
    version: str | None = None
    failure: str = ""
    """The error of a tool that nevertheless printed results; empty: none."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """A workload, ready to run.

    Attributes:
        program: the program that must be installed.
        headlines: the metrics that may represent the workload.
        phases: the phases of one repetition.
        read: returns the metrics by the outputs of the phases, in their order; raises ParseError.
        fresh_bytes: the size of the files that exist only during a repetition.
        prepare: creates the files of `laid_out` that do not exist yet.
        laid_out: the sizes of the files that repetitions read or overwrite; workloads may share them.
        writes_zeros: it writes zeros, for which a volume that compresses is faster than its disks.
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
        """The expected duration of one repetition."""
        return sum(phase.seconds for phase in self.phases)


@dataclass(frozen=True, slots=True)
class Reader:
    """The parser for the output of a program, whoever has run it.

    Attributes:
        name: its name in `pghaul parse` and in the history.
        parse: parses the output of any version, also of somebody else; raises ParseError.
        repeats: whether results with the same name in one output are repetitions, not different ones (a write and a
            read).
        common_name: the name of all its results if it names them after the machine, because machines are compared;
            None: each result has a name of its own.
    """

    name: str
    parse: Callable[[str], Output]
    repeats: bool = False
    common_name: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """The declaration of a benchmark tool.

    Attributes:
        name: its name in suites, in the history and in `pghaul parse`.
        program: the program that must be installed.
        package: the package of a distribution that contains the program; None: it comes with PostgreSQL.
        procedure: returns what runs for a workload on a machine; raises InputError.
        parameters: the parameters of a workload, as Markdown for the documentation.
        headlines: the metrics that may represent a workload, as Markdown for the documentation.
        parse: parses the output of any version, also of somebody else; raises ParseError. None: the output is that of
            another tool, and is read under its name.
        files: for each parameter that names a file on the workstation, the parameter that gets its text.
        repeats: whether results with the same name in one output are repetitions, not different ones (a write and a
            read).
        one_file: whether its rates are those of one large file, which is written and read at once.
        named_after_host: whether it names a result after the machine; machines are compared under the program's name.
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
    """Return the largest size of all files at one time. The files of `laid_out` stay until the end, others do not."""
    laid_out: dict[str, int] = {}
    for procedure in procedures:
        laid_out |= procedure.laid_out
    # Fresh files are removed before the next workload creates its own.
    return sum(laid_out.values()) + max((procedure.fresh_bytes for procedure in procedures), default=0)


def expected_seconds(procedures: Sequence[Procedure], repetitions: int) -> float:
    """Return the duration of all repetitions, with dropping the caches before each phase and creating files once."""
    total = 0.0
    laid_out: set[str] = set()
    for procedure in procedures:
        # Workloads with the same files share them. They are created once.
        if procedure.prepare is not None and not laid_out.issuperset(procedure.laid_out):
            total += procedure.prepare.seconds
            laid_out.update(procedure.laid_out)
        total += repetitions * (procedure.seconds + CACHE_SECONDS * sum(not phase.warm for phase in procedure.phases))
    return total


def deadline(seconds: float, size_bytes: float) -> float:
    """Return the time limit of a command that should take `seconds` and transfers `size_bytes`, at the least rate."""
    # A minute for a busy server, twice the expected duration, and the time of the slowest device that still works.
    return 60 + 2 * seconds + size_bytes / LEAST_BYTES_PER_SECOND


def strictly(kind: type[T], value: object) -> T:
    """Return the dataclass `kind`, marked STRICT, with values from TOML; raise InputError with each wrong field.

    The values go through JSON, because there pydantic is strict with numbers and texts, but accepts tables as
    dataclasses.
    """
    return documents.load(kind, json.dumps(value, default=str))

"""bonnie++: its report of 1.03 to 2.00, as a table and as comma-separated values, and the command of a workload.

Rates are KiB/s in both (`K/sec`); only the table of 2.00 scales them, `1.4g` with 1024, to two or three digits. The
comma-separated line is exact and counts where both describe one test; programs up to 1.03 print no version in it, and
2.00 calls the layout 1.98. `+++++` was too fast to time and a blank was not run: both are absent, never zero. In the
table a blank leaves its column empty, so that numbers belong to the heading that they stand under. Who quotes a table
may leave out the column of machines, or have the last column wrapped onto a line of its own.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from core.benchmarks.model import Metrics, Output, Result, Workload
from core.benchmarks.reading import lines, no_result
from core.benchmarks.tool import (
    ASSUMED_BYTES_PER_SECOND,
    STRICT,
    Machine,
    ParameterError,
    Phase,
    Procedure,
    Reading,
    Tool,
    Words,
    deadline,
    strictly,
)
from core.errors import InputError

_RATES = (
    "write_char_bytes_per_second",
    "write_bytes_per_second",
    "rewrite_bytes_per_second",
    "read_char_bytes_per_second",
    "read_bytes_per_second",
    "seeks_per_second",
)
_LATENCIES = (
    None,
    "write_latency_max_seconds",
    "rewrite_latency_max_seconds",
    None,
    "read_latency_max_seconds",
    "seeks_latency_max_seconds",
)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_SCALE = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_AGREE = 0.06
"""The largest relative rounding error of a number with two digits in a table of 2.00."""

_NUMBER = r"\d+(?:\.\d+)?"
_VERSION = re.compile(r"\s*Version\s+(?P<version>\d\.\d\d\w?)\s+-+Sequential Output")
_HEADING = re.compile(r"\s*(?P<first>(?:Machine\s+)?Size|Name:Size etc)(?:\s+(?:K/sec|/sec)\s+%CP){6}\s")
_ROW = re.compile(
    r"""
    \s*(?:(?P<name>\S+)\s+)?                       # 2.00 prints a size alone where there is no name
    (?P<size>\d+[MGT])(?P<chunk>:\S*)?             # of a size with its chunk, 64G:4k::65536, the size
    (?P<values>\s+(?:\d|\+\+).*)
    """,
    re.VERBOSE | re.DOTALL,
)
_PAIR = re.compile(rf"(?P<rate>{_NUMBER}[kmgt]?|\++)\s+(?P<cpu>\d+|\++)(?=\s)")
_LATENCY_ROW = re.compile(r"\s*Latency\s")
_LATENCY = re.compile(r"(?P<number>\d+)(?P<unit>us|ms|s)\b")
_SIZE = re.compile(r"(?P<number>\d+)(?P<unit>[KMGT])(?::.*)?", re.IGNORECASE)
_FORMAT = re.compile(r"\d\.\d\d\w?")
# a mail's lines are shorter than a table: its sixth column stands below
_FIVE_COLUMNS = re.compile(
    rf"""
    (?P<line>(?:\bSize(?:[ \t]+K/sec[ \t]+%CP){{5}}|\b\d+[MGT](?:[ \t]+(?:{_NUMBER}|\++)[ \t]+(?:\d+|\++)){{5}}))
    [ \t]*\r?\n
    (?P<last>[ \t]*(?:/sec[ \t]+%CP|(?:{_NUMBER}|\++)[ \t]+(?:\d+|\++))[ \t]*\r?\n)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Test:
    """One test, as a table or a comma-separated line contains it."""

    name: str
    version: str | None
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class _Heading:
    """The heading of a table: the ends of its six columns, and the end of the size if the heading has one."""

    line: str

    @property
    def ends(self) -> list[int]:
        return [found.end() for found in re.finditer("%CP", self.line)]

    @property
    def size_end(self) -> int | None:
        found = re.search(r"^(?:\s*Machine)?\s*Size", self.line)
        return found.end() if found is not None else None

    @property
    def spaced(self) -> bool:
        """Return whether runs of spaces have been kept. Without them the columns cannot be told apart."""
        return re.search(r"\S {3,}\S", self.line) is not None


def parse_bonnie(text: str) -> Output:
    """Return one result per test, named after its machine. The creation of files is not read.

    Raises:
        ParseError: neither a table nor a whole comma-separated line with a rate.
    """
    text = _FIVE_COLUMNS.sub(r"\g<line> \g<last>", "".join(lines(text)))
    exact = [test for line in lines(text) if (test := _separated(line)) is not None]
    results: list[Result] = []
    versions: list[str] = []
    for table in _tables(text):
        # a test that was printed in both ways is one result, and the exact line is the one that counts
        twin = next((test for test in exact if _same(test, table)), None)
        if twin is not None:
            exact.remove(twin)
            # A table may know what 1.03 leaves out of its line: the version, and a name that was too long.
        found = twin or table
        results.append(Result(found.name or table.name or "bonnie++", found.metrics))
        versions += [version for version in (table.version, found.version) if version is not None]
    results += [Result(test.name or "bonnie++", test.metrics) for test in exact]
    versions += [test.version for test in exact if test.version is not None]
    if not results:
        raise no_result("bonnie", "bonnie++'s table or its comma-separated line with a rate", text)
    return Output("bonnie", versions[0] if versions else None, tuple(results))


def _separated(line: str) -> _Test | None:
    """Return the test in a comma-separated line; None if there is none, if it is cut off, or if it contains no rate."""
    # quoted by a mail
    fields = line.strip().lstrip("> ").split(",")
    if len(fields) >= 48 and _FORMAT.fullmatch(fields[0]) and _FORMAT.fullmatch(fields[1]):
        first = 9 if fields[0] >= "1.98" else 7  # since 1.98 also the chunk size and the number of seekers
        latencies, whole = fields[first + 29 : first + 35], first + 41
        name, size, version = fields[2], fields[5], fields[1]
    elif len(fields) >= 14 and not _FORMAT.fullmatch(fields[0]):
        # Without the test of file creation 1.03 prints fewer fields; then the line's end tells that none is missing.
        first, latencies, whole = 2, [], 14 if line.endswith("\n") else 27
        name, size, version = fields[0], fields[1], None
    else:
        return None
    found = _SIZE.fullmatch(size)
    if found is None or len(fields) < whole:
        return None
    # six tests, each its rate and how busy the processor was
    pairs = fields[first : first + 12]
    # any other line with enough commas is a table of somebody's, not bonnie++'s
    if not all(re.fullmatch(rf"{_NUMBER}|\+*", field) for field in pairs):
        return None
    # the sixth is seeks, which are counted and not measured in KiB
    rates = {index: _rate(rate, "k" if index < 5 else "") for index, rate in enumerate(pairs[::2])}
    return _test(name, version, found, rates, dict(enumerate(latencies)))


def _tables(text: str) -> Iterator[_Test]:
    """Yield the tests of the tables. A row of six pairs follows a heading and, from 1.9x on, a row of latencies."""
    version: str | None = None
    heading: _Heading | None = None
    row: re.Match[str] | None = None
    for raw in lines(text):
        # columns are counted in characters: a tab would move all that follow it
        line = re.sub(r"^(?:> ?)+", "", raw.expandtabs())
        # a row's latencies stand on the line after it, so that a row is read one line late
        if row is not None and heading is not None:
            table = _table(version, heading, row, line)
            row = heading = None
            if table is not None:
                yield table
        if (found := _VERSION.match(line)) is not None:
            version = found["version"]
        elif _HEADING.match(line):
            heading = _Heading(line)
        elif heading is not None and line.strip():
            row = _ROW.match(line)
            # something else came under the heading: it is no table
            heading = heading if row is not None else None
    if row is not None and heading is not None and (table := _table(version, heading, row, "")) is not None:
        yield table


def _table(version: str | None, heading: _Heading, row: re.Match[str], following: str) -> _Test | None:
    """Return the test of a table; None if it cannot be read.

    Args:
        version: the version of bonnie++.
        heading: the heading of the table.
        row: the row of the machine.
        following: the line after that row.
    """
    size = _SIZE.fullmatch(row["size"])
    if size is None:
        return None
    # a name that is too long pushes the whole row to the right; the size shows by how much
    shift = row.end("size") - heading.size_end if heading.size_end is not None and not row["chunk"] else 0
    pairs = list(_PAIR.finditer(row.string, row.start("values")))
    # 2.00 says /sec and prints the unit with each number
    bare = "k" if "K/sec" in heading.line else ""
    rates: dict[int, float | None] = {}
    for column, pair in _columns(heading, pairs, shift):
        rates[column] = _rate(pair["rate"], bare if column < 5 else "")
    latencies = {}
    if _LATENCY_ROW.match(following):
        words = list(_LATENCY.finditer(following))
        latencies = {column: word[0] for column, word in _columns(heading, words, 0)}
    return _test(row["name"] or "", version, size, rates, latencies)


def _columns(heading: _Heading, words: list[re.Match[str]], shift: int) -> Iterator[tuple[int, re.Match[str]]]:
    """Return each word with its column: by its position if there are six pairs, else by the heading above its end."""
    if len(words) == 6:
        yield from enumerate(words)
        return
    ends = heading.ends
    if not heading.spaced:
        return
    taken = -1
    for word in words:
        column = min(range(6), key=lambda index: abs(ends[index] + shift - word.end()))
        # two words under one heading are no row of bonnie++'s: the first one counts
        if column > taken:
            yield column, word
        taken = max(taken, column)


def _test(
    name: str, version: str | None, size: re.Match[str], rates: dict[int, float | None], latencies: dict[int, str]
) -> _Test | None:
    metrics: Metrics = {_RATES[column]: rate for column, rate in rates.items() if rate is not None}
    for column, text in latencies.items():
        label, found = _LATENCIES[column], _LATENCY.fullmatch(text)
        if label is not None and found is not None:
            metrics[label] = int(found["number"]) * _SECONDS[found["unit"]]
    if not metrics:
        return None
    metrics["size_bytes"] = float(int(size["number"]) * _SCALE[size["unit"].lower()])
    return _Test(name, version, metrics)


def _rate(text: str, bare: str) -> float | None:
    """Return a rate in base units; None if it was too fast, not run, or 0. `bare`: the unit of a bare number."""
    found = re.fullmatch(rf"(?P<number>{_NUMBER})(?P<unit>[kmgt]?)", text)
    value = float(found["number"]) * _SCALE[found["unit"] or bare] if found is not None else 0.0
    # a rate of zero is one that was not measured
    return value or None


def _same(exact: _Test, table: _Test) -> bool:
    """Return whether both are the same test: neither the names, which tables shorten, nor the numbers differ."""
    names = sorted((exact.name, table.name), key=len)
    shared = exact.metrics.keys() & table.metrics.keys()
    return names[1].startswith(names[0]) and all(
        abs(exact.metrics[name] / table.metrics[name] - 1) <= _AGREE for name in shared if table.metrics[name]
    )


# bonnie++: the command of a workload.
#
# Blocks are written, read back and written again in place, then read, then sought. bonnie++ syncs what it writes, but
# reads through the caches, also with its option -D: either the file is twice the memory, or `drop_caches` has bonnie++
# wait before each of its tests until they are empty (-y p, since 1.9). The write-only test of a WAL volume (Bleything,
# "PostgreSQL Server Benchmarks", 2011) is the same with a small `ram_bytes`, `flush` on and its reads left aside.

MIB = 1 << 20
MEMORY_MULTIPLE = 2
SEEKS = 8192
SEEKS_PER_SECOND = 200
"""The assumed seeks per second, for a few disks."""
CHARACTER_SECONDS = 20
"""Since 1.9 a small file of its own; before, the whole size twice more, at the speed of the processor."""
_PASSES = 4
"""The passes over the file: write, read and write again, read."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """A workload's parameters.

    Attributes:
        size_bytes: the size of the file; None: twice `ram_bytes`.
        ram_bytes: the memory size that bonnie++ assumes (-r), at most half the file size; None: the machine's memory.
        characters: whether to write and read character by character too, which measures the processor.
        flush: an fsync after every write (-b).
        concurrency: processes that share the work (-c, since 1.9).
        files: files to create, read and delete, in multiples of 1024 (-n).
        drop_caches: drop the caches before each of its tests; this has an effect only as root.
        seeks: the number of seeks, with blocks of `chunk_bytes` (since 2.00); None: 8192.
    """

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    size_bytes: int | None = None
    ram_bytes: int | None = None
    chunk_bytes: int = 8192
    characters: bool = False
    flush: bool = False
    concurrency: int = 1
    files: int = 0
    drop_caches: bool = False
    seeks: int | None = None

    def __post_init__(self) -> None:
        for name in ("size_bytes", "ram_bytes"):
            value = getattr(self, name)
            # -r and -s are in MiB, and a rest would be dropped without a word
            if value is not None and (value < MIB or value % MIB):
                raise ParameterError(
                    [name],
                    f"{name} is {value} bytes, which is not a multiple of 1 MiB",
                    f"set {name} to a multiple of {MIB}",
                )
        # bonnie++ refuses it too, but not before it is started on the server
        if self.size_bytes and self.ram_bytes and self.size_bytes < MEMORY_MULTIPLE * self.ram_bytes:
            raise ParameterError(
                ["size_bytes", "ram_bytes"],
                "size_bytes is less than twice ram_bytes, which bonnie++ refuses",
                "set size_bytes to at least twice ram_bytes",
            )
        if self.chunk_bytes < 256 or self.chunk_bytes > MIB or self.chunk_bytes & (self.chunk_bytes - 1):
            raise ParameterError(
                ["chunk_bytes"],
                f"chunk_bytes is {self.chunk_bytes}, which is not a power of two from 256 to {MIB}",
                "set chunk_bytes to a power of two, such as 8192",
            )
        for name, least, most in (("concurrency", 1, 64), ("files", 0, 1024), ("seeks", 1, 1_000_000)):
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise ParameterError(
                    [name], f"{name} is {value}, which is not from {least} to {most}", f"set {name} within this range"
                )


def procedure(workload: Workload, machine: Machine) -> Procedure:
    """Return what runs for the workload.

    Raises:
        InputError: a parameter is unknown, of the wrong kind or out of bounds; neither size nor memory is known.
    """
    parameters = strictly(Parameters, workload.parameters)
    # the four passes over the file take nearly all of the time
    size = _size(workload.name, parameters, machine)
    seconds = _PASSES * size / ASSUMED_BYTES_PER_SECOND + (parameters.seeks or SEEKS) / SEEKS_PER_SECOND
    seconds += CHARACTER_SECONDS if parameters.characters else 0
    characters = ("write_char_bytes_per_second", "read_char_bytes_per_second") if parameters.characters else ()
    return Procedure(
        program="bonnie++",
        headlines=(
            "write_bytes_per_second",
            "rewrite_bytes_per_second",
            "read_bytes_per_second",
            "seeks_per_second",
            *characters,
        ),
        phases=(Phase(_run(parameters, size, machine.user), seconds, deadline(seconds, _PASSES * size)),),
        read=_read,
        fresh_bytes=size,
    )


def _size(name: str, parameters: Parameters, machine: Machine) -> int:
    """Whole MiB."""
    if parameters.size_bytes is not None:
        return parameters.size_bytes
    memory = parameters.ram_bytes or machine.memory_bytes
    if memory is None:
        raise InputError(
            f"{name} writes twice the size of the memory, but the server's memory size could not be read",
            "set size_bytes in your own suite file",
        )
    # less than twice the memory would be read back from it
    return MEMORY_MULTIPLE * memory // MIB * MIB


def _run(parameters: Parameters, size: int, user: str | None) -> Words:
    """Return the command. bonnie++ runs as root only with -u."""
    ram = parameters.ram_bytes or size // MEMORY_MULTIPLE
    options: list[str | int] = ["-d", ".", "-m", "pghaul", "-n", parameters.files, "-r", ram // MIB]
    # -s SIZE:CHUNK:SEEKS, the third since 2.00
    seeks = [] if parameters.seeks is None else [str(parameters.seeks)]
    options += ["-s", ":".join([str(size // MIB), str(parameters.chunk_bytes), *seeks])]
    options += [] if parameters.characters else ["-f"]
    options += ["-b"] if parameters.flush else []
    # 1.03 does not know -c: one process needs none
    options += ["-c", parameters.concurrency] if parameters.concurrency > 1 else []
    options += ["-u", user] if user is not None else []
    return ("run_bonnie_uncached", *options) if parameters.drop_caches else ("bonnie++", *options)


def _read(outputs: Sequence[str]) -> Reading:
    output = parse_bonnie("\n".join(outputs))
    return Reading(output.results[-1].metrics, output.version)


BONNIE = Tool(
    name="bonnie",
    program="bonnie++",
    package="bonnie++",
    procedure=procedure,
    parse=parse_bonnie,
    repeats=True,
    one_file=True,
    named_after_host=True,
    parameters="`size_bytes` (twice `ram_bytes`), `ram_bytes` (the memory), `chunk_bytes` 8192, `characters` false, "
    "`flush` false, `concurrency` 1, `files` 0 (thousands to create), `drop_caches` false (before each of its tests: "
    "then the size need not exceed the memory), `seeks` (8192)",
    headlines="`write_bytes_per_second`, `rewrite_…`, `read_…`, `seeks_per_second`",
)

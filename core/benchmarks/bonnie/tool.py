"""bonnie++: the command of a workload.

Blocks are written, read back and written again in place, then read, then sought. bonnie++ syncs what it writes, but
reads through the caches, also with its option -D: either the file is twice the memory, or `drop_caches` has bonnie++
wait before each of its tests until they are empty (-y p, since 1.9). The write-only test of a WAL volume (Bleything,
"PostgreSQL Server Benchmarks", 2011) is the same with a small `ram_bytes`, `flush` on and its reads left aside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from core.benchmarks.bonnie.output import parse_bonnie
from core.benchmarks.model import Workload
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

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

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

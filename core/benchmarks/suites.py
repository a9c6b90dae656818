"""Suites: lists of workloads in TOML files, which come with pghaul or are written by the DBA."""

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from core.benchmarks.fio.job import workloads_of
from core.benchmarks.model import Parameter, Suite, Workload
from core.benchmarks.tool import STRICT, Machine, bytes_needed, strictly, with_prefix
from core.benchmarks.tools import TOOLS, procedure_of
from core.errors import InputError
from core.settings import config_folder, resource
from core.system_errors import reason

LARGEST_FILE = 1_000_000
JOB_SUFFIX = ".fio"
JOB_REPETITIONS = 5
_FIRST = ("quick", "standard")
_MUCH_MEMORY = 2**42
"""A memory size in bytes that is so large that all sizes that do not depend on the memory are smaller."""
# A suite is read before any server is known. This machine has everything that a workload may need.
_ANY_MACHINE = Machine(
    memory_bytes=2**30,
    threads=1,
    bin_directories=("/usr/bin",),
    fio_engine="libaio",
    address="localhost",
    other_programs="/bin",
)


@dataclass(frozen=True, slots=True)
class WorkloadTable:
    """The table `[[workload]]` of a suite file."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    name: str
    title: str
    tool: str
    headline: str
    parameters: dict[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """A suite file."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    title: str
    workload: list[WorkloadTable]
    repetitions: int = 5
    target_variation: float = 0.05
    most_repetitions: int | None = None
    """None: twice the repetitions."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A suite in a list, before any server is known.

    Attributes:
        own: whether the DBA has written it.
        tools: the tools of its workloads.
        bytes_needed: the largest size of all files at one time, without the part that depends on the server's memory.
        memory_multiple: that part, as a multiple of the memory.
        problem: the reason why it cannot be read; then the other attributes are empty.
    """

    name: str
    own: bool
    title: str = ""
    workloads: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    repetitions: int = 0
    bytes_needed: int = 0
    memory_multiple: int = 0
    problem: str = ""


def suites() -> tuple[str, ...]:
    """Return the names of pghaul's own suites and of those in the DBA's folder, the general ones first."""
    # A set, because a suite of the DBA replaces one of pghaul with the same name.
    found = {*_names(resource("suites")), *_names(own_suites())}
    return tuple(sorted(found, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)))


def own_suites() -> Path:
    """Return the folder of the DBA's suites, if any. A suite there replaces one of pghaul with the same name."""
    return config_folder() / "suites"


def list_suites() -> tuple[Listed, ...]:
    """Return all suites in the order of `suites`, including those that cannot be read."""
    return tuple(map(_listed, suites()))


def load_suite(name_or_path: str) -> Suite:
    """Return a suite by its name or by the path of its file. A path that ends in `.fio` is a fio job file of the DBA.

    Raises:
        InputError: the suite or file does not exist, is not TOML, or a field is unknown, missing or wrong; the message
            contains the path of the field.
    """
    path = _path(name_or_path)
    text = _text(name_or_path, path)
    if path.suffix == JOB_SUFFIX:
        workloads = workloads_of(text)
        # Files are checked before the connection to a server.
        _check_workloads(path.stem, workloads)
        return Suite(path.stem, f"fio job file {path.name}", JOB_REPETITIONS, workloads)
    return parse_suite(text, path.stem, path.parent)


def _path(name_or_path: str) -> Path:
    # Suites of the DBA come first, so they replace others with the same name.
    for folder in (own_suites(), resource("suites")):
        if name_or_path in _names(folder):
            return folder / f"{name_or_path}.toml"
    try:
        return Path(name_or_path).expanduser()
    except RuntimeError as error:  # a home folder of nobody
        raise InputError(
            f"there is no suite {name_or_path!r}: the home folder of this user is not known", _hint()
        ) from error


def _names(folder: Path) -> list[str]:
    try:
        return [path.stem for path in folder.glob("*.toml")]
    except OSError:
        return []


def _text(name: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)  # A device has no size and no end.
        if len(data) > LARGEST_FILE:
            raise InputError(f"{path} is too large to be a suite file", _hint())
        return data.decode()
    except OSError as error:
        raise InputError(f"there is no suite {name!r}: {reason(error)}", _hint()) from error
    except ValueError as error:  # not UTF-8, or a NUL character in the name
        raise InputError(f"the suite file {name!r} is not a text file: {error}", _hint()) from error


def _hint() -> str:
    return f"choose one of {', '.join(suites())}, or give the path of your own suite file"


def _listed(name: str) -> Listed:
    own = name in _names(own_suites())
    try:
        suite = load_suite(name)
        small, large = (
            bytes_needed(
                [procedure_of(workload, replace(_ANY_MACHINE, memory_bytes=memory)) for workload in suite.workloads]
            )
            # Two very large memory sizes: the difference is the part that depends on the memory.
            for memory in (_MUCH_MEMORY, 2 * _MUCH_MEMORY)
        )
    except InputError as error:
        return Listed(name, own, problem=error.message)
    return Listed(
        name=name,
        own=own,
        title=suite.title,
        workloads=tuple(workload.name for workload in suite.workloads),
        tools=tuple(dict.fromkeys(workload.tool for workload in suite.workloads)),
        repetitions=suite.repetitions,
        bytes_needed=small - (large - small),
        memory_multiple=(large - small) // _MUCH_MEMORY,
    )


def parse_suite(text: str, name: str, folder: Path = Path()) -> Suite:
    """Return the suite that the TOML text describes; raise InputError as `load_suite` does.

    The `job_file` or `script_file` of a workload is read from `folder`. The workload then contains its text.
    """
    try:
        table = strictly(SuiteFile, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"the suite {name} is not valid TOML (tomllib says: {error})", "correct the suite file"
        ) from error
    except InputError as error:
        raise InputError(f"the suite {name} cannot be read: {error.message}", error.hint) from error
    workloads = tuple(
        Workload(item.name, item.title, item.tool, item.headline, _with_files(item, folder)) for item in table.workload
    )
    _check(name, table)
    _check_workloads(name, workloads)
    most = 2 * table.repetitions if table.most_repetitions is None else table.most_repetitions
    return Suite(name, table.title, table.repetitions, workloads, table.target_variation, most)


def _with_files(item: WorkloadTable, folder: Path) -> dict[str, Parameter]:
    """Return the workload's parameters, with the text of each file in place of its name."""
    found, tool = dict(item.parameters), TOOLS.get(item.tool)
    for name, text in tool.files.items() if tool is not None else ():
        named = found.get(name)
        if isinstance(named, str):
            # The history stores the text, because the file may change later.
            del found[name]
            found[text] = _text(named, folder / named)
    return found


def _check(name: str, table: SuiteFile) -> None:
    repetitions, most, target = table.repetitions, table.most_repetitions, table.target_variation
    if not 1 <= repetitions <= 1000:
        raise InputError(
            f"the suite {name} has repetitions = {repetitions}", "set repetitions to a number from 1 to 1000"
        )
    if most is not None and not repetitions <= most <= 1000:
        raise InputError(
            f"the suite {name} has most_repetitions = {most}",
            f"set most_repetitions to a number from {repetitions} (repetitions) to 1000",
        )
    if not 0 < target < 1:
        raise InputError(
            f"the suite {name} has target_variation = {target}",
            "set target_variation to a fraction between 0 and 1, such as 0.05",
        )


def _check_workloads(name: str, workloads: tuple[Workload, ...]) -> None:
    if not workloads:
        raise InputError(f"the suite {name} has no workload", "add a [[workload]] table")
    names = [workload.name for workload in workloads]
    twice = sorted({one for one in names if names.count(one) > 1})
    if twice:
        raise InputError(f"the suite {name} has two workloads named {twice[0]}", "give each workload its own name")
    for workload in workloads:
        try:
            procedure_of(workload, _ANY_MACHINE)
        except InputError as error:
            raise with_prefix(error, f"the suite {name}") from error

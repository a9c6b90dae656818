"""Suites: lists of workloads in TOML files, those that ship and those that a DBA writes."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict

from core.benchmarks.model import Parameter, Suite, Workload
from core.benchmarks.tools import work_of
from core.benchmarks.work import STRICT, Machine, strictly
from core.errors import InputError
from core.settings import resource

LARGEST_FILE = 1_000_000
_ANY_MACHINE = Machine(memory_bytes=2**30, threads=1)


@dataclass(frozen=True, slots=True)
class WorkloadTable:
    """A `[[workload]]` of a suite file."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: str
    title: str
    tool: str
    headline: str
    parameters: dict[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """A suite file."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    title: str
    workload: list[WorkloadTable]
    repetitions: int = 5
    target_variation: float = 0.05
    most_repetitions: int | None = None
    """None: twice the repetitions."""


def suites() -> tuple[str, ...]:
    """The names of the suites that ship."""
    return tuple(sorted(path.stem for path in resource("suites").glob("*.toml")))


def load_suite(name_or_path: str) -> Suite:
    """A suite that ships, by its name, or a DBA's own, by the path of its file.

    Raises:
        InputError: no such suite or file, no TOML, or a field that is unknown, missing or wrong; names its path.
    """
    shipped = suites()
    hint = f"choose one of {', '.join(shipped)}, or name a suite file of your own"
    try:
        own = name_or_path not in shipped
        path = Path(name_or_path).expanduser() if own else resource("suites", f"{name_or_path}.toml")
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)  # a device has no size beforehand, and no end
        if len(data) > LARGEST_FILE:
            raise InputError(f"{path} is too large to be a suite file", hint)
        text = data.decode()
    except (OSError, RuntimeError) as error:  # RuntimeError: a home folder of nobody
        raise InputError(f"no suite {name_or_path!r}: {getattr(error, 'strerror', None) or error}", hint) from error
    except ValueError as error:  # not UTF-8, or a NUL character in the name
        raise InputError(f"the suite file {name_or_path!r} is no text: {error}", hint) from error
    return parse_suite(text, path.stem)


def parse_suite(text: str, name: str) -> Suite:
    """The suite that the TOML text describes; raises InputError as `load_suite` does."""
    try:
        table = strictly(SuiteFile, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the suite {name} is no TOML: {error}") from error
    except InputError as error:
        raise InputError(f"the suite {name} cannot be read: {error.message}", error.hint) from error
    workloads = tuple(
        Workload(item.name, item.title, item.tool, item.headline, item.parameters) for item in table.workload
    )
    _check(name, table, workloads)
    most = 2 * table.repetitions if table.most_repetitions is None else table.most_repetitions
    return Suite(name, table.title, table.repetitions, workloads, table.target_variation, most)


def _check(name: str, table: SuiteFile, workloads: tuple[Workload, ...]) -> None:
    repetitions, most, target = table.repetitions, table.most_repetitions, table.target_variation
    if not 1 <= repetitions <= 1000:
        raise InputError(f"the suite {name} wants {repetitions} repetitions", "from 1 to 1000 are possible")
    if most is not None and not repetitions <= most <= 1000:
        raise InputError(
            f"the suite {name} wants at most {most} repetitions", f"from {repetitions} to 1000 are possible"
        )
    if not 0 < target < 1:
        raise InputError(f"the suite {name} has the target variation {target}", "state a fraction, such as 0.05")
    if not workloads:
        raise InputError(f"the suite {name} has no workload", "add a [[workload]] table")
    names = [workload.name for workload in workloads]
    twice = sorted({one for one in names if names.count(one) > 1})
    if twice:
        raise InputError(f"the suite {name} has two workloads named {twice[0]}", "give each a name of its own")
    for workload in workloads:
        try:
            work_of(workload, _ANY_MACHINE)
        except InputError as error:
            raise InputError(f"the suite {name}: {error.message}", error.hint) from error

"""What an estimate is computed from, and how it is read from a TOML or JSON file.

Every field is optional but `cluster.size_bytes`; None is not known and will be assumed. Numbers in SI base units.
"""

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from core.errors import InputError

_LARGEST = 1e21
"""A zettabyte: what lies above is a slip of the pen, not a cluster."""

_SMALLEST = 1e-6

_ZERO = {"zero": True}
_WHOLE = {"whole": True}
_COUNT = {"whole": True, "zero": True}


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """The cluster: everything that a copy moves, and what of it is indexes, or the largest table.

    `tables`, `indexes`, `large_objects`, `databases`: how many there are. `reindex_bytes`: indexes that must be built
    anew on new, because text sorts differently there. `written_bytes`: the files that are written to within an hour,
    whole: what a pass after the first has to look through. `checksummed_bytes`: what has page checksums to be looked
    at.
    """

    size_bytes: float
    files: int | None = field(default=None, metadata=_COUNT)
    index_bytes: float | None = field(default=None, metadata=_ZERO)
    largest_table_bytes: float | None = field(default=None, metadata=_ZERO)
    change_bytes_per_hour: float | None = field(default=None, metadata=_ZERO)
    reindex_bytes: float | None = field(default=None, metadata=_ZERO)
    written_bytes: float | None = field(default=None, metadata=_ZERO)
    checksummed_bytes: float | None = field(default=None, metadata=_ZERO)
    tables: int | None = field(default=None, metadata=_COUNT)
    indexes: int | None = field(default=None, metadata=_COUNT)
    large_objects: int | None = field(default=None, metadata=_COUNT)
    databases: int | None = field(default=None, metadata=_COUNT)
    growth_bytes_per_month: float | None = field(default=None, metadata=_ZERO)


@dataclass(frozen=True, slots=True)
class OldSpec:
    """The old server: how fast its disk reads large files one after the other; its logical processors; PostgreSQL's
    major version, 9.6 or 17; what the cluster's file system holds, and what of it is used (None: the cluster alone).
    """

    read_bytes_per_second: float | None = None
    cores: int | None = field(default=None, metadata=_WHOLE)
    version: float | None = None
    capacity_bytes: float | None = None
    used_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class NewSpec:
    """The new server: how fast its disk takes large files, flush included; the rest as of old."""

    write_bytes_per_second: float | None = None
    cores: int | None = field(default=None, metadata=_WHOLE)
    version: float | None = None


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """The network between them: what it carries, or what iperf3 saw; how many streams the copy uses."""

    bits_per_second: float | None = None
    streams: int | None = field(default=None, metadata=_WHOLE)


@dataclass(frozen=True, slots=True)
class CopySpec:
    """The copy itself: the rate of an earlier copy or a sample, in bytes of cluster a second.

    `compression_ratio`: size before over size after. `ssh_bytes_per_second`: what one ssh stream carried; infinite
    where the copy takes another route.
    """

    observed_bytes_per_second: float | None = None
    compression_ratio: float | None = None
    ssh_bytes_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class ReplicaSpec:
    """pg_basebackup: size before over size after its compression on old (since 15); None where it does not compress."""

    compression_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class DumpSpec:
    """How it is dumped and restored: processes of the parallel way, and gzip's level, 0 for none."""

    jobs: int | None = field(default=None, metadata=_WHOLE)
    gzip_level: int | None = field(default=None, metadata=_COUNT)


@dataclass(frozen=True, slots=True)
class ObservedSpec:
    """An earlier dump & restore, to calibrate: its phases, and how large the cluster was then."""

    dump_seconds: float | None = None
    restore_seconds: float | None = None
    index_seconds: float | None = None
    analyze_seconds: float | None = None
    at_size_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class ClaimedSpec:
    """What somebody says that the copy takes: "3 to 4 hours"; it is held against the figures, and changes none."""

    low_seconds: float | None = None
    high_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class History:
    """What the history tells of a move; no table of a file.

    Attributes:
        timed: seconds of each stage in earlier executions of this move, or of others between such servers.
        copies: how many times as long as estimated earlier copies took.
        sources: where a field's figure comes from, by its path, such as `old.read_bytes_per_second`.
    """

    timed: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    copies: tuple[float, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spec:
    """Everything that is known before an estimate."""

    cluster: ClusterSpec
    old: OldSpec = OldSpec()
    new: NewSpec = NewSpec()
    link: LinkSpec = LinkSpec()
    copy: CopySpec = CopySpec()
    dump: DumpSpec = DumpSpec()
    replica: ReplicaSpec = ReplicaSpec()
    observed: ObservedSpec = ObservedSpec()
    claimed: ClaimedSpec = ClaimedSpec()
    history: History = History()

    def source(self, path: str) -> str:
        """Where a field's figure comes from, for people."""
        return self.history.sources.get(path, "given")


_TABLES: dict[str, type] = {
    "cluster": ClusterSpec,
    "old": OldSpec,
    "new": NewSpec,
    "link": LinkSpec,
    "copy": CopySpec,
    "dump": DumpSpec,
    "replica": ReplicaSpec,
    "observed": ObservedSpec,
    "claimed": ClaimedSpec,
}


def load_spec(text: str, name: str) -> Spec:
    """Read a spec. `name` is the file's, for messages; JSON where the text begins with a brace, else TOML.

    Raises:
        InputError: no TOML or JSON, an unknown or missing field, or a number that cannot be; named by its path.
    """
    document = _document(text.removeprefix("\ufeff"), name)
    unknown = sorted(set(document) - _TABLES.keys())
    if unknown:
        raise InputError(f"{name}: there is no table {unknown[0]}", f"tables: {', '.join(_TABLES)}")
    spec = Spec(**{table: kind(**_numbers(kind, table, document, name)) for table, kind in _TABLES.items()})
    _refuse_contradictions(spec, name)
    return spec


def _document(text: str, name: str) -> dict[str, object]:
    try:
        document: dict[str, object] = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        if _is_json(text):
            raise InputError(f"{name} is JSON but holds no tables", f"tables: {', '.join(_TABLES)}") from error
        # JSON's and TOML's own errors are ValueErrors that name line and column; so is an integer of 5000 digits
        raise InputError(
            f"{name} is neither TOML nor JSON: {error}", "see pghaul estimate --help for its shape"
        ) from error
    return document


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _numbers(kind: type, table: str, document: Mapping[str, object], name: str) -> dict[str, Any]:
    """The table's numbers by field; raises InputError that names the first wrong one by its path."""
    given = document.get(table, {})
    if not isinstance(given, dict):
        raise InputError(f"{name}: {table} is no table", f"fields: {_names(kind)}")
    known = {each.name: each for each in fields(kind)}
    for key in given:
        if key not in known:
            raise InputError(f"{name}: there is no field {table}.{key}", f"fields: {_names(kind)}")
    if kind is ClusterSpec and given.get("size_bytes") is None:
        raise InputError(
            f"{name}: cluster.size_bytes is missing", "the cluster's size is the one field that must be given"
        )
    return {
        key: _number(value, f"{name}: {table}.{key}", known[key].metadata)
        for key, value in given.items()
        if value is not None
    }


def _number(value: object, path: str, rules: Mapping[str, bool]) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{path} is {_shown(value)}, not a number", "numbers stand without quotes and without units")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{path} is {value}, not a number")
    if abs(value) > _LARGEST:
        raise InputError(f"{path} is more than a zettabyte", "sizes are in bytes, rates in bytes or bits a second")
    if 0 < value < _SMALLEST:
        raise InputError(f"{path} is {value}: that is nothing", "sizes are in bytes, rates in bytes or bits a second")
    if value < 0 or (value == 0 and not rules.get("zero")):
        raise InputError(
            f"{path} is {value}: it must be more than zero" if value == 0 else f"{path} is negative: {value:g}"
        )
    if rules.get("whole"):
        if value != int(value):
            raise InputError(f"{path} is {value:g}: it must be a whole number")
        return int(value)
    return float(value)


def _refuse_contradictions(spec: Spec, name: str) -> None:
    size = spec.cluster.size_bytes
    for part in ("index_bytes", "largest_table_bytes", "reindex_bytes", "written_bytes", "checksummed_bytes"):
        value = getattr(spec.cluster, part)
        if value is not None and value > size:
            raise InputError(f"{name}: cluster.{part} is more than cluster.size_bytes", "the size counts everything")
    for table, ratio in (("copy", spec.copy.compression_ratio), ("replica", spec.replica.compression_ratio)):
        if ratio is not None and ratio < 1:
            raise InputError(
                f"{name}: {table}.compression_ratio is {ratio:g}", "it is size before over size after: at least 1"
            )
    said = spec.claimed
    if said.low_seconds is not None and said.high_seconds is not None and said.low_seconds > said.high_seconds:
        raise InputError(f"{name}: claimed.low_seconds is more than claimed.high_seconds", "the two are a range")


def _names(kind: type) -> str:
    return ", ".join(each.name for each in fields(kind))


def _shown(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."

"""What an estimate is computed from, and how it is read from a TOML or JSON file.

Every field is optional but `cluster.size_bytes`; None is not known and will be assumed. Numbers in SI base units.
"""

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, tzinfo
from typing import Any

from core.errors import InputError
from core.migration.estimate.evidence import Evidence
from core.migration.estimate.watched import Watched
from core.sides import Side

_LARGEST = 1e21
"""A zettabyte: what lies above is a slip of the pen, not a cluster."""

_SMALLEST = 1e-6

_ZERO = {"zero": True}
_WHOLE = {"whole": True}
_COUNT = {"whole": True, "zero": True}


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """The cluster: everything that a copy moves, and what of it is indexes, or the largest table.

    `tables`, `indexes`, `toast_tables`, `large_objects`, `databases`: how many there are; `empty_files`: of the `files`
    those that hold nothing, which nobody reads; `data_roots`: folders that
    are copied by themselves: the data directory, tablespaces, WAL elsewhere. `reindex_bytes`: what must be built anew
    on the new server of indexes, because text sorts differently there. `written_bytes`: the files that are written to
    within an hour, whole: what a pass after the first has to look through. `checksummed_bytes`: what has page checksums
    to be looked at. `largest_folder_bytes`: of the data directory and the tablespaces outside of it the one with most:
    they are copied side by side; `old_disk_bytes`, `new_disk_bytes`: what lies on the disk of either that holds most of
    it. `database_bytes`: tables and indexes of all databases: what a dump & restore handles, without WAL and catalogs.
    `wasted_bytes`: of tables, what is no row; `kept_wal_bytes`: WAL that only a slot, the archiver or a setting holds:
    a copy moves both, a dump neither. `idle_wal_bytes`: WAL that the server keeps to write over it: nothing moves it.
    """

    size_bytes: float
    files: int | None = field(default=None, metadata=_COUNT)
    empty_files: int | None = field(default=None, metadata=_COUNT)
    index_bytes: float | None = field(default=None, metadata=_ZERO)
    largest_table_bytes: float | None = field(default=None, metadata=_ZERO)
    change_bytes_per_hour: float | None = field(default=None, metadata=_ZERO)
    reindex_bytes: float | None = field(default=None, metadata=_ZERO)
    written_bytes: float | None = field(default=None, metadata=_ZERO)
    checksummed_bytes: float | None = field(default=None, metadata=_ZERO)
    tables: int | None = field(default=None, metadata=_COUNT)
    indexes: int | None = field(default=None, metadata=_COUNT)
    toast_tables: int | None = field(default=None, metadata=_COUNT)
    large_objects: int | None = field(default=None, metadata=_COUNT)
    data_roots: int | None = field(default=None, metadata=_WHOLE)
    databases: int | None = field(default=None, metadata=_COUNT)
    largest_folder_bytes: float | None = None
    old_disk_bytes: float | None = None
    new_disk_bytes: float | None = None
    database_bytes: float | None = field(default=None, metadata=_ZERO)
    growth_bytes_per_month: float | None = field(default=None, metadata=_ZERO)
    wasted_bytes: float | None = field(default=None, metadata=_ZERO)
    kept_wal_bytes: float | None = field(default=None, metadata=_ZERO)
    idle_wal_bytes: float | None = field(default=None, metadata=_ZERO)

    @property
    def moved_bytes(self) -> float:
        """What a copy of its files brings."""
        return max(self.size_bytes - (self.idle_wal_bytes or 0.0), min(self.size_bytes, 1.0))


@dataclass(frozen=True, slots=True)
class OldSpec:
    """The old server: how fast its disk reads large files one after the other; its logical processors; PostgreSQL's
    major version, 9.6 or 17; what the cluster's file system holds, and what of it is used (None: the cluster alone);
    its memory.
    """

    read_bytes_per_second: float | None = None
    cores: int | None = field(default=None, metadata=_WHOLE)
    version: float | None = None
    capacity_bytes: float | None = None
    used_bytes: float | None = None
    memory_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class NewSpec:
    """The new server: how fast its disk takes large files, flush included, and gives them back; its memory; the rest as
    of the old server."""

    write_bytes_per_second: float | None = None
    cores: int | None = field(default=None, metadata=_WHOLE)
    version: float | None = None
    read_bytes_per_second: float | None = None
    memory_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """The network between them: what it carries, or what iperf3 saw; how many streams the copy uses.

    `command_seconds`: how long a command takes that does next to nothing, from the workstation and back.
    """

    bits_per_second: float | None = None
    streams: int | None = field(default=None, metadata=_WHOLE)
    command_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CopySpec:
    """The copy itself: the rate of an earlier copy or a sample, in bytes of cluster a second.

    `compression_ratio`: size before over size after. `ssh_bytes_per_second`: what one ssh stream carried; infinite
    where the copy takes another route. `pass_seconds`: what a pass takes that has nothing to send.
    `sum_bytes_per_second`: what both servers sum up beside each other. `precopy_limit_bytes_per_second`: what a
    pre-copy pass sends at most, because the user wants it so.
    """

    observed_bytes_per_second: float | None = None
    compression_ratio: float | None = None
    ssh_bytes_per_second: float | None = None
    pass_seconds: float | None = None
    sum_bytes_per_second: float | None = None
    precopy_limit_bytes_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class ReplicaSpec:
    """pg_basebackup: size before over size after its compression on the old server (since 15); None where it does not
    compress."""

    compression_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class DumpSpec:
    """How it is dumped and restored: processes of the parallel way, and gzip's level, 0 for none.

    `copy_bytes_per_second`, `load_bytes_per_second`: bytes of table that one COPY of a sample puts out on the old
    server, and takes on the new server; `index_bytes_per_second`: bytes of index that one process builds there.
    `text_ratio`: bytes of table for each byte of its rows as text. `table_seconds`, `index_seconds`: what each table of
    a row, and each index on one, takes new to make, whatever its size.
    """

    jobs: int | None = field(default=None, metadata=_WHOLE)
    gzip_level: int | None = field(default=None, metadata=_COUNT)
    copy_bytes_per_second: float | None = None
    load_bytes_per_second: float | None = None
    index_bytes_per_second: float | None = None
    text_ratio: float | None = None
    table_seconds: float | None = None
    index_seconds: float | None = None


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
        whole_copy: the observed rate is that of a copy from its begin to its end, with all that its passes take.
        sources: where a figure comes from, by a field's path, such as `old.read_bytes_per_second`, or a stage's name.
        bloated: names of the tables that waste most.
        watched: what a watch on the old server tells of its changes; None: there was none.
        copied_at: when the copy of this move began that lies on the new server; None: there is none.
        copy_ended_at: when it ended.
        read_seconds: what it took, behind that copy, until both sides had read and summed up every file.
        now: when it is estimated, by which evidence is old; None: its age does not count.
        zone: the old server's time zone; None: not known, the workstation's is taken.
        renamed: the sides with benchmark runs that do not count, because another machine had the server's name then.
        stopped: the cluster was stopped when its facts were read, so that nothing is done to stop it.
    """

    timed: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    copies: tuple[float, ...] = ()
    whole_copy: bool = False
    sources: Mapping[str, Evidence] = field(default_factory=dict)
    bloated: tuple[str, ...] = ()
    watched: Watched | None = None
    copied_at: datetime | None = None
    copy_ended_at: datetime | None = None
    read_seconds: float | None = None
    now: datetime | None = None
    zone: tzinfo | None = None
    renamed: frozenset[Side | None] = frozenset()
    stopped: bool = False


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

    def source(self, path: str) -> Evidence:
        """Where a field's figure, or a stage's, comes from."""
        return self.history.sources.get(path, _GIVEN)

    def doubt(self, path: str) -> float:
        """What speaks against that figure besides its kind, see `Evidence.doubt`."""
        return self.source(path).doubt(self.history.now)


_GIVEN = Evidence()


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
        parser = "json" if text.lstrip().startswith("{") else "tomllib"
        # JSON's and TOML's own errors are ValueErrors that name line and column; so is an integer of 5000 digits
        raise InputError(
            f"{name} is neither TOML nor JSON ({parser} says: {error})", "see pghaul estimate --help for its shape"
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
        raise InputError(f"{name}: {table} is not a table", f"fields: {_names(kind)}")
    known = {each.name: each for each in fields(kind)}
    for key in given:
        if key not in known:
            raise InputError(f"{name}: there is no field {table}.{key}", f"fields: {_names(kind)}")
    if kind is ClusterSpec and given.get("size_bytes") is None:
        raise InputError(
            f"{name}: cluster.size_bytes is missing", "cluster.size_bytes is the only field that must be given"
        )
    return {
        key: _number(value, f"{name}: {table}.{key}", known[key].metadata)
        for key, value in given.items()
        if value is not None
    }


def _number(value: object, path: str, rules: Mapping[str, bool]) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{path} is {_shown(value)}, not a number", "write numbers without quotes and without units")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{path} is {value}, not a number")
    if abs(value) > _LARGEST:
        raise InputError(f"{path} is more than a zettabyte", "sizes are in bytes, rates in bytes or bits a second")
    if 0 < value < _SMALLEST:
        raise InputError(
            f"{path} is {value}, which is too small", "sizes are in bytes, rates in bytes or bits a second"
        )
    if value < 0 or (value == 0 and not rules.get("zero")):
        raise InputError(
            f"{path} is {value}: it must be more than zero" if value == 0 else f"{path} is negative: {value:g}"
        )
    if rules.get("whole"):
        if value != int(value):
            raise InputError(f"{path} is {value:g}: it must be a whole number")
        return int(value)
    return float(value)


PARTS = (
    "index_bytes",
    "largest_table_bytes",
    "reindex_bytes",
    "written_bytes",
    "checksummed_bytes",
    "database_bytes",
    "wasted_bytes",
    "kept_wal_bytes",
    "idle_wal_bytes",
    "largest_folder_bytes",
    "old_disk_bytes",
    "new_disk_bytes",
)
"""What is a part of the cluster."""


def _refuse_contradictions(spec: Spec, name: str) -> None:
    size = spec.cluster.size_bytes
    for part in PARTS:
        value = getattr(spec.cluster, part)
        if value is not None and value > size:
            raise InputError(
                f"{name}: cluster.{part} is more than cluster.size_bytes", "cluster.size_bytes must include all parts"
            )
    for table, ratio in (("copy", spec.copy.compression_ratio), ("replica", spec.replica.compression_ratio)):
        if ratio is not None and ratio < 1:
            raise InputError(
                f"{name}: {table}.compression_ratio is {ratio:g}",
                "give the size before compression divided by the size after it: at least 1",
            )
    said = spec.claimed
    files, empty = spec.cluster.files, spec.cluster.empty_files
    if files is not None and empty is not None and empty > files:
        raise InputError(
            f"{name}: cluster.empty_files is more than cluster.files", "cluster.files must include the empty files"
        )
    if said.low_seconds is not None and said.high_seconds is not None and said.low_seconds > said.high_seconds:
        raise InputError(
            f"{name}: claimed.low_seconds is more than claimed.high_seconds",
            "low_seconds must not be greater than high_seconds",
        )


def _names(kind: type) -> str:
    return ", ".join(each.name for each in fields(kind))


def _shown(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."

"""What in a spec cannot be, or cannot be together, in words: a slip of a unit is found before it is believed."""

from collections.abc import Callable, Iterator

from core import units
from core.migration.estimate.spec import Spec

_EMPTY_CLUSTER = 15e6
"""initdb makes 20 to 40 MB in every release since 8.4."""

_LINKS = (64e3, 800e9)
_DISKS = (1e6, 50e9)
_DUMPS = (1e5, 2e9)
"""The least and the most that networks (bits), disks and dump & restores (bytes a second) were seen to do."""

_MOST_RATIO = 100.0
"""A pgbench database, whose rows are mostly blanks, shrinks to about 1/40."""

_OFF = 1.15


TOGETHER = "The indexes and the largest table together are larger than the cluster. One of the sizes is wrong."


def implausible(spec: Spec) -> tuple[str, ...]:
    """A sentence on each figure that is likely a slip, and on those that contradict each other."""
    return (*_sizes(spec), *_rates(spec), *_phases(spec), *_claim(spec))


def _sizes(spec: Spec) -> Iterator[str]:
    cluster = spec.cluster
    if cluster.size_bytes < _EMPTY_CLUSTER:
        yield (
            f"cluster.size_bytes = {cluster.size_bytes:g} is {units.size(cluster.size_bytes)}, less than an "
            "empty cluster has. Give bytes, not MB or GB."
        )
    if cluster.files and cluster.size_bytes / cluster.files > 1.5 * 2**30:
        yield (
            f"{units.size(cluster.size_bytes)} in {units.count(cluster.files)} files is not possible. "
            "PostgreSQL's files have at most 1 GiB."
        )
    if cluster.change_bytes_per_hour is not None and cluster.change_bytes_per_hour > 10 * cluster.size_bytes:
        yield (
            f"cluster.change_bytes_per_hour = {cluster.change_bytes_per_hour:g} is "
            f"{cluster.change_bytes_per_hour / cluster.size_bytes:.0f} times the cluster an hour: per day, or of WAL?"
        )
    together = (cluster.index_bytes or 0) + (cluster.largest_table_bytes or 0)
    if together > _OFF * cluster.size_bytes:
        yield TOGETHER


def _rates(spec: Spec) -> Iterator[str]:
    link, ratio = spec.link.bits_per_second, spec.copy.compression_ratio
    for path, value, (low, high), text in (
        ("link.bits_per_second", link, _LINKS, units.bits),
        ("old.read_bytes_per_second", spec.old.read_bytes_per_second, _DISKS, units.rate),
        ("new.write_bytes_per_second", spec.new.write_bytes_per_second, _DISKS, units.rate),
        ("copy.observed_bytes_per_second", spec.copy.observed_bytes_per_second, (1e4, 50e9), units.rate),
    ):
        if value is not None and not low <= value <= high:
            yield _slip(path, value, text, value < low)
    if ratio is not None and ratio > _MOST_RATIO:
        yield (
            f"copy.compression_ratio = {ratio:g} is not plausible. No cluster shrinks to less than 1/{_MOST_RATIO:g}."
        )


def _slip(path: str, value: float, text: Callable[[float], str], little: bool) -> str:
    unit, million = ("bits", "Mbit") if "bits" in path else ("bytes", "MB")
    meant = f"Give {unit} a second, not {million}." if little else f"Is it {unit} a second?"
    return f"{path} = {value:g} is {text(value)}. {meant}"


def _phases(spec: Spec) -> Iterator[str]:
    seen = spec.observed
    size = seen.at_size_bytes or spec.cluster.size_bytes
    for name in ("dump_seconds", "restore_seconds", "index_seconds", "analyze_seconds"):
        seconds = getattr(seen, name)
        if seconds is None or name == "analyze_seconds":
            continue
        rate = size / seconds
        if rate > _DUMPS[1]:
            hours = " Is it given in hours instead of seconds?" if _DUMPS[0] <= rate / 3600 <= _DUMPS[1] else ""
            yield f"observed.{name} = {seconds:g} means {units.rate(rate)}, which has never been seen.{hours}"
        elif rate < _DUMPS[0]:
            yield f"observed.{name} = {seconds:g} means {units.rate(rate)}. Is it given in milliseconds?"


def _claim(spec: Spec) -> Iterator[str]:
    """What is said of the copy against what its rate and the size come to: which two of the three give what."""
    said, size = spec.claimed, spec.cluster.size_bytes
    low, high = said.low_seconds or said.high_seconds, said.high_seconds or said.low_seconds
    rate = _known_rate(spec)
    if low is None or high is None or rate is None:
        return
    takes = size / rate
    if low / _OFF <= takes <= high * _OFF:
        return
    claimed = _between(low, high, units.duration)
    yield (
        f"{units.size(size)}, {units.rate(rate)} and {claimed} do not fit together. The first two give "
        f"{units.duration(takes)}. The size in {claimed} needs "
        f"{_between(size / high, size / low, units.rate)}. At {units.rate(rate)}, "
        f"{_between(low * rate, high * rate, units.size)} are copied in {claimed}."
    )


def _known_rate(spec: Spec) -> float | None:
    """What a copy goes at by what was given: observed, else the slowest of the links."""
    if spec.copy.observed_bytes_per_second is not None:
        return spec.copy.observed_bytes_per_second
    wire = spec.link.bits_per_second
    links = (spec.old.read_bytes_per_second, spec.new.write_bytes_per_second, wire / 8 if wire is not None else None)
    return min((each for each in links if each is not None), default=None)


def _between(low: float, high: float, text: Callable[[float], str]) -> str:
    return text(low) if low == high else f"{text(low)} to {text(high)}"

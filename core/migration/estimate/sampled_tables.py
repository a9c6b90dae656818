"""What the probes of dump & restore tell an estimate: rates of one process by a sample of the largest tables."""

from collections.abc import Iterable, Sequence
from math import log, sqrt

from core.migration.estimate.evidence import Evidence, Measured
from core.migration.model.probe import OF_A_DUMP, Probe, Quantity
from core.migration.model.table_sample import (
    SampledTable,
    parse_built_indexes,
    parse_copied_tables,
    parse_loaded_tables,
    parse_seconds_per_index,
    parse_seconds_per_table,
    table_bytes_per_text_byte,
)

_NINETIETH = 1.28
"""So many standard deviations from the middle lies what is met in one case of ten."""


def of_a_dump(probes: Sequence[Probe]) -> dict[str, Measured]:
    """The figures of the latest ones, by their names in a spec; what was not measured is left out.

    What COPY puts out counts in bytes of table as they come out on new, where the same rows were loaded: tables on old
    hold dead rows too.
    """
    ordered = sorted((each for each in probes if each.quantity in OF_A_DUMP), key=lambda each: each.taken_at)
    latest = {each.quantity: each for each in ordered}
    found: dict[str, Measured] = {}
    dump, load, index = (latest.get(each) for each in (Quantity.DUMP, Quantity.LOAD, Quantity.INDEX))
    if dump is not None:
        tables = parse_copied_tables(dump.raw)
        same = load is not None and load.began_at == dump.began_at
        takes = table_bytes_per_text_byte(tables, parse_loaded_tables(load.raw) if load is not None and same else {})
        if takes is not None:
            text = [SampledTable(each.text, each.seconds) for each in tables.values()]
            rate = sum(each.bytes for each in text) / sum(each.seconds for each in text)
            found["copy_bytes_per_second"] = Measured(takes * rate, _evidence(dump, text))
            found["text_ratio"] = Measured(takes, _evidence(dump, ()))
    if load is not None:
        found["load_bytes_per_second"] = Measured(
            load.bytes_per_second, _evidence(load, parse_loaded_tables(load.raw).values())
        )
        each = {"table_seconds": parse_seconds_per_table(load.raw), "index_seconds": parse_seconds_per_index(load.raw)}
        found |= {name: Measured(taken, _evidence(load, ())) for name, taken in each.items() if taken is not None}
    if index is not None:
        found["index_bytes_per_second"] = Measured(
            index.bytes_per_second, _evidence(index, parse_built_indexes(index.raw).values())
        )
    return found


def _evidence(probe: Probe, parts: Iterable[SampledTable]) -> Evidence:
    words = f"probe of {probe.taken_at:%Y-%m-%d %H:%M}: {probe.method}"
    return Evidence(words, probe.taken_at, apart=_apart(tuple(parts)))


def _apart(parts: Sequence[SampledTable]) -> float:
    """How far the mean of the tables is off by how they differ, in one case of ten; nothing of a single one.

    By the standard error of the logarithm of their rates, each with the weight of its bytes.
    """
    whole = sum(each.bytes for each in parts)
    if len(parts) < 2 or not whole:
        return 0.0
    mean = whole / sum(each.seconds for each in parts)
    shares = [each.bytes / whole for each in parts]
    spread = sum(share * log(each.bytes / each.seconds / mean) ** 2 for share, each in zip(shares, parts, strict=True))
    return _NINETIETH * sqrt(spread * sum(share**2 for share in shares))

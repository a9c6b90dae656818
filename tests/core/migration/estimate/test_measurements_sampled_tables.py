"""What the probes of dump & restore tell an estimate, and how sure of it they are."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from core.migration.estimate import estimate, spec_of
from core.migration.estimate.measurements import of_a_dump
from core.migration.model.probe import Probe, Quantity
from tests.core.migration.builders import NOW, cluster, move, old, probe

_OUT = "table 1 20000000 10000000 100000000\n"
_OTHER = "table 2 20000000 10000000 400000000\n"
_IN = '"pghaul start 1 10.0"\n"pghaul loaded 1 10.2 16000000"\n"pghaul whole 1 1"\n'
_BUILT = '"pghaul indexing 1 10.2"\n"pghaul indexed 1 10.3 4000000"\n'


def taken(quantity: Quantity, rate: float, raw: str) -> Probe:
    return replace(probe(quantity, rate), raw=raw, taken_at=NOW, began_at=NOW)


def test_dead_rows_that_copy_went_past_do_not_count() -> None:
    """10 MB of text in 0.1 s: 200 MB/s of old's pages, of which new needs but four fifths."""
    dump, load = taken(Quantity.DUMP, 2e8, _OUT), taken(Quantity.LOAD, 8e7, _IN)
    alone = of_a_dump([dump])
    assert alone["copy_bytes_per_second"].value == pytest.approx(2e8)
    assert alone["text_ratio"].value == 2.0
    both = of_a_dump([dump, load])
    assert both["copy_bytes_per_second"].value == pytest.approx(1.6e8)
    assert both["text_ratio"].value == 1.6
    assert both["load_bytes_per_second"].value == pytest.approx(8e7)
    earlier = replace(load, began_at=NOW - timedelta(days=1))
    assert of_a_dump([dump, earlier])["text_ratio"].value == 2.0


def test_what_each_table_and_each_index_took_is_told_apart() -> None:
    said = (
        '"pghaul creating 0 10.0 60"\n"pghaul created 0 10.6 60"\n"pghaul keying 0 11.0 60"\n"pghaul keyed 0 11.3 60"\n'
    )
    told = of_a_dump([taken(Quantity.LOAD, 8e7, said + _IN)])
    assert told["table_seconds"].value == pytest.approx(0.01)
    assert told["index_seconds"].value == pytest.approx(0.005)
    cut = of_a_dump([taken(Quantity.LOAD, 8e7, said[:40] + "\n" + _IN)])
    assert not {"table_seconds", "index_seconds"} & cut.keys()
    backwards = of_a_dump([taken(Quantity.LOAD, 8e7, said.replace("10.6", "9.6").replace("11.3 60", "11.3 0"))])
    assert not {"table_seconds", "index_seconds"} & backwards.keys()


def test_tables_that_differ_make_the_figure_less_sure() -> None:
    one, two = (of_a_dump([taken(Quantity.DUMP, 1e8, raw)])["copy_bytes_per_second"] for raw in (_OUT, _OUT + _OTHER))
    assert one.evidence.apart == 0.0
    assert two.value == pytest.approx(8e7)
    assert 0.3 < two.evidence.apart < 1.0
    assert two.evidence.doubt(None) == pytest.approx(two.evidence.apart)


def _sampled(sizes: Sequence[int], rates: Sequence[float], sample: Sequence[int]) -> list[Probe]:
    """The probes of tables of these sizes, each loaded and with its index built at one rate, by such a sample."""
    out = "".join(
        f"table {n} {part} {part} {part} {size}\n" for n, (size, part) in enumerate(zip(sizes, sample, strict=True), 1)
    )
    marks = "".join(
        f'"pghaul start {n} 10.0"\n"pghaul loaded {n} {10 + part / rate:.6f} {part}"\n"pghaul whole {n} 1"\n'
        f'"pghaul indexing {n} 20.0"\n"pghaul indexed {n} {20 + part / rate / 4:.6f} {part // 4}"\n'
        for n, (rate, part) in enumerate(zip(rates, sample, strict=True), 1)
    )
    made = sum(sample) / sum(part / rate for part, rate in zip(sample, rates, strict=True))
    return [taken(Quantity.DUMP, 1e9, out), taken(Quantity.LOAD, made, marks), taken(Quantity.INDEX, made, marks)]


def test_a_small_table_with_much_of_the_sample_counts_by_its_size() -> None:
    sizes, rates = (400 * 10**9, 4 * 10**9, 4 * 10**9, 4 * 10**9), (300e6, 60e6, 60e6, 60e6)
    whole = sum(sizes) / sum(size / rate for size, rate in zip(sizes, rates, strict=True))
    by_size = of_a_dump(_sampled(sizes, rates, (64_000_000, 640_000, 640_000, 640_000)))
    by_eighths = of_a_dump(_sampled(sizes, rates, (46_000_000, 6_000_000, 6_000_000, 6_000_000)))
    for name in ("load_bytes_per_second", "index_bytes_per_second"):
        assert by_size[name].value == pytest.approx(whole, rel=1e-3)
        assert by_eighths[name].value == pytest.approx(whole, rel=1e-3)


def test_a_load_of_other_tables_than_were_dumped_counts_as_it_was() -> None:
    dump, load, index = _sampled((400 * 10**9, 4 * 10**9), (300e6, 60e6), (46_000_000, 6_000_000))
    for probes in ([load, index], [replace(dump, began_at=NOW - timedelta(days=1)), load, index]):
        told = of_a_dump(probes)
        assert told["load_bytes_per_second"].value == load.bytes_per_second
        assert told["index_bytes_per_second"].value == index.bytes_per_second


def test_what_says_nothing_tells_nothing() -> None:
    assert of_a_dump([]) == {}
    assert of_a_dump([taken(Quantity.DUMP, 1e8, "cut off"), probe(Quantity.READ, 1e8)]) == {}


def test_each_stage_says_that_it_comes_from_the_probe() -> None:
    probes = [
        taken(Quantity.DUMP, 2e8, _OUT),
        taken(Quantity.LOAD, 8e7, _IN),
        taken(Quantity.INDEX, 4e7, _IN + _BUILT),
    ]
    made = estimate(spec_of(move(), old(cluster()), probes)).method("dump-restore")
    assert made is not None
    said = {stage.name: stage.evidence for stage in made.stages}
    assert any(text.startswith("dump, load, indexes: ") for text in made.assumptions)
    assert not any("dump & restore" in text for text in made.assumptions)
    assert any(text.startswith("ANALYZE: ") for text in made.assumptions)
    assert all(said[name].startswith(f"probe of {NOW:%Y-%m-%d %H:%M}") for name in ("dump", "load", "indexes"))

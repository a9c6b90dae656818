"""What holds of every estimate, whatever the figures."""

import json
from dataclasses import asdict, fields, replace
from math import inf, isfinite, nan
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core import documents
from core.errors import InputError
from core.migration.estimate import Spec, estimate, load_spec, simulated
from core.migration.estimate.basis import basis
from core.migration.estimate.draws import span
from core.migration.estimate.spec import ClusterSpec, CopySpec, LinkSpec, NewSpec, OldSpec
from core.migration.model.estimate import Estimate, Span
from core.migration.model.move import Verify

few = settings(max_examples=20, deadline=None)
rates = st.none() | st.floats(1e6, 1e10)


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    """Clusters from 10 MB to 100 TB, with any part of the figures left out."""
    size = 10 ** draw(st.floats(7, 14))
    part = st.none() | (st.just(0.0) | st.floats(1e-6, 1)).map(lambda each: each * size)
    return Spec(
        ClusterSpec(
            size,
            files=draw(st.none() | st.integers(1, 10**6)),
            index_bytes=draw(part),
            largest_table_bytes=draw(part),
            change_bytes_per_hour=draw(st.none() | (st.just(0.0) | st.floats(1e-6, 2)).map(lambda each: each * size)),
            written_bytes=draw(part),
            tables=draw(st.none() | st.integers(0, 10**5)),
            large_objects=draw(st.none() | st.integers(0, 10**7)),
        ),
        OldSpec(draw(rates), draw(st.none() | st.integers(1, 64))),
        NewSpec(draw(rates), draw(st.none() | st.integers(1, 64))),
        LinkSpec(draw(st.none() | st.floats(1e7, 1e11)), draw(st.none() | st.integers(1, 8))),
        CopySpec(draw(rates), draw(st.none() | st.floats(1, 5)), draw(st.none() | st.floats(1e7, 1e9))),
    )


@few
@given(specs(), st.sampled_from(Verify))
def test_spans_are_ordered_and_the_stages_of_the_stop_add_up_to_it(spec: Spec, checking: Verify) -> None:
    nights = {each.name: each for each in simulated(spec, checking)}
    for method in estimate(spec, checking).methods:
        spans = (method.duration_seconds, method.downtime_seconds, *(stage.seconds for stage in method.stages))
        assert all(0 <= each.low <= each.likely <= each.high and isfinite(each.high) for each in spans)
        stopped = {part.name for part in nights[method.method].parts if part.stopped}
        down = sum(stage.seconds.likely for stage in method.stages if stage.name in stopped)
        assert abs(down - method.downtime_seconds.likely) <= 1e-6 * down
        every = sum(stage.seconds.likely for stage in method.stages)
        assert method.duration_seconds.low <= every <= method.duration_seconds.high


@few
@given(specs(), st.sampled_from(Verify))
def test_the_stop_of_a_warm_copy_is_never_longer_than_that_of_a_cold_one(spec: Spec, checking: Verify) -> None:
    cold, warm = simulated(spec, checking)[:2]
    assert (warm.downtime <= cold.downtime * (1 + 1e-9)).all()


@few
@given(specs(), st.floats(1, 10))
def test_more_bytes_never_take_less(spec: Spec, times: float) -> None:
    larger = replace(spec, cluster=replace(spec.cluster, size_bytes=times * spec.cluster.size_bytes))
    for small, large in zip(simulated(spec), simulated(larger), strict=True):
        assert (large.duration >= small.duration * (1 - 1e-9)).all()
        assert (large.downtime >= small.downtime * (1 - 1e-9)).all()


@pytest.mark.slow
@few
@example(Spec(ClusterSpec(1e7), link=LinkSpec(5e9)), 2.0, "wire")  # from 10 Gbit/s on, servers are taken to be newer
@given(specs(), st.floats(1, 10), st.sampled_from(["read", "write", "wire", "ssh", "copy"]))
def test_a_faster_part_never_makes_it_slower(spec: Spec, times: float, part: str) -> None:
    slow = Spec(
        spec.cluster,
        OldSpec(spec.old.read_bytes_per_second or 1e8),
        NewSpec(spec.new.write_bytes_per_second or 1e8),
        LinkSpec(spec.link.bits_per_second or 1e9, 1),
        CopySpec(spec.copy.observed_bytes_per_second, ssh_bytes_per_second=2e8),
    )
    if part == "copy":  # with links that carry it: what contradicts them widens the spread
        slow = Spec(
            spec.cluster, OldSpec(1e10), NewSpec(1e10), LinkSpec(1e11), CopySpec(1e8, ssh_bytes_per_second=1e10)
        )
    old, new, link, copy = slow.old, slow.new, slow.link, slow.copy
    fast = {
        "read": replace(slow, old=replace(old, read_bytes_per_second=times * (old.read_bytes_per_second or 0))),
        "write": replace(slow, new=replace(new, write_bytes_per_second=times * (new.write_bytes_per_second or 0))),
        "wire": replace(slow, link=replace(link, bits_per_second=times * (link.bits_per_second or 0))),
        "ssh": replace(slow, copy=replace(copy, ssh_bytes_per_second=times * 2e8)),
        "copy": replace(slow, copy=replace(copy, observed_bytes_per_second=times * 1e8)),
    }[part]
    for before, after in zip(simulated(slow), simulated(fast), strict=True):
        assert (after.duration <= before.duration * (1 + 1e-9)).all()
        assert (after.downtime <= before.downtime * (1 + 1e-9)).all()


@few
@given(specs(), st.floats(1, 10), st.sampled_from([each.name for each in fields(ClusterSpec)]))
def test_more_of_anything_never_takes_less(spec: Spec, times: float, name: str) -> None:
    """But of indexes, for what is index is no table; nor of the growth, which is of other nights."""
    given_ = getattr(spec.cluster, name)
    if name in {"size_bytes", "index_bytes", "growth_bytes_per_month"} or given_ is None:
        return
    more = replace(spec, cluster=replace(spec.cluster, **{name: round(times * given_)}))
    for few_, many in zip(simulated(spec), simulated(more), strict=True):
        assert (many.duration >= few_.duration * (1 - 1e-9)).all()
        assert (many.downtime >= few_.downtime * (1 - 1e-9)).all()


@few
@given(specs(), st.integers(1, 8), st.sampled_from(["cores of old", "cores of new", "streams", "compression"]))
def test_more_hands_never_make_it_slower(spec: Spec, times: int, part: str) -> None:
    slow = replace(
        spec,
        old=replace(spec.old, cores=spec.old.cores or 2),
        new=replace(spec.new, cores=spec.new.cores or 2),
        link=replace(spec.link, streams=spec.link.streams or 1),
        copy=replace(spec.copy, observed_bytes_per_second=None, compression_ratio=spec.copy.compression_ratio or 1.0),
    )
    old, new, link, copy = slow.old, slow.new, slow.link, slow.copy
    fast = {
        "cores of old": replace(slow, old=replace(old, cores=times * (old.cores or 0))),
        "cores of new": replace(slow, new=replace(new, cores=times * (new.cores or 0))),
        "streams": replace(slow, link=replace(link, streams=times * (link.streams or 0))),
        "compression": replace(slow, copy=replace(copy, compression_ratio=times * (copy.compression_ratio or 0))),
    }[part]
    for before, after in zip(simulated(slow), simulated(fast), strict=True):
        assert (after.duration <= before.duration * (1 + 1e-9)).all()
        assert (after.downtime <= before.downtime * (1 + 1e-9)).all()


@few
@given(st.floats(9, 13), st.floats(6, 9), st.floats(1, 100))
def test_bytes_bits_and_seconds_stay_what_they_are(size: float, rate: float, times: float) -> None:
    """A byte is eight bits; so many times the bytes at so many times the rate take as long."""

    def copied(size: float, rate: float) -> Span:
        spec = Spec(
            ClusterSpec(size, files=0), OldSpec(1e14), NewSpec(1e14), LinkSpec(8 * rate), CopySpec(None, 1.0, inf)
        )
        return span(basis(spec).copy.seconds(size))

    once, again = copied(10**size, 10**rate), copied(times * 10**size, times * 10**rate)
    assert once.likely == pytest.approx(10**size / 10**rate, rel=0.1)  # less what the wire carries besides
    assert (again.low, again.likely, again.high) == pytest.approx((once.low, once.likely, once.high), rel=1e-6)


@few
@given(specs())
def test_a_spec_and_its_estimate_survive_their_documents(spec: Spec) -> None:
    tables = {name: table for name, table in asdict(spec).items() if name != "history"}
    again = load_spec(json.dumps(tables), "spec")
    made = estimate(again)
    assert again == spec
    assert documents.load(Estimate, documents.dump(made)) == made


PLAIN = Spec(ClusterSpec(1e12))
FIELDS = [f"{table.name}.{each.name}" for table in fields(Spec)[:-1] for each in fields(getattr(PLAIN, table.name))]
NONSENSE = [0, -0.0, -1, 0.5, 1e-300, 1e30, 10**400, nan, inf, -inf, True, "730 GB", "", [], {}]


def read(path: str, value: object) -> Spec | InputError:
    """A spec with that value there, or why it is refused."""
    table, _, name = path.partition(".")
    document: dict[str, dict[str, Any]] = {"cluster": {"size_bytes": 1e12}}
    document.setdefault(table, {})[name] = value
    try:
        return load_spec(json.dumps(document), "a spec")
    except InputError as error:
        return error


@pytest.mark.slow
@pytest.mark.parametrize("path", FIELDS)
def test_nonsense_in_any_field_is_refused_in_a_sentence_or_estimated(path: str) -> None:
    for value in NONSENSE:
        found = read(path, value)
        if isinstance(found, InputError):
            assert f"a spec: {path} " in found.message
            assert "\n" not in found.message
            assert len(found.message) < 160
        else:
            assert all(0 < each.duration_seconds.high < inf for each in estimate(found).methods), value


@few
@given(st.sampled_from(FIELDS), st.floats() | st.integers() | st.none())
def test_any_number_in_any_field_is_refused_or_estimated(path: str, value: float | None) -> None:
    found = read(path, value)
    if isinstance(found, Spec):
        assert all(0 < each.duration_seconds.high < inf for each in estimate(found).methods)

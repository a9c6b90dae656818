"""What holds of every estimate, whatever the figures."""

from dataclasses import replace
from math import isfinite

from hypothesis import given, settings
from hypothesis import strategies as st

from core.migration.estimate import Spec, estimate, simulated
from core.migration.estimate.spec import ClusterSpec, CopySpec, LinkSpec, NewSpec, OldSpec
from core.migration.model.move import Verify

few = settings(max_examples=20, deadline=None)
rates = st.none() | st.floats(1e6, 1e10)


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    """Clusters from 10 MB to 100 TB, with any part of the figures left out."""
    size = 10 ** draw(st.floats(7, 14))
    part = st.none() | st.floats(0, 1).map(lambda each: each * size)
    return Spec(
        ClusterSpec(
            size,
            files=draw(st.none() | st.integers(1, 10**6)),
            index_bytes=draw(part),
            largest_table_bytes=draw(part),
            change_bytes_per_hour=draw(st.none() | st.floats(0, 2).map(lambda each: each * size)),
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


@few
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

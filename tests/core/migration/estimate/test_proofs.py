from dataclasses import replace

from core.migration.estimate.basis import basis
from core.migration.estimate.draws import span
from core.migration.estimate.proofs import read_whole, reading_whole
from core.migration.estimate.spec import ClusterSpec, CopySpec, NewSpec, OldSpec, Spec

SMALL = Spec(ClusterSpec(1e9, files=20_000), OldSpec(500e6, 8), NewSpec(500e6, 8), copy=CopySpec(100e6))


def test_what_holds_nothing_is_not_read() -> None:
    known = replace(SMALL, cluster=replace(SMALL.cluster, empty_files=19_000))
    whole, holding = (span(read_whole(basis(spec))).likely for spec in (SMALL, known))
    assert whole - holding > 19_000 * 0.0004
    more = replace(SMALL, cluster=replace(SMALL.cluster, files=1000, empty_files=0))
    assert span(read_whole(basis(more))).likely == holding


def test_what_the_copy_has_just_read_comes_out_of_the_memory_of_the_old_server() -> None:
    slow = replace(SMALL, old=replace(SMALL.old, read_bytes_per_second=50e6))
    cached, too_small = (replace(slow, old=replace(slow.old, memory_bytes=memory)) for memory in (4e9, 1e9))
    unknown, held, read = (span(read_whole(basis(spec))).likely for spec in (slow, cached, too_small))
    assert held < unknown / 2
    assert read == unknown
    assert reading_whole(basis(cached)).bound_by != "old disk"
    assert reading_whole(basis(too_small)).bound_by == "old disk"

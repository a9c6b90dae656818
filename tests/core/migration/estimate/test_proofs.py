from dataclasses import replace

from core.migration.estimate.basis import basis
from core.migration.estimate.draws import span
from core.migration.estimate.proofs import read_whole
from core.migration.estimate.spec import ClusterSpec, CopySpec, NewSpec, OldSpec, Spec

SMALL = Spec(ClusterSpec(1e9, files=20_000), OldSpec(500e6, 8), NewSpec(500e6, 8), copy=CopySpec(100e6))


def test_what_holds_nothing_is_not_read() -> None:
    known = replace(SMALL, cluster=replace(SMALL.cluster, empty_files=19_000))
    whole, holding = (span(read_whole(basis(spec))).likely for spec in (SMALL, known))
    assert whole - holding > 19_000 * 0.0004
    more = replace(SMALL, cluster=replace(SMALL.cluster, files=1000, empty_files=0))
    assert span(read_whole(basis(more))).likely == holding

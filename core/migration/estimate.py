"""How long each method of moving takes: low, likely and high, stage by stage, with what bounds it.

`load_spec` reads what is known from a file, `spec_of` takes it from a move's measurements, `estimate` computes. The
formulas stand with the methods, what is assumed in their stead in `basis`.
"""

from datetime import UTC, datetime

from core.migration.basis import basis
from core.migration.copy_methods import cold_copy, warm_copy
from core.migration.dump_methods import dump_restore, parallel_dump_restore
from core.migration.measurements import spec_of
from core.migration.model import Estimate
from core.migration.replica_method import streaming_replica
from core.migration.spec import Spec, load_spec

__all__ = ["Spec", "estimate", "load_spec", "spec_of"]

_METHODS = (cold_copy, warm_copy, dump_restore, parallel_dump_restore, streaming_replica)


def estimate(spec: Spec) -> Estimate:
    """Every method's duration and downtime; pure but for the time stamp."""
    figures = basis(spec)
    return Estimate(methods=tuple(method(figures) for method in _METHODS), made_at=datetime.now(UTC))

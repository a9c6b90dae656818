"""How long each method of moving takes: low, likely and high, stage by stage, with what bounds it.

`load_spec` reads what is known from a file, `spec_of` takes it from a move's measurements, `estimate` computes. The
formulas stand with the methods, what is assumed in their stead in `basis`.
"""

from datetime import UTC, datetime

from core.migration.estimate.basis import basis
from core.migration.estimate.copy_methods import cold_copy, streaming_replica, warm_copy
from core.migration.estimate.dump_methods import dump_restore, parallel_dump_restore
from core.migration.estimate.measurements import spec_of
from core.migration.estimate.spec import Spec, load_spec
from core.migration.model.estimate import Estimate

__all__ = ["Spec", "estimate", "load_spec", "spec_of"]

_METHODS = (cold_copy, warm_copy, dump_restore, parallel_dump_restore, streaming_replica)


def estimate(spec: Spec) -> Estimate:
    """Every method's duration and downtime; pure but for the time stamp."""
    figures = basis(spec)
    return Estimate(methods=tuple(method(figures) for method in _METHODS), made_at=datetime.now(UTC))

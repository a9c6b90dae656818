"""How long each method of moving takes: low, likely and high, stage by stage, with what bounds it.

`load_spec` reads what is known from a file, `spec_of` takes it from a move's measurements, `estimate` computes.
Figures are drawn night by night (`draws`); the formulas stand with the methods, what is assumed in their stead in
`assumptions`.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core.migration.estimate.basis import basis
from core.migration.estimate.copy_methods import GAIN, cold_copy, warm_copy
from core.migration.estimate.dump_methods import dump_restore, parallel_dump_restore
from core.migration.estimate.measurements import spec_of
from core.migration.estimate.replica import streaming_replica
from core.migration.estimate.spec import Spec, load_spec
from core.migration.estimate.stages import Simulated, summed_up
from core.migration.estimate.upgrade_methods import upgrades
from core.migration.model.checks import CheckResult, Status
from core.migration.model.estimate import Estimate, Method
from core.migration.model.move import Verify

__all__ = ["Spec", "estimate", "load_spec", "ruled_out", "simulated", "spec_of"]


def estimate(spec: Spec, checking: Verify = Verify.CHANGED) -> Estimate:
    """Every method's duration and downtime; pure but for the time stamp. `checking`: what the stop of a copy proves."""
    methods = tuple(summed_up(each) for each in simulated(spec, checking))
    return Estimate(methods, made_at=datetime.now(UTC), advised=_advised(methods), checking=checking)


def _advised(methods: tuple[Method, ...]) -> str:
    """Of the copies that are not ruled out; empty where all are."""
    possible = {each.method: each.downtime_seconds.likely for each in methods if not each.ruled_out}
    cold, warm = possible.get("cold-copy"), possible.get("warm-copy")
    if cold is None or warm is None:
        return ""
    return "warm-copy" if warm < GAIN * cold else "cold-copy"


def ruled_out(made: Estimate, checks: Sequence[CheckResult]) -> Estimate:
    """The estimate with what blockers of the checks rule out, each by its first reason.

    What keeps the new server from using the old cluster's files rules out every copy of them; what else stands in the
    way can be mended.
    """
    reasons = [each.message for each in checks if each.id in _FILES_ALONE and each.status is Status.BLOCKER]
    if not reasons:
        return made
    methods = tuple(
        each if "dump" in each.method else replace(each, ruled_out=each.ruled_out or reasons[0])
        for each in made.methods
    )
    return replace(made, methods=methods, advised=_advised(methods))


_FILES_ALONE = frozenset({"product", "architecture", "control-data"})
"""Checks whose blockers say that the new server cannot use the old cluster's files."""


def simulated(spec: Spec, checking: Verify = Verify.CHANGED) -> tuple[Simulated, ...]:
    """Every method, night by night."""
    known = basis(spec)
    copies = (cold_copy(known, checking), warm_copy(known, checking))
    dumps = (dump_restore(known), parallel_dump_restore(known))
    reason = _other_major(spec)
    found = (*copies, *dumps, streaming_replica(known))
    return (
        *(replace(each, ruled_out=reason) if each not in dumps else each for each in found),
        *upgrades(known, checking),
    )


def _other_major(spec: Spec) -> str:
    """Why files alone will not do; empty where they will."""
    old, new = spec.old.version, spec.new.version
    if old is None or new is None or old == new:
        return ""
    return (
        f"The new server runs PostgreSQL {new:g}, the old server {old:g}. The files of one major version cannot "
        "be used by another."
    )

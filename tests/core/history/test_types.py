"""Whatever text and numbers the dataclasses hold, the history gives them back."""

import dataclasses
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.benchmarks.model import Repetition, Run
from core.facts.model import Facts
from core.history.store import Store
from core.history.types import storable
from core.migration.model.asked import Asked
from core.migration.model.checks import MANUAL, CheckResult
from core.migration.model.estimate import Estimate
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe, Quantity
from tests.core.history.samples import MOVE, NEW, OLD
from tests.histories import BOTH, Histories


@pytest.fixture(scope="module", params=BOTH)
def kept(
    request: pytest.FixtureRequest, histories: Histories, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    with histories.opened(request.param, tmp_path_factory.mktemp("kept")) as store:
        store.add_profile(OLD)
        store.add_profile(NEW)
        store.add_move(MOVE)
        yield store


# any text, NUL and lone surrogates among it; numbers that SQLite and JSON can hold; zones of whole minutes
st.register_type_strategy(str, st.text(st.characters(), max_size=20))
st.register_type_strategy(int, st.integers(-(2**63), 2**63 - 1))
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
_zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
st.register_type_strategy(
    datetime,
    st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(2200, 1, 1), timezones=_zones),  # noqa: DTZ001
)
_asked_seconds = st.floats(0, 86400, exclude_min=True, exclude_max=True)
st.register_type_strategy(  # no other is what a clock shows
    Asked,
    st.builds(Asked, window=st.none() | st.tuples(_asked_seconds, _asked_seconds), downtime_seconds=_asked_seconds),
)
_quick = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@_quick
@given(facts=st.from_type(Facts))
def test_facts(kept: Store, facts: Facts) -> None:
    # of a server without a move: each example is another machine, which ends what was found for a move
    kept.put_profile(dataclasses.replace(OLD, name="third"))
    facts = dataclasses.replace(facts, server="third")
    assert kept.facts_by_id(kept.save_facts(facts)) == storable(facts)


@pytest.mark.slow
@_quick
@given(run=st.from_type(Run))
def test_runs(kept: Store, run: Run) -> None:
    run = dataclasses.replace(run, move=MOVE.name, repetitions=())
    number = kept.run_started(run)
    assert kept.run(number) == storable(dataclasses.replace(run, id=number))


@pytest.mark.slow
@_quick
@given(run=st.from_type(Run), repetition=st.from_type(Repetition))
def test_repetitions(kept: Store, run: Run, repetition: Repetition) -> None:
    number = kept.run_started(dataclasses.replace(run, move=MOVE.name, repetitions=()))
    kept.repetition_ended(number, repetition)
    assert kept.run(number).repetitions == (storable(repetition),)


@pytest.mark.slow
@_quick
@given(estimate=st.from_type(Estimate), plan=st.from_type(Plan), checks=st.lists(st.from_type(CheckResult), max_size=3))
def test_estimate_plan_and_checks(kept: Store, estimate: Estimate, plan: Plan, checks: list[CheckResult]) -> None:
    latest = max((found.made_at for found in (kept.estimate(MOVE.name),) if found and found.made_at), default=None)
    if estimate.made_at is not None and (latest is None or estimate.made_at > latest):
        kept.save_estimate(MOVE.name, estimate)
        assert kept.estimate(MOVE.name) == storable(estimate)
    before = kept.plan(MOVE.name)
    if before is None or plan.made_at > before.made_at:
        kept.save_plan(MOVE.name, plan)
        assert kept.plan(MOVE.name) == storable(dataclasses.replace(plan, move=MOVE.name))
    kept.save_checks(MOVE.name, tuple(checks))
    plain = tuple(  # waivers are kept apart, and links lead to PostgreSQL's documentation alone
        dataclasses.replace(
            each, waiver=None, documentation=each.documentation if each.documentation.startswith(MANUAL) else ""
        )
        for each in checks
    )
    assert kept.checks(MOVE.name) == storable(plain)


@pytest.mark.slow
@_quick
@given(probe=st.from_type(Probe))
def test_probes(kept: Store, probe: Probe) -> None:
    probe = dataclasses.replace(probe, began_at=probe.taken_at)  # a pass of its own: in one the faster counts
    before = {known.quantity: known for known in kept.probes(MOVE.name)}.get(probe.quantity)
    if before is None or probe.taken_at > before.taken_at:
        kept.probe_taken(MOVE.name, probe)
        only_begun = probe.quantity is Quantity.CHANGES and probe.seconds == 0
        assert (storable(probe) in kept.probes(MOVE.name)) is not only_begun

"""The steps that an estimate counts are those of a plan."""

from collections.abc import Mapping

import pytest

from core.migration.estimate.stages import COUNTED, COUNTED_STOPPED
from core.migration.model.plan import Phase, RemoteCall
from tests.core.migration.plan.plans import plan

OF_THE_SERVERS = {Phase.PREPARE: -1, Phase.START: 1}
"""The data root that this plan creates, and the step that makes a cluster known to its host: this host has no need."""


@pytest.mark.parametrize("phase", COUNTED)
@pytest.mark.parametrize(("running", "counted"), [(True, COUNTED), (False, COUNTED_STOPPED)])
def test_a_stage_counts_the_steps_of_a_plan(
    phase: Phase, running: bool, counted: Mapping[Phase, tuple[int, int]]
) -> None:
    made = plan({"running": running})
    mine = [step for step in made.steps if step.phase is phase and not step.by_person]
    detached = [step for step in mine if isinstance(step.action, RemoteCall) and step.action.detached]
    assert (len(mine) + OF_THE_SERVERS.get(phase, 0), len(detached)) == counted[phase]

"""What a plan says of what it leaves behind, and of what is still to do."""

from dataclasses import replace

from core.facts.catalog import Receiver, Slot
from core.facts.model import Cluster
from core.facts.starters import Service
from core.migration.estimate import estimate, spec_of
from core.migration.model.plan import FollowUp, FollowUpGroup, Plan
from core.migration.plan import make_plan
from tests.core.migration.builders import DATA, TARGET, cluster, move, new, old, profile


def made(of: Cluster, *, here: tuple[Service, ...] = (), there: tuple[Service, ...] = ()) -> Plan:
    facts = old(of, services=here)
    estimated = estimate(spec_of(move(), facts, []))
    facts_of_new = new(services=there)
    return make_plan(move(), profile("old"), profile("new"), facts, facts_of_new, (), [], estimated, seed="0123")


def test_old_and_the_log_of_the_first_start_stay() -> None:
    said = [str(each) for each in made(cluster(running=True)).remains]
    assert any(f" {DATA} " in each for each in said)
    assert f"new: {TARGET}/pghaul-start.log" in said[-1]
    assert not any("before-pghaul" in each for each in said)


def test_what_was_put_aside_is_named() -> None:
    of = cluster(
        running=True,
        name="15/main",
        found_by=("pg_lsclusters",),
        config_file="/etc/postgresql/15/main/postgresql.conf",
    )
    said = "\n".join(map(str, made(of).remains))
    assert f"{DATA}/pghaul-fence " in said
    assert "new: /var/lib/pghaul/" in said
    assert "/etc/postgresql/15/main.before-pghaul" not in said


def test_a_backup_is_asked_for_and_more_is_said_of_an_archive() -> None:
    of = cluster(running=True)
    archived, plain = (
        made(replace(of, settings={**of.settings, "archive_mode": mode})).advice for mode in ("on", "off")
    )
    assert str(archived[0]) != str(plain[0])
    assert set(plain[1:]) < set(archived)


def test_what_needs_no_action_is_information() -> None:
    plan = made(cluster(running=True))
    found = [each for each in (*plan.advice, *plan.remains) if isinstance(each, FollowUp)]
    assert {each.id: each.group for each in found if each.group is not FollowUpGroup.INFORMATION} == {
        "backup": FollowUpGroup.BACK_UP,
        "old-files": FollowUpGroup.CLEAN_UP,
    }
    assert len({each.id for each in found}) == len(found) == len((*plan.advice, *plan.remains))
    assert "ANALYZE" in next(each.text for each in found if each.id == "statistics")


def test_what_hung_on_old_is_named_once() -> None:
    of = cluster(running=True)
    assert of.wide is not None
    receivers = (Receiver("standby", "10.0.0.9", "streaming"), Receiver("standby", "10.0.0.8", "streaming"))
    slots = (Slot("standby", "physical", "", active=True), Slot("sink", "logical", "shop", active=False))
    advice = [str(each) for each in made(replace(of, wide=replace(of.wide, receivers=receivers, slots=slots))).advice]
    assert advice[1].endswith(": standby.")
    assert advice[2].endswith(": standby, sink.")


def test_a_unit_that_the_plan_does_not_enable_is_a_task() -> None:
    """The plan enables it where the old cluster started at boot."""
    of = cluster(running=True, unit="postgresql-15.service")
    unit = Service(TARGET, "own", "own.service", enabled=False)
    at_boot = Service(DATA, "postgresql-15", "postgresql-15.service", enabled=True)

    def tasks(*there: Service, here: tuple[Service, ...] = ()) -> list[str]:
        advice = made(of, here=here, there=there).advice
        return [each.text for each in advice if isinstance(each, FollowUp) and each.id == "start-at-boot"]

    assert tasks(unit) == ["Enable own.service on the server new if the new cluster is to start at boot."]
    assert tasks(unit, here=(at_boot,)) == []
    assert tasks(replace(unit, enabled=True)) == tasks(replace(unit, enabled=None)) == tasks() == []

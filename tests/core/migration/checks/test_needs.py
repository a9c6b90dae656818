"""Each check, without each of the facts that it needs, and without those that it does not declare."""

import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from core.facts.host_environment import Dataset, HostEnvironment, Limits, Process
from core.facts.model import Facts
from core.migration.checks import CHECKS
from core.migration.checks.declaration import Check, Need
from core.migration.findings.finding import CheckContext
from core.migration.model.checks import Status
from tests.core.migration.builders import TARGET, cluster, move, new, old, space

OLD, NEW = "alder", "birch"
"""Names of the servers that are in no other sentence."""
HERE, THERE = replace(old(), server=OLD), replace(new(), server=NEW)
RUNNING = cluster(
    running=True,
    port=5432,
    process=Process(Limits(1024, 8 << 20), "init", "postgresql.service"),
    tablespaces=(space("/space"),),
    leftovers=("postmaster.pid",),
)
SAMPLES = {
    "stopped": (HERE, THERE),
    "running": (replace(HERE, clusters=(RUNNING,)), THERE),
    "copied": (
        replace(HERE, clusters=(RUNNING,)),
        replace(THERE, clusters=(cluster(data_directory=TARGET, fenced=True),), target_entries={"/space": ()}),
    ),
    "same host": (HERE, replace(HERE, server=NEW, trials=THERE.trials)),
    "on ZFS": (
        HERE,
        replace(
            THERE,
            file_systems=tuple(replace(each, kind="zfs") for each in THERE.file_systems),
            host_environment=replace(
                THERE.host_environment,
                datasets=tuple(
                    Dataset(each.mount_point, each.device, {"recordsize": "128K"}) for each in THERE.file_systems
                ),
            ),
        ),
    ),
    "no cluster": (replace(HERE, clusters=()), THERE),
}
OPTIONAL = [
    *((field.name, None) for field in dataclasses.fields(Facts) if "None" in str(field.type)),
    *((field.name, "host_environment") for field in dataclasses.fields(HostEnvironment)),
]


def without(facts: Facts, name: str, inside: str | None) -> Facts:
    """The facts as if this one had not been read."""
    nothing: dict[str, Any] = {name: None}
    if inside is None:
        return replace(facts, **nothing)
    return replace(facts, host_environment=replace(facts.host_environment, **nothing))


def missing(need: Need[object]) -> Need[object]:
    return replace(need, read=lambda _: None)


@pytest.mark.parametrize(
    ("check", "need"),
    [pytest.param(check, need, id=f"{check.id}-{need.id}") for check in CHECKS for need in check.needs],
)
def test_a_check_without_one_of_its_needs_is_unknown_and_says_what_to_do(check: Check, need: Need[object]) -> None:
    less = replace(check, needs=tuple(missing(each) if each is need else each for each in check.needs))
    found = less.run(CheckContext(move(), HERE, THERE))
    assert found.status is Status.UNKNOWN
    assert (NEW if need.id.startswith("new") else OLD) in found.message
    assert found.hint
    assert "{" not in f"{found.message} {found.hint}"


def test_needs_have_ids_and_titles_of_their_own() -> None:
    needs = {need for check in CHECKS for need in (*check.needs, *check.uses)}
    assert len({need.id for need in needs}) == len(needs)
    assert len({need.title for need in needs}) == len(needs)
    assert [check.id for check in CHECKS if set(check.needs) & set(check.uses)] == []


def reads(check: Check, context: CheckContext) -> list[object]:
    """What a check may know of these facts."""
    return [need.read(context) for need in (*check.needs, *check.uses)]


def undeclared(check: Check, context: CheckContext) -> Iterator[tuple[str, CheckContext]]:
    """The same facts without each optional fact that the check does not declare."""
    declared = reads(check, context)
    for name, inside in OPTIONAL:
        for side, changed in (
            ("old", replace(context, old=without(context.old, name, inside))),
            ("new", replace(context, new=without(context.new, name, inside))),
        ):
            if reads(check, changed) == declared:
                yield f"{side}.{name}", changed


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_reads_no_optional_fact_that_it_does_not_declare(check: Check, sample: str) -> None:
    context = CheckContext(move(), *SAMPLES[sample])
    found = check.run(context)
    assert [name for name, less in undeclared(check, context) if check.run(less) != found] == []


def test_the_samples_show_what_a_check_reads() -> None:
    clocks = next(check for check in CHECKS if check.id == "clocks")
    undeclaring = replace(clocks, needs=(), function=clocks.run)
    context = CheckContext(move(), HERE, THERE)
    found = clocks.run(context)
    differing = [name for name, less in undeclared(undeclaring, context) if undeclaring.run(less) != found]
    assert differing == ["old.clock", "new.clock"]

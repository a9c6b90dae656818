"""A section that is declared and listed is asked, read and shown wherever facts are, without another line anywhere."""

from typing import cast

import pytest

from core import documents
from core.cli.facts import text as for_people
from core.errors import ParseError
from core.facts import clusters
from core.facts import collect as collecting
from core.facts.collect import collect
from core.facts.discovery import Candidate
from core.facts.kernel import parse_kernel_settings
from core.facts.model import Facts
from core.facts.sections import Section
from core.jobs import Job
from core.servers.connection import Server
from gui.models.facts import side_by_side
from tests.core.facts.here import Here


def toy(*runs: str) -> Section[dict[str, str]]:
    return Section("toy", "toys", runs, lambda text: dict([text.strip().split("=", 1)]))


def facts_with(monkeypatch: pytest.MonkeyPatch, section: Section[dict[str, str]]) -> Facts:
    monkeypatch.setattr(collecting, "FURTHER", (*collecting.FURTHER, section))
    return collect(cast("Server", Here()), Job())


@pytest.mark.slow
def test_a_section_for_people_is_in_the_facts_and_wherever_they_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = facts_with(monkeypatch, toy("echo", "ball=red one"))
    assert facts.further["toys"] == {"ball": "red one"}
    assert facts.raw["toy"] == "ball=red one\n"
    assert documents.to_plain(facts)["further"]["toys"] == {"ball": "red one"}
    assert documents.load(Facts, documents.dump(facts)).further == facts.further
    assert "\ntoys\n  ball red one\n" in for_people(facts)
    (row,) = (row for row in side_by_side(facts, None) if row.name == "ball")
    assert (row.subject, row.old) == ("Toys", "red one")


@pytest.mark.slow
def test_one_that_fails_is_a_gap_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = facts_with(monkeypatch, toy("sh", "-c", "echo 'pghaul: no toys here' >&2; exit 1"))
    assert "toys" not in facts.further
    gap = facts.gap("toy")
    assert gap is not None
    assert (gap.subject, gap.reason) == ("toys", "no toys here")


def test_a_section_of_clusters_is_asked_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    section = Section("toy", "toys", ("cluster_size",), str)
    monkeypatch.setattr(clusters, "CLUSTER", (*clusters.CLUSTER, section))
    asked = clusters.clusters_script("MARK", ["OWN"], [Candidate("/srv", ("named",))])
    assert "toy 5 cluster_size" in asked.shown


def test_kernel_settings() -> None:
    text = "/proc/sys/vm/swappiness:10\n/proc/sys/kernel/sem:250\t32000\t32\t128\n"
    huge = "/sys/kernel/mm/transparent_hugepage/enabled:always [madvise] never\n"
    assert parse_kernel_settings(text + huge) == {
        "vm.swappiness": "10",
        "kernel.sem": "250 32000 32 128",
        "transparent_hugepage": "madvise",
    }
    with pytest.raises(ParseError, match="FILE:VALUE"):
        parse_kernel_settings("sysctl: oops\n")

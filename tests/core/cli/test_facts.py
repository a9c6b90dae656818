"""Facts for people on the command line."""

from dataclasses import replace

from core.cli.facts import text
from core.facts.host_environment import Limits, Process
from core.facts.model import Memory
from tests.gui import samples


def test_memory_that_control_groups_limit_is_shown_for_the_server_and_for_the_cluster() -> None:
    facts = samples.facts("db1")
    assert "  memory      32.0 GiB\n" in text(facts)
    process = Process(Limits(1024, 65536), "init", "postgresql@15-main.service", memory_limit_bytes=4 << 30)
    cluster = replace(facts.clusters[0], process=process)
    memory = Memory(64 << 30, 60 << 30, 0, limit_bytes=8 << 30)
    lines = text(replace(facts, memory=memory, clusters=(cluster,))).splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines if line.startswith("  memory ")] == [
        "8.0 GiB of 64.0 GiB, limited by its control group",
        "at most 4.0 GiB, limited by its control group",
    ]

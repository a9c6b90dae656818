"""Both servers side by side in a report."""

from dataclasses import replace

import pytest

from core.facts.model import Memory
from core.language import spoken
from core.reports.parts.server_tables import servers
from core.reports.report import Report
from tests.core.reports.reading import rows


@pytest.mark.parametrize(
    ("language", "title", "limited"),
    [
        ("en", "Memory", "8.0 GiB of 64.0 GiB, limited by its control group"),
        ("de", "Arbeitsspeicher", "8,0 GiB von 64,0 GiB, begrenzt durch seine Kontrollgruppe"),
    ],
)
def test_memory_that_a_control_group_limits(full: Report, language: str, title: str, limited: str) -> None:
    assert full.old_facts is not None
    memory = Memory(64 << 30, 60 << 30, 0, limit_bytes=8 << 30)
    report = replace(full, old_facts=replace(full.old_facts, memory=memory))
    with spoken(language):
        (row,) = (row for row in rows(servers(report), "servers") if row[0] == title)
    assert row[1:] == [limited, f"256{'.' if language == 'en' else ','}0 GiB"]

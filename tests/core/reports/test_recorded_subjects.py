"""What facts could not be read of: each section and gap is known in a German report."""

import pytest

from core.facts import clusters, collect
from core.language import spoken
from core.reports.recorded import compared, recorded

SAME = {"pg_lsclusters"}
"""A program's name."""


@pytest.mark.parametrize("title", sorted({one.title for one in (*collect.HOST, *collect.host_sections("app"))} - SAME))
def test_a_section_of_a_host(title: str) -> None:
    with spoken("de"):
        assert compared(title) != title


@pytest.mark.parametrize("title", sorted({one.title for one in clusters.CLUSTER}))
def test_a_section_of_a_cluster(title: str) -> None:
    with spoken("de"):
        assert compared(f"{title} of /srv/pg").endswith("/srv/pg")
        assert compared(f"{title} of /srv/pg") != f"{title} of /srv/pg"


def test_each_of_several_is_said() -> None:
    with spoken("de"):
        said = recorded("rates of other clusters stand in for what was not observed: dump, indexes, ANALYZE")
    assert said == "wo nichts beobachtet wurde, gilt der Durchsatz anderer Cluster: Dump, Indizes, ANALYZE"

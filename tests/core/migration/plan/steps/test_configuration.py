"""What is brought of configuration that lies outside the data directory, and where what it replaces is kept."""

from typing import Any

import pytest

from core.facts.catalog import ClusterWide, Setting
from core.migration.model.plan import Plan, Step
from core.servers.shell import words_of
from tests.core.migration.builders import DATA
from tests.core.migration.plan.plans import plan

DEBIAN = {"name": "15/main", "found_by": ("pg_lsclusters",)}
FOLDER = "/etc/postgresql/15/main"


def step(made: Plan, title: str) -> Step:
    return next(each for each in (*made.steps, *made.way_back) if each.title.startswith(title))


def packed(changes: dict[str, Any]) -> tuple[str, ...]:
    """The words of tar."""
    return tuple(words_of(step(plan(changes), "pack old's configuration").call)[2:])


def included(*files: str) -> ClusterWide:
    return ClusterWide(settings=tuple(Setting("work_mem", "64MB", "configuration file", file, 1) for file in files))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({**DEBIAN, "config_file": f"{FOLDER}/postgresql.conf"}, ("--", FOLDER[1:])),
        (
            {**DEBIAN, "config_file": f"{FOLDER}/postgresql.conf", "hba_file": "/srv/hba.conf"},
            ("--", FOLDER[1:], "srv/hba.conf"),
        ),
        ({"config_file": "/etc/postgresql.conf"}, ("-h", "--", "etc/postgresql.conf")),
        ({"config_file": f"{FOLDER}/postgresql.conf"}, ("-h", "--", f"{FOLDER[1:]}/postgresql.conf")),
        ({"config_file": "/srv/pg/postgresql.conf"}, ("-h", "--", "srv/pg/postgresql.conf")),  # beside the data
        ({"hba_file": "/etc/pg_hba.conf"}, ("-h", "--", "etc/pg_hba.conf")),
        ({"settings": {"ident_file": "/etc/pg_ident.conf"}}, ("-h", "--", "etc/pg_ident.conf")),
        ({"wide": included("/etc/tuning.conf", f"{DATA}/postgresql.conf")}, ("-h", "--", "etc/tuning.conf")),
        (
            {**DEBIAN, "data_directory": f"{FOLDER}/data", "config_file": f"{FOLDER}/postgresql.conf", "wide": None},
            ("-h", "--", f"{FOLDER[1:]}/postgresql.conf"),
        ),
    ],
)
def test_a_folder_is_taken_whole_only_when_it_is_the_clusters_own(
    changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    assert packed(changes) == words


def test_what_it_replaces_is_kept_where_nobody_looks_for_clusters_and_put_back() -> None:
    made = plan({**DEBIAN, "running": True, "config_file": f"{FOLDER}/postgresql.conf"})
    _, _, kept, user, *paths = words_of(step(made, "put old's configuration").call)
    assert kept.startswith("/var/lib/pghaul/pghaul-copy-")
    assert f"{made.made_at:%Y%m%dT%H%M%S}" in kept
    assert (user, paths) == ("postgres", [FOLDER[1:]])
    assert words_of(step(made, "put new's own").call) == ["restore_configuration", "/", kept, FOLDER[1:]]
    assert any(f"new: {kept}" in each for each in made.remains)
    assert not any("onfiguration" in each.title for each in (*plan().steps, *plan().way_back))

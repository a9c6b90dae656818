"""What is brought of configuration that lies outside the data directory, and where what it replaces is kept."""

from typing import Any

import pytest

from core.facts.catalog import ClusterWide, Setting
from core.migration.model import step_ids
from core.migration.model.plan import Plan
from core.servers.shell import words_of
from tests.core.migration.builders import DATA
from tests.core.migration.plan.plans import plan, step

DEBIAN = {"name": "15/main", "found_by": ("pg_lsclusters",)}
BROUGHT = {
    step_ids.CHECK_CONFIGURATION_READABLE,
    step_ids.CHECK_CONFIGURATION_REPLACEABLE,
    "configuration",
    step_ids.INSTALL_CONFIGURATION,
    "restore-configuration",
}
FOLDER = "/etc/postgresql/15/main"


def packed(changes: dict[str, Any]) -> tuple[str, ...]:
    """What is packed, below the root."""
    return tuple(words_of(step(plan(changes), step_ids.PACK_CONFIGURATION).call)[2:])


def looked_for(made: Plan) -> tuple[str, ...]:
    """What new must have by itself."""
    calls = [words_of(each.call) for each in made.steps if each.id == step_ids.CHECK_OWN_CONFIGURATION]
    return tuple(calls[0][1:]) if calls else ()


def included(*files: str) -> ClusterWide:
    return ClusterWide(settings=tuple(Setting("work_mem", "64MB", "configuration file", file, 1) for file in files))


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({**DEBIAN, "config_file": f"{FOLDER}/postgresql.conf"}, (FOLDER,)),
        (
            {**DEBIAN, "config_file": f"{FOLDER}/postgresql.conf", "hba_file": "/srv/hba.conf"},
            (FOLDER, "/srv/hba.conf"),
        ),
        ({"config_file": "/srv/pg/postgresql.conf"}, ("/srv/pg/postgresql.conf",)),  # beside the data
        ({"hba_file": "/opt/pg_hba.conf"}, ("/opt/pg_hba.conf",)),
        ({"settings": {"ident_file": "/srv/pg_ident.conf"}}, ("/srv/pg_ident.conf",)),
        ({"wide": included("/srv/tuning.conf", f"{DATA}/postgresql.conf")}, ("/srv/tuning.conf",)),
    ],
)
def test_a_folder_is_taken_whole_only_when_it_is_the_clusters_own(
    changes: dict[str, Any], paths: tuple[str, ...]
) -> None:
    assert packed(changes) == tuple(path[1:] for path in paths)
    assert looked_for(plan(changes)) == ()


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({"config_file": "/etc/postgresql.conf"}, ("/etc/postgresql.conf",)),
        ({"config_file": f"{FOLDER}/postgresql.conf"}, (f"{FOLDER}/postgresql.conf",)),  # nobody knows whose it is
        ({"hba_file": "/etc/shadow"}, ("/etc/shadow",)),
        ({"settings": {"ident_file": "/srv/../etc/profile.d/x.sh"}}, ("/etc/profile.d/x.sh",)),
        ({"wide": included("/usr/lib/tuning.conf")}, ("/usr/lib/tuning.conf",)),
        (
            {**DEBIAN, "data_directory": f"{FOLDER}/data", "config_file": f"{FOLDER}/postgresql.conf", "wide": None},
            (f"{FOLDER}/postgresql.conf",),
        ),
        ({**DEBIAN, "name": "15/..", "config_file": "/etc/postgresql/pg.conf"}, ("/etc/postgresql/pg.conf",)),
    ],
)
def test_nothing_of_old_is_put_into_a_folder_of_the_systems(changes: dict[str, Any], paths: tuple[str, ...]) -> None:
    made = plan(changes)
    assert looked_for(made) == paths
    assert not BROUGHT & {each.id for each in made.steps}


def test_what_it_replaces_is_kept_where_nobody_looks_for_clusters_and_put_back() -> None:
    made = plan({**DEBIAN, "running": True, "config_file": f"{FOLDER}/postgresql.conf"})
    _, _, kept, user, target, *paths = words_of(step(made, step_ids.INSTALL_CONFIGURATION).call)
    assert kept.startswith("/var/lib/pghaul/pghaul-copy-")
    assert f"{made.made_at:%Y%m%dT%H%M%S}" in kept
    assert (user, target, paths) == ("postgres", made.target, [FOLDER[1:]])
    assert words_of(step(made, "restore-configuration").call) == ["restore_configuration", "/", kept, user, FOLDER[1:]]
    assert any(f"new: {kept}" in each for each in map(str, made.remains))
    assert not BROUGHT & {each.id for each in (*plan().steps, *plan().way_back)}

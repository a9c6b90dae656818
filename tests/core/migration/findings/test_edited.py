"""Which values the servers are given of settings that were edited and are not in force."""

from dataclasses import replace

import pytest

from core.facts.catalog import Edited
from core.migration.findings.edited import (
    canonical_value,
    changes_listening,
    display_value,
    list_settings_for_old_start,
    list_settings_from_files,
    list_settings_kept_in_force,
    list_settings_missing_at_old_start,
    list_settings_not_kept,
    list_socket_folders,
    predict_new_cluster,
)
from core.migration.model.move import EditedSettings, Move
from core.migration.probing.trial_start import TrialCommands, prepare_trial_start
from core.servers.shell import words_of
from tests.core.migration.builders import cluster, move, new, old

EDITS = (
    Edited("listen_addresses", "*", "127.0.0.1"),
    Edited("port", "5432", "5433"),
    Edited("search_path", "it's", "a"),
    Edited("a.password", None, None),
    Edited("hba_file", "/a", "/b"),
    Edited("log_line_prefix", "a\nb", "a"),
)
CLUSTER = cluster(edited=EDITS)
IN_FORCE, FILE = (move(edited=each) for each in EditedSettings)
OPTIONS = 9
"""Where these stand among the words of trial_start."""


def tried(undertaking: Move, edits: tuple[Edited, ...]) -> TrialCommands:
    of = cluster(edited=edits)
    trial = prepare_trial_start(undertaking, of, old(of), new(), "postgres")
    assert isinstance(trial, TrialCommands)
    return trial


def test_the_files_hold_for_where_it_listens() -> None:
    coming = predict_new_cluster(FILE, CLUSTER)
    assert (coming.port, coming.settings["listen_addresses"]) == (5433, "127.0.0.1")
    assert coming.settings.get("search_path") == CLUSTER.settings.get("search_path")
    for undertaking in (IN_FORCE, move()):
        assert predict_new_cluster(undertaking, CLUSTER) == CLUSTER
    assert predict_new_cluster(FILE, cluster(edited=None)) == cluster(edited=None)


def test_what_is_in_force_is_given_but_secrets_and_files() -> None:
    assert list_settings_kept_in_force(IN_FORCE, CLUSTER) == ("listen_addresses=*", "port=5432", "search_path=it's")
    reasons = "its values may be secret", "each server has its own value", "its value contains a line break"
    for said, name, reason in zip(
        list_settings_not_kept(CLUSTER), ("a.password", "hba_file", "log_line_prefix"), reasons, strict=True
    ):
        assert said.startswith(f"{name} ({reason}")
    assert list_settings_kept_in_force(IN_FORCE, replace(CLUSTER, series="9.3")) == ()
    assert all("9.4" in said for said in list_settings_not_kept(replace(CLUSTER, series="9.3")))
    blanks = cluster(edited=(Edited("log_line_prefix", "%t\t%u\u00a0", "a"),))
    assert (
        list_settings_kept_in_force(IN_FORCE, blanks)
        == list_settings_for_old_start(IN_FORCE, blanks)
        == ("log_line_prefix=%t\t%u\u00a0",)
    )
    assert list_settings_kept_in_force(FILE, CLUSTER) == list_settings_kept_in_force(move(), CLUSTER) == ()
    assert list_settings_from_files(FILE, CLUSTER) == tuple(each.name for each in EDITS)
    assert list_settings_from_files(IN_FORCE, CLUSTER) == ()


@pytest.mark.parametrize("value", ['"$user", public', '%u"', "$HOME", "`id`", "a\\b"])
def test_what_postmaster_opts_does_not_tell_back_is_no_option_of_the_old_server(value: str) -> None:
    of = cluster(edited=(Edited("port", "5432", "5433"), Edited("search_path", value, "a")))
    assert list_settings_kept_in_force(IN_FORCE, of) == ("port=5432", f"search_path={value}")
    assert (list_settings_for_old_start(IN_FORCE, of), list_settings_missing_at_old_start(IN_FORCE, of)) == (
        ("port=5432",),
        ("search_path",),
    )
    assert list_settings_missing_at_old_start(IN_FORCE, CLUSTER) == ()


@pytest.mark.parametrize(
    ("name", "in_force", "in_file", "away"),
    [
        ("port", "5432", "5433", True),
        ("work_mem", "1", "2", False),
        ("listen_addresses", "127.0.0.1", "*", False),
        ("listen_addresses", "*", "127.0.0.1", True),
        ("listen_addresses", "localhost,127.0.0.1", "localhost, 127.0.0.1", False),
        ("listen_addresses", "127.0.0.1", "0.0.0.0", False),
        ("listen_addresses", "::1", "0.0.0.0", True),
        ("listen_addresses", "localhost", "0.0.0.0", True),
        ("listen_addresses", "*", "0.0.0.0, ::", False),
        ("listen_addresses", "10.0.0.1", "10.0.0.2", True),
        ("listen_addresses", "", "10.0.0.2", False),
        ("listen_addresses", "10.0.0.2", "", True),
        ("unix_socket_directories", "/tmp", "/tmp,/run/postgresql", False),
        ("unix_socket_directories", "/tmp/", '"/tmp", /run', False),
        ("unix_socket_directories", "/tmp,/run", "/run", True),
        ("unix_socket_directory", "/tmp", "/tmp/", False),
        ("unix_socket_directory", "/tmp", "/run", True),
    ],
)
def test_only_what_is_not_covered_leads_clients_away(name: str, in_force: str, in_file: str, *, away: bool) -> None:
    assert changes_listening(Edited(name, in_force, in_file)) is away


@pytest.mark.parametrize(("undertaking", "given"), [(IN_FORCE, True), (FILE, False), (move(), False)])
def test_a_trial_start_is_given_what_will_be_in_force(*, undertaking: Move, given: bool) -> None:
    options = words_of(words_of(tried(undertaking, EDITS).start.text.splitlines()[-1])[OPTIONS])
    assert ("port=5432" in options) is given
    if given:
        assert options.index("port=5432") < options.index("autovacuum=off")


def test_of_addresses_in_the_files_that_new_lacks_a_trial_start_knows() -> None:
    edits = (Edited("listen_addresses", "*", "192.0.2.99"),)
    assert tried(FILE, edits).lacking == ("192.0.2.99",)
    assert tried(move(), edits).lacking == ()


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        ("16384", "8kB", "128MB"),
        ("16385", "8kB", "131080kB"),
        ("1024", "8kB", "8MB"),
        ("64", "16MB", "1GB"),
        ("1024", "MB", "1GB"),
        ("300", "s", "5min"),
        ("90", "min", "90min"),
        ("1440", "min", "1d"),
        ("200", "ms", "200ms"),
        ("0.5", "ms", "0.5ms"),
        ("-1", "ms", "-1"),
        ("0", "ms", "0"),
        ("137", "", "137"),
        ("on", "", "on"),
        ("137", "?", "137"),
    ],
)
def test_a_value_is_shown_with_its_unit(value: str, unit: str, shown: str) -> None:
    assert display_value(value, unit) == shown
    assert canonical_value(shown, unit) == canonical_value(value, unit)


@pytest.mark.parametrize(
    ("typed", "unit", "kept"),
    [
        ("128MB", "8kB", "16384"),
        (" 128 MB ", "8kB", "16384"),
        ("0.5GB", "kB", "524288"),
        ("1.5s", "ms", "1500"),
        ("5min", "s", "300"),
        ("5min", "kB", "5min"),
        ("0770", "", "504"),
        ("TRUE", "", "on"),
        ("128MB", "", "128MB"),
    ],
)
def test_a_typed_value_is_what_the_server_keeps(typed: str, unit: str, kept: str) -> None:
    assert canonical_value(typed, unit) == kept


@pytest.mark.parametrize(
    ("value", "folders"),
    [
        ("", ()),
        ("/run/postgresql, /tmp", ("/run/postgresql", "/tmp")),
        ("/var/run/postgresql/", ("/var/run/postgresql",)),
        ('"/srv/a,b" , "/srv/the ""other"""', ("/srv/a,b", '/srv/the "other"')),
        ("@abstract,relative,/tmp", ("/tmp",)),
    ],
)
def test_the_folders_of_sockets_are_read_as_postgresql_reads_them(value: str, folders: tuple[str, ...]) -> None:
    found = cluster(settings={"unix_socket_directories": value}, socket_directory="/other")
    assert list_socket_folders(found) == folders
    assert list_socket_folders(cluster(settings={}, socket_directory="/other/")) == ("/other",)

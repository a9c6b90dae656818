"""What a trial start takes to the new server, and where none is made."""

import posixpath
from dataclasses import replace

import pytest

from core.facts.catalog import Setting
from core.facts.cluster_configuration import ConfigurationFile
from core.facts.model import Cluster, System
from core.facts.starters import Service
from core.migration.probing.trial_start import TrialCommands, prepare_trial_start
from core.servers.shell import words_of
from tests.core.migration.builders import DATA, TARGET, cluster, control, move, new, old

OUTSIDE = "/srv/conf/postgresql.conf"
FILES, OPTIONS, BROUGHT = 8, 9, 10
"""Where these stand among the words of trial_start."""


def made(of: Cluster, *services: Service) -> TrialCommands:
    trial = prepare_trial_start(move(), of, old(of), new(services=services), "postgres")
    assert isinstance(trial, TrialCommands)
    return trial


def words(trial: TrialCommands) -> list[str]:
    """The words of trial_start, behind the functions that it runs in another shell."""
    return words_of(trial.start.text.splitlines()[-1])


def test_configuration_inside_and_outside_the_data_directory_goes_along() -> None:
    files = (
        ConfigurationFile(OUTSIDE, "settings", "required", "file"),
        ConfigurationFile(f"{DATA}/pg_hba.conf", "rules", "required", "file"),
        ConfigurationFile(f"{DATA}/gone.conf", "settings", "optional", "missing", OUTSIDE),
    )
    trial = made(cluster(config_file=OUTSIDE, configuration_files=files))
    packed = words_of(trial.pack.text)
    assert packed[:2] == ["pack_for_trial", DATA]
    assert {OUTSIDE, f"{DATA}/pg_hba.conf", f"{DATA}/server.key"} <= set(packed[2:])
    assert f"{DATA}/gone.conf" not in packed
    assert words(trial)[BROUGHT:] == [OUTSIDE.removeprefix("/")]
    assert words_of(words(trial)[FILES]) == ["-c", f"data_directory={TARGET}", "-c", f"config_file={OUTSIDE}"]


def test_a_configuration_file_of_another_name_in_the_data_directory_is_that_of_the_trial() -> None:
    trial = made(cluster(config_file=f"{DATA}/own.conf"))
    assert words_of(words(trial)[FILES]) == ["-c", f"data_directory={TARGET}", "-c", f"config_file={TARGET}/own.conf"]


def test_rules_beside_the_configuration_are_those_of_the_trial() -> None:
    """Not those of its own initdb."""
    trial = made(cluster(config_file=OUTSIDE, hba_file=f"{posixpath.dirname(OUTSIDE)}/pg_hba.conf"))
    assert words_of(words(trial)[FILES])[-1] == f"hba_file={posixpath.dirname(OUTSIDE)}/pg_hba.conf"


def test_keys_of_settings_inside_the_data_directory_go_along() -> None:
    settings = (Setting("ssl_key_file", "tls/own.key", "configuration file", f"{DATA}/postgresql.conf", 3),)
    wide = cluster().wide
    assert wide is not None
    packed = words_of(made(cluster(wide=replace(wide, settings=settings))).pack.text)
    assert f"{DATA}/tls/own.key" in packed


def test_a_cluster_of_debian_reads_the_files_of_its_own_folder() -> None:
    service = Service(TARGET, "15/main", "postgresql@15-main.service", debian=True)
    folder = "/etc/postgresql/15/main"
    trial = made(cluster(config_file=f"{folder}/postgresql.conf", hba_file=f"{folder}/pg_hba.conf"), service)
    assert "hba_file=/etc/postgresql/15/main/pg_hba.conf" in words_of(words(trial)[FILES])


@pytest.mark.parametrize(("series", "passphrase"), [("10", False), ("15", True)])
def test_what_a_trial_must_not_do_is_held_back_and_what_it_tries_is_not(series: str, *, passphrase: bool) -> None:
    settings = words_of(words(made(cluster(series=series)))[OPTIONS])[1::2]
    names = {each.partition("=")[0] for each in settings}
    assert {"archive_command=", "autovacuum=off", "external_pid_file=pghaul-trial.pid"} <= set(settings)
    assert not {"listen_addresses", "logging_collector", "port", "archive_mode", "max_wal_senders"} & names
    assert ("ssl_passphrase_command=" in settings) is passphrase


def test_addresses_that_come_over_with_the_cluster_are_left_out() -> None:
    of = cluster(settings=cluster().settings | {"listen_addresses": "192.0.2.77, 10.77.0.12, localhost"})
    trial = made(of)
    assert trial.lacking == ("192.0.2.77",)
    assert "listen_addresses=10.77.0.12,localhost" in words_of(words(trial)[OPTIONS])


@pytest.mark.parametrize(("size", "word"), [(16, "-"), (1, "1"), (64, "64"), (1024, "-")])
def test_the_size_of_a_segment_goes_along_where_settings_depend_on_it(size: int, word: str) -> None:
    assert words(made(cluster(control=control(wal_segment_size=size * 2**20))))[7] == word


def test_where_no_trial_is_made_it_is_said_why() -> None:
    there = new()
    assert "9.6" in str(prepare_trial_start(move(), cluster(series="9.6"), old(), there, "postgres"))
    assert "files" in str(prepare_trial_start(move(), cluster(configuration_files=None), old(), there, "postgres"))
    host = System("same", "Debian", "6", "x86_64", boot_id="b", init="systemd")
    here = [replace(each, system=host) for each in (old(), there)]
    assert "same host" in str(prepare_trial_start(move(), cluster(), here[0], here[1], "postgres"))

"""The check that what starts the new server gives it the options that the old one runs with."""

from typing import Any

import pytest

from core.facts.catalog import ClusterWide, Edited, Setting
from core.facts.cluster_configuration import Options
from core.facts.host_environment import Limits, Process
from core.facts.starters import Service
from core.migration.checks import run_checks
from core.migration.model.checks import CheckResult, Status
from tests.core.migration.builders import DATA, TARGET, cluster, move, new, old

DEBIAN: dict[str, Any] = {
    "name": "15/main",
    "found_by": ("pg_lsclusters",),
    "config_file": "/etc/postgresql/15/main/postgresql.conf",
}
CONNECTIONS = Edited("max_connections", "137", "100")


def process(unit: str) -> Process:
    return Process(Limits(1, 1), "systemd", unit)


def unit(options: Options | None, data: str = TARGET) -> Service:
    return Service(data, "shop", "shop.service", options=options)


def one(*options: Edited, there: Service | None = None, own: Options | None = None, **changes: Any) -> CheckResult:
    made = cluster(**{
        "running": True, "options": options, "unit": "shop.service", "process": process("shop.service"), **changes
    })  # fmt: skip
    here = old(made, services=(unit(own, DATA),))
    results = run_checks(move(), here, new(services=() if there is None else (there,)))
    return next(result for result in results if result.id == "start-options")


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ((), CONNECTIONS),
        ((("max_connections", "99"),), Edited("max_connections", "137", "99")),
        ((("fsync", "on"),), Edited("fsync", "off", "on")),
        ((), Edited("unix_socket_directories", "/run/own", "/tmp")),
    ],
)
def test_what_the_new_unit_surely_lacks_is_a_blocker(given: Options, option: Edited) -> None:
    result = one(option, there=unit(given))
    assert result.status is Status.BLOCKER
    for value in (option.name, option.in_force, option.in_file, "shop.service"):
        assert value is not None
        assert value in result.message
    assert "shop.service" in result.hint


def test_values_are_shown_in_units_and_compared_in_one() -> None:
    result = one(Edited("shared_buffers", "16384", "1024", "8kB"), there=unit((("shared_buffers", "256MB"),)))
    assert (result.status, result.old) == (Status.BLOCKER, "shared_buffers=128MB")
    for value in (" 128MB ", " 256MB "):
        assert value in result.message
    lacking = one(Edited("shared_buffers", "16384", "1024", "8kB"), there=unit(()))
    assert (lacking.status, " 8MB " in lacking.message) == (Status.BLOCKER, True)


def test_what_may_be_secret_is_not_shown() -> None:
    result = one(Edited("archive_command", None, None), there=unit(()))
    assert result.status is Status.BLOCKER
    assert "archive_command" in result.message
    assert one(Edited("archive_command", None, None), there=unit((("archive_command", None),))).status is Status.PASS


@pytest.mark.parametrize(
    ("there", "own", "option"),
    [
        (unit((("max_connections", "137"),)), None, CONNECTIONS),
        (unit((("fsync", "no"),)), None, Edited("fsync", "off", "on")),
        (unit((("work_mem", "5MB"),)), (("work_mem", "5MB"),), Edited("work_mem", "5120", "4096")),
        (unit((("work_mem", "5MB"),)), None, Edited("work_mem", "5120", "4096", "kB")),
        (unit((("shared_buffers", "128 MB"),)), None, Edited("shared_buffers", "16384", "1024", "8kB")),
        (unit((("unix_socket_permissions", "0770"),)), None, Edited("unix_socket_permissions", "504", "511")),
        (unit(()), None, Edited("external_pid_file", "/run/pg.pid", "")),
        (unit((("unix_socket_directories", "/run/own"),)), None, Edited("unix_socket_directory", "/run/own", "/tmp")),
        (None, None, CONNECTIONS),
    ],
)
def test_what_new_gives_too_or_needs_not(there: Service | None, own: Options | None, option: Edited) -> None:
    assert one(option, there=there, own=own).status is Status.PASS


@pytest.mark.parametrize(
    ("there", "option", "named"),
    [
        (unit(None), CONNECTIONS, "systemctl cat "),
        (unit((("work_mem", "5MB"),)), Edited("work_mem", "5120", "4096"), " 5MB "),
        (Service(TARGET, "15/main", "postgresql@15-main.service", debian=True), CONNECTIONS, "/15/main/pg_ctl.conf "),
    ],
)
def test_what_is_in_doubt_is_a_warning(there: Service, option: Edited, named: str) -> None:
    result = one(option, there=there)
    assert result.status is Status.WARNING
    assert named in f"{result.message} {result.hint}"


def test_options_of_a_debian_cluster_come_along() -> None:
    there = Service(TARGET, "15/main", "postgresql@15-main.service", debian=True)
    by_debian = {**DEBIAN, "unit": there.unit, "process": process(there.unit)}
    assert one(CONNECTIONS, there=there, **by_debian).status is Status.PASS
    sockets = Edited("unix_socket_directories", "/run/own", "/tmp")
    assert one(sockets, there=unit(()), **by_debian).status is Status.WARNING


@pytest.mark.parametrize("process", [process("ssh.service"), None])
@pytest.mark.parametrize(
    ("option", "status"),
    [
        (CONNECTIONS, Status.WARNING),
        (Edited("unix_socket_directories", "/run/own", "/tmp"), Status.WARNING),
        (Edited("unix_socket_directories", "/var/run/postgresql", "/tmp"), Status.PASS),
    ],
)
def test_options_that_may_have_been_typed_for_pg_ctlcluster_are_in_doubt(
    process: Process | None, option: Edited, status: Status
) -> None:
    """Outside of its unit, somebody has started the server; pg_ctlcluster itself gives it the usual sockets."""
    there = Service(TARGET, "15/main", "postgresql@15-main.service", debian=True)
    result = one(option, there=there, **DEBIAN, unit=there.unit, process=process)
    assert result.status is status
    assert ("/etc/postgresql/15/main/pg_ctl.conf on the old" in result.hint) is (status is Status.WARNING)


def test_a_series_that_does_not_tell_what_files_give_is_in_doubt() -> None:
    wide = ClusterWide(settings=(Setting("max_connections", "137", "command line"), Setting("port", "1", "default")))
    result = one(there=unit(()), options=None, series="9.1", wide=wide)
    assert (result.status, result.old) == (Status.WARNING, "max_connections=137")


@pytest.mark.parametrize(
    ("there", "status"),
    [(None, Status.BLOCKER), (unit(()), Status.BLOCKER), (unit((("port", "5599"),)), Status.PASS)],
)
def test_what_an_environment_variable_gave_is_a_blocker_unless_the_unit_gives_it(
    there: Service | None, status: Status
) -> None:
    """pg_ctl gives the new server the options of the old one; nothing gives it the variables."""
    wide = ClusterWide(settings=(Setting("port", "5599", "environment variable"),))
    result = one(Edited("port", "5599", "5432"), there=there, wide=wide)
    assert (result.status, result.old) == (status, "port=5599")
    assert one(there=there, wide=wide).status is Status.PASS  # the files give it too by now


def test_facts_of_before_are_not_enough() -> None:
    result = one(there=unit(()), options=None)
    assert (result.status, "`pghaul facts old`" in result.hint) == (Status.UNKNOWN, True)
    assert one(there=unit(()), options=None, running=False).status is Status.PASS
    assert one(options=None).status is Status.PASS  # pg_ctl starts new, with whatever options old has
    unasked = one(there=unit(()), options=None, series="9.1", wide=None)
    assert (unasked.status, "postmaster.opts" in unasked.hint) == (Status.WARNING, True)


@pytest.mark.parametrize(
    ("changes", "services", "command"),
    [
        (
            DEBIAN,
            (Service(DATA, "15/main", "postgresql@15-main.service", debian=True),),
            "pg_ctlcluster 15 main reload",
        ),
        ({}, (), f"pg_ctl reload -D {DATA}"),
    ],
    ids=["Debian", "pg_ctl"],
)
def test_an_edited_file_is_reloaded_as_the_host_does_it(
    changes: dict[str, Any], services: tuple[Service, ...], command: str
) -> None:
    made = cluster(**{"running": True, "edited": (CONNECTIONS,), "start_complaints": ("no",), **changes})
    results = {each.id: each for each in run_checks(move(), old(made, services=services), new())}
    for check in ("pending-settings", "start-files"):
        assert f"`{command}`" in results[check].hint

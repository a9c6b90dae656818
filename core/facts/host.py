"""What surrounds the clusters of a host, out of the answers of the first round trip."""

from collections.abc import Sequence

from core.facts import (
    accounts,
    autostart,
    clocks,
    disks,
    ha_and_poolers,
    kernel,
    processes,
    schedules,
    security_policy,
)
from core.facts.host_environment import Clock, HostEnvironment
from core.facts.reading import Reader
from core.facts.sections import Section

PRIVATE = frozenset({"accounts", "ha-and-poolers", "schedules", "firewall"})
"""Sections whose text may hold a secret or a person's name: it is not kept."""


def sections(database_user: str) -> tuple[Section, ...]:
    """The sections of a host, but for its clock, which is to be asked first of all."""
    return (
        clocks.SYNCHRONISED,
        accounts.section(database_user),
        ha_and_poolers.SECTION,
        ha_and_poolers.VIRTUAL,
        autostart.SECTION,
        processes.SESSION,
        security_policy.SELINUX_AND_APPARMOR,
        security_policy.FIREWALL,
        kernel.SECTION,
        disks.HEALTH,
        disks.DATASETS,
        schedules.SECTION,
    )


def host_environment(reader: Reader, asked_at: float, answered_at: float, folders: Sequence[str]) -> HostEnvironment:
    """The environment of the clusters; `folders` are those of the clusters, which scheduled jobs may name.

    Moments are the workstation's, in seconds since 1970: when the question left, when the server's time came in.
    """

    def clock(text: str) -> Clock:
        return clocks.parse_clock(text, asked_at, answered_at)

    read = reader.read("clock", "clock", clock)
    kept = reader.read("time-sync", "time synchronisation", clocks.parse_synchronised)
    return HostEnvironment(
        clock=Clock(read.ahead_seconds, read.error_seconds, kept) if read is not None else None,
        accounts=reader.read("accounts", "users", accounts.parse_accounts),
        ha_and_poolers=reader.read(
            "ha-and-poolers", "cluster managers and poolers", ha_and_poolers.parse_ha_and_poolers
        ),
        schedule=reader.read("schedules", "cron jobs", lambda text: schedules.parse_schedules(text, folders)),
        autostart=reader.read("autostart", "what starts by itself", autostart.parse_autostart),
        limits=reader.read("limits", "limits", processes.parse_session_limits),
        security_policy=reader.read("security-policy", "SELinux and AppArmor", security_policy.parse_security_policy),
        firewall=reader.read("firewall", "firewall", security_policy.parse_firewall),
        kernel=reader.read("kernel", "kernel abilities", kernel.parse_kernel),
        disks=reader.read("disk-health", "health of disks", disks.parse_disk_health),
        datasets=reader.read("datasets", "ZFS file systems", disks.parse_datasets),
        virtual_addresses=reader.read("virtual-addresses", "virtual addresses", ha_and_poolers.parse_virtual_addresses),
    )

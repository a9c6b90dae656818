"""What surrounds the clusters of a host, out of the answers of the first round trip."""

from collections.abc import Sequence

from core.facts import (
    accounts,
    autostart,
    clocks,
    companions,
    disks,
    guards,
    kernel,
    processes,
    schedules,
)
from core.facts.reading import Reader
from core.facts.sections import Section
from core.facts.surroundings import Clock, Surroundings

PRIVATE = frozenset({"accounts", "companions", "schedules", "firewall"})
"""Sections whose text may hold a secret or a person's name: it is not kept."""


def sections(database_user: str) -> tuple[Section, ...]:
    """The sections of a host, but for its clock, which is to be asked first of all."""
    return (
        clocks.SYNCHRONISED,
        accounts.section(database_user),
        companions.SECTION,
        companions.VIRTUAL,
        autostart.SECTION,
        processes.SESSION,
        guards.GUARDS,
        guards.FIREWALL,
        kernel.SECTION,
        disks.HEALTH,
        disks.DATASETS,
        schedules.SECTION,
    )


def surroundings(reader: Reader, asked_at: float, answered_at: float, folders: Sequence[str]) -> Surroundings:
    """The surroundings; `folders` are those of the clusters, which scheduled jobs may name.

    Moments are the workstation's, in seconds since 1970: when the question left, when the server's time came in.
    """

    def clock(text: str) -> Clock:
        return clocks.parse_clock(text, asked_at, answered_at)

    read = reader.read("clock", "clock", clock)
    kept = reader.read("time-sync", "time synchronisation", clocks.parse_synchronised)
    return Surroundings(
        clock=Clock(read.ahead_seconds, read.error_seconds, kept) if read is not None else None,
        accounts=reader.read("accounts", "users", accounts.parse_accounts),
        companions=reader.read("companions", "cluster managers and poolers", companions.parse_companions),
        schedule=reader.read("schedules", "cron jobs", lambda text: schedules.parse_schedules(text, folders)),
        autostart=reader.read("autostart", "what starts by itself", autostart.parse_autostart),
        limits=reader.read("limits", "limits", processes.parse_session_limits),
        guards=reader.read("guards", "SELinux and AppArmor", guards.parse_guards),
        firewall=reader.read("firewall", "firewall", guards.parse_firewall),
        kernel=reader.read("kernel", "kernel abilities", kernel.parse_kernel),
        disks=reader.read("disk-health", "health of disks", disks.parse_disk_health),
        datasets=reader.read("datasets", "ZFS file systems", disks.parse_datasets),
        virtual_addresses=reader.read("virtual-addresses", "virtual addresses", companions.parse_virtual_addresses),
    )

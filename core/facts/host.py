"""What surrounds the clusters of a host, out of the answers of the first round trip."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from core.facts import (
    accounts,
    autostart,
    clocks,
    disks,
    ha_and_poolers,
    kernel,
    kernel_settings,
    listening,
    processes,
    removal,
    schedules,
    security_policy,
)
from core.facts.host_environment import HostEnvironment
from core.facts.reading import Reader
from core.facts.sections import Section

ENVIRONMENT: dict[str, Section[Any]] = {
    "accounts": accounts.SECTION,
    "ha_and_poolers": ha_and_poolers.SECTION,
    "virtual_addresses": ha_and_poolers.VIRTUAL,
    "autostart": autostart.SECTION,
    "limits": processes.SESSION,
    "removal": removal.SECTION,
    "security_policy": security_policy.SELINUX_AND_APPARMOR,
    "firewall": security_policy.FIREWALL,
    "listening": listening.SECTION,
    "kernel": kernel.SECTION,
    "disks": disks.HEALTH,
    "datasets": disks.DATASETS,
    "schedule": schedules.SECTION,
}
"""Field of HostEnvironment -> the section that fills it."""

FURTHER: tuple[Section[dict[str, str]], ...] = (kernel_settings.SECTION,)
"""Sections for people alone: what they bring stands in `Facts.further`, and so wherever facts are shown."""


def sections(database_user: str) -> tuple[Section[Any], ...]:
    """The sections of a host, but for its clock, which is to be asked first of all."""
    # the profile says who owns clusters there: that name is asked of the directory service too
    environment = ENVIRONMENT | {"accounts": accounts.section(database_user)}
    return (clocks.SYNCHRONISED, *environment.values(), *FURTHER)


def further(reader: Reader) -> dict[str, dict[str, str]]:
    """What the sections of `FURTHER` brought, by their titles."""
    return {section.title: found for section in FURTHER if (found := reader.read(section)) is not None}


def host_environment(reader: Reader, asked_at: float, answered_at: float, folders: Sequence[str]) -> HostEnvironment:
    """The environment of the clusters; `folders` are theirs, which scheduled jobs may name.

    Moments are the workstation's, in seconds since 1970: when the question left, when the server's time came in.
    """
    # which jobs bear on a cluster is known only when the clusters are
    about = replace(schedules.SECTION, parse=partial(schedules.parse_schedules, folders=folders))
    now, synchronised_clock = reader.read(clocks.NOW), reader.read(clocks.SYNCHRONISED)
    return HostEnvironment(
        clock=None
        if now is None
        else clocks.compare_clock(now, asked_at, answered_at, synchronised=synchronised_clock),
        **{field: reader.read(section) for field, section in (ENVIRONMENT | {"schedule": about}).items()},
    )

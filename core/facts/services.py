"""What starts a data directory: Debian's clusters and systemd's units, of the host and of its users."""

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass

from core.facts.discovery import Candidate
from core.facts.host_environment import Autostart
from core.facts.start_options import Options


@dataclass(frozen=True, slots=True)
class Service:
    """What starts a data directory, whether a cluster lies there yet or not.

    Attributes:
        name: Debian's `15/main`, else the unit without `.service`.
        user: whose own systemd has the unit; None: the host's.
        config_file: that it names, outside of the data directory.
        enabled: it comes up with the host; None: that was not read.
        options: settings that its command line gives, by name, None for one that may hold a secret; None as a whole:
            that is not known.
    """

    data_directory: str
    name: str
    unit: str
    debian: bool = False
    user: str | None = None
    config_file: str | None = None
    enabled: bool | None = None
    options: Options | None = None


def services(candidates: Iterable[Candidate], autostart: Autostart | None) -> tuple[Service, ...]:
    """The services among what was found, Debian's first, those that come up with the host ahead of others."""
    found = [_service(one, one.unit, autostart) for one in candidates if one.unit is not None]
    return tuple(sorted(found, key=lambda one: (not one.debian, not one.enabled)))


def _service(candidate: Candidate, unit: str, autostart: Autostart | None) -> Service:
    debian = "pg_lsclusters" in candidate.found_by
    name = candidate.name or unit
    enabled = candidate.enabled
    if candidate.unit_user is None and autostart is not None:
        starts = (autostart.start_conf or {}).get(name) == "auto" if debian else unit in autostart.enabled
        enabled = starts and unit not in autostart.masked
    return Service(
        posixpath.normpath(candidate.folder),
        name,
        unit,
        debian,
        candidate.unit_user,
        candidate.config_file,
        enabled,
        candidate.options,
    )

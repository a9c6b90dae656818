"""A move, and what a person chooses for it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from core.sides import Side


class EditedSettings(StrEnum):
    """Which values hold on both servers, of settings that were edited in the old cluster's files and are not in force
    there."""

    IN_FORCE = "in-force"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Move:
    """One undertaking.

    Attributes:
        name: the DBA's name for it, unique in the history.
        old, new: names of the server profiles.
        cluster: the cluster's data directory on the old server.
        target: the data directory to be on the new server.
        old_volume, new_volume: mount points (or folders) that the benchmarks measure.
        tablespace_targets: location on the old -> location on the new server, for those that differ.
        plain_text: the cluster's bytes may cross the network unencrypted.
        edited: which values hold of settings that are edited and not in force; None: not chosen.
        precopy_limit: how many bytes/s a pre-copy pass sends at most; None: as many as it can. The final sync has no
            limit.
    """

    name: str
    old: str
    new: str
    cluster: str
    target: str
    old_volume: str
    new_volume: str
    tablespace_targets: dict[str, str] = field(default_factory=dict)
    plain_text: bool = False
    edited: EditedSettings | None = None
    precopy_limit: int | None = None


class Hook(StrEnum):
    """What a person does in a plan, or a command of the DBA's own does in their stead."""

    STOP_APPLICATIONS = "stop-applications"
    MOVE_CRON_JOBS = "move-cron-jobs"
    MOVE_ADDRESS = "move-address"
    TELL_POOLER = "tell-pooler"


WORKSTATION: Final = "workstation"
HookSide = Side | Literal["workstation"]
"""Where a hook runs."""


@dataclass(frozen=True, slots=True)
class HookCommand:
    """The DBA's own command for a hook.

    Attributes:
        side: the server that it runs on, or the workstation.
        user: who runs it; None: who logs in there.
        from_elsewhere: it came with a history that somebody else has recorded: it is shown, and never run.
    """

    hook: Hook
    side: HookSide
    command: str
    user: str | None = None
    from_elsewhere: bool = False


class Verify(StrEnum):
    """When contents are compared; names, sizes, times and modes always are, of all, before the new cluster starts."""

    CHANGED = "changed"
    """Of every file: behind each warm pass while the old cluster runs, in the stop only of what changed since."""
    ALL = "all"
    """Of every file in the stop."""

"""A move among many: how it stands, and what is known of it."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.migration.model.estimate import Span
from core.migration.model.move import Move


class MoveState(StrEnum):
    """How a move stands among others, in the order in which moves are listed."""

    READY = "ready"
    """Nothing is known that prevents it."""
    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    """It could not be checked."""
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Completion:
    """When a move was carried out.

    Attributes:
        at: its end.
        by: who has recorded it, `user@workstation`; empty if it is signed by this user.
    """

    at: datetime
    by: str = ""


@dataclass(frozen=True, slots=True)
class FleetMove:
    """A move among others, as far as it is known.

    Attributes:
        move: the move.
        size_bytes: the size of the cluster in bytes; None if it is not known.
        stops: the titles of the checks that prevent it; a conflicting move comes last.
        pending: the titles of the checks that could prevent it and wait for a temporary cluster on the new server. Only
            the checks of the move itself create one.
        warnings: how many warnings nobody has accepted.
        method: the recommended method; empty if none is possible or nothing was estimated.
        downtime_seconds: the downtime of that method.
        duration_seconds: the whole duration of that method.
        window_seconds: the smallest of the usual windows that is long enough, with time for a rollback, in nine nights
            of ten; None if none is.
        unknown: why it could not be checked; empty if it was checked.
        moved_at: when it was carried out; None if it was not.
        moved_by: who has recorded that, `user@workstation`; empty if it is signed by this user.
        in_the_way: the move whose target is the same folder, one around it or one inside it; empty if there is none.
        state: how it stands, by all of these.
    """

    move: Move
    size_bytes: int | None = None
    stops: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    warnings: int = 0
    method: str = ""
    downtime_seconds: Span | None = None
    duration_seconds: Span | None = None
    window_seconds: float | None = None
    unknown: str = ""
    moved_at: datetime | None = None
    moved_by: str = ""
    in_the_way: str = ""
    # a field, and no property, because a document has the fields alone
    state: MoveState = field(init=False, default=MoveState.READY)

    def __post_init__(self) -> None:
        if self.moved_at is not None:
            state = MoveState.DONE
        elif self.unknown:
            state = MoveState.UNKNOWN
        else:
            state = MoveState.BLOCKED if self.stops else MoveState.READY
        object.__setattr__(self, "state", state)

    @property
    def failed_checks(self) -> tuple[str, ...]:
        """Return the titles of the checks that prevent the move."""
        return self.stops[:-1] if self.in_the_way else self.stops

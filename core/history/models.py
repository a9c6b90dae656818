"""The tables of the history. Every change here needs a migration: tests hold the two against each other.

What belongs to a move goes with it; a server that a move uses cannot be removed. A run belongs to a move or to none.
Numbers are in SI base units.
"""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import ForeignKey, Index, MetaData, UniqueConstraint, false
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from core.history.types import LongSaidText, LongText, Number, PlainText, SaidText, UtcDateTime, WholeNumber


class Base(DeclarativeBase):
    """Names for every constraint, so that a migration can name what it changes."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {str: PlainText, datetime: UtcDateTime, int: WholeNumber, float: Number}


class Noted:
    """An entry of the history, to which a person may note something (core/history/notes)."""

    # behind the columns of the entry itself, where a migration adds it
    note: Mapped[str | None] = mapped_column(SaidText, sort_order=1)


class OfMove(Noted):
    """An entry of a move; a run may belong to none."""

    move_id: Mapped[int | None]


class ProfileRow(Base):
    """A server profile. It holds no secret: there is no column for one."""

    __tablename__ = "profiles"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    address: Mapped[str]
    user: Mapped[str | None]
    port: Mapped[int | None]
    identity_file: Mapped[str | None]
    jump: Mapped[str | None]
    rights: Mapped[str]
    database_user: Mapped[str]
    copy_address: Mapped[str | None]
    changed_at: Mapped[datetime | None]
    """When it last began to name another machine: what was learnt or measured before says nothing about this one."""


class MoveRow(Noted, Base):
    """A move."""

    __tablename__ = "moves"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    old_id: Mapped[int] = mapped_column(ForeignKey("profiles.id", ondelete="RESTRICT"), index=True)
    new_id: Mapped[int] = mapped_column(ForeignKey("profiles.id", ondelete="RESTRICT"), index=True)
    cluster: Mapped[str]
    target: Mapped[str]
    old_volume: Mapped[str]
    new_volume: Mapped[str]
    tablespace_targets: Mapped[str]
    """A JSON object: location on the old server -> location on the new server."""
    plain_text: Mapped[bool] = mapped_column(server_default=false())
    created_at: Mapped[datetime]
    changed_at: Mapped[datetime | None]
    """When it, or how one of its servers is reached, was last changed: what was found before is of another move."""
    edited: Mapped[str | None] = mapped_column(sort_order=2)
    precopy_limit: Mapped[int | None] = mapped_column(sort_order=3)
    """In bytes/s."""
    asked: Mapped[str | None] = mapped_column(sort_order=4)
    """The window and the downtime that it has to fit into, as a JSON document."""

    old: Mapped[ProfileRow] = relationship(foreign_keys=old_id)
    new: Mapped[ProfileRow] = relationship(foreign_keys=new_id)


class FactsRow(Noted, Base):
    """One pass over one server: what lists show as columns, the whole as a JSON document."""

    __tablename__ = "facts"

    id: Mapped[int] = mapped_column(primary_key=True)
    profile_id: Mapped[int] = mapped_column(ForeignKey("profiles.id", ondelete="CASCADE"))
    taken_at: Mapped[datetime]
    seconds: Mapped[float]
    system: Mapped[str | None]
    architecture: Mapped[str | None]
    threads: Mapped[int | None]
    memory_bytes: Mapped[int | None]
    clusters: Mapped[int]
    document: Mapped[str] = mapped_column(LongText)

    profile: Mapped[ProfileRow] = relationship()

    __table_args__ = (Index(None, "profile_id", "taken_at"),)


class RunRow(OfMove, Base):
    """One workload on one volume, of a move or of none. `server` is the name it had, and follows a renaming."""

    __tablename__ = "runs"

    id: Mapped[int] = mapped_column(primary_key=True)
    move_id: Mapped[int | None] = mapped_column(ForeignKey("moves.id", ondelete="CASCADE"))
    side: Mapped[str | None]
    """Null where `move_id` is."""
    server: Mapped[str]
    mount_point: Mapped[str]
    folder: Mapped[str]
    workload: Mapped[str]
    title: Mapped[str]
    tool: Mapped[str]
    tool_version: Mapped[str | None]
    headline: Mapped[str]
    parameters: Mapped[str]
    """A JSON object."""
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    outcome: Mapped[str | None]
    stopped: Mapped[str]
    owner: Mapped[str | None]
    """The token of the process that records it (core/history/owners); None once it ended."""

    move: Mapped[MoveRow | None] = relationship()
    repetitions: Mapped[list["RepetitionRow"]] = relationship(
        order_by="RepetitionRow.number", lazy="selectin", passive_deletes="all"
    )

    __table_args__ = (
        Index(None, "move_id", "started_at"),
        # all that `runs.starts` sums up
        Index("ix_runs_starts", "outcome", "move_id", "side", "server", "mount_point", "folder", "started_at"),
    )


class RepetitionRow(Base):
    """One pass of a workload."""

    __tablename__ = "repetitions"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    number: Mapped[int]
    started_at: Mapped[datetime]
    seconds: Mapped[float]
    outcome: Mapped[str]
    command: Mapped[str] = mapped_column(SaidText)
    cached: Mapped[bool]
    message: Mapped[str] = mapped_column(SaidText)
    marks: Mapped[str]
    """A JSON array of pairs: the kind of a mark and its text."""
    raw: Mapped[str] = mapped_column(LongSaidText)

    metrics: Mapped[list["MetricRow"]] = relationship(lazy="selectin", passive_deletes="all")

    __table_args__ = (UniqueConstraint("run_id", "number"),)


class MetricRow(Base):
    """One metric of one repetition."""

    __tablename__ = "metrics"

    repetition_id: Mapped[int] = mapped_column(ForeignKey("repetitions.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[float]

    __table_args__ = (Index(None, "name"), {"sqlite_with_rowid": False})


class ProbeRow(OfMove, Base):
    """A short measurement of one link of the copy path."""

    __tablename__ = "probes"

    id: Mapped[int] = mapped_column(primary_key=True)
    move_id: Mapped[int] = mapped_column(ForeignKey("moves.id", ondelete="CASCADE"))
    quantity: Mapped[str]
    bytes_per_second: Mapped[float]
    bytes: Mapped[int]
    seconds: Mapped[float]
    method: Mapped[str]
    command: Mapped[str] = mapped_column(SaidText)
    raw: Mapped[str] = mapped_column(LongSaidText)
    taken_at: Mapped[datetime]
    transport: Mapped[str | None]
    """As a JSON document; null: a link that is the same for every transport."""
    ratio: Mapped[float | None]
    began_at: Mapped[datetime | None]

    __table_args__ = (Index(None, "move_id", "taken_at"),)


class CheckPassRow(OfMove, Base):
    """One pass of all checks of a move."""

    __tablename__ = "check_passes"

    id: Mapped[int] = mapped_column(primary_key=True)
    move_id: Mapped[int] = mapped_column(ForeignKey("moves.id", ondelete="CASCADE"))
    taken_at: Mapped[datetime]

    results: Mapped[list["CheckResultRow"]] = relationship(
        order_by="CheckResultRow.position", lazy="selectin", passive_deletes="all"
    )

    __table_args__ = (Index(None, "move_id", "taken_at"),)


class CheckResultRow(Base):
    """How one check came out. `position` keeps the order in which the results were handed in."""

    __tablename__ = "check_results"

    pass_id: Mapped[int] = mapped_column(ForeignKey("check_passes.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    check: Mapped[str]
    title: Mapped[str]
    status: Mapped[str]
    old: Mapped[str]
    new: Mapped[str]
    message: Mapped[str]
    hint: Mapped[str]
    blocking: Mapped[bool]
    documentation: Mapped[str]
    pending: Mapped[bool | None]
    """Null: recorded before pghaul told a check that is to run first from one that has no result."""


class WaiverRow(OfMove, Base):
    """A warning that somebody took on for the evidence that is kept with it; `withdrawn_at` when that ended."""

    __tablename__ = "waivers"

    id: Mapped[int] = mapped_column(primary_key=True)
    move_id: Mapped[int] = mapped_column(ForeignKey("moves.id", ondelete="CASCADE"))
    check: Mapped[str]
    reason: Mapped[str]
    waived_by: Mapped[str]
    waived_at: Mapped[datetime]
    status: Mapped[str]
    old: Mapped[str]
    new: Mapped[str]
    withdrawn_at: Mapped[datetime | None]
    seal: Mapped[str | None]
    """That this user's pghaul has recorded it (core/history/seal)."""

    __table_args__ = (Index(None, "move_id", "waived_at"),)


class EstimateRow(OfMove, Base):
    """An estimate, as a JSON document."""

    __tablename__ = "estimates"

    id: Mapped[int] = mapped_column(primary_key=True)
    move_id: Mapped[int] = mapped_column(ForeignKey("moves.id", ondelete="CASCADE"))
    made_at: Mapped[datetime]
    document: Mapped[str] = mapped_column(LongText)

    __table_args__ = (Index(None, "move_id", "made_at"),)


class PlanRow(OfMove, Base):
    """A plan, as a JSON document."""

    __tablename__ = "plans"

    id: Mapped[int] = mapped_column(primary_key=True)
    move_id: Mapped[int] = mapped_column(ForeignKey("moves.id", ondelete="CASCADE"))
    made_at: Mapped[datetime]
    transport: Mapped[str]
    document: Mapped[str] = mapped_column(LongText)

    move: Mapped[MoveRow] = relationship()

    __table_args__ = (Index(None, "move_id", "made_at"),)


class ExecutionRow(OfMove, Base):
    """A plan being carried out; the plan as it was then, as a JSON document."""

    __tablename__ = "executions"

    id: Mapped[int] = mapped_column(primary_key=True)
    move_id: Mapped[int] = mapped_column(ForeignKey("moves.id", ondelete="CASCADE"))
    kind: Mapped[str]
    state: Mapped[str]
    token: Mapped[str]
    owner: Mapped[str]
    process: Mapped[str | None]
    """The token of the process that carries it out (core/history/owners); None once it ended."""
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    message: Mapped[str] = mapped_column(SaidText)
    cancel_asked: Mapped[bool]
    plan: Mapped[str] = mapped_column(LongText)
    seal: Mapped[str | None]
    """That this user's pghaul has recorded it (core/history/seal)."""
    follow_up_done: Mapped[str | None] = mapped_column(PlainText, sort_order=2)
    """The ids of the follow-up tasks that are ticked off, as a JSON list; no part of the signature."""
    schedule: Mapped[str | None] = mapped_column(PlainText, sort_order=3)
    """The times for which it waits, and its failed tries, as a JSON document."""

    move: Mapped[MoveRow] = relationship()
    steps: Mapped[list["ExecutionStepRow"]] = relationship(
        order_by="ExecutionStepRow.id", lazy="selectin", passive_deletes="all"
    )

    __table_args__ = (Index(None, "move_id", "started_at"),)


class ExecutionStepRow(Base):
    """One try at a step of an execution; `back`: of its way back."""

    __tablename__ = "execution_steps"

    id: Mapped[int] = mapped_column(primary_key=True)
    execution_id: Mapped[int] = mapped_column(ForeignKey("executions.id", ondelete="CASCADE"), index=True)
    number: Mapped[int]
    attempt: Mapped[int]
    back: Mapped[bool]
    void: Mapped[bool]
    title: Mapped[str]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    exit_status: Mapped[int | None]
    bytes: Mapped[int | None]
    total: Mapped[int | None]
    output: Mapped[str] = mapped_column(LongSaidText)
    message: Mapped[str] = mapped_column(SaidText)


class HookRow(Base):
    """A command of the DBA's own for a hook of a move."""

    __tablename__ = "hooks"

    move_id: Mapped[int] = mapped_column(ForeignKey("moves.id", ondelete="CASCADE"), primary_key=True)
    hook: Mapped[str] = mapped_column(primary_key=True)
    side: Mapped[str]
    command: Mapped[str]
    user: Mapped[str | None]
    seal: Mapped[str | None]
    """That this user's pghaul has recorded it (core/history/seal)."""


class CommandRow(Base):
    """A command that ran on a server, secrets masked. `seconds` is None until its end was seen."""

    __tablename__ = "commands"

    id: Mapped[int] = mapped_column(primary_key=True)
    move_id: Mapped[int | None] = mapped_column(ForeignKey("moves.id", ondelete="CASCADE"))
    server: Mapped[str]
    user: Mapped[str]
    title: Mapped[str] = mapped_column(SaidText)
    command: Mapped[str] = mapped_column(SaidText)
    started_at: Mapped[datetime]
    exit_status: Mapped[int | None]
    seconds: Mapped[float | None]

    move: Mapped[MoveRow | None] = relationship()

    __table_args__ = (Index(None, "move_id", "started_at"), Index(None, "server", "started_at"))


class ReportRow(OfMove, Base):
    """A report that was written."""

    __tablename__ = "reports"

    id: Mapped[int] = mapped_column(primary_key=True)
    move_id: Mapped[int] = mapped_column(ForeignKey("moves.id", ondelete="CASCADE"))
    made_at: Mapped[datetime]
    path: Mapped[str]

    __table_args__ = (Index(None, "move_id", "made_at"),)

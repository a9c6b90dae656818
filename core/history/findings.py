"""What was found out and made for servers and moves: facts, probes, checks with their waivers, estimates, plans."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from sqlalchemy import ColumnElement, Select, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from core import documents
from core.errors import HistoryError, InputError
from core.facts.model import Cluster, Facts
from core.history.earlier_plans import load_plan
from core.history.models import (
    CheckPassRow,
    CheckResultRow,
    EstimateRow,
    FactsRow,
    MoveRow,
    PlanRow,
    ProbeRow,
    ProfileRow,
    WaiverRow,
)
from core.history.recorded_profiles import WITH_SERVERS, change_moves_of, move_row, profile_row
from core.history.seal import Seal, waiver_words
from core.history.types import member, storable
from core.migration.model.asked import NOTHING, Asked
from core.migration.model.checks import MANUAL, CheckResult, Status, Waiver
from core.migration.model.estimate import Estimate
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Transport
from core.servers.shell import quoted

T = TypeVar("T")
R = TypeVar("R", EstimateRow, PlanRow)

_BEGUN = (ProbeRow.quantity == Quantity.CHANGES.value) & (ProbeRow.seconds == 0)
"""A watch that was begun, or has ended, and has seen nothing: no measurement."""


def save_facts(session: Session, facts: Facts) -> int:
    """Record the facts of a server, which are redacted already, and return their number.

    Where they are of another machine than the latest before them that tell theirs, what was found for the server's
    moves is of the past. Runs are told apart by their machines: see `machines`.
    """
    profile = profile_row(session, facts.server)
    if facts.machine_id is not None:
        latest = facts_that_tell_machine(session, facts.server)
        if latest is not None and facts.is_of_another_machine(latest) and latest.taken_at <= facts.taken_at:
            change_moves_of(session, profile, facts.taken_at)
    row = FactsRow(
        profile=profile,
        taken_at=facts.taken_at,
        seconds=facts.seconds,
        system=facts.system.name if facts.system else None,
        architecture=facts.system.architecture if facts.system else None,
        threads=facts.processor.threads if facts.processor else None,
        memory_bytes=facts.memory.total_bytes if facts.memory else None,
        clusters=len(facts.clusters),
        document=documents.dump(facts),
    )
    session.add(row)
    session.flush()
    return row.id


def facts(session: Session, server: str) -> Facts | None:
    """Return the latest facts of a server that were read from its current machine; None if there are none."""
    profile = profile_row(session, server)
    row = session.scalars(_facts_of(profile).where(_since(FactsRow.taken_at, profile)).limit(1)).one_or_none()
    return None if row is None else facts_of(row)


def facts_that_tell_machine(session: Session, server: str) -> Facts | None:
    """Return the latest facts of a server that contain a machine ID, as `facts` does; None if there are none."""
    profile = profile_row(session, server)
    mine = select(FactsRow.id).where(FactsRow.profile_id == profile.id, _since(FactsRow.taken_at, profile))
    numbers = session.scalars(mine.order_by(FactsRow.taken_at.desc(), FactsRow.id.desc()))
    told = (each for each in (facts_by_id(session, number) for number in numbers) if each.machine_id is not None)
    return next(told, None)


def facts_by_id(session: Session, facts_id: int) -> Facts:
    """Return the facts with this number."""
    row = session.get(FactsRow, facts_id)
    if row is None:
        raise InputError(f"there are no facts {facts_id}", "list the entries with: pghaul history list")
    return facts_of(row)


def facts_history(session: Session, server: str) -> tuple[tuple[int, datetime], ...]:
    """Return the number and time of all facts of a server, the newest first."""
    return tuple((row.id, row.taken_at) for row in session.scalars(_facts_of(profile_row(session, server))))


def cluster_sizes(session: Session, server: str, data_directory: str, most: int) -> tuple[tuple[datetime, float], ...]:
    """Return when a cluster's size was read, and its bytes then, the oldest first.

    Another cluster that was in the same directory before, which its system identifier tells, does not count.

    Args:
        session: of the database.
        server: where the cluster is.
        data_directory: of the cluster.
        most: the number of times, the first and the last among them.
    """
    listed = facts_history(session, server)[::-1]

    def read(numbers: Iterable[tuple[int, datetime]]) -> Iterator[tuple[datetime, Cluster]]:
        for number, at in numbers:
            cluster = facts_by_id(session, number).cluster(data_directory)
            if cluster is not None and cluster.size_bytes:
                yield at, cluster

    newest = next(read(reversed(listed)), None)
    if newest is None:
        return ()
    oldest = next(each for each in read(listed) if not _is_another(each[1], newest[1]))
    between = [each for each in listed if oldest[0] < each[1] < newest[0]] if most > 2 else []
    step = max(1, -(-len(between) // (most - 2))) if between else 1
    found = [oldest, *read(between[step - 1 :: step]), *([newest] if newest[0] > oldest[0] else [])]
    own = (each for each in found if not _is_another(each[1], newest[1]))
    return tuple((at, float(cluster.size_bytes or 0)) for at, cluster in own)


def _is_another(cluster: Cluster, other: Cluster) -> bool:
    controls = (cluster.control, other.control)
    return len({each.system_identifier for each in controls if each is not None}) > 1


def _facts_of(profile: ProfileRow) -> Select[FactsRow]:
    mine = FactsRow.profile_id == profile.id
    return select(FactsRow).where(mine).order_by(FactsRow.taken_at.desc(), FactsRow.id.desc())


def facts_of(row: FactsRow) -> Facts:
    """Return the facts of a row."""
    # a renamed server keeps its facts, under its new name
    return dataclasses.replace(loaded(Facts, row.document), server=row.profile.name)


def probe_taken(session: Session, move: str, probe: Probe) -> None:
    """Record a probe."""
    session.add(
        ProbeRow(
            move_id=move_row(session, move).id,
            quantity=probe.quantity.value,
            bytes_per_second=probe.bytes_per_second,
            bytes=probe.bytes,
            seconds=probe.seconds,
            method=probe.method,
            command=probe.command,
            raw=probe.raw,
            taken_at=probe.taken_at,
            transport=documents.dump(probe.transport) if probe.transport is not None else None,
            ratio=probe.ratio,
            began_at=probe.began_at,
        )
    )


def probes(session: Session, move: str) -> tuple[Probe, ...]:
    """Return the latest probe of each link in the order of the copy path, and the latest of each transport."""
    of = move_row(session, move)
    from core.migration.transports.choice import latest_pass

    mine = (ProbeRow.move_id == of.id, _since(ProbeRow.taken_at, of), ~_BEGUN)
    rows = session.scalars(select(ProbeRow).where(*mine).order_by(ProbeRow.taken_at, ProbeRow.id))
    order = {quantity: position for position, quantity in enumerate(Quantity)}
    return tuple(sorted(latest_pass([probe_of(row) for row in rows]), key=lambda probe: order[probe.quantity]))


def uncollected_watch(session: Session, move: str) -> Probe | None:
    """Return the probe of a started watch that has not ended and whose results were not collected; None if none."""
    row = uncollected_watch_row(session, move_row(session, move))
    return None if row is None else probe_of(row)


def uncollected_watch_row(session: Session, of: MoveRow) -> ProbeRow | None:
    """Return the row of `uncollected_watch`."""
    mine = (ProbeRow.move_id == of.id, _since(ProbeRow.taken_at, of), ProbeRow.quantity == Quantity.CHANGES.value)
    latest = select(ProbeRow).where(*mine).order_by(ProbeRow.taken_at.desc(), ProbeRow.id.desc()).limit(1)
    row = session.scalars(latest).one_or_none()
    return row if row is not None and row.seconds == 0 and row.began_at is None else None


def probe_of(row: ProbeRow) -> Probe:
    """Return the probe of a row."""
    return Probe(
        quantity=member(Quantity, row.quantity),
        bytes_per_second=row.bytes_per_second,
        bytes=row.bytes,
        seconds=row.seconds,
        method=row.method,
        command=row.command,
        raw=row.raw,
        taken_at=row.taken_at,
        transport=loaded(Transport, row.transport) if row.transport is not None else None,
        ratio=row.ratio,
        began_at=row.began_at,
    )


def save_checks(session: Session, move: str, results: tuple[CheckResult, ...]) -> None:
    """Record the results of all checks."""
    kept = CheckPassRow(move_id=move_row(session, move).id, taken_at=datetime.now(UTC))
    kept.results = [
        CheckResultRow(
            position=position,
            check=result.id,
            title=result.title,
            status=result.status.value,
            old=result.old,
            new=result.new,
            message=result.message,
            hint=result.hint,
            blocking=result.blocking,
            documentation=result.documentation,
            pending=result.pending,
        )
        for position, result in enumerate(results)
    ]
    session.add(kept)


def checks(session: Session, move: str) -> tuple[CheckResult, ...] | None:
    """Return the latest results of the checks; None if they have not run yet."""
    row = _latest_checks(session, move)
    return None if row is None else checks_of(row)


def checks_taken_at(session: Session, move: str) -> datetime | None:
    """Return when the checks ran last; None if never."""
    row = _latest_checks(session, move)
    return None if row is None else row.taken_at


def _latest_checks(session: Session, move: str) -> CheckPassRow | None:
    of = move_row(session, move)
    mine = (CheckPassRow.move_id == of.id, _since(CheckPassRow.taken_at, of))
    newest = (CheckPassRow.taken_at.desc(), CheckPassRow.id.desc())
    return session.scalars(select(CheckPassRow).where(*mine).order_by(*newest).limit(1)).one_or_none()


def checks_of(row: CheckPassRow) -> tuple[CheckResult, ...]:
    """Return the results of a row."""
    return tuple(_check(result) for result in row.results)


def _check(row: CheckResultRow) -> CheckResult:
    return CheckResult(
        id=row.check,
        title=row.title,
        status=member(Status, row.status),
        old=row.old,
        new=row.new,
        message=row.message,
        hint=row.hint,
        blocking=row.blocking,
        # an archive or a team's history may name a program instead, which a click on the link would start
        documentation=row.documentation if row.documentation.startswith(MANUAL) else "",
        pending=bool(row.pending),
    )


def save_estimate(session: Session, move: str, estimate: Estimate) -> None:
    """Record an estimate; without a time of its own it gets the current one."""
    made_at = estimate.made_at or datetime.now(UTC)
    document = documents.dump(storable(dataclasses.replace(estimate, made_at=made_at)))
    session.add(EstimateRow(move_id=move_row(session, move).id, made_at=made_at, document=document))


def estimate(session: Session, move: str) -> Estimate | None:
    """Return the latest estimate of a move; None if there is none."""
    row = _latest(session, move, EstimateRow)
    return None if row is None else estimate_of(row)


def estimates(session: Session, move: str) -> tuple[Estimate, ...]:
    """Return all estimates of a move, the newest first, also those made before its last change."""
    rows = select(EstimateRow).where(EstimateRow.move_id == move_row(session, move).id)
    return tuple(map(estimate_of, session.scalars(rows.order_by(EstimateRow.made_at.desc(), EstimateRow.id.desc()))))


def estimate_of(row: EstimateRow) -> Estimate:
    """Return the estimate of a row."""
    return loaded(Estimate, row.document)


def save_asked(session: Session, move: str, asked: Asked) -> None:
    """Keep the window and the downtime that a move has to fit into; nothing that was found for it is of the past."""
    move_row(session, move).asked = None if asked.kept == NOTHING else documents.dump(asked.kept)


def asked(session: Session, move: str) -> Asked:
    """Return the window and the downtime that a move has to fit into."""
    document = move_row(session, move).asked
    return NOTHING if document is None else loaded(Asked, document)


def save_plan(session: Session, move: str, plan: Plan) -> None:
    """Record a plan."""
    session.add(
        PlanRow(
            move_id=move_row(session, move).id,
            made_at=plan.made_at,
            transport=plan.transport,
            document=documents.dump(storable(plan)),
        )
    )


def plan(session: Session, move: str) -> Plan | None:
    """Return the latest plan of a move; None if there is none."""
    row = _latest(session, move, PlanRow)
    return None if row is None else plan_of(row)


def plan_of(row: PlanRow) -> Plan:
    """Return the plan of a row."""
    # a renamed move keeps its plan, under its new name
    return dataclasses.replace(loaded(Plan, row.document), move=row.move.name)


def _latest(session: Session, move: str, table: type[R]) -> R | None:
    of = move_row(session, move)
    mine = (table.move_id == of.id, _since(table.made_at, of))
    return session.scalar(select(table).where(*mine).order_by(table.made_at.desc(), table.id.desc()).limit(1))


def _since(at: InstrumentedAttribute[datetime], changed: MoveRow | ProfileRow) -> ColumnElement[bool]:
    """Return the condition for entries after the last change of a move or profile; older ones no longer apply."""
    return true() if changed.changed_at is None else at >= changed.changed_at


def loaded(kind: type[T], document: str) -> T:
    """Return the object in a document of the history. Raises HistoryError if this version cannot read it."""
    try:
        return load_plan(document) if kind is Plan else documents.load(kind, document)  # type: ignore[return-value]  # T
    except InputError as error:
        raise HistoryError(
            f"the history holds a {kind.__name__.lower()} document that this version cannot read: {error.message}",
            "create it again: read the facts, estimate or plan again",
        ) from error


# Waivers of a move: who took which warning on, when, why, and when it was taken back.


def add_waiver(session: Session, move: str, waiver: Waiver, seal: Seal) -> None:
    """Keep a waiver; one that stands for the same check ends."""
    row = move_row(session, move)
    _end(session, row.id, waiver.check)
    kept = WaiverRow(
        move_id=row.id,
        check=waiver.check,
        reason=waiver.reason,
        waived_by=waiver.by,
        waived_at=waiver.at,
        status=waiver.status.value,
        old=waiver.old,
        new=waiver.new,
    )
    kept.seal = seal.of(*waiver_words(kept, row))
    session.add(kept)


def withdraw_waiver(session: Session, move: str, check: str) -> None:
    """Take a waiver back; it stays in the history as ended."""
    if not _end(session, move_row(session, move).id, check):
        raise InputError(
            f"the check {check!r} of the move {move} is not waived",
            f"show the checks with: pghaul check {quoted(move)}",
        )


def waivers(session: Session, move: str, seal: Seal) -> tuple[Waiver, ...]:
    """The waivers that stand; none older than the last change of the move: it was given for another move.

    Nor one that came with a history from elsewhere: to take a warning on is this user's own word.
    """
    move_row(session, move)
    return tuple(waiver_of(each) for each, _of, holds in standing_waivers(session, [move], seal) if holds)


def standing_waivers(session: Session, moves: Sequence[str], seal: Seal) -> list[tuple[WaiverRow, MoveRow, bool]]:
    """Return each waiver that was not withdrawn and is of its move as it is, its move, and whether its seal holds."""
    since = or_(MoveRow.changed_at.is_(None), WaiverRow.waived_at >= MoveRow.changed_at)
    query = select(WaiverRow, MoveRow).join(MoveRow, MoveRow.id == WaiverRow.move_id).options(*WITH_SERVERS)
    found = query.where(MoveRow.name.in_(moves), WaiverRow.withdrawn_at.is_(None), since).order_by(WaiverRow.id)
    return [(row, of, seal.vouches_for(row.seal, *waiver_words(row, of))) for row, of in session.execute(found)]


def waiver_of(row: WaiverRow) -> Waiver:
    """The waiver of that row."""
    return Waiver(row.check, row.reason, row.waived_by, row.waived_at, member(Status, row.status), row.old, row.new)


def _end(session: Session, move_id: int, check: str) -> bool:
    mine = (WaiverRow.move_id == move_id, WaiverRow.check == check, WaiverRow.withdrawn_at.is_(None))
    found = session.scalars(select(WaiverRow).where(*mine)).all()
    for row in found:
        row.withdrawn_at = datetime.now(UTC)
        row.seal = None  # without it the row cannot be made to stand again by whoever has the file alone
    return bool(found)

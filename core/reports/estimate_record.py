"""Executions and rehearsals of the history beside the estimates that were made before them."""

from contextlib import suppress
from dataclasses import replace

from core.errors import HistoryError
from core.history.store import Store
from core.migration.execution.record import EstimateComparison, compare_with_estimate


def record_of(store: Store, move: str) -> tuple[EstimateComparison, ...]:
    """Those of a move, newest first."""
    estimates, own = store.estimates(move), store.own_executions(move)
    found = store.executions(move)
    return _newest_first(
        [row for each in found for row in compare_with_estimate(each, estimates, counts=each.id in own)]
    )


def record_of_all(store: Store) -> tuple[EstimateComparison, ...]:
    """Those of all moves, newest first, but for moves that this version cannot read."""
    rows: list[EstimateComparison] = []
    for each in store.moves():
        with suppress(HistoryError):
            rows += record_of(store, each.name)
    return _newest_first(rows)


def record_of_report(store: Store, move: str) -> tuple[tuple[EstimateComparison, ...], tuple[EstimateComparison, ...]]:
    """For the report of a move its own, wherever they were recorded, and these with those of the others that count.

    So a workstation that has imported the move makes the same report of it.
    """
    mine = tuple(replace(row, counts=True) for row in record_of(store, move))
    # the same execution may stand in another move too, by which this one was imported
    here = {(row.began_at, row.stage, row.seconds) for row in mine}
    others = [
        row
        for row in record_of_all(store)
        if row.move != move and row.counts and (row.began_at, row.stage, row.seconds) not in here
    ]
    return mine, _newest_first([*mine, *others])


def _newest_first(rows: list[EstimateComparison]) -> tuple[EstimateComparison, ...]:
    return tuple(sorted(rows, key=lambda row: row.began_at, reverse=True))

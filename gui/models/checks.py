"""The checks of a move: the verdict, the counters, and a check in full."""

from collections.abc import Sequence
from enum import StrEnum

from core.language import marked, tr, tr_counted
from core.migration.model.checks import CheckResult, tally
from core.migration.model.move import Move
from core.sides import Side
from core.text import capital
from core.tones import Tone
from gui.models.explained import Explained, Paragraph, commands_in, told
from gui.models.sentences import compared, recorded
from gui.models.verdict import Counter, Verdict
from gui.models.words import counted, listed, moment, side_head, status_tone


class Group(StrEnum):
    """What a counter counts: the checks of a status, those that are to run first, or those that were waived."""

    BLOCKER = "blocker"
    UNKNOWN = "unknown"
    PENDING = "pending"
    WARNING = "warning"
    WAIVED = "waived"
    PASS = "pass"  # noqa: S105  a status, no password


_NAMES = {
    Group.BLOCKER: marked("Blockers"),
    Group.UNKNOWN: marked("Unknown"),
    Group.PENDING: marked("To run first"),
    Group.WARNING: marked("Warnings"),
    Group.WAIVED: marked("Waived"),
    Group.PASS: marked("Passed"),
}
_WHERE_ANY = frozenset({Group.PENDING, Group.WAIVED})
"""Groups that are shown only if they contain a check."""
_TONES = {
    Group.BLOCKER: Tone.BAD,
    Group.PENDING: Tone.WARNING,
    Group.WARNING: Tone.WARNING,
    Group.PASS: Tone.GOOD,
}


def group_of(result: CheckResult) -> Group:
    """Return which counter counts the check."""
    if result.pending:
        return Group.PENDING
    return Group.WAIVED if result.waiver is not None else Group(result.status.value)


def verdict(results: Sequence[CheckResult]) -> Verdict:
    """Return whether the checks stop the move, as a sentence."""
    found = tally(results)
    blockers, unknown = found.blockers, found.unanswered
    if found.stopping:
        what = listed(
            text
            for number, text in (
                (blockers, counted(blockers, "{number} blocker", "{number} blockers")),
                (unknown, counted(unknown, "{number} check without a result", "{number} checks without a result")),
            )
            if number
        )
        said = tr_counted("{what} stops the move.", "{what} stop the move.", found.stopping).format(what=what)
        return Verdict(said, Tone.BAD)
    if found.pending:
        said = counted(
            found.pending,
            "Nothing is known that stops the move. {number} check is to run first.",
            "Nothing is known that stops the move. {number} checks are to run first.",
        )
        return Verdict(said, Tone.WARNING)
    if found.warnings:
        said = counted(
            found.warnings,
            "Nothing stops the move. {number} warning is open.",
            "Nothing stops the move. {number} warnings are open.",
        )
        return Verdict(said, Tone.WARNING)
    return Verdict(tr("Nothing stops the move."), Tone.GOOD)


def counters(results: Sequence[CheckResult]) -> tuple[Counter, ...]:
    """Return how many checks there are of each group, the worst first."""
    groups = [group_of(one) for one in results]
    tones = dict(_TONES)
    if tally(results).unanswered:
        tones[Group.UNKNOWN] = Tone.BAD
    return tuple(
        Counter(group.value, tr(_NAMES[group]), groups.count(group), tones.get(group, Tone.MUTED))
        for group in Group
        if group not in _WHERE_ANY or group in groups
    )


def explained(result: CheckResult, move: Move | None = None) -> Explained:
    """Return a check in full: what was found on each server, what to do, and by whom it was waived."""
    old, new = ("", "") if move is None else (move.old, move.new)
    hint, waiver = recorded(result.hint), result.waiver
    waived = "" if waiver is None else f"{waiver.reason} ({waiver.by}, {moment(waiver.at)})"
    return Explained(
        title=tr(result.title),
        status=capital(tr(result.state)),
        tone=status_tone(result) or Tone.MUTED,
        lead=compared(result.message),
        paragraphs=told(
            Paragraph(tr("What to do"), hint, commands_in(hint)),
            Paragraph(side_head(Side.OLD, old), compared(result.old)),
            Paragraph(side_head(Side.NEW, new), compared(result.new)),
            Paragraph(tr("Waived"), waived),
        ),
        link=result.documentation,
    )

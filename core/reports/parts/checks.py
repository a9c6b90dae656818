"""The checks: what stands in the way with its evidence, the worst first; what passed in short rows."""

from collections.abc import Sequence

from core import units
from core.language import tr
from core.migration.model.checks import CheckResult, Status
from core.reports.model import Block, Cell, Row, Section, Table, Text, Tone
from core.reports.recorded import compared, is_known, recorded
from core.reports.report import Report
from core.reports.words import instant, missing

_TONES = {Status.BLOCKER: Tone.BAD, Status.UNKNOWN: Tone.MIXED, Status.WARNING: Tone.MIXED, Status.PASS: Tone.GOOD}
_SIGNS = {Status.BLOCKER: "✕", Status.UNKNOWN: "?", Status.WARNING: "!", Status.PASS: "✓"}
_SHORT = 60


def checks(report: Report) -> Section:
    """All of them."""
    if not report.checks:
        said = missing(tr("Nothing was checked yet."), report.move, "check", "Check")
        return Section(tr("Checks"), (Text(said, Tone.MUTED),))
    order = list(Status)
    open_ones = sorted(
        (one for one in report.checks if one.status is not Status.PASS), key=lambda one: order.index(one.status)
    )
    passed = [one for one in report.checks if one.status is Status.PASS]
    blocks: list[Block] = []
    if report.checks_taken_at is not None:
        said = tr("Checked on {instant}. The most severe findings come first.").format(
            instant=instant(report.checks_taken_at)
        )
        if not all(is_known(text) for one in open_ones for text in (one.message, one.hint)):
            said += " " + tr("Some findings are shown in English, as they were recorded.")
        blocks.append(Text(said, small=True))
    if open_ones:
        blocks.append(_open(open_ones))
    if passed:
        blocks.append(Section(tr("Passed"), (_passed(passed),)))
    return Section(tr("Checks"), tuple(blocks))


def _open(found: Sequence[CheckResult]) -> Table:
    head = (tr("Status"), tr("Check"), tr("Finding"), tr("Old server"), tr("New server"))
    return Table("checks", head, tuple(map(_row, found)), (0, 0.9, 2.4, 0.8, 0.8))


def _row(check: CheckResult) -> Row:
    said = [recorded(check.message)]
    said += [f"→ {recorded(check.hint)}"] if check.hint else []
    if check.waiver is not None:
        waiver = check.waiver
        taken = tr("Waived by {person} on {instant}: {reason}")
        said.append(taken.format(person=waiver.by, instant=instant(waiver.at), reason=waiver.reason))
    status = Cell(f"{_SIGNS[check.status]} {tr(check.status.value)}", tone=_TONES[check.status])
    return (
        status,
        tr(check.title),
        "\n".join(said),
        *(compared(side) or units.ABSENT for side in (check.old, check.new)),
    )


def _passed(found: Sequence[CheckResult]) -> Table:
    rows = tuple((tr(one.title), _short(compared(one.old)), _short(compared(one.new))) for one in found)
    return Table("checks-passed", (tr("Check"), tr("Old server"), tr("New server")), rows, (1.2, 1, 1), dense=True)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return (line if len(line) <= _SHORT else line[: _SHORT - 1].rstrip() + "…") or units.ABSENT

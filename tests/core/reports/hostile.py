"""A report in which every text that somebody else wrote is as bad as it can be."""

from dataclasses import replace

from core.migration.model.checks import CheckResult, Status
from core.migration.model.plan import RemoteCall
from core.reports.report import Report
from core.sides import Side

NAME = '<b>#sys{1}$x$ "'
MARKUP = (
    f'{NAME} #panic("x") #pagebreak() *a* _b_ [c \\ `e <f> @g // h /* ~ = $(touch x) ö Привет 数据库移动 한국어 '
    "قاعدة البيانات שלום \U0001f418 क \u202egnp \x07 /srv/" + "w" * 300
)


def hostile(full: Report, checks: int = 500) -> Report:
    """Every text of others replaced, with so many checks."""
    if full.plan is None or full.estimate is None:
        raise ValueError("there is nothing to replace")
    statuses = list(Status)
    methods = tuple(
        replace(one, assumptions=(MARKUP,), warnings=(MARKUP,), ruled_out=MARKUP) for one in full.estimate.methods
    )
    call = RemoteCall(side=Side.OLD, user="postgres", call=f"{MARKUP}\n\t{MARKUP}")
    steps = tuple(
        replace(step, title=MARKUP, action=call, undo=MARKUP, reason=MARKUP, server=NAME) for step in full.plan.steps
    )
    return replace(
        full,
        move=replace(full.move, name=MARKUP, cluster=MARKUP, target=MARKUP, tablespace_targets={MARKUP: MARKUP}),
        old=replace(full.old, name=NAME, address=MARKUP),
        checks=tuple(
            CheckResult(str(number), MARKUP, statuses[number % 4], MARKUP, MARKUP, MARKUP, MARKUP)
            for number in range(checks)
        ),
        probes=tuple(replace(probe, method=MARKUP) for probe in full.probes),
        estimate=replace(full.estimate, methods=methods),
        plan=replace(full.plan, steps=steps, transport=MARKUP, why=MARKUP),
    )

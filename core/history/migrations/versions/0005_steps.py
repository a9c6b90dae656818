"""A step of a plan has the call that runs and names the steps that it stands on; older plans call shell by itself."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from core.history.types import LongText

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

DOCUMENTS = (("plans", "document"), ("executions", "plan"))


def upgrade() -> None:
    connection = op.get_bind()
    for table, column in DOCUMENTS:
        rows = sa.table(table, sa.column("id", sa.Integer), sa.column(column, LongText))
        # One document after the other: a history may hold more of them than should be in memory at once.
        for number in connection.scalars(sa.select(rows.c.id)).all():
            mine = rows.c.id == number
            found = json.loads(connection.scalars(sa.select(rows.c[column]).where(mine)).one())
            document = json.dumps(_plan(found), ensure_ascii=False)
            connection.execute(rows.update().where(mine).values({column: document}))


def _plan(found: dict[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = {part: _steps(found[part]) for part in ("steps", "way_back", "later") if part in found}
    return {**found, **parts}


def _steps(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = {step["number"]: step.get("name") or f"step-{step['number']}" for step in found}
    return [_step(step, names) for step in found]


def _step(found: dict[str, Any], names: dict[int, str]) -> dict[str, Any]:
    step = dict(found)
    step["call"] = step.pop("command")
    step["name"] = names[step["number"]]
    step["reads"] = names.get(step.pop("input_from", None), "")
    step["agrees_with"] = names.get(step.pop("agrees_with", None), "")
    step["phase"] = _phase(step)
    if step.get("warm_pass") or step.get("bytes") is not None:
        step["root"] = step["title"].partition(": ")[2]
    return step


def _phase(step: dict[str, Any]) -> str:
    """As near as the old fields tell: the report of an old execution groups by it."""
    if step.get("warm_pass"):
        return "warm passes"
    if step.get("closes"):
        return "close the copy channel"
    if step.get("point_of_no_return"):
        return "open new"
    title = step["title"]
    for words, phase in _TITLES:
        if title.startswith(words):
            return phase
    return "prepare"


_TITLES = (
    ("stop ", "stop old"),
    ("take stock", "stop old"),
    ("prove the stop", "stop old"),
    ("keep old", "stop old"),
    ("list what", "final pass"),
    ("final pass", "final pass"),
    ("copy:", "copy"),
    ("prove that old stayed", "verify"),
    ("set the link", "verify"),
    ("let new write", "verify"),
    ("flush", "verify"),
    ("sum up", "verify"),
    ("compare new's files", "verify"),
    ("check the page", "verify"),
    ("look through", "verify"),
    ("pack old's", "start new"),
    ("put old's", "start new"),
    ("start new", "start new"),
    ("ask new", "start new"),
    ("compare", "start new"),
    ("rebuild", "reindex"),
    ("let new's", "start new"),
    ("decide", "open new"),
    ("move the cron", "open new"),
    ("lead the", "open new"),
)

"""The fields of facts have new names, the field's own terms: documents that are there take them."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from core.history.types import LongText

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

FACTS = {"surroundings": "host_environment", "holdings": "target_entries", "sorted": "collation_order"}
HOST_ENVIRONMENT = {"companions": "ha_and_poolers", "guards": "security_policy"}
CLUSTER = {"oddities": "irregular_files"}


def upgrade() -> None:
    rows = sa.table("facts", sa.column("id", sa.Integer), sa.column("document", LongText))
    connection = op.get_bind()
    # One document after the other: a history may hold more of them than should be in memory at once.
    for number in connection.scalars(sa.select(rows.c.id)).all():
        mine = rows.c.id == number
        found = json.loads(connection.scalars(sa.select(rows.c.document).where(mine)).one())
        document = json.dumps(_facts(found), ensure_ascii=False)
        connection.execute(rows.update().where(mine).values(document=document))


def _facts(found: dict[str, Any]) -> dict[str, Any]:
    facts = _renamed(found, FACTS)
    if "host_environment" in facts:
        facts["host_environment"] = _renamed(facts["host_environment"], HOST_ENVIRONMENT)
    for clusters in ("clusters", "trials"):
        if clusters in facts:
            facts[clusters] = [_renamed(cluster, CLUSTER) for cluster in facts[clusters]]
    return facts


def _renamed(found: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in found.items()}

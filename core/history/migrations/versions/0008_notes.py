"""What a person notes to an entry stands in its row, and goes where that goes."""

import sqlalchemy as sa
from alembic import op

from core.history.types import TEXT

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

NOTED = (
    "moves",
    "facts",
    "runs",
    "probes",
    "check_passes",
    "estimates",
    "plans",
    "executions",
    "waivers",
    "reports",
)


def upgrade() -> None:
    for table in NOTED:  # at their ends: no table is built anew
        op.add_column(table, sa.Column("note", TEXT, nullable=True))

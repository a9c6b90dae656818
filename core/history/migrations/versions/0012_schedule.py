"""An execution knows the times for which it waits."""

import sqlalchemy as sa
from alembic import op

from core.history.types import TEXT

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("executions", sa.Column("schedule", TEXT, nullable=True))  # at its end: no table is built anew

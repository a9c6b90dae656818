"""An execution knows which of its follow-up tasks are ticked off."""

import sqlalchemy as sa
from alembic import op

from core.history.types import TEXT

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("executions", sa.Column("follow_up_done", TEXT, nullable=True))  # at its end: no table is built anew

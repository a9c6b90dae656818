"""A step that runs says how many bytes it has before it."""

import sqlalchemy as sa
from alembic import op

from core.history.types import WHOLE

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("execution_steps", sa.Column("total", WHOLE, nullable=True))

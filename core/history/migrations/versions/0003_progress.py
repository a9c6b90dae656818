"""A step that runs says how many bytes it has before it."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("execution_steps", sa.Column("total", sa.Integer(), nullable=True))

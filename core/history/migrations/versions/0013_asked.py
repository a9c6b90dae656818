"""A move knows the window and the downtime that it has to fit into."""

import sqlalchemy as sa
from alembic import op

from core.history.types import TEXT

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("moves", sa.Column("asked", TEXT, nullable=True))  # at its end: no table is built anew

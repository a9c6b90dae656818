"""A move knows the limit of its pre-copy passes."""

import sqlalchemy as sa
from alembic import op

from core.history.types import WHOLE

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("moves", sa.Column("precopy_limit", WHOLE, nullable=True))  # at its end: no table is built anew

"""A move knows which values hold of settings that were edited and are not in force."""

import sqlalchemy as sa
from alembic import op

from core.history.types import TEXT

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("moves", sa.Column("edited", TEXT, nullable=True))  # at its end: no table is built anew

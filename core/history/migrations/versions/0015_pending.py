"""A result of a check says whether it waits for a temporary cluster."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("check_results", sa.Column("pending", sa.Boolean(), nullable=True))  # at its end

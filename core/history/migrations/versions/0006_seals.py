"""What is recorded to be run bears the seal of who recorded it; what was recorded before bears none: it is shown."""

import sqlalchemy as sa
from alembic import op

from core.history.types import TEXT

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("executions", "hooks", "waivers"):
        op.add_column(table, sa.Column("seal", TEXT, nullable=True))

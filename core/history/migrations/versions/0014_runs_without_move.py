"""A run can belong to no move."""

from alembic import op

from core.history.types import TEXT, WHOLE

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # SQLite builds the table anew: foreign keys are off meanwhile, so that no repetition goes with the old table
    with op.batch_alter_table("runs") as runs:
        runs.alter_column("move_id", existing_type=WHOLE, nullable=True)
        runs.alter_column("side", existing_type=TEXT, nullable=True)

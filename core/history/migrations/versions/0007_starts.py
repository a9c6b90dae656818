"""What each start of a suite measured is summed up from an index alone, not from every run with its texts."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

OF = ["outcome", "move_id", "side", "server", "mount_point", "folder", "started_at"]


def upgrade() -> None:
    op.create_index("ix_runs_starts", "runs", OF)

"""A transport has a route; a move says whether its bytes may cross the network unencrypted."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    probes = sa.table("probes", sa.column("transport", sa.Text()))
    for before, now in (('"local":true', '"route":"local"'), ('"local":false', '"route":"ssh"')):
        op.execute(probes.update().values(transport=sa.func.replace(probes.c.transport, before, now)))
    op.add_column("moves", sa.Column("plain_text", sa.Boolean(), nullable=False, server_default=sa.false()))

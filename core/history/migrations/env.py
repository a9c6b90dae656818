"""Alembic's entry: runs the migrations on the connection that core.history.database hands in, in its transaction."""

from alembic import context

from core.history.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    transactional_ddl=True,
    transaction_per_migration=False,
    render_as_batch=True,
)
context.run_migrations()

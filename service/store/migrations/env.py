"""Run by Alembic: migrates the connection it is handed, in the transaction that is open on it."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"], target_metadata=context.config.attributes["metadata"]
)
with context.begin_transaction():
    context.run_migrations()

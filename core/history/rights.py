"""Who of a team may do what in its history: the SQL by which its administrator says so."""

import psycopg.sql

from core.history.server import SCHEMA, ServerDatabase

READ, WRITE, ADMINISTER = RIGHTS = ("read", "write", "administer")
"""What a role may do."""


def grants(place: str, right: str, role: str) -> tuple[str, ...]:
    """The statements by which its administrator gives a role that right (RIGHTS) on the history there.

    Raises:
        InputError, HistoryError: as `ServerDatabase.open`.
    """
    found = ServerDatabase.open(place)
    try:
        owner = _quoted(found.owner())  # here, not there: psql runs it
    finally:
        found.close()
    name, tables = _quoted(role), f"ALL TABLES IN SCHEMA {SCHEMA}"
    if right == ADMINISTER:
        return (f"GRANT {owner} TO {name};",)
    later = f"ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA {SCHEMA} GRANT"
    reading = (
        f"GRANT USAGE ON SCHEMA {SCHEMA} TO {name};",
        f"GRANT SELECT ON {tables} TO {name};",
        f"{later} SELECT ON TABLES TO {name};",
    )
    if right == READ:
        return reading
    return (
        *reading,
        f"GRANT INSERT, UPDATE, DELETE ON {tables} TO {name};",
        f"REVOKE INSERT, UPDATE, DELETE ON {SCHEMA}.alembic_version FROM {name};",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {name};",
        f"{later} INSERT, UPDATE, DELETE ON TABLES TO {name};",
        f"{later} USAGE ON SEQUENCES TO {name};",
    )


def _quoted(role: str) -> str:
    return psycopg.sql.Identifier(role).as_string()

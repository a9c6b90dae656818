"""The table of servers."""

from core import units
from core.servers.profiles import Rights
from gui.appearance import Tone
from gui.models.table import Column
from gui.models.words import moment
from gui.states import ServerRow

RIGHTS = {
    Rights.SUDO: "sudo without a password",
    Rights.SUDO_PASSWORD: "sudo with a password",
    Rights.SUDO_POSTGRES: "sudo to the database user alone",
    Rights.NONE: "none besides the login user's",
}


def _system(row: ServerRow) -> str:
    return units.ABSENT if row.facts is None or row.facts.system is None else row.facts.system.name


COLUMNS: tuple[Column[ServerRow], ...] = (
    Column("Name", lambda row: row.profile.name),
    Column("Address", lambda row: row.profile.address),
    Column("User", lambda row: row.profile.user or "as ssh says"),
    Column("Port", lambda row: "as ssh says" if row.profile.port is None else str(row.profile.port)),
    Column("Rights", lambda row: RIGHTS[row.profile.rights]),
    Column("Database user", lambda row: row.profile.database_user),
    Column("System", _system),
    Column(
        "Facts read",
        lambda row: "not yet" if row.facts is None else moment(row.facts.taken_at),
        tone=lambda row: Tone.MUTED if row.facts is None else None,
    ),
    Column("Moves", lambda row: ", ".join(row.moves)),
)

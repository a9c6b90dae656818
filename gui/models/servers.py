"""The table of servers."""

from core import units
from core.api.model import ServerRow
from core.language import marked, tr
from core.servers.profiles import Rights
from gui.appearance import Tone
from gui.models.table import Column, Width
from gui.models.words import minute

RIGHTS = {
    Rights.SUDO: marked("sudo without a password"),
    Rights.SUDO_PASSWORD: marked("sudo with a password"),
    Rights.SUDO_POSTGRES: marked("sudo to the database user only"),
    Rights.NONE: marked("only those of the login user"),
}
SHORT_RIGHTS = {
    Rights.SUDO: "sudo",
    Rights.SUDO_PASSWORD: marked("sudo, password"),
    Rights.SUDO_POSTGRES: marked("sudo, database user"),
    Rights.NONE: marked("none"),
}


def _system(row: ServerRow) -> str:
    return units.ABSENT if row.facts is None or row.facts.system is None else row.facts.system.name


COLUMNS: tuple[Column[ServerRow], ...] = (
    Column("Name", lambda row: row.profile.name),
    Column("Address", lambda row: row.profile.address),
    Column("User", lambda row: row.profile.user or tr("as in ~/.ssh/config")),
    Column(
        "Port",
        lambda row: tr("as in ~/.ssh/config") if row.profile.port is None else str(row.profile.port),
        value=lambda row: row.profile.port,
    ),
    Column(
        "Rights",
        lambda row: tr(SHORT_RIGHTS[row.profile.rights]),
        tip=lambda row: tr(RIGHTS[row.profile.rights]),
    ),
    Column("Database user", lambda row: row.profile.database_user),
    Column("System", _system, width=Width.REST, tip=_system),
    Column(
        "Facts read",
        lambda row: tr("not yet") if row.facts is None else minute(row.facts.taken_at),
        tone=lambda row: Tone.MUTED if row.facts is None else None,
        value=lambda row: None if row.facts is None else row.facts.taken_at.timestamp(),
    ),
    Column("Moves", lambda row: ", ".join(row.moves)),
)

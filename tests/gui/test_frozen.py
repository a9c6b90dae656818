"""What a frozen program leaves the programs that it starts."""

import sys

import pytest

from gui.frozen import give_back

OURS = {
    "LD_LIBRARY_PATH": "/opt/pghaul/_internal:/orig",
    "LD_LIBRARY_PATH_ORIG": "/orig",
    "DYLD_LIBRARY_PATH": "/opt/pghaul/_internal",
    "QT_PLUGIN_PATH": "/opt/pghaul/_internal/PySide6/Qt/plugins",
    "_PYI_ARCHIVE_FILE": "/opt/pghaul/pghaul",
    "PATH": "/usr/bin",
}


def test_other_programs_have_the_users_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/opt/pghaul/pghaul")
    left = dict(OURS)
    for _ in range(2):
        give_back(left)
        assert left == {"LD_LIBRARY_PATH": "/orig", "PATH": "/usr/bin"}


def test_nothing_is_taken_where_the_program_is_not_frozen() -> None:
    left = dict(OURS)
    give_back(left)
    assert left == OURS

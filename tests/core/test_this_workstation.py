"""Who uses this workstation, also where its account has no name."""

import getpass
import platform
import pwd
import sys

import pytest

from core.this_workstation import on_windows, user_name, whoami

NAMES = ("LOGNAME", "USER", "LNAME", "USERNAME")


@pytest.fixture
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment names the user."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("nameless")
def test_the_environment_names_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USERNAME", "dba")
    monkeypatch.setattr(platform, "node", lambda: "desk")
    assert (user_name(), whoami()) == ("dba", "dba@desk")


@pytest.mark.usefixtures("nameless")
def test_an_account_without_a_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(number: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr(pwd, "getpwuid", missing)
    assert user_name() == "unknown"


@pytest.mark.usefixtures("nameless")
def test_windows_without_a_user_in_its_environment_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pwd", None)
    with pytest.raises(ImportError):
        getpass.getuser()
    assert user_name() == "unknown"


def test_a_workstation_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "dba")
    monkeypatch.setattr(platform, "node", lambda: "")
    assert whoami() == "dba@workstation"


def test_windows_is_told_by_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.this_workstation.os.name", "nt")
    found = on_windows()
    monkeypatch.undo()  # before anything makes a path, which would be one of Windows
    assert found
    assert not on_windows()

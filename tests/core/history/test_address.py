"""What may be the URL of a team's history, and to whom it leads: no password in it, no detour by the environment."""

import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import HistoryError, InputError
from core.history.address import url_of
from core.history.server import ServerDatabase
from tests.core.history import samples
from tests.histories import Histories
from tests.postgresql import OWNER, Server
from tests.wire import Wire

SECRET = "geh3im"


@pytest.mark.parametrize(
    "typed",
    [
        *("history.sqlite3", "mysql://a@b/c", "postgresql://host", "http://a/b", "", "postgresql://me@host:/db"),
        *("postgresql://me@host:abc/db", "postgresql://me@host:99999/db", "postgresql://me@host:-5/db"),
        "postgresql://me@[::1/db",
    ],
)
def test_what_is_no_url_of_a_history(typed: str) -> None:
    with pytest.raises(InputError, match="is not the URL of a history") as refused:
        url_of(typed)
    assert ":PORT" in refused.value.hint


@pytest.mark.parametrize(
    "typed",
    [
        f"postgresql://me:{SECRET}@host/db",
        f"postgresql://me:{SECRET}@host:abc/db",
        f"postgresql://me:a@{SECRET}@host/db",
        f"postgresql://me:a/{SECRET}@host/db",
        f"postgresql://me:{SECRET}/db",
        f"postgresql://me/{SECRET}@host/db",
        f"postgresql://me%3A{SECRET}@host/db",
        f"postgres://me:{SECRET}@host/db",
        f"mysql://me:{SECRET}@host/db",
        f"postgresql:me:{SECRET}@host/db",
        f"postgresql//me:{SECRET}@host/db",
        f"host=host user=me password={SECRET}",
        f"postgresql://me@host/dbname=db password={SECRET}",
        f"postgresql://me@host/db#{SECRET}",
        f"postgresql://me@host/db?password={SECRET}",
        f"postgresql://me@host/db?password=a&{SECRET}=b",
        f"postgresql://me@host/db?sslpassword={SECRET}",
        f"postgresql://me@host/db?sslmode=require&sslmode={SECRET}",
        f"postgresql://me@host/db?oauth_client_secret={SECRET}",
        f"postgresql://me@host/db?options=-c%20my.word%3D{SECRET}",
        f"postgresql://me@host/db?pass%77ord={SECRET}",
        f"postgresql://me@host/db?{SECRET}",
        f"postgresql://me@ho,{SECRET}/db",
    ],
)
def test_a_password_is_neither_taken_nor_said(typed: str) -> None:
    with pytest.raises(InputError) as refused:
        url_of(typed)
    assert SECRET not in "".join(traceback.format_exception(refused.value))
    assert refused.value.hint


@pytest.mark.parametrize("by", ["password=x", "sslpassword=x", "password"])
def test_a_password_by_its_name_is_called_so(by: str) -> None:
    with pytest.raises(InputError, match="contains a password"):
        url_of(f"postgresql://me@host/db?{by}")


@pytest.mark.parametrize(
    "typed",
    [
        *("postgresql://me@/db", "postgresql:///db", "postgresql://me@/db?host=elsewhere.example"),
        *("postgresql://me@host/db?host=/tmp", "postgresql://me@/db?host=/tmp,elsewhere.example"),
        "postgresql://me@localhost,elsewhere.example/db",
    ],
)
def test_what_names_no_server_or_two_is_refused(typed: str) -> None:
    with pytest.raises(InputError, match="does not name exactly one server"):
        url_of(typed)


@pytest.mark.parametrize(
    "by", ["hostaddr=192.0.2.1", "service=other", "port=1", "dbname=x", "user=x", "host=/a&host=/b"]
)
def test_what_leads_elsewhere_is_refused(by: str) -> None:
    with pytest.raises(InputError, match="has a parameter that is not allowed"):
        url_of(f"postgresql://me@localhost/db?{by}")


def test_what_may_stand_in_one() -> None:
    url = url_of("postgresql://me@host:5433/db?sslmode=verify-ca&sslrootcert=/a.pem&passfile=/home/me/.pgpass")
    assert url.drivername == "postgresql+psycopg"
    assert url_of("postgresql+psycopg://me@[::1]/db").host == "::1"
    assert url_of("postgresql:///db?host=/run/postgresql").query == {"host": "/run/postgresql"}


@pytest.fixture
def place(histories: Histories, tmp_path: Path) -> Iterator[str]:
    with histories.placed("postgresql", tmp_path, samples.set_up) as found:
        assert isinstance(found, str)
        yield found


@pytest.mark.slow
def test_the_environment_leads_nowhere_else(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as environment:
        for name, value in (("HOSTADDR", "127.0.0.1"), ("HOST", "127.0.0.1"), ("PORT", "1"), ("DATABASE", "other")):
            environment.setenv(f"PG{name}", value)
        ServerDatabase.open(place).close()


def test_what_goes_over_a_network_goes_to_who_proves_its_name(
    place: str, postgresql: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By an address that is not said to be this machine's, as which the system takes it nevertheless."""
    services = tmp_path / "services"
    services.write_text("[lax]\nsslmode=disable\nhostaddr=127.0.0.1\n")
    with Wire(postgresql.socket) as wire, monkeypatch.context() as environment:
        database = url_of(place).database
        far = f"postgresql://{OWNER}@0.0.0.0:{wire.port}/{database}"
        environment.setenv("PGSSLMODE", "disable")
        with pytest.raises(HistoryError, match="does not support SSL, but SSL was required") as refused:
            ServerDatabase.open(far)
        assert "sslrootcert" in refused.value.hint
        environment.setenv("PGSERVICEFILE", str(services))
        environment.setenv("PGSERVICE", "lax")
        with pytest.raises(HistoryError, match="does not support SSL, but SSL was required"):
            ServerDatabase.open(far)
        ServerDatabase.open(f"{far}?sslmode=disable").close()  # by its user's word
        ServerDatabase.open(f"postgresql://{OWNER}@127.0.0.1:{wire.port}/{database}").close()

"""The URL of a team's history: what may stand in it, and how the server that it names is connected to.

What the environment says of servers (PGHOST, PGHOSTADDR, PGPORT, a service) counts for nothing: the URL is kept, means
the same tomorrow, and names the server whose certificate is looked at.
"""

import ipaddress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from core.errors import InputError
from core.history.types import SERVER
from core.redaction import know
from core.servers.secrets import Key, remembered
from core.settings import PROGRAM

DRIVER = f"{SERVER}+psycopg"
PATIENCE_SECONDS = 10
"""How long a write waits for another program's, and a connection for its server."""
_PARAMETERS = ("host", "krbsrvname", "passfile", "sslcert", "sslcrl", "sslkey", "sslmode", "sslrootcert")
"""libpq's that may stand behind the question mark: none of them is a secret, or names another server but `host`."""
_SECRETS = ("password", "secret", "scram_")
"""What libpq's parameters that are secrets have in their names."""
_PORT, _PORTS = 5432, range(1, 1 << 16)
_NO_PART = frozenset("@=?#:/,;'\"\\ \t\r\n\0")
"""What no name of a database or host has that is meant: it comes of a password in the wrong place, or of a list."""
_AUTHORITIES = (
    *("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"),
    *("/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"),
)
"""Whom the system trusts, by distribution: the libpq that comes along looks for them in a folder of its own."""
_CONNECT = {
    "application_name": PROGRAM,
    "client_encoding": "UTF8",
    "connect_timeout": PATIENCE_SECONDS,
    # a server that is gone is noticed within half a minute, also in the middle of a write
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    # another program may bring the schema up while this one is connected: no plan of before
    "prepare_threshold": None,
}


def url_of(place: str) -> URL:
    """What was typed as a URL; raises InputError where it is none of a history's, or may hold a password.

    No sentence repeats what was typed: where it is no URL, nobody knows which part of it is the password.
    """
    try:
        url = make_url(place)
    except (ArgumentError, ValueError):  # ValueError: of a port that is no number
        raise _no_url() from None  # its text is the URL
    if url.drivername not in {SERVER, DRIVER} or not url.database or _NO_PART & set(url.database):
        raise _no_url()
    if url.port is not None and url.port not in _PORTS:
        raise _no_url()
    typed = {part.partition("=")[0] for part in place.partition("?")[2].split("&")} - {""}
    named = any(secret in each for each in typed for secret in _SECRETS)
    if url.password is not None or named or ":" in (url.username or ""):
        raise InputError(
            "the URL of the history contains a password, which others could read",
            "omit it: with --password, pghaul asks for it and stores it in the keyring of this workstation",
        )
    if any(each not in _PARAMETERS or not isinstance(url.query.get(each), str) for each in typed):
        raise InputError(
            "the URL of the history has a parameter that is not allowed, is repeated or is empty",
            f"after the question mark, these are allowed once each: {', '.join(_PARAMETERS)}; host is the folder of a "
            "socket on this workstation",
        )
    folder = str(url.query.get("host", ""))
    by_name = url.host is not None and not folder and not (_NO_PART - {":"}) & set(url.host)
    by_socket = url.host is None and folder.startswith("/") and "," not in folder
    if not by_name and not by_socket:
        raise InputError(
            "the URL of the history does not name exactly one server",
            f"write {DRIVER}://USER@HOST/DATABASE, or for a socket {DRIVER}://USER@/DATABASE?host=/var/run/postgresql",
        )
    return url.set(drivername=DRIVER)


def key_of(url: URL) -> Key:
    """What the keyring has its password under."""
    return Key(url.host or "local", "history", url.render_as_string())


def connecting(url: URL) -> tuple[URL, dict[str, Any]]:
    """The URL with its password where the keyring has one, and what libpq is told beside it."""
    password = remembered(key_of(url))
    if password:
        know(password)
    # an empty hostaddr is none, and keeps the environment's away; a service fills nothing that is said
    settings: dict[str, Any] = {**_CONNECT, "hostaddr": "", "port": url.port or _PORT}
    if _is_far(url.host) and "sslmode" not in url.query:
        # it says what a team does, and what runs: whoever is between must neither read nor change it
        settings |= {"sslmode": "verify-full", "sslrootcert": url.query.get("sslrootcert") or _authorities()}
    return url.set(password=password), settings


def _is_far(host: str | None) -> bool:
    """Whether bytes on their way there leave this workstation; None: a socket of it."""
    if host is None or host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True


def _authorities() -> str:
    return next((each for each in _AUTHORITIES if Path(each).is_file()), "system")


def _no_url() -> InputError:
    return InputError(
        "this is not the URL of a history",
        f"write {DRIVER}://USER@HOST/DATABASE, with :PORT after HOST if it is not {_PORT}; or local for the file on "
        "this "
        "workstation",
    )

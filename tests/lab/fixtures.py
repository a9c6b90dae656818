"""pytest fixtures: the two hosts, profiles of them, connections to them, and a look at what a test left there."""

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.jobs import Job
from core.servers import connection
from core.servers.connection import Server
from core.servers.profiles import Profile, Rights
from core.servers.remote_process import GRACE
from tests.lab import lab as labs
from tests.lab import root
from tests.lab.footprint import as_text, differences, footprint
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import LabError, lab_unavailable, wait_until


class LabAsker:
    """Answers as the lab's DBA would: knows every password, trusts the hosts' own keys and no other.

    Attributes:
        asked: what was asked, as (kind, server).
    """

    def __init__(self, known_hosts: Path) -> None:
        keys = {line.split()[2] for line in known_hosts.read_text().splitlines()}
        self.fingerprints = {_fingerprint(key) for key in keys}
        self.asked: list[tuple[str, str]] = []

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:  # noqa: ARG002
        self.asked.append(("host key", server))
        return fingerprint in self.fingerprints

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:  # noqa: ARG002
        self.asked.append((kind, server))
        return labs.PASSPHRASE if kind == "passphrase" else root.PASSWORD


def _fingerprint(key: str) -> str:
    digest = hashlib.sha256(base64.b64decode(key)).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """Two running hosts with their clusters, for the whole session; gone afterwards, however it ends."""
    reason = lab_unavailable()
    if reason is not None:
        pytest.skip(reason)
    forget_host_keys()
    with labs.lab("pytest") as made:
        yield made


def forget_host_keys() -> None:
    """Another lab of this process, which is gone, may have had the same addresses."""
    (Path.home() / ".ssh" / "known_hosts").unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _lab_as_it_was(request: pytest.FixtureRequest) -> Iterator[None]:
    """Lift what a test capped, shaped or cut. What a fixture of a wider scope set stays until that fixture ends it."""
    if "lab" not in request.fixturenames:
        yield
        return
    made: Lab = request.getfixturevalue("lab")
    made.disturbed = False
    yield
    if made.disturbed:
        made.restore()


@pytest.fixture(autouse=True)
def _shared_connections_stand(request: pytest.FixtureRequest) -> None:
    """Renew a connection that an earlier test lost, in place: it shall fail that one, and none after it."""
    for name in ("old_server", "new_server"):
        if name not in request.fixturenames:
            continue
        server: Server = request.getfixturevalue(name)
        if not server.connected:
            fresh = _outliving_cuts(server.profile, request.getfixturevalue("asker"))
            vars(server).update(vars(fresh))


@pytest.fixture(scope="session")
def asker(lab: Lab) -> LabAsker:
    return LabAsker(lab.known_hosts)


@pytest.fixture(scope="session")
def old_profile(lab: Lab) -> Profile:
    return profile(lab, lab.old)


@pytest.fixture(scope="session")
def new_profile(lab: Lab) -> Profile:
    return profile(lab, lab.new)


@pytest.fixture(scope="session")
def plain_profile(old_profile: Profile) -> Profile:
    """Old, by a user whose sudo asks for the password."""
    return replace(old_profile, name="old-plain", user="plain", rights=Rights.SUDO_PASSWORD)


@pytest.fixture(scope="session")
def pgonly_profile(old_profile: Profile) -> Profile:
    """Old, by a user who may become postgres and nobody else."""
    return replace(old_profile, name="old-pgonly", user="pgonly", rights=Rights.SUDO_POSTGRES)


@pytest.fixture(scope="session")
def nosudo_profile(old_profile: Profile) -> Profile:
    """Old, by a user without sudo."""
    return replace(old_profile, name="old-nosudo", user="nosudo", rights=Rights.NONE)


def profile(lab: Lab, host: Host) -> Profile:
    """A host of a lab, by the user with all rights."""
    return Profile(host.name, host.address, user=host.user, identity_file=str(lab.key), rights=Rights.SUDO)


@pytest.fixture(scope="session")
def old_server(old_profile: Profile, asker: LabAsker) -> Iterator[Server]:
    """A connection to old. A test that cuts the cable opens one of its own instead."""
    with _outliving_cuts(old_profile, asker) as server:
        yield server


@pytest.fixture(scope="session")
def new_server(new_profile: Profile, asker: LabAsker) -> Iterator[Server]:
    """A connection to new. A test that cuts the cable opens one of its own instead."""
    with _outliving_cuts(new_profile, asker) as server:
        yield server


def _outliving_cuts(profile: Profile, asker: LabAsker) -> Server:
    """A connection whose heartbeat does not give it up while a test has cut the cable of its host."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(connection, "PATIENCE", 600.0)
        return connection.connect(profile, asker, Job())


@pytest.fixture
def clean_hosts(lab: Lab) -> Iterator[None]:
    """Fail the test when processes, files, keys, accounts or mounts of a host are not as before.

    What was told to end gets the grace period that the product gives it, and a moment.
    """
    before = {host.name: footprint(host) for host in (lab.old, lab.new)}
    yield
    found: dict[str, list[str]] = {}

    def same() -> bool:
        looks = {host.name: differences(before[host.name], footprint(host)) for host in (lab.old, lab.new)}
        found.clear()
        found.update({name: lines for name, lines in looks.items() if lines})
        return not found

    try:
        wait_until(same, "hosts to be as before", seconds=GRACE + 3)
    except LabError:
        pytest.fail(f"the test changed the hosts:\n{as_text(found)}")

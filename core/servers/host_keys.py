"""Whether a server is who it says: its key against known_hosts, its certificate against the authorities named there."""

from collections.abc import Sequence

import paramiko

from core.errors import HostKeyError
from core.servers import host_certificates, known_hosts, revoked_keys
from core.servers.known_hosts import Entry, Marker
from core.servers.profiles import Asker
from core.servers.rsa_size import too_short
from core.servers.ssh_config import Destination

_TYPES = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
)
_CERTIFICATE = "-cert-v01@openssh.com"


def wanted_types(entries: Sequence[Entry], name: str, allowed: Sequence[str] = ()) -> tuple[str, ...]:
    """The host key algorithms to ask for, best first: what known_hosts can prove stands ahead of the rest.

    So a server with several keys shows the one that is known, and another type is never taken for a changed key.
    `allowed`: HostKeyAlgorithms; empty: all.

    Raises:
        HostKeyError: none that is allowed can be checked.
    """
    wanted = _wanted(entries, name)
    kept = tuple(kind for kind in wanted if kind in allowed) if allowed else wanted
    if not kept:
        raise HostKeyError(
            f"HostKeyAlgorithms in the ssh configuration allows only {', '.join(allowed)}, and pghaul can verify "
            f"{name} with none of them",
            f"allow one of {', '.join(wanted)}",
        )
    return kept


def _wanted(entries: Sequence[Entry], name: str) -> tuple[str, ...]:
    own = [entry for entry in entries if known_hosts.matches(entry.patterns, name)]
    known = {algorithm for entry in own if entry.marker is Marker.KEY for algorithm in _algorithms(entry.key_type)}
    order = sorted(_TYPES, key=lambda kind: kind not in known)
    if any(entry.marker is Marker.AUTHORITY for entry in own):
        return (*(kind + _CERTIFICATE for kind in _TYPES), *order)
    return tuple(order)


def _algorithms(key_type: str) -> tuple[str, ...]:
    return ("rsa-sha2-512", "rsa-sha2-256") if key_type == "ssh-rsa" else (key_type,)


def verify(key: paramiko.PKey, entries: Sequence[Entry], to: Destination, server: str, asker: Asker) -> None:
    """Accept the key that the server proved to hold, ask about an unknown one, or refuse.

    Raises:
        HostKeyError: the key is too short, revoked, changed, or unknown and declined; or who is revoked is not known.
    """
    name = to.known_as
    own = [entry for entry in entries if known_hosts.matches(entry.patterns, name)]
    plain = key.asbytes()
    if short := too_short(key, to):
        raise HostKeyError(
            f"{server}: the host key {known_hosts.fingerprint(plain)} is {short}",
            "create a stronger host key on the server (ssh-keygen -t ed25519), or set RequiredRSASize for this host",
        )
    _refuse_revoked(plain, own, server)
    _refuse_listed(key, to, server)
    if _certified(key, own, to, server):
        return
    known = [entry for entry in own if entry.marker is Marker.KEY and entry.key_type in _readable()]
    if any(entry.blob == plain for entry in known):
        return
    if known:
        raise _changed(known, key.get_name(), plain, to, server)
    _ask(key.get_name(), plain, to, server, asker)


def _readable() -> set[str]:
    return {"ssh-rsa", *_TYPES}


def _certified(key: paramiko.PKey, own: Sequence[Entry], to: Destination, server: str) -> bool:
    """Whether the key comes with a certificate of an authority that known_hosts trusts for this host."""
    public = getattr(key, "public_blob", None)
    certificate = host_certificates.parse(public.key_blob) if public is not None else None
    if certificate is None or certificate.key != key.asbytes():
        return False
    _refuse_revoked(certificate.authority, own, server)
    if not any(entry.marker is Marker.AUTHORITY and entry.blob == certificate.authority for entry in own):
        return False
    allowed = to.algorithms.get("casignaturealgorithms", ())
    problem = host_certificates.problem(certificate, to.host_key_alias or to.host, signatures=allowed)
    if problem is not None and not any(entry.marker is Marker.KEY for entry in own):
        raise HostKeyError(
            f"{server}: the host certificate {certificate.key_id!r} of {to.known_as} is refused: {problem}",
            "have it renewed by the authority that @cert-authority in known_hosts names",
        )
    return problem is None


def _refuse_revoked(blob: bytes, own: Sequence[Entry], server: str) -> None:
    for entry in own:
        if entry.marker is Marker.REVOKED and entry.blob == blob:
            raise HostKeyError(
                f"{server}: the host key {known_hosts.fingerprint(blob)} is revoked ({entry.place})",
                "do not connect: the key may have been stolen; ask the administrator of the server for its new key",
            )


def _refuse_listed(key: paramiko.PKey, to: Destination, server: str) -> None:
    for path in to.revoked_host_keys:
        if revoked_keys.revoked(path, key):
            raise HostKeyError(
                f"{server}: the host key {known_hosts.fingerprint(key.asbytes())} is revoked (RevokedHostKeys {path})",
                "do not connect: the key may have been stolen; ask the administrator of the server for its new key",
            )


def _changed(known: Sequence[Entry], kind: str, blob: bytes, to: Destination, server: str) -> HostKeyError:
    expected = next((entry for entry in known if entry.key_type == kind), known[0])
    return HostKeyError(
        f"{server}: the host key of {to.known_as} has changed: known is {expected.key_type} "
        f"{known_hosts.fingerprint(expected.blob)} ({expected.place}), the server shows {kind} "
        f"{known_hosts.fingerprint(blob)}",
        "Another computer may intercept the connection. If the server was reinstalled, compare the fingerprint on its "
        f"console (ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub), then remove line {expected.line} of {expected.file}",
    )


def _ask(kind: str, blob: bytes, to: Destination, server: str, asker: Asker) -> None:
    shown = known_hosts.fingerprint(blob)
    if not to.ask_unknown:
        raise HostKeyError(
            f"{server}: the host key of {to.known_as} is not known ({kind} {shown}), and StrictHostKeyChecking is yes",
            "add it to known_hosts, or set StrictHostKeyChecking to ask for this host",
        )
    if not asker.accept_host_key(server, to.known_as, kind, shown):
        raise HostKeyError(
            f"{server}: the host key of {to.known_as} is not known and was not accepted ({kind} {shown})",
            f"{known_hosts.COMPARE}, then accept it",
        )
    if to.known_hosts:
        known_hosts.add(to.known_hosts[0], to.known_as, kind, blob, hashed=to.hash_known_hosts)

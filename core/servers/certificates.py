"""OpenSSH's certificates of hosts and users, and the shortest RSA key that proves anything."""

import fnmatch
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

import paramiko
from paramiko.pkey import UnknownKeyType

from core.servers.ssh_config import Destination

_SUFFIX = "-cert-v01@openssh.com"
_PUBLIC_FIELDS = {"ssh-ed25519": 1, "ssh-rsa": 2}
_HOST = 2
OF_A_USER = "it is a user's certificate, not a host's"
NOT_NOW = "it is not valid at this time"
FORGED = "its signature is wrong"


@dataclass(frozen=True, slots=True)
class Certificate:
    """One certificate. Times are seconds since 1970; `key` and `authority` are public keys as blobs."""

    key: bytes
    kind: int
    key_id: str
    principals: tuple[str, ...]
    valid_after: int
    valid_before: int
    critical_options: bytes
    authority: bytes
    signed: bytes
    signature: bytes


def parse(blob: bytes) -> Certificate | None:
    """The certificate in a public key's blob; None where the blob is a plain key or damaged."""
    message = paramiko.Message(blob)
    try:
        name = message.get_text()
        if not name.endswith(_SUFFIX):
            return None
        return _parse_fields(blob, message, name.removesuffix(_SUFFIX))
    except (paramiko.SSHException, UnicodeDecodeError, IndexError):
        return None


def _parse_fields(blob: bytes, message: paramiko.Message, base: str) -> Certificate:
    message.get_string()  # nonce
    key = paramiko.Message()
    key.add_string(base)
    for _ in range(_PUBLIC_FIELDS.get(base, 2)):
        key.add_string(message.get_binary())
    message.get_int64()  # serial
    kind = message.get_int()
    key_id = message.get_binary().decode(errors="replace")
    names = paramiko.Message(message.get_binary())
    principals = []
    while names.get_remainder():
        principals.append(names.get_text())
    after, before = message.get_int64(), message.get_int64()
    critical = message.get_binary()
    message.get_binary()  # extensions
    message.get_binary()  # reserved
    authority = message.get_binary()
    signature = message.get_binary()
    # the signature is over all that stands before it, and is the last field
    signed = blob[: len(blob) - len(signature) - 4]
    return Certificate(
        key.asbytes(), kind, key_id, tuple(principals), after, before, critical, authority, signed, signature
    )


def problem(
    certificate: Certificate, host: str, now: float | None = None, signatures: Sequence[str] = ()
) -> str | None:
    """Why a host certificate must not be trusted for `host`, though its authority is; None where it may.

    `signatures`: CASignatureAlgorithms; empty: all that are known.
    """
    moment = time.time() if now is None else now
    if certificate.kind != _HOST:
        return OF_A_USER
    if not certificate.valid_after <= moment < certificate.valid_before:
        return NOT_NOW
    if certificate.critical_options:
        return "it has critical options, which no host certificate may have"
    if certificate.principals and not any(_names(pattern, host) for pattern in certificate.principals):
        return f"it is for {', '.join(certificate.principals)}"
    if signatures and (kind := _kind_of_signature(certificate)) not in signatures:
        return f"it is signed by {kind}, which CASignatureAlgorithms does not allow"
    if not _signed_by_its_authority(certificate):
        return FORGED
    return None


def _names(pattern: str, host: str) -> bool:
    return re.fullmatch(fnmatch.translate(pattern.lower().replace("[", "[[]")), host.lower()) is not None


def _kind_of_signature(certificate: Certificate) -> str:
    return str(paramiko.Message(certificate.signature).get_binary().decode(errors="replace"))


def _signed_by_its_authority(certificate: Certificate) -> bool:
    try:
        kind = paramiko.Message(certificate.authority).get_text()
        key = paramiko.PKey.from_type_string(kind, certificate.authority)
        return bool(key.verify_ssh_sig(certificate.signed, paramiko.Message(certificate.signature)))
    except (paramiko.SSHException, UnknownKeyType, ValueError):
        return False


# RequiredRSASize of ssh_config(5): shorter RSA keys prove nobody, neither a server nor who logs in.


def too_short(key: paramiko.PKey, to: Destination) -> str:
    """What is too short about a key, for people; empty where it is long enough, or no RSA key."""
    bits = _bits(key.asbytes())
    if bits is None or bits >= to.required_rsa_bits:
        return ""
    return f"an RSA key of {bits} bits, but RequiredRSASize is {to.required_rsa_bits}"


def _bits(blob: bytes) -> int | None:
    """Of the modulus (RFC 4253, section 6.6; a certificate has a nonce ahead: OpenSSH's PROTOCOL.certkeys)."""
    message = paramiko.Message(blob)
    kind = message.get_text()
    if not kind.startswith("ssh-rsa"):
        return None
    if kind != "ssh-rsa":
        message.get_string()
    message.get_mpint()  # the exponent
    return message.get_mpint().bit_length()

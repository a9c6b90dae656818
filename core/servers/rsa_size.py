"""RequiredRSASize of ssh_config(5): shorter RSA keys prove nobody, neither a server nor who logs in."""

import paramiko

from core.servers.ssh_config import Destination


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

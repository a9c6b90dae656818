"""RevokedHostKeys of ssh_config(5): a list of public keys, or a key revocation list, which ssh-keygen reads for us."""

import base64
import subprocess
from pathlib import Path

import paramiko

from core.errors import HostKeyError
from core.servers import host_certificates

_KRL = b"SSHKRL\n\0"
"""The first bytes of a revocation list (OpenSSH's PROTOCOL.krl)."""
_TIMEOUT = 10.0
_HINT = (
    "make it readable, correct it, or remove RevokedHostKeys from the ssh configuration; until then ssh trusts no host"
)


def revoked(path: Path, key: paramiko.PKey) -> bool:
    """Whether the file revokes the key, its certificate or the authority behind that.

    Raises:
        HostKeyError: the file cannot be read, so that nobody knows: no host may be trusted then.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise HostKeyError(f"RevokedHostKeys {path} cannot be read: {error.strerror}", _HINT) from error
    public = getattr(key, "public_blob", None)
    if data.startswith(_KRL):
        kind, blob = (key.get_name(), key.asbytes()) if public is None else (public.key_type, public.key_blob)
        return _by_ssh_keygen(path, kind, blob)
    certificate = host_certificates.parse(public.key_blob) if public is not None else None
    shown = {key.asbytes()} | ({certificate.key, certificate.authority} if certificate is not None else set())
    return any(listed in shown for listed in _listed(path, data.decode(errors="replace")))


def _listed(path: Path, text: str) -> list[bytes]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            blob = paramiko.pkey.PublicBlob.from_string(line.strip()).key_blob
        except (ValueError, paramiko.SSHException) as error:
            raise HostKeyError(f"RevokedHostKeys {path}:{number} is not a public key", _HINT) from error
        certificate = host_certificates.parse(blob)
        found.append(blob if certificate is None else certificate.key)
    return found


def _by_ssh_keygen(path: Path, kind: str, blob: bytes) -> bool:
    line = f"{kind} {base64.b64encode(blob).decode()}\n"
    try:
        asked = subprocess.run(
            ["ssh-keygen", "-Q", "-f", str(path), "/dev/stdin"],
            input=line.encode(),
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostKeyError(
            f"RevokedHostKeys {path} is a key revocation list, which only ssh-keygen can read, and ssh-keygen cannot "
            "be run",
            "install the OpenSSH client, or list the public keys themselves in that file",
        ) from error
    if asked.returncode not in {0, 1}:
        said = asked.stderr.decode(errors="replace").strip()
        raise HostKeyError(f"RevokedHostKeys {path} cannot be read: {said}", _HINT)
    return asked.returncode == 1

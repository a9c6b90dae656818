"""Who answers where nobody is there to be asked: what was said beforehand, and no more."""

from dataclasses import dataclass

from core.errors import HostKeyError
from core.servers.known_hosts import COMPARE
from core.servers.profiles import Nobody


@dataclass(frozen=True, slots=True)
class Unattended(Nobody):
    """An Asker that never waits, knows no secret, and trusts what it was told to.

    Attributes:
        trusted: SHA256 fingerprints of host keys that were named beforehand.
    """

    trusted: frozenset[str] = frozenset()

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:
        """Whether it was named beforehand.

        Raises:
            HostKeyError: it was not; it says how it is.
        """
        if fingerprint in self.trusted:
            return True
        mismatch = ", and it does not match any --host-key" if self.trusted else ""
        raise HostKeyError(
            f"{server}: the host key of {address} is not known{mismatch} ({key_type} {fingerprint})",
            f"{COMPARE}, then trust it with: --host-key {fingerprint}",
        )

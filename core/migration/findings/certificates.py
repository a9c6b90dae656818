"""Whether a server certificate is valid for a name or an address, as a client with sslmode=verify-full sees it.

Sources: RFC 6125, section 6.4; PostgreSQL's fe-secure-common.c (wildcard_certificate_match).
"""

from ipaddress import ip_address

from core.facts.catalog import Certificate


def is_certified(certificate: Certificate, host: str) -> bool:
    """Return whether the certificate is valid for this name or address.

    An address must be named as such. Only if the certificate names no address, libpq compares it with the names, too.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return any(_matches(name.lower(), host.lower()) for name in certificate.names)
    return str(address) in certificate.addresses or (not certificate.addresses and host in certificate.names)


def _matches(pattern: str, host: str) -> bool:
    """Return whether a name in a certificate, in lower case, stands for the host; `*.` stands for exactly one label."""
    if not pattern.startswith("*."):
        return pattern == host
    label, _, domain = host.partition(".")
    return bool(label and domain) and domain == pattern.removeprefix("*.")

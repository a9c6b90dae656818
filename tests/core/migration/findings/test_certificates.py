"""For which names and addresses a certificate is valid: by hand, and real ones, as OpenSSL itself judges them."""

import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

import pytest

from core.facts.catalog import Certificate
from core.facts.databases import parse_certificate
from core.migration.findings.certificates import is_certified
from core.servers.functions import library, named_in


@pytest.mark.parametrize(
    ("name", "host", "valid"),
    [
        ("db.example.com", "db.example.com", True),
        ("DB.Example.com", "db.exAMPLE.com", True),
        ("db.example.com", "other.example.com", False),
        ("*.example.com", "a.example.com", True),
        ("*.Example.com", "A.EXAMPLE.COM", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "a.b.example.com", False),
        ("*.example.com", ".example.com", False),
        ("*.example.com", "a.example.org", False),
        ("*.example.com", "a", False),
        ("*.", "a.", False),
        ("*", "a", False),
        ("a*.example.com", "ab.example.com", False),
        ("192.0.2.7", "192.0.2.7", True),
        ("192.0.2.7", "192.0.2.8", False),
        ("*.0.2.7", "192.0.2.7", False),
    ],
)
def test_a_name(name: str, host: str, valid: bool) -> None:
    assert is_certified(Certificate("server.crt", datetime(2027, 1, 1, tzinfo=UTC), (name,)), host) is valid


@pytest.mark.parametrize("host", ["192.0.2.7", "2001:db8::7", "2001:DB8:0:0:0:0:0:7"])
def test_an_address(host: str) -> None:
    certificate = Certificate("server.crt", datetime(2027, 1, 1, tzinfo=UTC), (), ("192.0.2.7", "2001:db8::7"))
    assert is_certified(certificate, host)
    assert not is_certified(certificate, "192.0.2.8")
    named_too = replace(certificate, names=("192.0.2.9",))
    assert not is_certified(named_too, "192.0.2.9")


_HOSTS = (
    *("db.example.com", "DB.EXAMPLE.COM", "example.com", "a.example.com", "a.b.example.com", "b.example.net", "spare"),
    *("ca.example.com", "192.0.2.7", "192.0.2.8", "2001:db8::7", "2001:db8::8"),
)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@pytest.mark.parametrize(
    ("subject", "alternative"),
    [
        ("/O=One = two/CN=db.example.com", ""),
        ("/OU=spare/CN=db.example.com", ""),
        ("/CN=*.example.com", ""),
        ("/CN=192.0.2.7", ""),
        ("/CN=db.example.com", "DNS:a.example.com"),
        ("/CN=db.example.com", "IP:192.0.2.7,IP:2001:db8::7"),
        ("/CN=spare", "DNS:*.example.com,DNS:b.example.net,IP:2001:db8::7"),
        ("/O=Only", "DNS:192.0.2.7,email:dba@example.com,URI:https://a.example.com/"),
    ],
)
def test_real_certificates_as_openssl_judges_them(tmp_path: Path, subject: str, alternative: str) -> None:
    """Of an authority whose own names are not those of the server."""
    names = f"subjectAltName={alternative}\n" if alternative else ""
    (tmp_path / "ext").write_text(f"{names}issuerAltName=DNS:ca.example.com\n")
    new_key = "-newkey rsa:2048 -nodes"
    script = f"""
    openssl req -x509 {new_key} -days 9 -subj /CN=ca.example.com -keyout ca.key -out ca.crt &&
    openssl req -new {new_key} -subj "$1" -keyout server.key -out server.csr &&
    openssl x509 -req -days 9 -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -extfile ext -out server.crt
    """
    subprocess.run(["sh", "-c", script, "sh", subject], cwd=tmp_path, check=True, capture_output=True)
    settings = {"cluster_folder": str(tmp_path), "sql_known": "certificate server.crt"}
    text = "".join(f"{name}='{value}'\n" for name, value in settings.items())
    text += f"{library(named_in('sql_certificate'), settings)}\nsql_certificate\n"
    printed = subprocess.run(["sh", "-c", text], check=True, capture_output=True, text=True).stdout
    certificate = parse_certificate(printed.splitlines())
    assert certificate is not None
    for host in _HOSTS:
        valid = _is_valid(tmp_path / "server.crt", host, bool(certificate.addresses))
        assert is_certified(certificate, host) is valid, (host, certificate)


def _is_valid(file: Path, host: str, names_addresses: bool) -> bool:
    """As OpenSSL judges; an address is compared with the names as well if no address is named, as libpq does."""
    try:
        ip_address(host)
        options = ["-checkip"] if names_addresses else ["-checkip", "-checkhost"]
    except ValueError:
        options = ["-checkhost"]
    words = ["openssl", "x509", "-in", str(file), "-noout"]
    run = [subprocess.run([*words, each, host], check=True, capture_output=True, text=True) for each in options]
    return any("does match certificate" in each.stdout for each in run)

"""How a host sorts, what openssl says of a certificate, and the lines of a psql that went through all databases."""

import shutil
import subprocess
from datetime import UTC, datetime

import pytest

from core.errors import ParseError
from core.facts.catalog import Certificate
from core.facts.collation_order import libc_locales, parse_collation_order, section
from core.facts.databases import parse_certificate
from core.facts.model import Cluster, Database
from core.facts.queries import CLUSTER_WIDE, DATABASES, EACH_DATABASE, NEVER, Query, as_line, parse_row
from core.servers.functions import library
from tests.core.facts import asking


def sums(*locales: str) -> dict[str, str]:
    return parse_collation_order(asking.text(section(locales)))


WORDS = subprocess.run(
    ["sh", "-c", library(["collation_words"]) + "\ncollation_words"], capture_output=True, text=True, check=True
).stdout.splitlines()


@pytest.mark.skipif(shutil.which("locale") is None, reason="needs glibc's program locale")
def test_the_sum_is_of_the_list_as_the_locale_sorts_it() -> None:
    found = sums("C", "xx_XX.UTF-8", "C", "$(touch /tmp/x)", "")
    assert set(found) == {"C", "xx_XX.UTF-8"}
    assert found["xx_XX.UTF-8"] == "missing"
    expected = subprocess.run(
        ["sha256sum"], input=b"".join(sorted(f"{word}\n".encode() for word in WORDS)), capture_output=True, check=True
    )
    assert found["C"] == expected.stdout.split()[0].decode()


def test_the_list_holds_what_glibc_2_28_sorts_anew() -> None:
    """Before, punctuation was looked at last: `1-1` came after `11`; since, it is a sign like others."""
    assert {"1-1", "11", "a-a", "aa", "a a"} <= set(WORDS)
    assert len(WORDS) == len(set(WORDS))
    assert not any("\n" in word for word in WORDS)


@pytest.mark.parametrize("text", ["sorted C xyz", "sort: oops", "sorted C\n", f"sorted a/b {'0' * 64}"])
def test_sums_that_are_none(text: str) -> None:
    with pytest.raises(ParseError, match=r"^sort: "):
        parse_collation_order(text)


def test_the_locales_of_a_cluster_are_those_of_all_its_databases() -> None:
    databases = (Database("a", 1, collate="de_AT.UTF-8", ctype="C"), Database("b", 1))
    cluster = Cluster("/srv", "15", None, running=False, port=None, owner=None, databases=databases)
    assert libc_locales(cluster) == ("C", "de_AT.UTF-8")


X509 = """\
certificate /etc/ssl/it's a path.crt
x509 notAfter=Mar  7 09:30:00 2027 GMT
x509 subject=
x509     commonName                = db.example.org
x509             X509v3 Subject Alternative Name: critical
x509                 DNS:db.example.org, DNS:*.example.net, IP Address:192.0.2.7
"""


def test_a_certificate() -> None:
    made = Certificate(
        "/etc/ssl/it's a path.crt",
        datetime(2027, 3, 7, 9, 30, tzinfo=UTC),
        ("db.example.org", "*.example.net"),
        ("192.0.2.7",),
    )
    assert parse_certificate(X509.splitlines()) == made
    issuer = ["x509     commonName                = other", "x509         Issuer:", "x509     commonName = authority"]
    named = parse_certificate(X509.splitlines()[:4] + issuer)
    assert named is not None
    assert named.names == ("db.example.org",)


@pytest.mark.parametrize("text", ["", "certificate /x", "x509 notAfter=Foo 99 09:30:00 2027 GMT", "x509 notAfter="])
def test_a_certificate_that_could_not_be_read(text: str) -> None:
    assert parse_certificate(text.splitlines()) is None


@pytest.mark.parametrize("rank", [802, 804, 900, 901, 904, 906, 1000, 1200, 1500, 1600, 1700, 1800, 1900])
def test_every_series_is_asked_once_for_each_kind(rank: int) -> None:
    def kinds(queries: tuple[Query, ...]) -> list[str]:
        return [each.sql for each in queries if each.since <= rank < each.before]

    assert len(kinds(DATABASES)) == 1
    each = kinds(EACH_DATABASE)
    assert "'detail'" in each[0]
    assert sum("pg_proc" in sql for sql in each) == 1
    assert sum("with known" in sql for sql in each) == (1 if rank >= 901 else 0)
    assert "'whole'" in each[-1]
    assert "'wide'" in kinds(CLUSTER_WIDE)[-1]
    assert all("\n" not in sql and sql.endswith(";") for sql in (*each, *kinds(CLUSTER_WIDE)))
    assert rank < NEVER


def test_a_line_is_taken_apart_as_it_was_put_together() -> None:
    assert as_line("x", "a", "b").startswith("'x' || '|' || encode(")
    assert parse_row("x|6120620a7c|", {"x": 2}) == ("x", ("a b\n|", ""))
    for text in ("x|61", "y|61|62", "x|6|62", "x|zz|62", "x"):
        with pytest.raises(ParseError, match=r"^psql: "):
            parse_row(text, {"x": 2})

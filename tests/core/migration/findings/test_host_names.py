"""What catalogs and pg_hba.conf name of the old host."""

from dataclasses import replace

import pytest

from core.facts.catalog import ClusterWide, Dictionary, ForeignFile, HbaRule, RoleSetting
from core.migration.findings.host_names import list_named_resources
from tests.core.migration.builders import cluster, database


def words(*dictionaries: Dictionary, files: tuple[ForeignFile, ...] = (), **wide: object) -> list[tuple[str, str]]:
    one = database()
    assert one.catalogs is not None
    one = replace(one, catalogs=replace(one.catalogs, dictionaries=dictionaries, foreign_files=files))
    found = list_named_resources(cluster(databases=(one,), wide=ClusterWide(**wide)))  # type: ignore[arg-type]
    return [(each.word, each.by) for each in found]


def rule(address: str, method: str = "md5", *options: str) -> HbaRule:
    return HbaRule(7, "host", "all", "all", address, method, "", options)


@pytest.mark.parametrize(
    ("template", "options", "files"),
    [
        ("ispell", "dictfile = 'de', afffile = 'de', stopwords = 'german'", ["de.dict", "de.affix", "german.stop"]),
        ("thesaurus", "dictfile = 'astro', dictionary = 'english_stem'", ["astro.ths"]),
        ("synonym", "synonyms = 'it''s'", ["it's.syn"]),
        ("unaccent", "RULES='unaccent'", ["unaccent.rules"]),
        ("xsyn_template", "rules='x', keeporig='false'", ["x.rules"]),
        ("snowball", "language = 'german'", []),
    ],
)
def test_files_of_dictionaries(template: str, options: str, files: list[str]) -> None:
    made = Dictionary("public.own", template, options)
    by = f"dictionary public.own in {database().name}"
    assert words(made) == [(f"share:tsearch_data/{each}", by) for each in files]


def test_files_of_foreign_tables() -> None:
    made = words(files=(ForeignFile("public.log", "/var/log/x.csv"),))
    assert made == [("/var/log/x.csv", f"foreign table public.log in {database().name}")]


@pytest.mark.parametrize(
    ("of", "named"),
    [
        (rule("10.0.0.0/255.0.0.0"), []),
        (rule("10.0.0.1/255.255.255.255"), []),
        (rule("::1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), []),
        (rule("samenet"), []),
        (rule(".example.org"), []),
        (rule("app.example.org"), ["host:app.example.org"]),
        (rule("all", "pam"), ["/etc/pam.d/postgresql"]),
        (rule("all", "pam", "pamservice=login"), ["/etc/pam.d/login"]),
        (rule("all", "ldap", "ldapserver=ldap1 ldap2:389"), ["host:ldap1", "host:ldap2"]),
        (rule("all", "ldap", "ldapserver=10.1.1.1 10.1.1.2:389 [2001:db8::5]:636"), []),
        (rule("all", "radius", 'radiusservers="r1","10.1.1.1"'), ["host:r1"]),
        (rule("all", "radius", "radiusservers=r1,2001:db8::5"), ["host:r1"]),
    ],
)
def test_what_a_rule_names(of: HbaRule, named: list[str]) -> None:
    assert words(hba=(of,)) == [(each, "pg_hba.conf line 7") for each in named]
    included = replace(of, file="/etc/more/app.conf")
    assert words(hba=(included,)) == [(each, "/etc/more/app.conf line 7") for each in named]


@pytest.mark.parametrize(
    ("of", "by"),
    [
        (RoleSetting("", "ann", "TimeZone", "Europe/Kyiv"), "role ann"),
        (RoleSetting("shop", "", "TimeZone", "Europe/Kyiv"), "database shop"),
        (RoleSetting("shop", "ann", "TimeZone", "Europe/Kyiv"), "role ann database shop"),
        (RoleSetting("", "", "TimeZone", "Europe/Kyiv"), "all roles and databases"),
    ],
)
def test_settings_of_roles_and_databases(of: RoleSetting, by: str) -> None:
    assert words(role_settings=(of,)) == [("TimeZone=Europe/Kyiv", by)]

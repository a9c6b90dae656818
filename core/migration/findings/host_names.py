"""Host resources that the old cluster's catalogs and pg_hba.conf name: files, services, hosts, time zones.

The copy contains their names but not the resources. Sources: PostgreSQL's manual, chapters 12.6 (dictionaries), 20
(client authentication), file_fdw; pam(7).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from core.facts.catalog import Dictionary, HbaRule
from core.facts.model import Cluster

_OPTION = re.compile(r"(\w+)\s*=\s*'((?:[^']|'')*)'")
_ENDS = {
    ("ispell", "dictfile"): "dict",
    ("ispell", "afffile"): "affix",
    ("thesaurus", "dictfile"): "ths",
    ("synonym", "synonyms"): "syn",
    ("unaccent", "rules"): "rules",
    ("xsyn_template", "rules"): "rules",
}
"""The suffix of an option's file by template and option; that of `stopwords` is always `stop`."""
_KEYWORDS = ("", "all", "samehost", "samenet")
_USUAL_PAM_SERVICE = "postgresql"


@dataclass(frozen=True, slots=True)
class NamedResource:
    """A resource of the host, and what names it.

    Attributes:
        word: what a trial cluster is asked for: a path, `share:` with a path below the programs' shared files, `host:`
            with the name of a host, or NAME=VALUE of a setting.
        by: what names it, for display: `dictionary public.german in shop`.
        setting: whether `word` is a setting.
    """

    word: str
    by: str
    setting: bool = False

    @property
    def shown(self) -> str:
        """Return the host's name, the path, or the setting, for display."""
        return self.word.removeprefix("host:").removeprefix("share:")


def list_named_resources(cluster: Cluster) -> tuple[NamedResource, ...]:
    """Return all resources that the cluster names, in order; empty if its catalogs were not read."""
    resources = list[NamedResource]()
    for database in cluster.databases:
        if database.catalogs is None:
            continue
        for each in database.catalogs.dictionaries:
            by = f"dictionary {each.name} in {database.name}"
            resources += [NamedResource(f"share:tsearch_data/{file}", by) for file in _dictionary_files(each)]
        for table in database.catalogs.foreign_files:
            resources.append(NamedResource(table.path, f"foreign table {table.table} in {database.name}"))
    if cluster.wide is not None:
        for rule in cluster.wide.hba or ():
            resources += [NamedResource(word, rule.place(cluster.hba_file)) for word in _rule_resources(rule)]
        for setting in cluster.wide.role_settings:
            owner = " ".join(
                [
                    *([f"role {setting.role}"] if setting.role else []),
                    *([f"database {setting.database}"] if setting.database else []),
                ]
            )
            resources.append(
                NamedResource(f"{setting.name}={setting.value}", owner or "all roles and databases", setting=True)
            )
    return tuple(resources)


def _host_name(server: str) -> str:
    """Return the host name in a rule's option, HOST or HOST:PORT; empty for an address."""
    unquoted = server.strip('"')
    try:
        ip_address(unquoted.strip("[]"))
    except ValueError:
        name = unquoted.rpartition(":")[0] or unquoted
    else:
        return ""
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return name
    return ""


def _dictionary_files(dictionary: Dictionary) -> Iterator[str]:
    for option, value in _OPTION.findall(dictionary.options):
        name = option.lower()
        end = "stop" if name == "stopwords" else _ENDS.get((dictionary.template, name))
        if end is not None:
            yield f"{value.replace(chr(39) * 2, chr(39))}.{end}"


def _rule_resources(rule: HbaRule) -> Iterator[str]:
    is_keyword = rule.address in _KEYWORDS or rule.address.startswith(
        "."
    )  # `.example.com` matches names by their suffix
    if rule.network is None and not is_keyword:
        yield f"host:{rule.address}"
    service = _USUAL_PAM_SERVICE if rule.method == "pam" else ""
    for option in rule.options:
        name, _, value = option.partition("=")
        if name == "pamservice":
            service = value
        else:
            yield from (f"host:{each}" for each in map(_host_name, re.split(r"[ ,]+", value)) if each)
    if service:
        yield f"/etc/pam.d/{service}"

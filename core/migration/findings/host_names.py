"""Host resources that the old cluster's catalogs and pg_hba.conf name: files, services, hosts, time zones.

The copy brings the names and not what they stand for. Sources: PostgreSQL's manual, chapters 12.6 (dictionaries), 20
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
"""How the file of an option ends, by template and option; `stopwords` ends in `stop` with each of them."""
_KEYWORDS = ("", "all", "samehost", "samenet")
_USUAL_PAM_SERVICE = "postgresql"


@dataclass(frozen=True, slots=True)
class Named:
    """Something of the host, and what names it.

    Attributes:
        word: as a trial cluster is asked for it: a path, `share:` with a path below the programs' shared files,
            `host:` with a host's name, or NAME=VALUE of a `setting`.
        by: what names it, for people: `dictionary public.german in shop`.
    """

    word: str
    by: str
    setting: bool = False

    @property
    def shown(self) -> str:
        """For people: the host's name, the path, or the setting."""
        return self.word.removeprefix("host:").removeprefix("share:")


def named_by_catalogs(cluster: Cluster) -> tuple[Named, ...]:
    """All that is named, in the order in which a person would look; nothing where the catalogs were not read."""
    found = list[Named]()
    for database in cluster.databases:
        if database.catalogs is None:
            continue
        for each in database.catalogs.dictionaries:
            by = f"dictionary {each.name} in {database.name}"
            found += [Named(f"share:tsearch_data/{file}", by) for file in _files(each)]
        for table in database.catalogs.foreign_files:
            found.append(Named(table.path, f"foreign table {table.table} in {database.name}"))
    if cluster.wide is not None:
        for rule in cluster.wide.hba or ():
            found += [Named(word, f"pg_hba.conf line {rule.line}") for word in _of_rule(rule)]
        for setting in cluster.wide.role_settings:
            of = " ".join(
                [
                    *([f"role {setting.role}"] if setting.role else []),
                    *([f"database {setting.database}"] if setting.database else []),
                ]
            )
            found.append(Named(f"{setting.name}={setting.value}", of or "all roles and databases", setting=True))
    return tuple(found)


def _host(server: str) -> str:
    """The name of a server in an option of a rule, HOST or HOST:PORT; empty of an address, which needs no name."""
    bare = server.strip('"')
    try:
        ip_address(bare.strip("[]"))
    except ValueError:
        name = bare.rpartition(":")[0] or bare
    else:
        return ""
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return name
    return ""


def _files(dictionary: Dictionary) -> Iterator[str]:
    for option, value in _OPTION.findall(dictionary.options):
        name = option.lower()
        end = "stop" if name == "stopwords" else _ENDS.get((dictionary.template, name))
        if end is not None:
            yield f"{value.replace(chr(39) * 2, chr(39))}.{end}"


def _of_rule(rule: HbaRule) -> Iterator[str]:
    of_none = rule.address in _KEYWORDS or rule.address.startswith(".")  # a suffix of names
    if rule.network is None and not of_none:
        yield f"host:{rule.address}"
    service = _USUAL_PAM_SERVICE if rule.method == "pam" else ""
    for option in rule.options:
        name, _, value = option.partition("=")
        if name == "pamservice":
            service = value
        else:
            yield from (f"host:{each}" for each in map(_host, re.split(r"[ ,]+", value)) if each)
    if service:
        yield f"/etc/pam.d/{service}"

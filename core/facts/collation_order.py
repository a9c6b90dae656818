"""How a host sorts: one list of words put in order under each locale in question, and the order's sum.

Two hosts whose sums differ put the keys of an index in different order. Two equal sums prove nothing by themselves, for
a list is finite; together with equal versions of the library they do. The list: resources/sh/collation.sh.
"""

import re
from collections.abc import Iterable

from core.facts.model import Cluster
from core.facts.parsing import lines_of, unreadable_error
from core.facts.sections import Section

MISSING = "missing"
# what else a collation may be called: it goes to a shell as a word, and to the environment as LC_ALL
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
_LINE = re.compile(rf"sorted (?P<locale>{_NAME.pattern}) (?P<sum>[0-9a-f]{{64}}|{MISSING})")


def parse_collation_order(text: str) -> dict[str, str]:
    """By locale the sum of the sorted list, or `missing`.

    Raises:
        ParseError: a line cannot be read.
    """
    found = {}
    for line in lines_of(text):
        match = _LINE.fullmatch(line)
        if match is None:
            raise unreadable_error("sort", "a line 'sorted LOCALE SUM'", line)
        found[match["locale"]] = match["sum"]
    return found


def section(locales: Iterable[str]) -> Section[dict[str, str]]:
    """The section that sorts under each of the locales; a name that can be no locale's is left out."""
    named = dict.fromkeys(locale for locale in locales if _NAME.fullmatch(locale))
    return Section(
        "collation-order", "sort order of text", ("collation_order", *named), parse_collation_order, deadline=20
    )


SECTION = section(())


def libc_locales(cluster: Cluster) -> tuple[str, ...]:
    """The locales of the C library that a cluster's databases need to be there, and those that they sort under."""
    found: set[str] = set()
    for database in cluster.databases:
        found |= {locale for locale in (database.collate, database.ctype) if locale}
        if database.catalogs is not None:
            found |= {each.locale for each in database.catalogs.collations if each.provider == "libc"}
    for closed in cluster.wide.closed if cluster.wide is not None else ():
        found |= {locale for locale in (closed.collate, closed.ctype) if locale}
    return tuple(sorted(found))

"""How a host sorts: one list of words put in order under each locale in question, and the order's sum.

Two hosts whose sums differ put the keys of an index in different order. Two equal sums prove nothing by themselves, for
a list is finite; together with equal versions of the library they do. The list tells glibc 2.28, which took over the
order of ISO 14651:2016, from what was before (`1-1` and `11` change places), and holds what locales treat each in its
own way: accents, case, digits, punctuation, other scripts.
"""

import re
from collections.abc import Iterable

from core.facts.model import Cluster
from core.facts.sections import Section
from core.facts.text import unreadable
from core.servers.shell import Shell, script

WORDS = (
    *("1-1", "11", "1 1", "1.1", "1_1", "1", "10", "2", "02", "-1", "+1", "1a", "a1", "a-1", "a 1"),
    *("a", "A", "aa", "AA", "aA", "Aa", "a a", "a-a", "a_a", "a.a", "a'a", "ab", "b", "B", "z", "Z", "zz"),
    *("ä", "Ä", "ae", "æ", "å", "Å", "á", "à", "â", "ç", "c", "ch", "cz", "č", "d", "ð", "e", "é", "è", "ê", "ë"),
    *("i", "ı", "İ", "I", "l", "ll", "ł", "n", "ñ", "o", "ö", "oe", "œ", "ø", "ő", "s", "ss", "ß", "ẞ", "š", "u"),
    *("ü", "ue", "ű", "v", "w", "y", "ý", "ž", "þ", "cote", "coté", "côte", "côté", "resume", "résumé", "Resume"),
    *("co-op", "coop", "co op", "CO-OP", "de luge", "de-luge", "deluge", "de Luge", "black-bird", "blackbird"),
    *("_", "-", "--", ",", ";", ":", "!", "?", "/", ".", "..", "'", '"', "(", ")", "[", "]", "{", "}", "@", "*"),
    *("&", "#", "%", "+", "<", "=", ">", "|", "~", "^", "`", "$", "€", "£", "§", "°", "©", "«", "»", "–", "—", "…"),
    *("$1", "$a", "@a", "#1", "(a)", "a)", "/a", "a/b", "a\u00a0b", "a\u200bb", "a\u00adb", "²", "½", "①", "Ⅷ", "٣"),
    *("α", "Α", "ά", "β", "ς", "σ", "ω", "а", "А", "б", "е", "ё", "ж", "я", "і", "ї", "א", "ב", "ا", "ب", "ي"),
    *(
        "अ",
        "क",
        "ก",
        "ข",
        "一",
        "丁",
        "中",
        "文",
        "あ",
        "ア",
        "ｱ",
        "ん",
        "가",
        "한",
        "글",
        "ﬁ",
        "fi",
        "😀",
        "🐘",
        "\U0001f1e6",
    ),
)

_OCTAL = "".join(f"\\0{byte:03o}" for byte in "".join(f"{word}\n" for word in WORDS).encode())
NAME = "collation-order"
MISSING = "missing"

# A locale that is not there makes sort fall back to C without an error; the program `locale` says so.
SORT: Shell = script(
    """command -v locale >/dev/null && command -v sha256sum >/dev/null || exit 0
sort -u | while read -r locale; do
  if test -n "$(LC_ALL=$locale locale charmap 2>&1 >/dev/null)"; then sum=@missing@
  else sum=$(printf "%b" @words@ | LC_ALL=$locale sort | sha256sum)
  fi
  echo "sorted $locale ${sum%% *}"
done""",
    words=_OCTAL,
    missing=MISSING,
)
"""A body for `sh -c` that reads the locales from its standard input, a line each."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
_LINE = re.compile(rf"sorted (?P<locale>{_NAME.pattern}) (?P<sum>[0-9a-f]{{64}}|{MISSING})")


def section(locales: Iterable[str]) -> Section:
    """The section that sorts under each of the locales; a name that can be no locale's is left out."""
    named = [locale for locale in locales if _NAME.fullmatch(locale)]
    return Section(
        NAME,
        script(
            "locales=@locales@; for locale in $locales; do echo $locale; done | sh -c @sort@",
            locales=" ".join(named),
            sort=SORT,
        ),
        deadline=20,
    )


def parse_collation_order(text: str) -> dict[str, str]:
    """By locale the sum of the sorted list, or `missing`.

    Raises:
        ParseError: a line cannot be read.
    """
    found = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            raise unreadable("sort", "a line 'sorted LOCALE SUM'", line)
        found[match["locale"]] = match["sum"]
    return found


def libc_locales(cluster: Cluster) -> tuple[str, ...]:
    """The locales of the C library that a cluster's databases need to be there, and those that they sort under."""
    found: set[str] = set()
    for database in cluster.databases:
        found |= {locale for locale in (database.collate, database.ctype) if locale}
        if database.catalogs is not None:
            found |= {each.locale for each in database.catalogs.collations if each.provider == "libc"}
    return tuple(sorted(found))

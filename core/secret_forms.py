"""The forms of secrets within a line: names that are given a value, the options of programs, addresses, verifiers.

Lines may be as long as a server likes. Each pattern takes a time that grows with the line alone: it begins where a word
does, and gives back nothing that it has taken (possessive quantifiers).
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple


class Found(NamedTuple):
    """A secret from `start` to `end`, and what stands before it and says that it is one."""

    start: int
    end: int
    named_by: str


def secrets_in(line: str) -> Iterator[Found]:
    """The secrets of a line, form by form; some of them may be found by two."""
    line = line.replace("\\\n", "  ")  # the shell goes on in the next line as with a blank; what stands where stays
    yield from _named(line)
    yield from _options(line)
    for form, value in _FORMS:
        for found in form.finditer(line):
            if (secret := _secret(value, line, found.end())) is not None:
                yield Found(secret.start(), secret.end(), found[0])


_QUOTED = r"""'(?:[^'\\\n]++|\\.|'')*+(?:'|$)|"(?:[^"\\\n]++|\\.)*+(?:"|$)"""
_STRING = re.compile(_QUOTED, re.DOTALL | re.MULTILINE)
_VALUE = re.compile(rf"""(?:{_QUOTED}|\\.|[^\s'"\\;&|,)}}\]>]++)++""", re.DOTALL | re.MULTILINE)
"""As SQL, the shell and connection strings quote, or as it stands."""
_REST = re.compile(r"[^\n]+")

# --- what is no secret though it stands in the place of one

_REFERENCE = re.compile(
    r"""
    "?(?: \$\( | ` | \$\{\w{1,64}\}(?![^\s"';&|)@]) | \$[A-Z_][A-Z0-9_]{0,64}(?![^\s"';&|)@:]) | \$[0-9](?![^\s"',;)]) )
    """,
    re.VERBOSE,
)
"""What the shell, or SQL's parameters, put there: a command's output, a variable."""
_SAID = re.compile(r"""["']?(?:\$\(|`)\s{0,40}(?:echo|printf)\b[^)`\n]*+""")
"""A command whose output is what stands in it."""
_NAMES = tuple(f"${letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ_{")
_SHELL_QUOTED = re.compile(r"""'[^'\n]*+(?:'|$)|"(?:[^"\\\n]++|\\.)*+(?:"|$)|\\.""", re.DOTALL | re.MULTILINE)
_NOTHING = re.compile(r"""["']*|\*+|x{4,}|null|none|true|false|yes|no|on|off""", re.IGNORECASE)


def _secret(value: re.Pattern[str], line: str, at: int) -> re.Match[str] | None:
    """The value that stands there, if it is one."""
    found = _SAID.match(line, at)
    if found is None and not _is_reference(line, at):
        found = value.match(line, at)
    return None if found is None or _NOTHING.fullmatch(found[0].strip("\"'")) else found


def _is_reference(line: str, at: int) -> bool:
    """Not a variable's name between single quotes: the shell leaves it as it stands."""
    found = _REFERENCE.match(line, at)
    if found is None:
        return False
    return not found[0].lstrip('"').startswith(_NAMES) or bisect_right(_single_quoted(line), at) % 2 == 0


@lru_cache(maxsize=1)
def _single_quoted(line: str) -> tuple[int, ...]:
    """Where what stands between single quotes begins and ends, in turns, as the shell reads the line."""
    spans = (found.span() for found in _SHELL_QUOTED.finditer(line) if found[0].startswith("'"))
    return tuple(end for span in spans for end in span)


# --- name = value: an assignment, a connection string, a setting, JSON, YAML, a header, an option

_NAMED = re.compile(
    r"""
    (?<![\w./+-]) (?P<name>[\w./+-]++)
    (?: ["']?\s{0,40}(?:[:=]?=>?|:(?=\s{0,40}["'])|:(?=\s))\s{0,40}
      | \s{1,40}(?P<to>to)\s{1,40}        # ALTER SYSTEM SET name TO value
      | (?P<blank>\s{1,40})(?=[^\s-])    # --name value
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SECRET = re.compile(
    r"""
    passwo?r?d | passphrase | secret | token | credential
    | (?:api|access|private|s3|azure|account|storage|libsodium)[_-]?key
    | (?:^|[_.-]|db)(?:pwd|pass)$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ABOUT = re.compile(
    r"""
    ^NOPASSWD$ | ^-*no[_-]
    | [_.-]?(?:file|path|dir|directory|folder|fd|env|stdin|prompt|encryption|length|lifetime|type|policy|provider)$
    | (?<!secret)-id$ | -(?:name|command)$
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Names that speak of a secret and hold none: where it lies, how it is kept."""
_SETTING = re.compile(
    r"(?:^|[_.-])(?:conninfo|passphrase_command|(?:archive|restore|cleanup|end)_command)$", re.IGNORECASE
)
"""The settings that are a connection string or a command line: masked whole."""


def _named(line: str) -> Iterator[Found]:
    after = 0
    for found in _NAMED.finditer(line):
        if found.start() < after:  # it stands in a value that is a secret as a whole
            continue
        if (value := _value_of(line, found)) is not None:
            after = value.end()
            yield Found(value.start(), after, found[0])


def _value_of(line: str, found: re.Match[str]) -> re.Match[str] | None:
    """The value, where the name is a secret's."""
    name, at = found["name"], found.end()
    if _SETTING.search(name) and found["blank"] is None:
        return _secret(_STRING if line[at : at + 1] in {"'", '"'} else _REST, line, at)
    is_option = found["blank"] is not None and name.startswith("-")
    if found["to"] is not None or (found["blank"] is not None and not is_option):
        return None
    name = name.rpartition("+")[2]
    if "/" in name or not _SECRET.search(name) or _ABOUT.search(name) or _names_one(line, found):
        return None
    value = _secret(_VALUE, line, at)
    of_shell = name.endswith(("PWD", "pwd")) and value is not None and value[0].startswith("/")  # its working directory
    return None if of_shell else value


def _names_one(line: str, found: re.Match[str]) -> bool:
    """Whether it is the option by which aws secretsmanager is told a secret's name; of others --secret-id holds one."""
    at = found.start()
    return found["name"].lower().endswith("secret-id") and "secretsmanager" in line[max(0, at - 200) : at]


# --- options that hold a secret by what their program says of them, each as its manual page has it

_MYSQL, _AS_P = (
    re.compile(r"-p(?=\S)"),
    re.compile(r"-p\s{0,40}(?=[^\s-])"),
)  # mysql(1): `-p word` asks, and word is a database
_LDAP, _UPPER_P = re.compile(r"-w\s{0,40}(?=[^\s-])"), re.compile(r"-P\s{0,40}(?=[^\s-])")
_USER = r"""\s{{0,40}}=?(?P<quote>['"]?)[^\s{0}'"]{{0,64}}{0}"""
_SMB = re.compile(r"(?:-U|--user)" + _USER.format("%"))
_ORACLE = re.compile(r"""(?P<quote>['"]?)[A-Za-z][\w$#]{0,64}/(?=[^\s@/])""")
_PROGRAMS = {
    "curl": re.compile(
        # ahead of the letter only those that take no value: -XDELETE has none of these
        r"(?:-[#0-9afgGijJkIlLnNOpqRsSvZM]{0,16}?[uUE]|--(?:proxy-)?(?:user|cert)(?=[\s=]))"
        + _USER.format(":")
        + r"|--(?:(?:proxy-)?pass|oauth2-bearer)[\s=]{1,40}"
    ),
    "sshpass": _AS_P,
    **dict.fromkeys(("mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlcheck", "mysqlshow"), _MYSQL),
    **dict.fromkeys(("mariadb", "mariadb-dump", "mariadb-admin", "mariadb-import", "mariabackup"), _MYSQL),
    **dict.fromkeys(("7z", "7za", "7zr"), _MYSQL),
    **dict.fromkeys(("mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"), _AS_P),
    "login": _AS_P,  # docker login, podman login, az login
    **dict.fromkeys(("ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldappasswd", "ldapwhoami"), _LDAP),
    **dict.fromkeys(("zip", "unzip", "ipmitool", "sqlcmd", "bcp", "osql"), _UPPER_P),
    **dict.fromkeys(("smbclient", "rpcclient"), _SMB),
    **dict.fromkeys(("sqlplus", "expdp", "impdp"), _ORACLE),
    "redis-cli": re.compile(r"(?:-a|--pass)\s{1,40}(?=[^\s-])"),
    "lftp": re.compile(r"(?:-u|--user)" + _USER.format(",")),
    "openssl": re.compile(r"pass:|-[kK]\s{1,40}(?=[^\s-])"),
}
_WRAPS = frozenset({"sshpass"})
"""Their first word that is no option is another program's."""
PROGRAMS = tuple(_PROGRAMS)
_UP_TO = {quote: re.compile(rf"[^{quote}\n]+") for quote in ("'", '"')}
_ANY_PROGRAM = re.compile(rf"\b(?:{'|'.join(_PROGRAMS)})\b")
_WORD = re.compile(r"""['"]|[;|&`]|[^\s'"`;|&]++""")


def _options(line: str) -> Iterator[Found]:
    """Word by word: of which program the options are, until its command ends."""
    begins = _ANY_PROGRAM.search(line)
    program, quote, after = "", "", 0
    for word in _WORD.finditer(line, begins.start()) if begins else ():
        text = word[0]
        if word.start() < after:
            continue
        if text in {"'", '"'}:
            quote = "" if quote == text else quote or text
        elif text in {";", "|", "&", "`"}:
            program = program if quote else ""
        elif (name := text.rpartition("/")[2]) in _PROGRAMS:
            program, quote = name, ""
        elif program and (value := _of_option(line, word.start(), program)) is not None:
            after = value.end
            yield value
        elif program in _WRAPS and not text.startswith("-"):
            program = ""


def _of_option(line: str, at: int, program: str) -> Found | None:
    option = _PROGRAMS[program].match(line, at)
    if option is None:
        return None
    quote = option.groupdict().get("quote")
    value = _secret(_UP_TO[quote] if quote else _VALUE, line, option.end())
    return None if value is None else Found(value.start(), value.end(), f"{program} {option[0]}")


# --- forms that no name announces: how one begins, and what of it is the secret

_FLAGS = re.VERBOSE | re.IGNORECASE | re.MULTILINE
_FORMS = (
    # an address with a password in it
    (
        re.compile(r"""://[^\s:/@?#'"]{0,256}+:(?=[^\s/@'"]{1,1024}+@)""", _FLAGS),
        re.compile(r"""[^\s/'"?#]{1,1024}(?=@)"""),
    ),
    # ALTER ROLE … PASSWORD '…'
    (re.compile(r"\bpassword\s{1,40}E?(?=')", _FLAGS), _STRING),
    (re.compile(r"\bpassword\s{1,40}E?'\\''", _FLAGS), re.compile(r"[^'\\\n]++")),  # within the shell's quotes
    (
        re.compile(r"\bpassword\s{1,40}(?=\\?\$\w{0,64}\\?\$)", _FLAGS),
        re.compile(r"\\?\$\w{0,64}+\\?\$(?:[^$\n]|\$(?!\w{0,64}\\?\$))*+"),
    ),
    (re.compile(r"\bauthorization:\s{0,40}(?:token|key|api-?key)\s{1,40}", _FLAGS), re.compile(r"""[^\s'"]++""")),
    (re.compile(r"\bx-[a-z-]{0,16}(?:token|key):(?=\S)", _FLAGS), re.compile(r"""[^\s'"]{1,1024}+""")),
    (re.compile(r"[?&]sig=", _FLAGS), re.compile(r"""[^\s&'"]{8,1024}+""")),  # of an address that Azure has signed
    # what is handed to chpasswd(8), or to passwd(1)
    (
        re.compile(
            r"""\b(?:echo|printf)\s{1,40}(?:-[a-z]{1,3}\s{1,40})?["']?
            (?=[^"'|\n]{1,256}+["']?\s{0,40}\|\s{0,40}(?:sudo\s{1,40})?(?:chpasswd|passwd\s{1,40}--stdin)\b)""",
            _FLAGS,
        ),
        re.compile(r"""[^"'|\n]++"""),
    ),
    (re.compile(r"\bbearer\s{1,40}", _FLAGS), re.compile(r"[\w.~+/=-]{8,}+")),
    (re.compile(r"\bbasic\s{1,40}(?=[\w~+/]*(?-i:[A-Z0-9+/=]))", _FLAGS), re.compile(r"[\w.~+/=-]{8,}+")),
    # what a server keeps instead of a password, good enough to try passwords against, and in md5's case to log in with
    (re.compile(r"\bSCRAM-SHA-256\$", _FLAGS), re.compile(r"[0-9]++:[\w+/=]++\$[\w+/=]++:[\w+/=]++")),
    (re.compile(r"\bmd5(?=[0-9a-f]{32}\b)", _FLAGS), re.compile(r"\w+")),
    # ~/.pgpass: host:port:database:user:password
    (
        re.compile(r"^[^:\s\#]{1,256}:(?:[0-9]{4,5}|\*):[^:\s]{1,64}:[A-Za-z_*][^:\s]{0,64}:", _FLAGS),
        _REST,
    ),
)

"""The one filter between what servers and commands say and what is kept, logged or shown: secrets become a mask.

It knows secrets by their form (a password in a connection string, a key's file) and by their value, where this program
has been told it. It is a net below the rule that pghaul reads no secret that it does not need.
"""

import re

MASK = "••••••"
_KNOWN_LENGTH = 8
"""Characters from which a known secret is looked for by its value: a shorter one may be any word."""

_NAME = r"""
    [\w.-]{0,64}?
    (?:passwo?r?d|passphrase|\bpwd|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key)
    [\w-]{0,32}
"""
_VALUE = r"""
    (?:
        '(?:[^'\\\n]|\\.|'')*(?:'|$)         # as SQL, the shell and connection strings quote
      | "(?:[^"\\\n]|\\.)*(?:"|$)
      | \\. | [^\s'"\\;&|,)}\]>]             # as it stands
    )+
"""
_FORMS = re.compile(
    rf"""
    (?P<key>)-----BEGIN\ [A-Z ]{{0,40}}PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]{{0,40}}PRIVATE\ KEY-----|\Z)
  | (?P<address>://[^\s:/@?#'"]{{0,256}}:)[^\s/@'"]{{1,1024}}(?=@)
    # the settings that are a connection string or a command line: whole
  | (?P<setting>\b(?:\w+_)?(?:conninfo|passphrase_command|(?:archive|restore|cleanup|end)_command)
        \s{{0,8}}(?:=\s{{0,8}}|\sto\s))(?:{_VALUE}|[^\n]+)
    # name = value: an assignment, a connection string, a setting, JSON, YAML
  | (?P<name>(?<![\w./-])(?!NOPASSWD\b){_NAME}["']?\s{{0,8}}(?:[:=]?=>?|:(?=\s{{0,8}}["'])|:(?=\s))\s{{0,8}}){_VALUE}
    # --name value
  | (?P<option>(?<!\S)--?{_NAME}\s{{1,8}})(?!-){_VALUE}
  | (?P<sshpass>\bsshpass\s{{1,8}}-p\s{{0,8}}){_VALUE}
  | (?P<curl>\bcurl\b[^\n]{{0,256}}?\s(?:-u|--user)[\s=]{{1,8}}[^\s:'"]{{0,64}}:){_VALUE}
    # ALTER ROLE … PASSWORD '…'
  | (?P<sql>\bpassword\s{{1,8}}E?(?='))'(?:[^'\\\n]|\\.|'')*(?:'|$)
  | (?P<scheme>\b(?:bearer|basic)\s{{1,8}})[\w.~+/=-]{{8,}}
    # what a server keeps instead of a password, good enough to try passwords against, and in md5's case to log in with
  | (?P<scram>\bSCRAM-SHA-256\$)[0-9]+:[\w+/=]+\$[\w+/=]+:[\w+/=]+
  | (?P<md5>\bmd5)[0-9a-f]{{32}}\b
    # ~/.pgpass: host:port:database:user:password
  | (?P<pgpass>^[^:\s\#]{{1,256}}:(?:[0-9]{{4,5}}|\*):[^:\s]{{1,64}}:[A-Za-z_*][^:\s]{{0,64}}:)[^\n]+
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_HINT = re.compile(
    r"pass|pwd|secret|token|credential|key|://|conninfo|command|curl|bearer|basic|scram|md5|:(?:[0-9]{4,5}|\*):",
    re.IGNORECASE,
)
"""What any of the forms begins with, looked for first: most texts have none of it."""

_known: set[str] = set()


def know(secret: str) -> None:
    """From now on this value is masked wherever it stands, if it is long and mixed enough to be no ordinary word."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda one: not one.isalnum())
    mixed = sum(any(kind(one) for one in secret) for kind in kinds) > 1
    if len(secret) >= _KNOWN_LENGTH and mixed:
        _known.add(secret)


def without_secrets(text: str) -> str:
    """The text with each secret that is recognised in it masked. Text without one comes back as it is."""
    for secret in tuple(_known):
        if secret in text:
            text = text.replace(secret, MASK)
    return _FORMS.sub(_masked, text) if _HINT.search(text) else text


def _masked(found: re.Match[str]) -> str:
    return f"{found[found.lastgroup or 0]}{MASK}"

"""The one filter between what servers and commands say and what is kept, logged or shown: secrets become a mask.

It knows secrets by their form (core/secret_forms) and by their value, where this program has been told it. It is a net
below the rule that pghaul reads no secret that it does not need.
"""

import re
from collections.abc import Iterator

from core.secret_forms import PROGRAMS, Found, secrets_in

MASK = "••••••"
CUT = "[the beginning was left out]\n"
_KNOWN_LENGTH = 8
"""Characters from which a known secret is looked for by its value: a shorter one may be any word."""
_OVERLAP = 1 << 14
"""Characters that are looked at before a cut: more than a private key has."""

_HINTS = (
    *(
        "pass",
        "pwd",
        "secret",
        "token",
        "credential",
        "://",
        "conninfo",
        "_command",
        "bearer",
        "basic",
        "scram-",
        "md5",
        "sig=",
    ),
    *(
        f"{of}{sign}key"
        for of in ("api", "access", "private", "s3", "azure", "account", "storage", "libsodium")
        for sign in ("", "_", "-")
    ),
    *PROGRAMS,
)
_PORT = re.compile(r":(?:[0-9]{4,5}|\*):")
"""What any of the forms has in it, looked for first: most lines have none of it."""
_BLOCK = 1 << 13
"""Characters that are looked through at once before their lines are."""
_KEY = re.compile(r"-----(BEGIN|END) [A-Z ]{0,40}PRIVATE KEY-----")
_OF_KEY = re.compile(r"[A-Za-z0-9+/=]{1,80}")

_known: set[str] = set()


def know(secret: str) -> None:
    """From now on this value is masked wherever it stands, if it is long and mixed enough to be no ordinary word."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda one: not one.isalnum())
    mixed = sum(any(kind(one) for one in secret) for kind in kinds) > 1
    if len(secret) >= _KNOWN_LENGTH and mixed:
        _known.add(secret)


def without_secrets(text: str) -> str:
    """The text with each secret that is recognised in it masked. Text without one comes back as it is."""
    text = _without_known(text)
    parts, at = [], 0
    for found in _found(text):
        parts += [text[at : found.start], MASK]
        at = found.end
    return "".join([*parts, text[at:]]) if parts else text


def end_without_secrets(text: str, length: int) -> str:
    """The last `length` characters without secrets, behind CUT where that is not all: the filter reads no more of it.

    No part of a secret that the cut goes through is among them: it is looked for from before the cut on.
    """
    if len(text) <= length:
        return without_secrets(text)
    masked = without_secrets(text[-length - _OVERLAP :])
    begin = masked.find("\n", 0, _OVERLAP) + 1 or _OVERLAP
    return CUT + masked[begin:][-length:]


def secret_words(text: str) -> tuple[str, ...]:
    """What names each secret of a text: the word, option or form ahead of it, never the secret."""
    known = ("a password that you have typed",) if _without_known(text) != text else ()
    return (*known, *dict.fromkeys(found.named_by.strip() for found in _found(_without_known(text))))


def _without_known(text: str) -> str:
    for secret in tuple(_known):
        if secret in text:
            text = text.replace(secret, MASK)
    return text


def _found(text: str) -> Iterator[Found]:
    """The secrets of a text in their order, none within another."""
    after = 0
    for found in sorted([*_keys(text), *_in_lines(text)]):
        if found.end > after:
            yield Found(max(found.start, after), found.end, found.named_by)
            after = found.end


def _keys(text: str) -> Iterator[Found]:
    """Private keys, also those whose beginning or end was cut off."""
    begun, after = None, 0
    for mark in _KEY.finditer(text):
        if mark[1] == "BEGIN":
            begun = mark if begun is None else begun
            continue
        start = _cut_off_at(text, mark.start(), after) if begun is None else begun.start()
        after, begun = mark.end(), None
        yield Found(start, after, "-----BEGIN PRIVATE KEY-----")
    if begun is not None:
        yield Found(begun.start(), len(text), begun[0])


def _cut_off_at(text: str, end: int, after: int) -> int:
    """Where the lines of a key begin that end there."""
    while end > after:
        start = max(text.rfind("\n", after, end - 1) + 1, after)
        if not _OF_KEY.fullmatch(text[start:end].strip()):
            break
        end = start
    return end


def _in_lines(text: str) -> Iterator[Found]:
    for begin, end in _parts(text, 0, len(text), _BLOCK):
        if not _may_hold_one(text[begin:end]):
            continue
        for start, stop in _parts(text, begin, end, 1):
            if _may_hold_one(line := text[start:stop]):
                yield from (Found(start + one.start, start + one.end, one.named_by) for one in secrets_in(line))


def _parts(text: str, at: int, end: int, length: int) -> Iterator[tuple[int, int]]:
    """Parts of at least that length that end where a line does; one that ends in a backslash goes on in the next."""
    while at < end:
        stop = text.find("\n", at + length - 1, end)
        while stop > 0 and text[stop - 1] == "\\":
            stop = text.find("\n", stop + 1, end)
        after = stop + 1 if stop >= 0 else end
        yield at, after
        at = after


def _may_hold_one(text: str) -> bool:
    """Plain words are found a hundred times as fast as the forms."""
    lower = text.lower()
    return any(hint in lower for hint in _HINTS) or _PORT.search(text) is not None

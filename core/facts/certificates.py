"""The server's certificate, as `openssl x509 -noout -enddate -subject -text` prints it."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from core.facts.catalog import Certificate

_NAME = re.compile(r"(?:DNS|IP Address):([^,\s]+)")
_COMMON_NAME = re.compile(r"commonName\s*= (\S+)")


def parse_certificate(lines: Iterable[str]) -> Certificate | None:
    """The certificate from lines `certificate PATH` and `x509 …`; None where there is none or it could not be read."""
    file, lines_of_text = "", []
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "certificate":
            file = rest
        elif kind == "x509":
            lines_of_text.append(rest)
    text = "\n".join(lines_of_text)
    # openssl pads the day with a blank: `Mar  7`
    end = re.search(r"notAfter=(\w{3} +[0-9]{1,2} [0-9:]{8} [0-9]{4}) GMT", text)
    if end is None:
        return None
    try:
        not_after = datetime.strptime(" ".join(end[1].split()), "%b %d %H:%M:%S %Y").replace(tzinfo=UTC)
    except ValueError:
        return None
    # a client that verifies looks at the common name only where there is no alternative name (RFC 6125)
    names = _NAME.findall(text) or _COMMON_NAME.findall(text)
    return Certificate(file, not_after, tuple(dict.fromkeys(names)))

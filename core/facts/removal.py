"""Whether systemd-logind removes the shared memory of ordinary accounts when they log out (RemoveIPC).

Sources: logind.conf(5); PostgreSQL's manual, "systemd RemoveIPC".
"""

from core.facts.host_environment import Removal
from core.facts.sections import Section
from core.facts.text import first_line, parse_whole_number, unreadable_error


def parse_removal(text: str) -> Removal:
    """What `removal_facts` prints; where no session of systemd can be, nothing is removed.

    Raises:
        ParseError: a line cannot be read.
    """
    if not text.strip():
        return Removal(removes=False)
    removes: bool | None = None
    most, lingering = 999, []
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if not equals or name not in ("removes", "most", "lingers"):
            raise unreadable_error("logind", "a line NAME=VALUE", first_line(text))
        if name == "removes":
            removes = {"b true": True, "b false": False}.get(value)
        elif name == "most":
            most = min(most, parse_whole_number(value) or most)
        else:
            lingering.append(value)
    return Removal(removes, most, tuple(lingering))


SECTION = Section(
    "shared-memory", "RemoveIPC setting of systemd-logind", ("removal_facts", "/run/systemd/sessions"), parse_removal
)

"""What may forbid a server to start or a client to reach it: SELinux, AppArmor, the firewall.

The kernel itself is asked (/sys), so that no tool needs to be installed; of a firewall the rules are read where a tool
lists them, else only a kernel without any is believed. iptables is asked only where the kernel has tables already: it
would load modules otherwise.
"""

import re

from core.facts.host_environment import Firewall, SecurityPolicy
from core.facts.parsing import first_line, lines_of, unreadable_error
from core.facts.sections import Section

_SELINUX = {"0": "permissive", "1": "enforcing", "enforcing": "enforcing", "permissive": "permissive"}
# nft's policy of its input hook, iptables' of INPUT, or a rule of INPUT that drops whatever no earlier rule took
_DROPS = re.compile(
    r"type filter hook input\b.*policy (?:drop|reject).*|:INPUT (?:DROP|REJECT)\b.*"
    r"|-A INPUT(?: -m comment --comment (?:\"[^\"]*\"|\S+))? -j (?:DROP|REJECT)(?: --reject-with \S+)?"
)
# such a rule in a chain of nft, which names its hook in its first line: firewalld's last one is a reject
_DROPS_ALL = re.compile(r"(?:counter packets \d+ bytes \d+ )?(?:drop|reject(?: with .*)?)(?: comment .*)?")
_LONGEST = 2000
"""Characters of a rule that are looked at."""
_PORTS = re.compile(r"\bdports?\b|--dports?\b")


def parse_security_policy(text: str) -> SecurityPolicy:
    """SELinux and AppArmor.

    Raises:
        ParseError: neither is told.
    """
    selinux = re.search(r"^selinux=(\w+)", text, re.MULTILINE)
    apparmor = re.search(r"^apparmor=(\w)", text, re.MULTILINE)
    if selinux is None and apparmor is None:
        raise unreadable_error("security-policy", "a line selinux= or apparmor=", first_line(text))
    lines = lines_of(text)
    profiles = tuple(line.removeprefix("profile ").strip() for line in lines if line.startswith("profile "))
    return SecurityPolicy(
        None if selinux is None else _SELINUX.get(selinux[1].lower(), "disabled"),
        None if apparmor is None else apparmor[1] == "Y",
        None if "profiles unread" in lines else profiles,
    )


def parse_firewall(text: str) -> Firewall:
    """The firewall's rules for what comes in, of nft or iptables.

    Raises:
        ParseError: nothing says that they were listed.
    """
    lines = lines_of(text)
    if not lines or lines[0] != "listed":
        raise unreadable_error("firewall", "a line 'listed'", first_line(text))
    rules = [line[2:_LONGEST].strip() for line in lines[1:] if line.startswith(": ")]
    return Firewall(_drops_the_rest(rules), tuple(rule[:300] for rule in rules if _PORTS.search(rule))[:200])


def _drops_the_rest(rules: list[str]) -> bool:
    """Return whether what comes in and is allowed by no rule is dropped."""
    input_chain = False
    for rule in rules:
        if rule.startswith("chain ") or rule == "}":
            input_chain = False
        input_chain = input_chain or " hook input " in rule
        if _DROPS.fullmatch(rule) or (input_chain and _DROPS_ALL.fullmatch(rule)):
            return True
    return False


SELINUX_AND_APPARMOR = Section(
    "security-policy",
    "SELinux and AppArmor",
    (
        "security_policy_facts",
        "/sys/fs/selinux/enforce",
        "/sys/module/apparmor/parameters/enabled",
        "/sys/kernel/security/apparmor/profiles",
    ),
    parse_security_policy,
)
FIREWALL = Section(
    "firewall", "firewall", ("firewall_facts", "/proc/net/ip_tables_names"), parse_firewall, private=True
)

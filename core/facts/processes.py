"""The running server process of a cluster: its limits and who started it; and the limits that a session would give.

/proc/PID/limits, /proc/PID/cgroup and /proc/PID/stat are man 5 proc.
"""

import re

from core.facts.host_environment import UNLIMITED, Limits, Process
from core.facts.sections import Section
from core.facts.text import first_line, parse_assignments, unreadable_error

_LIMIT = re.compile(r"Max (?P<name>open files|locked memory) +(?P<soft>[0-9]{1,20}|unlimited) ")
# version 1 of control groups has a line a controller, version 2 one alone: `0::/…`
_UNIT = re.compile(r"^[0-9]+:[^:]*:(?:/\S*)?/(?P<unit>[^/\s]+\.service)\b", re.MULTILINE)


def parse_process(text: str) -> Process | None:
    """The server process; None where the text is empty, as for a stopped cluster.

    Raises:
        ParseError: the limits are missing.
    """
    if not text.strip():
        return None
    limits = {found["name"]: _number(found["soft"]) for found in _LIMIT.finditer(text)}
    if not limits:
        raise unreadable_error("/proc/PID/limits", "a line 'Max open files'", first_line(text))
    unit = _UNIT.search(text)
    properties = dict(re.findall(r"^(parent|restart)=(.+)$", text, re.MULTILINE))
    return Process(
        Limits(limits.get("open files"), limits.get("locked memory")),
        properties.get("parent"),
        unit["unit"] if unit is not None else None,
        properties.get("restart"),
    )


def parse_session_limits(text: str) -> Limits:
    """The limits of a session, from `ulimit`.

    Raises:
        ParseError: a value is neither a number nor `unlimited`.
    """
    values = parse_assignments(text.splitlines())
    found = {name: _number(values.get(name, "")) for name in ("open_files", "locked_kilobytes")}
    files, locked = found["open_files"], found["locked_kilobytes"]
    if files is None:
        raise unreadable_error("ulimit", "a number or unlimited", first_line(text))
    # ulimit counts locked memory in KiB, /proc in bytes
    return Limits(files, None if locked is None else min(locked * 1024, UNLIMITED))


def _number(text: str) -> int | None:
    if text == "unlimited":
        return UNLIMITED
    return min(int(text), UNLIMITED) if re.fullmatch("[0-9]{1,20}", text) else None


SESSION = Section("limits", "process limits", ("session_limits",), parse_session_limits)
PROCESS = Section("process", "server process", ("cluster_process",), parse_process)

"""What brings services up with the host or after a crash: enabled units, `Restart=`, Debian's start.conf, init scripts.

Units are read as files, as a host may run without systemd, or in a container of its own.
"""

from core.facts.host_environment import Autostart
from core.facts.sections import Section
from core.facts.text import unreadable_error


def parse_autostart(text: str) -> Autostart:
    """What brings services up.

    Raises:
        ParseError: a line is none of ours.
    """
    enabled, masked, scripts = dict[str, None](), dict[str, None](), dict[str, None]()
    restart, start_conf = dict[str, str](), dict[str, str]()
    for line in text.splitlines():
        word, _, rest = line.strip().partition(" ")
        name, _, value = rest.partition(" ")
        match word:
            case "enabled":
                enabled[rest] = None
            case "masked":
                masked[rest] = None
            case "script":
                _, starts, script = rest.rpartition("/S")
                scripts[script.lstrip("0123456789") if starts else rest] = None
            case "restart":
                restart[_unit(name)] = value
            case "start":
                start_conf[name] = value.strip() or "auto"
            case "":
                continue
            case _:
                raise unreadable_error("autostart", "a line enabled, masked, restart, start or script", line)
    return Autostart(tuple(enabled), tuple(masked), restart, start_conf, tuple(scripts))


def _unit(path: str) -> str:
    folder, _, file = path.rpartition("/")
    return folder.rpartition("/")[2].removesuffix(".d") if file.endswith(".conf") else file


SECTION = Section("autostart", "automatic start of services", ("autostart_facts",), parse_autostart)

"""A section asked on this machine, as a round trip would ask it."""

import os
import subprocess
from pathlib import Path
from typing import Any

from core.facts.sections import Answer, Section, bundle_sections, parse_answers

MARK = "==0123456789abcdef0123456789abcdef=="


def script(*sections: Section[Any], mark: str = MARK) -> str:
    """The whole program of one round trip."""
    shell = bundle_sections(mark, sections)
    return f"{shell.functions}\n{shell.text}"


def asked(*sections: Section[Any], mark: str = MARK, **settings: str | Path) -> dict[str, Answer]:
    """The answers by name; `settings` are variables that the functions read."""
    variables = {name: os.fsencode(value) for name, value in settings.items()}
    done = subprocess.run(
        ["sh", "-c", script(*sections, mark=mark)],
        env={b"PATH": os.fsencode(os.environ["PATH"])} | {name.encode(): value for name, value in variables.items()},
        capture_output=True,
        check=True,
        timeout=30,
    )
    return parse_answers(mark, [section.name for section in sections], done.stdout, done.stderr.decode())


def text(section: Section[Any], **settings: str | Path) -> str:
    """What one section printed; it must not complain."""
    answer = asked(section, mark=MARK, **settings)[section.name]
    assert (answer.status, answer.complaint) == (0, "")
    return answer.text

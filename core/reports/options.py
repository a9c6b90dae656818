"""How a report is to look, and what it shall hold besides."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core.errors import InputError
from core.files import read_small
from core.language import ENGLISH
from core.reports.model import Paper
from core.system_errors import reason

LARGEST_LOGO = 2**20
_FORMATS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"))


@dataclass(frozen=True, slots=True)
class Logo:
    """A picture's bytes and what they are: png or jpg."""

    content: bytes
    format: str


@dataclass(frozen=True, slots=True)
class Options:
    """How a report is to look.

    Attributes:
        binary: sizes in GiB, else in GB.
        masked: names of servers, addresses and people are replaced.
        company, logo: whose report it is, at the top of page one.
        raw: with what the tools printed; `functions`: with the commands of each step and the functions that they call.
        at: when it was made; None: now.
    """

    language: str = ENGLISH
    paper: Paper = Paper.A4
    binary: bool = True
    masked: bool = False
    company: str = ""
    logo: Logo | None = None
    raw: bool = False
    functions: bool = False
    at: datetime | None = None


def read_logo(path: Path) -> Logo:
    """A logo from a file.

    Raises:
        InputError: it cannot be read, is too large, or no PNG or JPEG.
    """
    try:
        content = read_small(path.expanduser(), LARGEST_LOGO)
    except OSError as error:
        raise InputError(f"the logo {path} cannot be read: {reason(error)}", "name a PNG or JPEG file") from error
    except InputError as error:
        hint = "name a PNG or JPEG file of at most 1 MiB: it is shown 14 mm high"
        raise InputError(f"the logo {path} {error.message}", hint) from error
    for head, form in _FORMATS:
        if content.startswith(head):
            return Logo(content, form)
    raise InputError(f"the logo {path} is no PNG or JPEG", "save it as one of these")

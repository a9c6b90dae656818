"""Every setting, declared once: default, allowed values and meaning.

The check of the file, `pghaul settings`, the dialog of the window and docs/settings.md are made from these
declarations. A new setting needs a field here, and whatever uses it: on the command line, `add_from_setting` of
core/cli/own_settings.py makes it the default of an option, and in the window it is in `work.settings`. Then generate
docs/settings.md, and translate its texts.
"""

import dataclasses
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from core.language import languages, marked
from core.user_settings.kinds import DECLARED, Choice, Declaration, File, Kind, Number, Switch, Text, Value

NAMES = {"en": "English", "de": "Deutsch"}
"""Each language by its own name, so that everybody finds theirs."""


def _setting(default: Value, kind: Kind, title: str, text: str, *, absent: str = "") -> Any:
    return field(default=default, metadata={DECLARED: Declaration(kind, title, text, absent)})


def _languages(other: str, title: str) -> Choice:
    """Return the choice of a language, or of another word instead of one."""
    return Choice(lambda: {other: title, **{code: NAMES.get(code, code) for code in languages()}})


@dataclass(frozen=True, slots=True)
class DisplaySettings:
    """How the window, the command line and reports show values."""

    units: str = _setting(
        "binary",
        Choice(lambda: {"binary": marked("binary (GiB)"), "decimal": marked("decimal (GB)")}),
        marked("Sizes"),
        marked("Units of sizes in the window, on the command line and in reports."),
    )


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """The window."""

    language: str = _setting(
        "system",
        _languages("system", marked("as the system")),
        marked("Language"),
        marked("Language of the window. A change takes effect the next time that pghaul is opened."),
    )
    theme: str = _setting(
        "system",
        Choice(lambda: {"system": marked("as the system"), "light": marked("light"), "dark": marked("dark")}),
        marked("Theme"),
        marked("Whether the window is light or dark."),
    )
    notify: bool = _setting(
        True,
        Switch(),
        marked("Notify when a job ends"),
        marked("Whether a notification says that a job has ended or waits, while you use another window."),
    )
    sound: bool = _setting(
        True,
        Switch(),
        marked("Sound when pghaul waits for you"),
        marked("Whether a sound tells that a running move waits for you. It is repeated each minute."),
    )


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """Reports."""

    language: str = _setting(
        "auto",
        _languages("auto", marked("as the window")),
        marked("Language"),
        marked("Language of reports; auto is the language of the window, or English on the command line."),
    )
    paper: str = _setting(
        "a4",
        Choice(lambda: {"a4": "A4", "letter": marked("Letter")}),
        marked("Paper"),
        marked("Paper size of a PDF."),
    )
    company: str = _setting(
        "",
        Text(100),
        marked("Company"),
        marked("Company name at the top of the first page."),
    )
    logo: str = _setting(
        "",
        File(),
        marked("Logo"),
        marked("Logo beside the company name: a PNG or JPEG file."),
    )
    mask: bool = _setting(
        False,
        Switch(),
        marked("Replace the names of servers, addresses and people"),
        marked("Whether reports show neutral names instead of those of servers and people, and of addresses."),
    )


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Servers that you add. A list of servers names its own values."""

    user: str = _setting(
        "",
        Text(100),
        marked("User"),
        marked("User to log in as on a new server. Without one, pghaul chooses the user as ssh does."),
        absent=marked("as in ~/.ssh/config"),
    )
    rights: str = _setting(
        "sudo",
        Choice(
            lambda: {
                "sudo": marked("sudo without a password"),
                "sudo-password": marked("sudo with a password"),
                "sudo-postgres": marked("sudo to the database user only"),
                "none": marked("only those of the login user"),
            }
        ),
        marked("Rights"),
        marked("How the login user of a new server runs commands as other users."),
    )
    database_user: str = _setting(
        "postgres",
        Text(100, least=1),
        marked("Database user"),
        marked("System user that owns the clusters of a new server."),
    )


@dataclass(frozen=True, slots=True)
class SurveySettings:
    """Surveys of many servers."""

    jobs: int = _setting(
        8,
        Number(1, 64),
        marked("Servers in parallel"),
        marked("Number of servers that a survey reads in parallel."),
    )


@dataclass(frozen=True, slots=True)
class BenchmarkSettings:
    """Benchmarks."""

    suite: str = _setting(
        "standard",
        Text(1000, least=1),
        marked("Suite"),
        marked("Suite that measures the storage: its name, or the path of your own suite file."),
    )


@dataclass(frozen=True, slots=True)
class MoveSettings:
    """Moves."""

    precopy_limit: int | None = _setting(
        None,
        Number(1, 100_000, "MB/s"),
        marked("Limit of the pre-copy"),
        marked("The most that a pre-copy pass of a new move sends while the old cluster is running, in MB/s."),
        absent=marked("no limit"),
    )
    verify: str = _setting(
        "changed",
        Choice(lambda: {"changed": marked("changed files"), "all": marked("all files")}),
        marked("Verify"),
        marked(
            "Files whose contents are compared during the downtime: those changed since a pre-copy pass, or all files."
        ),
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, by section."""

    display: DisplaySettings = field(default_factory=DisplaySettings)
    window: WindowSettings = field(default_factory=WindowSettings)
    report: ReportSettings = field(default_factory=ReportSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    survey: SurveySettings = field(default_factory=SurveySettings)
    benchmark: BenchmarkSettings = field(default_factory=BenchmarkSettings)
    move: MoveSettings = field(default_factory=MoveSettings)

    def value(self, key: str) -> Value:
        """Return the value of a setting such as `report.paper`."""
        section, _, name = key.partition(".")
        found: Value = getattr(getattr(self, section), name)
        return found

    def having(self, key: str, value: Value) -> "Settings":
        """Return the settings with another value of one."""
        section, _, name = key.partition(".")
        part = dataclasses.replace(getattr(self, section), **{name: value})
        return dataclasses.replace(self, **{section: part})


SECTIONS = {
    "display": marked("Display"),
    "window": marked("Program window"),
    "report": marked("Reports"),
    "server": marked("New servers"),
    "survey": marked("Survey"),
    "benchmark": marked("Benchmarks"),
    "move": marked("Moves"),
}
"""The title of each section in the window."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as it is declared."""

    key: str
    section: str
    name: str
    default: Value
    declaration: Declaration

    @property
    def kind(self) -> Kind:
        return self.declaration.kind


@cache
def declared() -> dict[str, Setting]:
    """Return every setting by its key, in the order of the sections."""
    found = {}
    for section in dataclasses.fields(Settings):
        for one in dataclasses.fields(getattr(Settings(), section.name)):
            key = f"{section.name}.{one.name}"
            default = Settings().value(key)
            found[key] = Setting(key, section.name, one.name, default, one.metadata[DECLARED])
    return found

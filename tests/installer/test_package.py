"""The packages on clean Debians: each is installed as its users do it, opens its window, and makes a report.

Wheel (by pipx and by uv), .deb, .rpm and tar, a clean root each: .deb and .rpm in place of an older one, the tar by a
user who is not root. Then each goes without a trace.
Takes minutes and the network; `make package-test` builds the packages, runs this, and prints sizes and start times.
"""

import contextlib
import platform
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from core.history.database import FILE_NAME
from core.history.example import MOVE
from core.settings import program_version
from installer import rpm
from installer.debian import names
from installer.left_out import left_out
from installer.older_glibc import GLIBC
from installer.tree import Package, needed
from installer.uv import uv

pytestmark = pytest.mark.clean_debian

TOP = Path(__file__).parents[2]
QT = names(TOP / "installer" / "packages-qt.txt")
"""What a desktop has, and a clean Debian has not."""
NOT_OURS = (
    *("/var/lib/apt", "/var/lib/dpkg", "/var/lib/rpm", "/var/cache", "/var/log"),
    *("/root", "/tmp", "/etc/resolv.conf", "/etc/ssl"),
)
"""Where the package clients, users and the trial keep files."""


class CleanDebian:
    """A root folder with nothing prepared."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def command(self, *arguments: str) -> list[str]:
        return ["sh", str(TOP / "installer" / "clean-debian.sh"), "run", str(self.root), *arguments]

    def run(self, *arguments: str) -> str:
        """Run as root inside; its output. Fails the test with that output when the command fails."""
        answer = subprocess.run(
            self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert answer.returncode == 0, f"{' '.join(arguments)}: {answer.stdout}"
        return answer.stdout

    def apt(self, *arguments: str) -> str:
        return self.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", *arguments)

    def files(self) -> set[str]:
        return {
            name
            for name in self.run("find", "/", "-xdev", "!", "-path", "/proc/*").splitlines()
            if not name.startswith(NOT_OURS)
        }


@dataclass(frozen=True)
class Way:
    """How a user of one of the packages installs it, and removes it again.

    Attributes:
        file: its name in dist/.
        maximum_bytes: of that file; a wheel fetches what it needs besides.
        needs: what Debian brings beforehand.
        older: makes an earlier version of the package in a folder, None where no package is installed.
        install: puts the file in, in place of an earlier version; where pghaul lies then.
        remove: takes it out.
    """

    file: str
    maximum_bytes: int
    needs: tuple[str, ...]
    older: Callable[[Path, Path], Path] | None
    install: Callable[[CleanDebian, str], str]
    remove: Callable[[CleanDebian], str]


def by_pipx(debian: CleanDebian, package: str) -> str:
    debian.run("pipx", "install", package)
    return "/root/.local/bin/pghaul"


def by_uv(debian: CleanDebian, package: str) -> str:
    shutil.copy(uv(), debian.root / "tmp" / "uv")
    debian.run("/tmp/uv", "tool", "install", "--no-python-downloads", "--python", "/usr/bin/python3", package)
    return "/root/.local/bin/pghaul"


def by_apt(debian: CleanDebian, package: str) -> str:
    debian.apt("install", "--no-install-recommends", package)
    return "pghaul"


def by_rpm(debian: CleanDebian, package: str) -> str:
    debian.run("rpm", "--force-debian", "--upgrade", package)
    return "pghaul"


def by_tar(debian: CleanDebian, package: str) -> str:
    """Unpacked, run, moved elsewhere and run again, by a user who is not root."""
    user = ("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "env", "HOME=/srv/user")
    debian.run("install", "-d", "-o", "1000", "-g", "1000", "/srv/user")
    debian.run(*user, "tar", "--extract", "--directory", "/srv/user", "--file", package)
    unpacked, moved = f"/srv/user/{Path(package).name.removesuffix('.tar.xz')}", "/srv/user/moved to"
    for folder in (unpacked, moved):
        assert debian.run(*user, f"{folder}/pghaul", "--version") == f"pghaul {program_version()}\n"
        assert "no moves" in debian.run(*user, f"{folder}/pghaul", "move", "list").lower()
        if folder == unpacked:
            debian.run(*user, "mv", unpacked, moved)
    return f"{moved}/pghaul"


SYSTEM = """\
set -eu
{
    printf '%s\\n' 'Name: system' 'Version: 1' 'Release: 1' 'Summary: the libraries of this root' 'License: none'
    find /lib/ /usr/lib/ -name '*.so*' | /usr/lib/rpm/elfdeps --provides | sort -u | sed 's/^/Provides: /'
    printf '%s\\n' '%description' 'As apt has installed them.' '%files'
} >/tmp/system.spec
rpmbuild -bb --quiet --define '_rpmdir /tmp/rpms' /tmp/system.spec
rpm --force-debian --install /tmp/rpms/*/system-1-1.*.rpm
"""
"""Makes a package of rpm's that provides what the libraries of the root do: rpm knows nothing of those of apt's."""

OLDER = "0.0.9"
ONCE_THERE = "usr/lib/pghaul/_internal/once-there"
"""A file that an earlier version had and this one has no more."""


def older_deb(package: Path, folder: Path) -> Path:
    """The same package, of an earlier version."""
    unpacked, made = folder / "unpacked", folder / f"pghaul_{OLDER}.deb"
    subprocess.run(["dpkg-deb", "--raw-extract", str(package), str(unpacked)], check=True)
    control = unpacked / "DEBIAN" / "control"
    control.write_text(control.read_text().replace(f"Version: {program_version()}\n", f"Version: {OLDER}\n"))
    (unpacked / ONCE_THERE).touch()
    subprocess.run(["dpkg-deb", "-Znone", "--build", str(unpacked), str(made)], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(unpacked)
    return made


def older_rpm(_package: Path, folder: Path) -> Path:
    """An earlier version that holds little: rpmbuild would compress for minutes."""
    root = folder / "older"
    (root / ONCE_THERE).parent.mkdir(parents=True)
    (root / ONCE_THERE).touch()
    (root / "usr/lib/pghaul/pghaul").touch()
    return rpm.pack(root, Package(OLDER, "An earlier version", "MIT", platform.machine(), 0), [], folder)


WAYS = {
    "wheel": Way(
        *("pghaul-{}-*.whl", 8_000_000, ("pipx", "python3-venv", *QT), None),
        *(by_pipx, lambda debian: debian.run("pipx", "uninstall", "pghaul")),
    ),
    "uv": Way(
        *("pghaul-{}-*.whl", 8_000_000, ("python3", *QT), None),
        *(by_uv, lambda debian: debian.run("/tmp/uv", "tool", "uninstall", "pghaul")),
    ),
    "deb": Way(
        *("pghaul_{}_*.deb", 60_000_000, (), older_deb),
        *(by_apt, lambda debian: debian.apt("purge", "--autoremove", "pghaul")),
    ),
    "rpm": Way(
        *("pghaul-{}-*.rpm", 60_000_000, ("rpm", *QT), older_rpm),
        *(by_rpm, lambda debian: debian.run("rpm", "--force-debian", "--erase", "pghaul")),
    ),
    "tar": Way(
        *("pghaul-{}-linux-*.tar.xz", 60_000_000, ("xz-utils", *QT), None),
        *(by_tar, lambda debian: debian.run("rm", "-r", "/srv/user")),
    ),
}
STARTS = 5
"""How often each start is timed; the median counts."""


@dataclass(frozen=True)
class Figures:
    """Bytes of the package and of what it adds to a clean Debian, and seconds until each is at work."""

    file_bytes: int
    installed_bytes: int
    version_seconds: float
    window_seconds: float


figures: dict[str, Figures] = {}


@dataclass(frozen=True)
class Trial:
    """A clean Debian with pghaul in it, from one of the packages.

    Attributes:
        name: of the way.
        program: where pghaul lies in the root.
        files_before: the root's files before pghaul came.
        installed_bytes: what has come with it, what it needs of Debian's included.
    """

    name: str
    debian: CleanDebian
    program: str
    files_before: set[str]
    installed_bytes: int

    @property
    def way(self) -> Way:
        return WAYS[self.name]

    def run(self, *arguments: str) -> str:
        return self.debian.run("env", "PGHAUL_DATA=/root/history", self.program, *arguments)


def new_root(folder: Path) -> CleanDebian:
    subprocess.run(["sh", str(TOP / "installer" / "clean-debian.sh"), "new", str(folder)], check=True)
    debian = CleanDebian(folder)
    debian.apt("update")
    return debian


def built(way: Way) -> Path:
    (package,) = (TOP / "dist").glob(way.file.format(program_version()))
    return package


def put(debian: CleanDebian, package: Path) -> str:
    """Copy the file into the root; its path there."""
    shutil.copy(package, debian.root / "tmp")
    return f"/tmp/{package.name}"


@pytest.fixture(scope="module", params=WAYS)
def trial(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """With the history and the settings of the first release, and where it is a package, an earlier version of it."""
    folder = tmp_path_factory.mktemp("trial")
    debian, way = new_root(folder / "root"), WAYS[request.param]
    bytes_before = size(debian.root)
    if way.needs:
        debian.apt("install", "--no-install-recommends", *way.needs)
    if "rpm" in way.needs:
        (debian.root / "tmp" / "system.sh").write_text(SYSTEM, encoding="utf-8")
        debian.run("sh", "/tmp/system.sh")
    files_before = debian.files()
    if way.older is not None:
        way.install(debian, put(debian, way.older(built(way), folder)))
        assert (debian.root / ONCE_THERE).exists()
    for path in (debian.root / KEY, debian.root / HISTORY):
        path.parent.mkdir(parents=True)
    (debian.root / KEY).write_bytes(b"k" * 32)
    (debian.root / SETTINGS).write_text(SET_BEFORE, encoding="utf-8")
    with contextlib.closing(sqlite3.connect(debian.root / HISTORY)) as connection:
        connection.executescript((TOP / "tests/data/history/0001.sql").read_text(encoding="utf-8"))
    program = way.install(debian, put(debian, built(way)))
    yield Trial(request.param, debian, program, files_before, size(debian.root) - bytes_before)
    subprocess.run(["sh", str(TOP / "installer" / "clean-debian.sh"), "remove", str(debian.root)], check=True)


HISTORY = f"root/.local/share/pghaul/{FILE_NAME}"
KEY = "root/.config/pghaul/history.key"
SETTINGS = "root/.config/pghaul/settings.toml"
SET_BEFORE = '# for reports to customers\n[report]\npaper = "letter"\n'


def size(root: Path) -> int:
    """Bytes of all files that are no package clients' caches and lists."""
    words = ["du", "-s", "-B1", "-x", *(f"--exclude={root}/{each}" for each in ("var", "tmp", "root/.cache"))]
    return int(subprocess.run([*words, str(root)], check=True, capture_output=True, text=True).stdout.split()[0])


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CleanDebian]:
    root = tmp_path_factory.mktemp("clean") / "root"
    yield new_root(root)
    subprocess.run(["sh", str(TOP / "installer" / "clean-debian.sh"), "remove", str(root)], check=True)


@pytest.fixture
def screen() -> Iterator[str]:
    """A virtual screen of this machine; an X client in the clean root reaches it through its abstract socket."""
    with subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-ac"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as xvfb:
        assert xvfb.stdout is not None
        yield ":" + xvfb.stdout.readline().decode().strip()
        xvfb.terminate()


def windows(display: str) -> dict[str, tuple[int, int]]:
    """Title -> width and height in pixels of each window that can be seen or was prepared."""
    command = ["xwininfo", "-display", display, "-root", "-tree"]
    tree = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {title: (int(x), int(y)) for title, x, y in re.findall(r'"([^"]+)": \(".*\)  (\d+)x(\d+)\+', tree)}


def wait_until_at_work(program: subprocess.Popen[bytes], history: Path) -> None:
    """The window opens its history in the background, after all that it needs was loaded."""
    deadline = time.monotonic() + 60
    while not history.exists():
        assert program.poll() is None, "pghaul ended without opening its history"
        assert time.monotonic() < deadline, "pghaul did not open its history within a minute"
        time.sleep(0.01)


def test_it_says_its_version(trial: Trial) -> None:
    assert trial.run("--version") == f"pghaul {program_version()}\n"


def test_an_upgrade_keeps_history_and_settings(trial: Trial) -> None:
    assert not (trial.debian.root / ONCE_THERE).exists()
    assert "gannon to the new storage" in trial.debian.run(trial.program, "move", "list")
    assert (trial.debian.root / KEY).read_bytes() == b"k" * 32
    assert (trial.debian.root / SETTINGS).read_text(encoding="utf-8") == SET_BEFORE
    trial.run("settings", "set", "report.company", "Example Ltd")
    assert (trial.debian.root / SETTINGS).read_text(encoding="utf-8") == f'{SET_BEFORE}company = "Example Ltd"\n'
    shown = trial.run("settings", "show")
    assert "letter" in shown
    assert "Example Ltd" in shown


def test_its_files_are_those_of_the_package(trial: Trial) -> None:
    verify = {"deb": ("dpkg", "--verify", "pghaul"), "rpm": ("rpm", "--force-debian", "--verify", "pghaul")}
    if trial.name not in verify:
        pytest.skip("it keeps no list of its files")
    assert trial.debian.run(*verify[trial.name]) == ""


def test_it_makes_a_report_of_the_example(trial: Trial) -> None:
    trial.run("history", "example", "/root/history")
    trial.run("report", MOVE, "-o", "/root/example.pdf")
    report = (trial.debian.root / "root/example.pdf").read_bytes()
    assert report.startswith(b"%PDF-")
    assert len(report) > 50_000


def opened(trial: Trial, screen: str, folder: str) -> float:
    """Open the window with a new history in a folder of /root, and end it; how many seconds it took."""
    words = ("env", f"DISPLAY={screen}", f"PGHAUL_DATA=/root/{folder}", trial.program)
    began = time.monotonic()
    with subprocess.Popen(trial.debian.command(*words)) as program:
        try:
            wait_until_at_work(program, trial.debian.root / "root" / folder / FILE_NAME)
            seconds = time.monotonic() - began
            (title, (width, height)), *others = windows(screen).items()
        finally:
            program.kill()
    assert title.endswith("pghaul")
    assert min(width, height) >= 400
    assert others == [], "a second window: a message about what went wrong"
    return seconds


def test_its_window_opens(trial: Trial, screen: str) -> None:
    versions = []
    for _ in range(STARTS):
        began = time.monotonic()
        trial.run("--version")
        versions.append(time.monotonic() - began)
    windows_opened = [opened(trial, screen, f"window-{number}") for number in range(STARTS)]
    figures[trial.name] = Figures(
        built(trial.way).stat().st_size, trial.installed_bytes, median(versions), median(windows_opened)
    )


def test_its_file_is_small_enough(trial: Trial) -> None:
    assert built(trial.way).stat().st_size <= trial.way.maximum_bytes


def test_it_goes_without_a_trace_and_the_history_stays(trial: Trial) -> None:
    trial.way.remove(trial.debian)
    assert trial.debian.files() - trial.files_before == set()
    left = {path for path in (trial.debian.root / "root/.local").rglob("*pghaul*") if ".cache" not in path.parts}
    assert left == {(trial.debian.root / HISTORY).parent}


def test_the_figures_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(figures) == set(WAYS)
    lines = [f"{'':8}{'file':>10}{'installed':>12}{'--version':>12}{'window':>10}"]
    for name, each in figures.items():
        sizes = f"{each.file_bytes / 1e6:7.1f} MB{each.installed_bytes / 1e6:9.0f} MB"
        lines.append(f"{name:8}{sizes}{each.version_seconds:10.2f} s{each.window_seconds:8.2f} s")
    with capsys.disabled():
        print("\n" + "\n".join(lines))  # noqa: T201  for whoever runs make package-test


def test_nothing_that_was_left_out_came_back() -> None:
    frozen = TOP / "dist" / "pghaul" / "_internal"
    assert [str(path) for path in frozen.rglob("*") if left_out(str(path.relative_to(frozen)))] == []


def test_nothing_asks_for_a_newer_glibc_than_rhel_9_has() -> None:
    asked = [name for name in needed(TOP / "installer" / "build" / "root") if "GLIBC_" in name]
    newest = max(tuple(map(int, name.rpartition("_")[2].rstrip(")").split("."))) for name in asked)
    assert newest <= tuple(map(int, GLIBC.split(".")))


def test_setting_up_the_lab_s_packages_starts_and_leaves_nothing(clean: CleanDebian) -> None:
    shutil.copytree(
        TOP / "installer", clean.root / "tmp" / "installer", ignore=shutil.ignore_patterns("build", "__pycache__")
    )
    (clean.root / "tmp" / "services.txt").write_text("openssh-server\npostgresql-15\n", encoding="utf-8")
    clean.apt("install", "--no-install-recommends", "systemd")
    before = clean.files()
    said = clean.run("sh", "-c", "sh /tmp/installer/system-packages.sh services.txt && cat /proc/[0-9]*/comm")
    first, *processes = said.splitlines()
    assert first == "pghaul: installing Debian packages: openssh-server postgresql-15 "
    assert not {"sshd", "postgres"} & set(processes)
    made = clean.files() - before
    assert "/usr/sbin/sshd" in made
    assert not {name for name in made if "pghaul" in name or "policy-rc.d" in name}
    assert clean.run("pg_lsclusters", "--no-header") == ""
    assert "ssh.service disabled" in " ".join(clean.run("systemctl", "list-unit-files", "ssh.service").split())

"""The package on a clean Debian: it installs with its dependencies, opens its window, and goes without a trace.

Takes minutes and the network; `make package-test` builds the package and runs this.
"""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.history.database import FILE_NAME
from core.settings import program_version

pytestmark = pytest.mark.clean_debian

TOP = Path(__file__).parents[2]
NOT_OURS = ("/var/lib/apt", "/var/lib/dpkg", "/var/cache", "/var/log", "/root", "/tmp", "/etc/resolv.conf", "/etc/ssl")
"""Where apt itself, users and the trial keep files."""


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


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CleanDebian]:
    root = tmp_path_factory.mktemp("clean") / "root"
    script = str(TOP / "installer" / "clean-debian.sh")
    subprocess.run(["sh", script, "new", str(root)], check=True)
    debian = CleanDebian(root)
    debian.apt("update")
    yield debian
    subprocess.run(["sh", script, "remove", str(root)], check=True)


@pytest.fixture(scope="module")
def files_before(clean: CleanDebian) -> set[str]:
    return clean.files()


@pytest.fixture(scope="module")
def installed(clean: CleanDebian, files_before: set[str]) -> CleanDebian:
    """The clean Debian with our package, put there as its users do."""
    assert "/bin" in files_before
    (package,) = (TOP / "dist").glob(f"pghaul_{program_version()}_*.deb")
    shutil.copy(package, clean.root / "tmp")
    clean.apt("install", "--no-install-recommends", f"/tmp/{package.name}")
    return clean


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


def test_the_version_is_the_project_s(installed: CleanDebian) -> None:
    assert installed.run("pghaul", "--version") == f"pghaul {program_version()}\n"
    assert installed.run("dpkg-query", "-W", "-f", "${Version}", "pghaul") == program_version()


def test_the_command_line_keeps_a_history_and_writes_a_report(installed: CleanDebian) -> None:
    for name, address in (("old", "192.0.2.11"), ("new", "192.0.2.12")):
        installed.run("pghaul", "server", "add", name, address, "--user", "dba")
    installed.run("pghaul", "move", "add", "spring", "--old", "old", "--new", "new", "--cluster", "/srv/pg/data")
    installed.run("pghaul", "report", "spring", "-o", "/root/spring.pdf")
    assert (installed.root / "root" / "spring.pdf").read_bytes().startswith(b"%PDF-")


def test_the_window_opens(installed: CleanDebian, screen: str) -> None:
    command = installed.command("env", f"DISPLAY={screen}", "PGHAUL_DATA=/root/window", "pghaul")
    with subprocess.Popen(command) as program:
        try:
            wait_until_at_work(program, installed.root / "root" / "window" / FILE_NAME)
            (title, (width, height)), *others = windows(screen).items()
        finally:
            program.kill()
    assert title.endswith("pghaul")
    assert min(width, height) >= 400
    assert others == [], "a second window: a message about what went wrong"


def test_it_goes_without_a_trace_and_the_history_stays(installed: CleanDebian, files_before: set[str]) -> None:
    installed.apt("purge", "--autoremove", "pghaul")
    assert installed.files() - files_before == set()
    assert (installed.root / "root" / ".local" / "share" / "pghaul").is_dir()


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

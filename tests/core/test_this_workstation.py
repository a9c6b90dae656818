"""Who uses this workstation, also where its account has no name; and that no code asks Windows for what it lacks."""

import ast
import getpass
import platform
import pwd
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.this_workstation import on_windows, user_name, whoami

pytestmark = pytest.mark.filling

NAMES = ("LOGNAME", "USER", "LNAME", "USERNAME")


@pytest.fixture
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment names the user."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("nameless")
def test_the_environment_names_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USERNAME", "dba")
    monkeypatch.setattr(platform, "node", lambda: "desk")
    assert (user_name(), whoami()) == ("dba", "dba@desk")


@pytest.mark.usefixtures("nameless")
def test_an_account_without_a_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(number: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr(pwd, "getpwuid", missing)
    assert user_name() == "unknown"


@pytest.mark.usefixtures("nameless")
def test_windows_without_a_user_in_its_environment_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pwd", None)
    with pytest.raises(ImportError):
        getpass.getuser()
    assert user_name() == "unknown"


def test_a_workstation_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "dba")
    monkeypatch.setattr(platform, "node", lambda: "")
    assert whoami() == "dba@workstation"


def test_windows_is_told_by_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.this_workstation.os.name", "nt")
    found = on_windows()
    monkeypatch.undo()  # before anything makes a path, which would be one of Windows
    assert found
    assert not on_windows()


TOP = Path(__file__).parents[2]
ASKED_BY_ITS_CALLER = {("core/history/belonging.py", "_check"), ("core/servers/authentication.py", "_socket")}
"""Functions that only code calls which has asked what the system is."""


MYPY = """\
[mypy]
python_version = 3.11
mypy_path = .
explicit_package_bases = True
[mypy-sqlalchemy.*,alembic.*,numpy.*,pydantic.*,psycopg.*,keyring.*,tomlkit.*,cryptography.*]
follow_imports = skip
follow_imports_for_stubs = True
"""
"""What Python's own modules have is known, and so are our types. To read these other packages would take most of the
time, and what they have is the same on every system.
"""


def mypy_for(system: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the types by the modules of Python as they are on that system."""
    (folder / "mypy.ini").write_text(MYPY)
    words = ["--config-file", str(folder / "mypy.ini"), "--platform", system, "--cache-dir", f".mypy_cache/{system}"]
    words += ["--no-error-summary", "core", "gui"]
    return subprocess.run([sys.executable, "-m", "mypy", *words], cwd=TOP, capture_output=True, text=True, check=False)


def functions(path: Path) -> list[ast.FunctionDef]:
    """The functions of a module, those inside of others behind these."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def around(path: Path, line: int) -> ast.FunctionDef:
    """The innermost function that this line is in."""
    return [each for each in functions(path) if each.lineno <= line <= (each.end_lineno or 0)][-1]


@pytest.mark.slow
def test_what_python_lacks_on_windows_is_used_only_where_somebody_has_asked(tmp_path: Path) -> None:
    """mypy knows what Python's modules have on each system: fcntl has nothing on Windows, and os no geteuid."""
    ended = mypy_for("win32", tmp_path)
    found = re.findall(r"^(\S+\.py):(\d+): error: (.*)$", ended.stdout, re.MULTILINE)
    assert len(found) == len(ended.stdout.splitlines()), ended.stdout
    assert {"geteuid", "lockf"} <= set(re.findall(r'no attribute "(\w+)"', ended.stdout))
    unasked = [
        f"{name}:{line}: {said}"
        for name, line, said in found
        if (name, (function := around(TOP / name, int(line))).name) not in ASKED_BY_ITS_CALLER
        and "this_workstation.on_windows()" not in ast.unparse(function)
    ]
    assert unasked == []


@pytest.mark.slow
def test_what_python_lacks_on_macos_is_used_nowhere(tmp_path: Path) -> None:
    ended = mypy_for("darwin", tmp_path)
    assert ended.returncode == 0, ended.stdout


def started() -> list[tuple[Path, ast.Call]]:
    """Each call in core that starts a program."""
    found = [
        (path.relative_to(TOP), node)
        for path in sorted((TOP / "core").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and re.fullmatch(r"subprocess\.(run|Popen|check_\w+)", ast.unparse(node.func))
    ]
    assert len(found) >= 5
    return found


def test_no_program_that_is_started_opens_a_console_on_windows() -> None:
    shown = [
        f"{path}:{node.lineno}"
        for path, node in started()
        if not any(word.arg == "creationflags" and "HIDDEN" in ast.unparse(word.value) for word in node.keywords)
    ]
    assert shown == []


def test_each_program_that_is_started_has_a_stderr_where_the_window_has_none() -> None:
    without = [
        f"{path}:{node.lineno}"
        for path, node in started()
        if not {"stderr", "capture_output"} & {word.arg for word in node.keywords}
    ]
    assert without == []

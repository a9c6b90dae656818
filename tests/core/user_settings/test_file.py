"""The settings file: what is wrong with it is said with its line, and a change keeps what its user wrote."""

import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core import this_workstation
from core.errors import InputError
from core.user_settings import file
from core.user_settings.declaration import Settings, declared
from core.user_settings.kinds import Choice, Number, Switch
from tests.windows import windows_locks

TOP = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "config"))
    (tmp_path / "config").mkdir(mode=0o700)
    return tmp_path / "config"


def written(content: str | bytes) -> Path:
    place = file.path()
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    place.chmod(0o600)
    return place


def test_without_a_file_every_setting_has_its_default() -> None:
    assert file.load() == file.Loaded(Settings(), frozenset(), None)


def test_an_empty_file_is_one_without_settings() -> None:
    written("")
    assert file.load() == file.Loaded(Settings(), frozenset(), b"")


def test_a_file_is_read() -> None:
    written('[report]\r\ncompany = "Müller & Söhne"\r\n[move]\r\nprecopy_limit = 50\r\n')
    found = file.load()
    assert found.settings.report.company == "Müller & Söhne"
    assert found.settings.move.precopy_limit == 50
    assert found.settings.report.paper == "a4"
    assert found.given == {"report.company", "move.precopy_limit"}


@pytest.mark.parametrize(
    ("content", "line", "said", "hint"),
    [
        ('# x\n[report]\npapr = "a4"\n', 3, "there is no setting report.papr", "report.paper"),
        ("[report]\nxyzzy = 1\n", 2, "there is no setting report.xyzzy", "remove it"),
        ("\n[reprot]\n", 2, "there is no section reprot", "did you mean report?"),
        ('paper = "a4"\n', 1, "there is no section paper", "the sections are display"),
        ("# \u2028\n\"a\\nb\" = 1\n", None, 'no section "a\\nb"', "the sections"),
        (f"[report]\n{'x' * 5000} = 1\n", 2, "there is no setting", "remove it"),
        ("# \u2028\n[report]\nx = 1\n", 3, "there is no setting report.x", "remove it"),
        ("report = 5\n", 1, "report is a section", "[report]"),
        ("[[report]]\n", None, "report is a section", "[report]"),
        ('[report]\npaper = "a5"\n', 2, 'report.paper must be one of a4, letter, not "a5"', '"a4"'),
        ("[report]\npaper = 4\n", 2, "report.paper must be one of a4, letter, not 4", '"a4"'),
        ("[report]\ncompany = ['a']\n", 2, "report.company must be a text", '""'),
        (f"[report]\ncompany = '{'x' * 101}'\n", 2, "report.company must not be longer than 100", '""'),
        ("[server]\ndatabase_user = ''\n", 2, "server.database_user must not be empty", '"postgres"'),
        ('[report]\ncompany = "a\\nb"\n', 2, "report.company must be a single line", '""'),
        ("report.mask = 'yes'\n", 1, 'report.mask must be true or false, not "yes"', "false"),
        ("[report]\nmask = 1\n", 2, "report.mask must be true or false, not 1", "false"),
        ("[report]\nlogo = 'logo.png'\n", 2, "report.logo must be an absolute path", '""'),
        ("[survey]\njobs = 65\n", 2, "survey.jobs must be from 1 to 64, not 65", "8"),
        ("[survey]\njobs = 0\n", 2, "survey.jobs must be from 1 to 64, not 0", "8"),
        ("[survey]\njobs = true\n", 2, "survey.jobs must be a whole number, not true", "8"),
        ("[survey]\njobs = 2.0\n", 2, "survey.jobs must be a whole number, not 2.0", "8"),
        ("[move]\nprecopy_limit = nan\n", 2, "move.precopy_limit must be a whole number", "correct it, or remove it"),
        ("[survey\n", 1, "not valid TOML", "[name]"),
        ("[survey]\n\njobs = \n", 3, "not valid TOML", "[name]"),
        ("[survey]\njobs = 1\njobs = 2\n", 3, "not valid TOML", "[name]"),
        (f"a = {'[' * 5000}\n", None, "not valid TOML", "[name]"),
        (f"a = {'9' * 5000}\n", None, "not valid TOML", "[name]"),
        (b"\xef\xbb\xbf[report]\n", 1, "byte order mark", "without this mark"),
        ("[report]\n".encode("utf-16"), 1, "not UTF-8", "UTF-8"),
        (b"# a\n# M\xfcller\n", 2, "not UTF-8", "UTF-8"),
        (b"#" * (file.MOST_BYTES + 1), None, "longer than 64 KiB", "your own"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_line_and_hint(
    content: str | bytes, line: int | None, said: str, hint: str
) -> None:
    place = written(content)
    with pytest.raises(InputError) as caught:
        file.load()
    message = caught.value.message
    assert message.startswith(f"the settings file {place} cannot be used{'' if line is None else f', line {line}'}: ")
    assert said in message
    assert "\n" not in message
    assert len(message) < 400
    assert hint in caught.value.hint


def pipe(place: Path) -> None:
    os.mkfifo(place)


def directory(place: Path) -> None:
    place.mkdir()


def others_may_write(place: Path) -> None:
    place.touch()
    place.chmod(0o602)


def group_may_write(place: Path) -> None:
    place.touch()
    place.chmod(0o660)


def another_users(place: Path) -> None:
    place.touch()
    os.chown(place, 12345, -1)


def link_to_another_users(place: Path) -> None:
    other = place.parents[1] / "theirs.toml"
    other.touch()
    os.chown(other, 12345, -1)
    place.symlink_to(other)


def in_an_open_folder(place: Path) -> None:
    place.touch(0o600)
    place.parent.chmod(0o777)


def in_another_users_folder(place: Path) -> None:
    place.touch(0o600)
    os.chown(place.parent, 12345, -1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize(
    ("lay", "said"),
    [
        (pipe, "it is not a regular file"),
        (directory, "it cannot be read: it is a folder"),
        (others_may_write, "it can be written by other users (its mode is 602)"),
        (group_may_write, "it can be written by other users (its mode is 660)"),
        (another_users, "it belongs to the user with ID 12345, not to you"),
        (link_to_another_users, "it belongs to the user with ID 12345, not to you"),
        (in_an_open_folder, "its folder can be written by other users (its mode is 777)"),
        (in_another_users_folder, "its folder belongs to the user with ID 12345, not to you"),
    ],
)
def test_a_file_that_others_may_have_written_is_neither_read_nor_changed(
    lay: Callable[[Path], None], said: str
) -> None:
    lay(file.path())
    before = os.lstat(file.path())
    for use in (file.load, lambda: file.change({"report.company": "x"})):
        with pytest.raises(InputError) as caught:
            use()
        assert said in caught.value.message
        assert caught.value.hint
    assert os.lstat(file.path()) == before


def test_a_file_that_cannot_be_read_says_why(folder: Path) -> None:
    file.path().symlink_to(folder / "settings.toml")  # a circle, which root cannot read either
    with pytest.raises(InputError, match="cannot be used: it cannot be read"):
        file.load()


def test_windows_has_no_owners_to_go_by(monkeypatch: pytest.MonkeyPatch) -> None:
    written("[report]\ncompany = 'x'\n").chmod(0o666)
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    assert file.load().settings.report.company == "x"
    assert file.change({"report.company": "y"}).settings.report.company == "y"


def test_a_change_keeps_comments_and_all_else() -> None:
    place = written("# mine\n[report]  # for customers\npaper = 'letter' # theirs\n\n# the end\n")
    file.change({"report.company": 'Say "hi" \\ Ltd', "survey.jobs": 16})
    text = place.read_text()
    for kept in ("# mine\n", "[report]  # for customers\n", "paper = 'letter' # theirs\n", "# the end\n"):
        assert kept in text
    found = file.load()
    assert found.settings.report.company == 'Say "hi" \\ Ltd'
    assert found.settings.survey.jobs == 16
    assert file.change({"report.company": None, "survey.jobs": None}).given == {"report.paper"}
    assert "# the end\n" in place.read_text()


@pytest.mark.parametrize("content", ["report.paper = 'letter'\n", "report = {paper = 'letter'}\n", "[report]\n\n\n"])
def test_a_section_may_be_written_in_each_way_of_toml(content: str) -> None:
    written(content)
    before = file.load().settings
    after = file.change({"report.company": "x", "report.mask": True, "window.sound": False}).settings
    assert after == before.having("report.company", "x").having("report.mask", True).having("window.sound", False)
    assert file.change(dict.fromkeys(declared())).settings == Settings()


def test_every_setting_can_be_changed_and_removed() -> None:
    for key, setting in declared().items():
        other: str | int | bool = "/srv/x"
        if isinstance(setting.kind, Choice):
            other = next(word for word in setting.kind.titles() if word != setting.default)
        elif isinstance(setting.kind, Switch):
            other = not setting.default
        elif isinstance(setting.kind, Number):
            other = setting.kind.most
        assert file.change({key: other}).settings == Settings().having(key, other)
        assert file.load().given == {key}
        assert file.change({key: None}).settings == Settings()


def test_a_wrong_value_changes_nothing() -> None:
    place = written("[survey]\njobs = 2\n")
    for key, value in (("survey.jobs", 0), ("survey.jobs", "4"), ("report.paper", "a5"), ("report.papr", "a4")):
        with pytest.raises(InputError, match=key):
            file.change({"report.company": "x", key: value})
    assert place.read_text() == "[survey]\njobs = 2\n"


def test_a_broken_file_is_not_overwritten() -> None:
    place = written("[survey\n")
    with pytest.raises(InputError, match="line 1"):
        file.change({"survey.jobs": 4})
    assert place.read_text() == "[survey\n"


def test_a_new_file_is_the_users_alone_and_an_old_one_keeps_its_mode(folder: Path) -> None:
    folder.rmdir()
    file.change({"survey.jobs": 4})
    assert stat.S_IMODE(file.path().stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    file.path().chmod(0o640)
    file.change({"survey.jobs": 5})
    assert stat.S_IMODE(file.path().stat().st_mode) == 0o640
    assert [each.name for each in folder.iterdir()] == [file.FILE]


def test_a_link_of_its_user_stays_one(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("# mine\n")
    file.path().symlink_to(tmp_path / "dotfiles.toml")
    file.change({"survey.jobs": 4})
    assert file.path().is_symlink()
    assert "jobs = 4" in (tmp_path / "dotfiles.toml").read_text()


def test_what_another_program_has_changed_meanwhile_is_not_overwritten() -> None:
    written("[survey]\njobs = 2\n")
    shown = file.load()
    file.change({"survey.jobs": 3})
    with pytest.raises(InputError, match="was changed by another program meanwhile"):
        file.change({"survey.jobs": 4}, based_on=shown)
    assert file.load().settings.survey.jobs == 3
    assert file.change({"survey.jobs": 4}, based_on=file.load()).settings.survey.jobs == 4


def test_a_file_that_came_or_went_meanwhile_was_changed() -> None:
    shown = file.load()
    written("")
    with pytest.raises(InputError, match="was changed"):
        file.change({"survey.jobs": 4}, based_on=shown)
    shown = file.load()
    file.path().unlink()
    with pytest.raises(InputError, match="was changed"):
        file.change({"survey.jobs": 4}, based_on=shown)
    assert not file.path().exists()


ON_WINDOWS = """
import pytest
from core import this_workstation
from core.user_settings import file
from tests.windows import windows_locks
windows_locks(pytest.MonkeyPatch(), file)
this_workstation.on_windows = lambda: True
"""


@pytest.mark.parametrize("rules", ["", ON_WINDOWS], ids=["of this system", "of Windows"])
def test_two_writers_lose_nothing_of_each_other(rules: str) -> None:
    """Each changes a setting of its own again and again; neither takes the other's back."""
    program = (
        f"{rules}import sys\nfrom core.user_settings import file\n"
        "key, values = sys.argv[1], sys.argv[2:]\n"
        "for value in values:\n"
        "    found = file.change({key: int(value)})\n"
        "    assert found.settings.value(key) == int(value)\n"
    )
    values = [str(number) for number in range(1, 61)]
    writers = [
        subprocess.Popen([sys.executable, "-c", program, key, *values], cwd=TOP, stderr=subprocess.PIPE, text=True)
        for key in ("survey.jobs", "move.precopy_limit")
    ]
    for writer in writers:
        assert writer.communicate(timeout=120)[1] == ""
        assert writer.returncode == 0
    found = file.load().settings
    assert (found.survey.jobs, found.move.precopy_limit) == (60, 60)


def test_on_windows_a_file_beside_the_settings_is_locked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    asked = windows_locks(monkeypatch, file, waits=False)
    file.change({"survey.jobs": 4})
    assert asked == ["LK_LOCK", "LK_UNLCK"]
    assert {each.name for each in folder.iterdir()} == {file.FILE, "settings.lock"}
    with (folder / "settings.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="is being changed by another program"):
            file.change({"survey.jobs": 5})
    assert file.load().settings.survey.jobs == 4
    assert file.change({"survey.jobs": 5}).settings.survey.jobs == 5


def test_a_change_that_fails_lets_go_of_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    asked = windows_locks(monkeypatch, file, waits=False)
    written("[survey\n")
    for _ in range(2):
        with pytest.raises(InputError, match="line 1"):
            file.change({"survey.jobs": 4})
    assert asked == ["LK_LOCK", "LK_UNLCK"] * 2


def test_a_disk_that_takes_nothing_leaves_the_file_as_it_was(folder: Path) -> None:
    (folder / file.FILE).symlink_to("/dev/full")
    with pytest.raises(InputError, match="not a regular file"):
        file.change({"survey.jobs": 4})
    assert (folder / file.FILE).is_symlink()

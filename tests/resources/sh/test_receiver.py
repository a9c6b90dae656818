"""What the key of a copy may do on new: ask for what some rsync asks for in a copy; and what rsync then reaches."""

import subprocess
from pathlib import Path

import pytest

from core.migration.model.plan import functions_file
from core.servers.functions import library
from tests.fuzz.receiver import HOSTILE, SAID, Receiver, fuzz, told

LETTERS = "-lHtpre.iLsfxCIvu"


_UNSHARED = subprocess.run(
    ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/sys"],
    capture_output=True,
    check=False,
)
NAMESPACES = pytest.mark.skipif(_UNSHARED.returncode != 0, reason="this kernel lets nobody make namespaces of its own")


@pytest.fixture
def receiver(tmp_path: Path) -> Receiver:
    return Receiver(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("version", sorted(path.stem for path in SAID.glob("*.txt")))
def test_what_each_version_says_in_a_copy_is_taken(receiver: Receiver, version: str) -> None:
    text = (SAID / f"{version}.txt").read_text()
    refused = 'while IFS= read -r line; do is_copy_command "$line" || echo "$line"; done'
    words = ["sh", "-c", f"{library(['is_copy_command'])}\n{refused}"]
    assert subprocess.run(words, input=text, capture_output=True, text=True, check=False).stdout == ""
    line = text.splitlines()[-1]
    done = receiver.ask(f"pghaul-receive data {line}")
    assert (done.returncode, told(done.stdout)) == (0, (str(receiver.target), line.split())), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "-s . .",
        f"-s{LETTERS[1:]} . .",
        f"{LETTERS} --secluded-args . .",
        f"{LETTERS} --daemon . .",
        f"{LETTERS} --daemon --config=sent.conf . .",
        f"{LETTERS} --config=sent.conf . .",
        f"-K{LETTERS[1:]} . .",
        f"-L{LETTERS[1:]} . .",
        f"{LETTERS} -e sh . .",
        f"{LETTERS} -esh . .",
        "-e.iLsfxCIvu . .",
        f"{LETTERS} -M--daemon . .",
        f"{LETTERS} --log-file=/etc/passwd . .",
        f"{LETTERS} --log-file /etc/passwd . .",
        f"--sender {LETTERS} . .",
        f"{LETTERS} --timeout=600 . /etc",
        f"{LETTERS} --timeout=600 . ..",
        f"{LETTERS} --timeout=600 . link",
        f"{LETTERS} --timeout=600 .",
        f"{LETTERS} . --timeout=600 .",
        f"{LETTERS} --timeout=600 . . .",
        f"{LETTERS} {LETTERS} . .",
        f"{LETTERS} --server . .",
        f"{LETTERS} --timeout=601 . .",
        f"{LETTERS} --max-delete=1\n--daemon . .",
        f"{LETTERS} . .\n--daemon",
        f"{LETTERS}  --timeout=600 . .",
    ],
)
def test_all_else_is_refused_and_named(receiver: Receiver, words: str) -> None:
    done = receiver.ask(f"pghaul-receive data --server {words}")
    assert (done.returncode, done.stdout) == (126, b"")
    assert done.stderr.decode() == (f"pghaul: this key allows one copy only, which does not need: --server {words}\n")


@pytest.mark.slow
def test_no_word_that_could_do_harm_is_taken_wherever_it_stands(receiver: Receiver) -> None:
    harmless = {"--append", "--server"}  # an option of samples, and the first word itself
    for word in (word for word in HOSTILE if word not in harmless):
        assert receiver.ask(f"pghaul-receive data --server {LETTERS} --timeout=600 {word} . .").returncode == 126, word


@pytest.mark.slow
def test_nothing_is_found_in_a_second(receiver: Receiver) -> None:  # noqa: ARG001  a folder of its own
    assert fuzz(1, 20261122) > 10


@NAMESPACES
def test_whoever_sends_a_link_writes_nowhere_else(tmp_path: Path) -> None:
    """As an rsync would that follows links that were sent before."""
    target = tmp_path / "it's $(touch x)"
    target.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (target / "away").symlink_to(outside)
    (target / "up").symlink_to("../outside")
    (tmp_path / "functions").write_text(functions_file(library(["receive_copy"])))
    write = "echo 1 >within; for each in away up /var/tmp .. /proc/1/root/tmp; do echo 1 >$each/pghaul-sent; done"
    done = _enclosed(tmp_path, target, "sh", "-c", f"{write}; pwd; exec ls /old /proc")
    assert (target / "within").exists(), done.stderr
    assert [path.name for path in outside.iterdir()] == []
    assert not Path("/var/tmp/pghaul-sent").exists()
    assert not (tmp_path / "pghaul-sent").exists()
    assert done.stdout == f"{target}\n/old:\n\n/proc:\n"


@NAMESPACES
def test_programs_are_read_only_in_there(tmp_path: Path) -> None:
    (tmp_path / "functions").write_text(functions_file(library(["receive_copy"])))
    done = _enclosed(tmp_path, tmp_path, "sh", "-c", "echo here; echo 1 >/usr/pghaul-sent; echo 1 >/etc/pghaul-sent")
    assert done.stdout == "here\n"
    assert done.stderr.count("Read-only file system") == 2


def _enclosed(folder: Path, target: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", folder / "functions", "enclose", *words], cwd=target, capture_output=True, text=True, check=False
    )

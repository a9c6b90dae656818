"""Examples of the functions of the remote half, and how one is run here: by dash and by bash, without SSH around it.

An example calls one function with words that make it do its work, in a folder of its own. `test_functions.py` runs each
in dash, the first of each function in bash too, and looks whether it does what it should; then it breaks, one after the
other, every program that the function runs, behind what that prints, and the disk: each time the function must end with
a sentence.
What may break without harm is declared with its reason.

    Example(
        "count_records",                                   # the function
        "list",                                      # its words; `@folder@` stands for the example's folder
        arrange="printf 'a\\0b\\0' >list",             # sh, run in that folder before: the state it finds
        prints="2\n",                                # its whole output, or a regular expression by `matches`
        after="test -e list",                        # sh, run there behind it: fails where the state is wrong
    )

The subjects' examples stand in `examples_SUBJECT.py` files beside this one, each as a list `EXAMPLES`; a failing case
by hand has `status` other than 0 and says the sentence in `complains`.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fcntl import F_SETPIPE_SZ, fcntl
from pathlib import Path

from core.servers.functions import library, named_in

SHELLS = ("dash", "bash")
_PIPE_BYTES = 2**20
"""As many as any user may have for a pipe (fs.pipe-max-size): what the shims note is far less."""


@dataclass(frozen=True)
class Example:
    """A call of a function.

    Attributes:
        words: its words; `@folder@` stands for the example's own folder, in which it runs, `@path@` for the PATH that
            finds the stand-ins and the watched programs.
        arrange, after: pieces of sh for the state before, and for what must be so behind it; they may call functions,
            and `became NAME PROCESS` to wait until what they have begun beside is that program.
        settings: variables that the function reads.
        stdin: its standard input.
        prints: its whole standard output; `matches`: a regular expression for it instead, where it differs every time.
        status, complains: what it ends with, and what its standard error must say.
        tolerates: programs whose failure is no failure of the function -> why. `NAME` of either kind of failure,
            `NAME behind` where it fails behind its whole output.
        programs: scripts that stand in for what cannot really run here (pg_ctlcluster, systemctl): NAME -> body in sh.
        seconds: how long it may take.
        as_root: only root may do what it does, or make the state that it finds.
        read_only: what it runs sees every file system read-only.
    """

    function: str
    words: tuple[str, ...] = ()
    arrange: str = ""
    after: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    prints: str | None = None
    matches: str | None = None
    status: int = 0
    complains: str = ""
    tolerates: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 20.0
    as_root: bool = False
    read_only: bool = False
    name: str = ""

    def __str__(self) -> str:
        return f"{self.function}-{self.name}" if self.name else self.function


@dataclass(frozen=True)
class Ended:
    """How a run came out; `used`: the programs that it ran."""

    status: int
    stdout: str
    stderr: str
    used: tuple[str, ...]

    @property
    def says_why(self) -> bool:
        """Whether it failed with a sentence of ours."""
        return self.status != 0 and re.search(r"^pghaul: \S", self.stderr, re.MULTILINE) is not None


@contextmanager
def _noted(path: Path, *, read_only: bool) -> Iterator[Callable[[], str]]:
    """A file into which the shims write, and what reads it.

    `read_only`: a pipe with a name, into which they can write where a file system is read-only. Whoever opens it behind
    the run waits for ever, so it is for those alone that leave nobody.
    """
    if not read_only:
        path.write_text("")
        yield path.read_text
        return
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def read() -> str:
        with suppress(BlockingIOError):
            return os.read(pipe, _PIPE_BYTES).decode()
        return ""

    try:
        fcntl(pipe, F_SETPIPE_SZ, _PIPE_BYTES)
        yield read
    finally:
        os.close(pipe)


_LONGEST_ARGUMENT = 128 << 10
"""Bytes; source: execve(2), MAX_ARG_STRLEN."""


class Stage:
    """A folder in which an example runs. `shims`: a folder of programs that stand in for the machine's."""

    def __init__(self, folder: Path, shell: str, example: Example, shims: Path | None = None) -> None:
        self.folder = folder / "room"
        self.shell = shell
        self.example = example
        self._own = folder / "programs"
        self._shims = shims
        self._notes = folder / "notes"
        self.folder.mkdir(parents=True)
        self._own.mkdir()
        for name, body in example.programs.items():
            _script(self._own / f"{name}.own", body)
            _script(self._own / name, _either(name, self._own / f"{name}.own"))
        if example.arrange:
            self._sh(example.arrange)

    def run(self, broken: str = "", *, behind: bool = False, full_disk: bool = False) -> Ended:
        """Run the example; `broken`: a program that fails, `behind`: not before it has printed what it does."""
        call = " ".join([self.example.function, *(_quoted(self._placed(word)) for word in self.example.words)])
        settings = "".join(f"{name}={_quoted(self._placed(value))}\n" for name, value in self.example.settings.items())
        text = f"{settings}{library(named_in(call), self.example.settings)}\n{call}\n"
        # the kernel takes no longer argument
        script = self.folder.parent / "script"
        script.write_text(text)
        given = [str(script)] if len(text.encode()) >= _LONGEST_ARGUMENT else ["-c", text]
        limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"] if full_disk else []
        with _noted(self._notes, read_only=self.example.read_only) as notes:
            done = subprocess.run(
                [*limited, self.shell, *given],
                cwd=self.folder,
                env=self._environment(broken, behind=behind),
                input=self._placed(self.example.stdin).encode(),
                capture_output=True,
                check=False,
                timeout=self.example.seconds,
            )
            used = tuple(dict.fromkeys(notes().split()))
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode(), used)

    def without_folder(self, text: str) -> str:
        """An output with `@folder@` for the example's folder, which differs from run to run."""
        return text.replace(str(self.folder), "@folder@")

    def look(self) -> None:
        """Raise AssertionError where the state behind the run is not as the example says."""
        if not self.example.after:
            return
        done = self._sh(self.example.after, check=False)
        assert done.returncode == 0, f"`{self.example.after}` does not hold: {done.stderr.decode()}"

    def _sh(self, text: str, *, check: bool = True) -> "subprocess.CompletedProcess[bytes]":
        placed = self._placed(text)
        return subprocess.run(
            [self.shell, "-c", f"{_BECAME}\n{library(named_in(placed))}\n{placed}"],
            cwd=self.folder,
            env={**self._environment(), "PATH": f"{self._own}:{_SYSTEM}", "SHIM_NOTES": "/dev/null"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=check,
            timeout=self.example.seconds,
        )

    def _environment(self, broken: str = "", *, behind: bool = False) -> dict[str, str]:
        return {
            "PATH": self._path,
            "LC_ALL": "C",
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "SHIM_NOTES": str(self._notes),
            "SHIM_BROKEN": broken,
            "SHIM_BEHIND": "yes" if behind else "",
        }

    def _placed(self, text: str) -> str:
        return text.replace("@folder@", str(self.folder)).replace("@path@", self._path)

    @property
    def _path(self) -> str:
        return ":".join(str(folder) for folder in (self._own, self._shims, _SYSTEM) if folder is not None)


def make_shims(folder: Path) -> None:
    """`watched`: a folder of programs that note that they ran, and do their work; `broken/NAME`: one with NAME alone,
    which breaks. A function that meets no more than the one runs twice as fast.
    """
    for name in WATCHED:
        path = shutil.which(name, path=_SYSTEM)
        if path is not None:
            _script(folder / "watched" / name, _noting(name, Path(path)))
            _script(folder / "broken" / name / name, _breaking(name, Path(path)))


def _noting(name: str, path: Path) -> str:
    return f'{_note(name)}\nexec {path} "$@"'


def _breaking(name: str, path: Path) -> str:
    return f'{_note(name)}\n[ -z "$SHIM_BEHIND" ] || {path} "$@"\nexit 3'


def _note(name: str) -> str:
    return f'echo {name} >>"$SHIM_NOTES" 2>/dev/null'


def _either(name: str, path: Path) -> str:
    """Of an example's own program, which is there in every run: it breaks if it is the one that shall."""
    return f'if [ "$SHIM_BROKEN" = {name} ]; then\n{_breaking(name, path)}\nfi\n{_noting(name, path)}'


_BECAME = """
became() {
  until read -r became_now <"/proc/$2/comm" && [ "$became_now" = "$1" ]; do
    /bin/sleep 0.01 && kill -s 0 "$2" || exit
  done
}"""
"""For `arrange`: `became NAME PROCESS` waits until a process that was begun beside is the program of that name."""
_SYSTEM = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"

_PROGRAMS = """
awk base64 basename blkid blockdev bonnie++ busctl cat chmod chown chronyc cmp comm cp curl cut date dd df diff
dirname dmesg du dumpe2fs env exportfs expr fallocate find findmnt fio flock fuser getconf getenforce getent grep gzip
head hostname id initdb install ionice ip ipcrm iperf3 iptables-legacy-save iptables-save join ldd ln locale loginctl
ls lsblk lscpu lsof mdadm mkdir mkfifo mktemp modprobe mount mountpoint mv nft nice ntpstat numfmt od openssl paste
perl pg_amcheck pg_checksums pg_conftool pg_controldata pg_ctl pg_ctlcluster pg_isready pg_lsclusters
pg_verify_checksums pgbench pgrep pidof pivot_root postgres ps psql pwd python3 readlink realpath renice rm rmdir
rpc.mountd rpc.nfsd rpcbind rsync runuser sed seq setfattr setpriv setsid sfdisk sha256sum shuf sleep smartctl socat
sort split ssh ssh-keygen sshd stat su sudo sync sysctl systemctl tail tar tee timedatectl timeout touch tr truncate
tune2fs udevadm umount uname uniq unshare update-initramfs uptime wc who wipefs xargs xfs_info zcat zfs prlimit
"""
WATCHED = frozenset(_PROGRAMS.split())
"""Programs that are watched and broken: all that a function may run."""


def _script(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"

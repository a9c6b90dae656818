"""The receiver of a copy, fuzzed: whatever is asked, rsync is told what some version says in a copy, or does not run.

`python -m tests.fuzz.receiver SECONDS [SEED]` ends with 1 at the first finding, and prints it with its seed.
"""

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from core.migration.model.plan import functions_file
from core.servers.functions import library
from tests.core.migration.running import environment, program

SAID = Path(__file__).parent.parent / "data" / "rsync-server"
"""What real versions of rsync ask for in the passes of a copy, a file a version: see its README."""

_HOSTILE = """
-s -K -L -e -M -D -a -- - . .. / -esh -e. -M--daemon -@-1 -B1 --secluded-args --protect-args --daemon --config=/x
--sender --log-file=/x --log-file --temp-dir=/x --backup-dir=/x --partial-dir=/x --compare-dest=/x --link-dest=/x
--files-from=/x --write-batch=x --only-write-batch=X --remove-source-files --delete-excluded --no-implied-dirs
--keep-dirlinks --copy-links --copy-unsafe-links --munge-links --insecure-links --write-devices --super --fake-super
--rsh=sh --server --rsync-path=sh --remote-option=--daemon --iconv=x --chmod=u+s --chown=root --usermap=x --mkpath
--max-alloc=1 --append --info=all --debug=all --stderr=all --out-format=x --log-format=%x --timeout=1 --max-delete=x
--max-delete= --existing=x $(id) `id` ;id &id |id >x <x * ? ~ ' " # %s ${IFS} link ./link ../x /etc/passwd sh rsync
flush discard --bwlimit=0 --bwlimit=1x
"""
HOSTILE = [*_HOSTILE.split(), "\\", "\n", "\t", "\r", "é", "\x7f"]


def said() -> list[str]:
    """Every line of real words for new's rsync, each once."""
    lines = {line for path in sorted(SAID.glob("*.txt")) for line in path.read_text().splitlines()}
    return sorted(lines)


class Receiver:
    """The receiver with a folder to receive in, an rsync that only says what it was told, and no namespaces."""

    def __init__(self, folder: Path) -> None:
        self.target = folder / "target"
        self.target.mkdir()
        self._functions = folder / "functions"
        self._functions.write_text(functions_file(library(["receive_copy"])))
        self._programs = folder / "programs"
        program(self._programs / "rsync", 'printf \'%s\\0\' "$PWD" "$@"')
        program(self._programs / "unshare", "exit 1")

    def ask(self, words: str, shell: str = "dash") -> subprocess.CompletedProcess[bytes]:
        """Ask what stands behind the key; `words`: as sshd hands them over."""
        return subprocess.run(
            [shell, self._functions, "receive_copy", os.fsencode(words), "data", self.target],
            env=environment(self._programs),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=30,
        )


def told(answer: bytes) -> tuple[str, list[str]]:
    """In which folder rsync ran, and what it was told."""
    folder, *words = answer.decode(errors="surrogateescape").split("\0")[:-1]
    return folder, words


class Fuzz:
    """Asks, and looks what came of it.

    Attributes:
        lines: real ones; `known`: their words, with a number for any.
    """

    def __init__(self, receiver: Receiver) -> None:
        self.receiver, self.lines = receiver, said()
        self.known = {_numbered(word) for line in self.lines for word in line.split()}

    def look(self, asked: str, shell: str) -> None:
        """Raise AssertionError where more came of it than may."""
        done = self.receiver.ask(asked, shell)
        if done.returncode == 0 and asked in {"pghaul-receive data flush_file_system", "pghaul-receive discard"}:
            return
        if done.returncode != 0:
            refused = b"pghaul: this key allows one copy only" in done.stderr
            assert (done.returncode, done.stdout, refused) == (126, b"", True), (asked, done)
            return
        folder, words = told(done.stdout)
        assert folder == str(self.receiver.target), asked
        first, letters, *options, source, target = words
        assert (first, source, target) == ("--server", ".", "."), asked
        unknown = [word for word in options if not word.startswith("--") or _numbered(word) not in self.known]
        assert not unknown, asked
        assert re.fullmatch(r"-n?lHtprI?R?z?(e[.0-9]*[A-Za-z]*)?", letters), asked


def _numbered(word: str) -> str:
    """A word with `7` for its number; a removal of none is -1."""
    return re.sub(r"(?<==)(-1|[0-9]+)$", "7", word, flags=re.ASCII)


def mutated(chance: random.Random, lines: list[str]) -> str:
    """A real line with words put in, left out, doubled, changed or put elsewhere; at times none of it is changed."""
    words = ["pghaul-receive", "data", *chance.choice(lines).split()]
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(words) + 1)
        match chance.randrange(6):
            case 0:
                words.insert(place, chance.choice(HOSTILE))
            case 1:
                words[place : place + 1] = []
            case 2:
                words[place : place + 1] *= 2
            case 3:
                words[place : place + 1] = [_scratched(chance, word) for word in words[place : place + 1]]
            case 4:
                words[place : place + 1] = [word + chance.choice(HOSTILE) for word in words[place : place + 1]]
            case _:
                words.insert(chance.randrange(3, 9), words.pop(place - 1)) if words else None
    return chance.choice((" ", " ", " ", " ", "  ", "\t", "\n")).join(words).replace("\0", "")


def _scratched(chance: random.Random, word: str) -> str:
    """A word with a sign of it changed for another, left out or put in."""
    place = chance.randrange(len(word) + 1)
    sign = chance.choice(["", chr(chance.randrange(1, 128)), chance.choice("sKLeMDaCcdkmOSXAUN.-=/ ")])
    return word[:place] + sign + word[place + chance.randrange(2) :]


def fuzz(seconds: float, seed: int) -> int:
    """Ask for so long; how often it was. Raises AssertionError at the first finding."""
    chance, end, tries = random.Random(seed), time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory() as folder:
        fuzzed = Fuzz(Receiver(Path(folder)))
        while time.monotonic() < end:
            fuzzed.look(mutated(chance, fuzzed.lines), ("dash", "bash")[tries % 2])
            tries += 1
    return tries


def main(seconds: float, seed: int) -> int:
    """Fuzz, and say what came of it; 1 where something was found."""
    print(f"receiver: seed {seed}", flush=True)
    try:
        tries = fuzz(seconds, seed)
    except AssertionError as finding:
        print(f"receiver: seed {seed}: {finding}", file=sys.stderr)
        return 1
    print(f"receiver: asked {tries:,} times, nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)))

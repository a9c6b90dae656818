"""The command line on the lab's hosts, for tests that do what a person does."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from core.cli.main import main
from tests.lab import clusters
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab


@dataclass
class CommandLine:
    """The command line in this process, with the lab's host keys named beforehand where a subcommand connects."""

    lab: Lab
    asker: LabAsker
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = self.capsys.readouterr()
        return code, captured.out, captured.err

    def connecting(self, *arguments: str) -> tuple[int, str, str]:
        keys = [word for key in sorted(self.asker.fingerprints) for word in ("--host-key", key)]
        return self(*arguments, *keys)

    def describe(self, host: Host, *options: str, user: str = "dba") -> None:
        """Describe a lab host; what `options` say wins."""
        identity = () if "--identity" in options else ("--identity", str(self.lab.key))
        code, _, err = self("server", "add", host.name, host.address, "--user", user, *identity, *options, "--replace")
        assert code == 0, err

    def set_up(self, cluster: str = clusters.DATA, *options: str, target: str = clusters.NEW_DATA) -> None:
        """Both hosts described, and a move `m` between them."""
        self.describe(self.lab.old)
        self.describe(self.lab.new)
        where = ("--cluster", cluster, "--target", target)
        volumes = ["--new-volume", "/srv/pg"]
        if "--old-volume" not in options:
            volumes += ["--old-volume", "/srv/pg"]
        code, _, err = self("move", "add", "m", "--old", "old", "--new", "new", *where, *volumes, *options)
        assert code == 0, err

    def last_step(self, move: str = "m") -> str:
        """The step that the latest execution has come to, by its id."""
        code, out, err = self("execute", move, "--status", "--json")
        assert code == 0, err
        execution = json.loads(out)["execution"]
        names = {step["number"]: step["id"] for step in execution["plan"]["steps"]}
        return str(names[execution["steps"][-1]["number"]])


@dataclass(frozen=True)
class Terminal:
    """A person who does something before each answer; what a program takes for its standard input."""

    act: Callable[[], object]
    answer: str = "done\n"

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        self.act()
        return self.answer

"""What is asked of the new server's systemd beside a trial start."""

from types import SimpleNamespace
from typing import cast

import pytest

from core.facts.model import Tablespace
from core.facts.starters import Service
from core.jobs import Job
from core.migration.model.move import Hook, HookCommand
from core.migration.probing.trial_start import with_trial_start
from core.servers.connection import Completed, Server
from core.servers.shell import Shell
from core.sides import Side
from tests.core.migration.builders import DATA, TARGET, cluster, move, new, old


class Answers:
    """A server on which everything works."""

    name = "new"
    profile = SimpleNamespace(database_user="postgres")

    def can_become(self, *_: object) -> bool:
        return True

    def run(self, shell: Shell, *_: object, **__: object) -> Completed:
        unmet = "print_unmet_conditions" in shell.text
        return Completed(shell.shown, 0, "unmet ConditionHost=other\n" if unmet else "started\n", "", 0.0)


def test_a_folder_that_no_command_can_name_keeps_no_condition_from_being_judged() -> None:
    server = cast("Server", Answers())
    made = cluster(tablespaces=(Tablespace(16400, "pg_tblspc/16400", "/srv/line\nbreak", 1, 1),))
    unit = Service(TARGET, "15/main", "postgresql@15-main.service", debian=True)
    tried = with_trial_start(server, server, old(made), new(services=(unit,)), move(), Job()).trial_start
    assert tried is not None
    assert (tried.cluster, tried.unmet) == (DATA, ("ConditionHost=other",))


@pytest.mark.parametrize(
    ("hook", "known"),
    [
        (HookCommand(Hook.STOP_APPLICATIONS, "workstation", "true"), "stop-applications"),
        (HookCommand(Hook.STOP_APPLICATIONS, Side.NEW, "true", from_elsewhere=True), ""),
        *((HookCommand(each, Side.NEW, "true"), "") for each in Hook if each is not Hook.STOP_APPLICATIONS),
    ],
)
def test_of_the_commands_of_a_move_that_one_counts_which_runs_before_the_stop(hook: HookCommand, known: str) -> None:
    server = cast("Server", Answers())
    tried = with_trial_start(server, server, old(cluster()), new(), move(), Job(), hooks=(hook,)).trial_start
    assert tried is not None
    assert tried.hook == known

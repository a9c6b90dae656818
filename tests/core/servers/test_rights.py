"""Who may become whom, and what sudo means when it refuses."""

import pytest

from core.errors import AuthenticationError, CommandError
from core.servers import rights
from core.servers.profiles import Profile, Rights
from core.servers.shell import command
from tests.shells import sh

SUDO = ("env", "LC_ALL=C", "sudo")


def profile(allowed: Rights) -> Profile:
    return Profile("old", "10.0.0.1", rights=allowed, database_user="pg")


def test_oneself_needs_nothing() -> None:
    for allowed in Rights:
        assert rights.command_prefix(profile(allowed), "dba", None) == rights.CommandPrefix()
        assert rights.command_prefix(profile(allowed), "dba", "dba") == rights.CommandPrefix()
        assert rights.shell_as_user(profile(allowed), "dba", None, command("id")).text == "id"


def test_root_needs_no_sudo() -> None:
    assert rights.command_prefix(profile(Rights.NONE), "root", "pg").words == ("runuser", "-u", "pg", "--")
    assert rights.shell_as_user(profile(Rights.NONE), "root", "pg", command("id")).text == "runuser -u pg -- sh -c id"


def test_sudo_without_and_with_a_password() -> None:
    assert rights.command_prefix(profile(Rights.SUDO), "dba", "root") == rights.CommandPrefix(
        (*SUDO, "-n", "-u", "root", "--")
    )
    asking = rights.command_prefix(profile(Rights.SUDO_PASSWORD), "dba", "root", prompt="word")
    assert asking == rights.CommandPrefix((*SUDO, "-S", "-p", "word", "-u", "root", "--"), asks_password=True)
    shown = rights.shell_as_user(profile(Rights.SUDO_PASSWORD), "dba", "root", sh("a; b"))
    assert shown.text == "sudo -u root -- sh -c 'a; b'"


def test_what_the_profile_does_not_give_is_refused() -> None:
    assert rights.command_prefix(profile(Rights.SUDO_POSTGRES), "dba", "pg").words == (*SUDO, "-n", "-u", "pg", "--")
    with pytest.raises(AuthenticationError, match=r"\broot\b.*\bpg\b"):
        rights.command_prefix(profile(Rights.SUDO_POSTGRES), "dba", "root")
    with pytest.raises(AuthenticationError, match=r"\bdba\b"):
        rights.shell_as_user(profile(Rights.NONE), "dba", "pg", command("id"))


@pytest.mark.parametrize(
    ("stderr", "kind", "sentence"),
    [
        ("sh: 1: exec: sudo: not found\n", AuthenticationError, "sudo"),
        ("env: 'sudo': No such file or directory\n", AuthenticationError, "sudo"),
        ("sudo: a password is required\n", AuthenticationError, r"\bdba\b.*\broot\b"),
        ("sudo: sorry, you must have a tty to run sudo\n", AuthenticationError, "sudo"),
        ("sudo: unknown user root\n", CommandError, r"\broot\b"),
        ("runuser: user root does not exist\n", CommandError, r"\broot\b"),
        ("\ndba is not in the sudoers file.\n", AuthenticationError, r"\bdba\b.*not in the sudoers file"),
        ("Sorry, user dba may not run sudo on old.\n", AuthenticationError, r"\bdba\b"),
        ("sudo: 5 blue moons\n", AuthenticationError, r"\broot: sudo: 5 blue moons"),
        ("", AuthenticationError, r"\broot: .*\b1\n"),
    ],
)
def test_sudos_own_words_are_understood(stderr: str, kind: type[Exception], sentence: str) -> None:
    error = rights.explain_refusal(profile(Rights.SUDO), "dba", "root", 1, stderr)
    assert type(error) is kind
    assert error.hint
    with pytest.raises(kind, match=sentence):
        raise error


def test_each_obstacle_of_sudos_has_a_sentence_of_its_own() -> None:
    obstacles = (
        "sh: 1: exec: sudo: not found\n",
        "sudo: a password is required\n",
        "sudo: sorry, you must have a tty to run sudo\n",
        "sudo: unknown user root\n",
        "Sorry, user dba may not run sudo on old.\n",
        "sudo: 5 blue moons\n",
    )
    said = {rights.explain_refusal(profile(Rights.SUDO), "dba", "root", 1, stderr).message for stderr in obstacles}
    assert len(said) == len(obstacles)

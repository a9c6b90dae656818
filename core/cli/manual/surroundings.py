"""What is true of every subcommand: exit codes, variables of the environment, files. For manual pages and reference."""

from typing import NamedTuple


class Entry(NamedTuple):
    """A name and what it means."""

    name: str
    meaning: str


EXIT_CODES = (
    Entry("0", "Done."),
    Entry("1", "Done, with blockers, a failed verification or a run that failed."),
    Entry("2", "Wrong usage or input."),
    Entry("3", "A server could not be reached, or refused."),
    Entry("4", "Cancelled."),
    Entry("70", "A bug in pghaul."),
)

VARIABLES = (
    Entry("PGHAUL_DATA", "The folder of the history and the log, instead of the platform's own."),
    Entry("PGHAUL_CONFIG", "The folder of the key of the seal, instead of the platform's own."),
    Entry("PGHAUL_SSH_CONFIG", "The file to read instead of ~/.ssh/config, as with ssh -F; none: no file at all."),
    Entry("SSH_AUTH_SOCK", "The agent that is asked for keys, as with ssh."),
)

FILES = (
    Entry("~/.local/share/pghaul/", "The history. It stays when the package is removed."),
    Entry(
        "~/.config/pghaul/history.key",
        "The key of the seal by which what you recorded is told from a history of somebody else.",
    ),
    Entry("~/.config/pghaul/histories.json", "Where a team's history lies, as pghaul history use was told."),
    Entry(
        "~/.config/pghaul/aside",
        "What was measured while the server of a team's history was lost: recorded once it answers, and gone then.",
    ),
    Entry(
        "~/.ssh/config, ~/.ssh/known_hosts",
        "Honoured as ssh honours them: those in the home of the account, whatever HOME says.",
    ),
)

SECRETS = "Passwords are kept in the desktop's own store of secrets, or asked for and forgotten; never in a file."

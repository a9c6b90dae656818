"""What is true of every subcommand: exit codes, variables of the environment, files. For manual pages and reference."""

from typing import NamedTuple


class Entry(NamedTuple):
    """A name and what it means."""

    name: str
    meaning: str


EXIT_CODES = (
    Entry("0", "Success."),
    Entry(
        "1",
        "Something needs your attention: for example a blocker, a check to run first, a failed verification or "
        "benchmark run, a rollback that is refused, or an entry of a list that was refused. Also if the operator has "
        "paused an execution.",
    ),
    Entry("2", "Wrong usage or input."),
    Entry(
        "3", "A server could not be reached, refused a request, or a command failed there, such as a step of a move."
    ),
    Entry("4", "Cancelled."),
    Entry("70", "A bug in pghaul. The message names the log that contains it."),
)

VARIABLES = (
    Entry("PGHAUL_DATA", "Folder of the history and the log (default: the usual folder of the platform)."),
    Entry(
        "PGHAUL_CONFIG", "Folder of the settings and of the signing key (default: the usual folder of the platform)."
    ),
    Entry("PGHAUL_SSH_CONFIG", "File to read instead of ~/.ssh/config, as with ssh -F; none: read no file."),
    Entry("SSH_AUTH_SOCK", "Socket of the ssh agent that holds keys, as for ssh."),
)

FILES = (
    Entry("~/.local/share/pghaul/", "The history. Removing the package does not remove it."),
    Entry("~/.local/share/pghaul/bugs.log", "The bugs that a command has ended with, to be reported."),
    Entry(
        "~/.config/pghaul/history.key",
        "The key that signs what you record. Records without your signature are untrusted.",
    ),
    Entry("~/.config/pghaul/settings.toml", "Your settings for pghaul, as shown and changed by pghaul settings."),
    Entry("~/.config/pghaul/histories.json", "Where the history of a team is stored, as chosen by pghaul history use."),
    Entry(
        "~/.config/pghaul/aside",
        "Results that were measured while the server of a team's history did not answer. They are recorded and removed "
        "as soon as it answers.",
    ),
    Entry(
        "~/.ssh/config, ~/.ssh/known_hosts",
        "Read as ssh reads them: from the home directory of the account, whatever HOME says.",
    ),
)

SECRETS = (
    "Passwords are stored in the keyring of the desktop, or asked for and not stored. They are never written to a file."
)

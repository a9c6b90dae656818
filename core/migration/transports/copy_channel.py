"""The way from old to new for one copy: an ephemeral key on old that opens nothing on new but that copy's receiver.

The key's line on new has `restrict`, `from=` and a forced command, the receiver: it takes one of the copy's own folders
by its label and an rsync server's options without any path, and nothing else. So a stolen key reads nothing, starts
nothing and writes nowhere else. New's host keys are pinned from the workstation's own, checked connection.

Source of the line's format: sshd(8), AUTHORIZED_KEYS FILE FORMAT.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import LiteralString

from core.errors import InputError
from core.facts.model import Facts
from core.migration.model.move import Move
from core.migration.model.transport import PLAIN, Transport
from core.migration.transports.rsync_versions import UNKNOWN, Version
from core.servers.profiles import Profile, Rights
from core.servers.shell import Shell, command, script

RECEIVER = "pghaul-receive"
DISCARD = "discard"
"""The label of a folder that is none: what comes is thrown away, to measure."""

SAY_WHOLE: LiteralString = " && echo '# whole'"
"""Behind what prints the input of a later step: the last line, by which that step knows that it got all of it."""
TAKE_WHOLE: LiteralString = (
    "given=$(cat); whole=${given%'# whole'}; "
    '[ "$whole" != "$given" ] || { echo \'the input is cut off: nothing was changed\' >&2; exit 1; }; '
)
"""Ahead of what uses such an input: `whole` holds it. A connection that is lost looks like the end of the input."""

RECEIVE: LiteralString = (
    'refuse() { echo "pghaul: this key is for one copy alone" >&2; exit 126; }; '
    "wanted=${1#pghaul-receive }; "
    '[ "$wanted" != "$1" ] || refuse; shift; '
    'if [ "$wanted" = discard ]; then exec cat >/dev/null; fi; '
    "place=; "
    'while [ $# -gt 1 ]; do [ "$1" = "${wanted%% *}" ] && place=$2; shift 2; done; '
    '[ -n "$place" ] && cd -- "$place" || refuse; '
    'if [ "${wanted#* }" = flush ]; then sync -f . || exec sync; exit; fi; '
    "set -f; set -- ${wanted#* }; "
    '[ "$1" = --server ] || refuse; '
    "for word do case $word in --sender|*/*) refuse;; esac; done; "
    # what arrives goes to the disk while more arrives, so that no flush of gigabytes waits at the end
    "{ while sleep 0.2 && kill -0 $$; do sync -f . || sync; done; } </dev/null >/dev/null 2>&1 & "
    'exec rsync "$@"'
)


@dataclass(frozen=True, slots=True)
class CopyChannel:
    """The way from old to new for one copy.

    Attributes:
        marker: the comment of the key, by which its line on new is found again.
        folder: a folder on old, 0700, with `key`, `key.pub` and `known_hosts`; it is gone when the copy is.
        address, port, login: where old reaches new, and the user of new who opens the connection.
        writer: the user of new who owns what arrives; `becomes`: the words by which the login becomes that user.
        sources: addresses of old that the key is good from.
        targets: label -> folder on new.
        transport: how the files travel; `rsync`: the older of both versions.
        purpose: `probe`, which is over in minutes, or `copy`, which may wait for days.
        control: on old, prints the control file: it tells which WAL is in use. None: not known, and all of it travels.
    """

    marker: str
    folder: str
    address: str
    port: int
    login: str
    writer: str
    becomes: tuple[str, ...]
    sources: tuple[str, ...]
    targets: tuple[tuple[str, str], ...]
    transport: Transport = PLAIN
    rsync: Version = UNKNOWN
    control: Shell | None = None
    purpose: str = "copy"


def channel_of(
    move: Move,
    new: Profile,
    old_facts: Facts,
    targets: Sequence[tuple[str, str]],
    *,
    purpose: str,
    address: str,
    login: str | None,
    transport: Transport = PLAIN,
    rsync: Version = UNKNOWN,
) -> CopyChannel:
    """The copy channel of a move. `purpose` keeps a probe's key apart from a plan's; `address`: where old reaches new.

    `login` is who logs in on new for the workstation; old comes in as the same user where that one may become the
    database user without a password: that it may log in is known. Else old comes in as the database user itself.

    Raises:
        InputError: the facts of old hold no address that new could see it by.
    """
    user, becomes = _receiving(new, login)
    name = f"pghaul-{purpose}-{sha256(move.name.encode()).hexdigest()[:12]}"
    return CopyChannel(
        marker=name,
        folder=f"/tmp/{name}",  # noqa: S108  made by mkdir, which fails where anything lies already
        address=address,
        port=new.port or 22,
        login=user,
        writer=new.database_user,
        becomes=becomes,
        sources=_sources(old_facts),
        targets=tuple(targets),
        transport=transport,
        rsync=rsync,
        purpose=purpose,
    )


def make_key(channel: CopyChannel) -> Shell:
    """On old: a fresh key in a folder of one's own; prints the public half. The lists of a copy that goes on stay."""
    return script(
        "umask 077; if [ -d @folder@ ] && [ ! -L @folder@ ] && [ -O @folder@ ]; then "
        "cd -- @folder@ && rm -f -- key key.pub known_hosts; else rm -rf -- @folder@ && mkdir -- @folder@; fi && "
        "ssh-keygen -q -t ed25519 -N '' -C @marker@ -f @folder@/key && cat -- @folder@/key.pub",
        folder=channel.folder,
        marker=channel.marker,
    )


def make_folder(channel: CopyChannel) -> Shell:
    """Where old and new are one server: the copy's own folder, for its lists; those of a copy that goes on stay."""
    return script(
        "umask 077; { [ -d @folder@ ] && [ ! -L @folder@ ] && [ -O @folder@ ]; } || "
        "{ rm -rf -- @folder@ && mkdir -- @folder@; }",
        folder=channel.folder,
    )


def remove_key(channel: CopyChannel) -> Shell:
    """On old: the folder with the key, gone."""
    return command("rm", "-rf", "--", channel.folder)


def read_host_keys() -> Shell:
    """On new: the public host keys, as any user may read them."""
    return script("cat /etc/ssh/ssh_host_*_key.pub" + SAY_WHOLE)


def pin_host_keys(channel: CopyChannel) -> Shell:
    """On old: new's host keys, from standard input, as the only ones that the copy trusts."""
    return script(
        TAKE_WHOLE + "printf '%s' \"$whole\" | "
        'while read -r type key comment; do printf \'%s %s %s\\n\' @host@ "$type" "$key"; done > @folder@/known_hosts'
        " && test -s @folder@/known_hosts",
        host=channel.address if channel.port == 22 else f"[{channel.address}]:{channel.port}",
        folder=channel.folder,
    )


def allow_key(channel: CopyChannel) -> Shell:
    """On new, as the user that logs in: the public key from standard input, allowed to do this copy alone.

    A line that an earlier try left is replaced; a file that had to be made says so, to be removed again. The key's last
    word, its comment, shows that all of it arrived: before that nothing is touched.
    """
    return script(
        'read -r type key comment && [ "$comment" = @marker@ ] || '
        "{ echo 'the key is cut off: nothing was changed' >&2; exit 1; }; "
        'umask 077; home=$(getent passwd "$(id -un)" | cut -d: -f6) && file=$home/.ssh/authorized_keys && '
        'mkdir -p -- "$home/.ssh" && { [ -e "$file" ] || printf \'# made by %s\\n\' @marker@ > "$file"; } && '
        'kept=$(grep -vF -- " "@marker@ "$file"; [ $? -le 1 ]) && '
        '{ [ -z "$kept" ] || printf \'%s\\n\' "$kept"; grep -xF -- \'# made by \'@marker@ "$file"; '
        'printf \'%s %s %s %s\\n\' @options@ "$type" "$key" @marker@; } > "$file.pghaul" && '
        'cat -- "$file.pghaul" > "$file" && rm -- "$file.pghaul"',
        marker=channel.marker,
        options=_options(channel),
    )


def forbid_key(channel: CopyChannel) -> Shell:
    """On new: the key's line gone, every other line as it was; the file too where it was made for the key."""
    return script(
        'home=$(getent passwd "$(id -un)" | cut -d: -f6); file=$home/.ssh/authorized_keys; umask 077; '
        '[ -e "$file" ] || exit 0; made=$(grep -cxF -- \'# made by \'@marker@ "$file"); '
        'grep -vF -- " "@marker@ "$file" > "$file.pghaul"; [ $? -le 1 ] && cat -- "$file.pghaul" > "$file" && '
        'rm -f -- "$file.pghaul" && if [ "$made" -gt 0 ] && ! [ -s "$file" ]; then '
        'rm -f -- "$file"; rmdir -- "$home/.ssh" 2>/dev/null || true; fi',
        marker=channel.marker,
    )


def ssh(channel: CopyChannel) -> Shell:
    """The ssh of the copy, without a destination: this key, these host keys, no questions, no configuration."""
    return command("ssh", *_words(channel))


def ask(channel: CopyChannel, wanted: str) -> Shell:
    """On old: the ssh command by which new's receiver is asked for something."""
    return command("ssh", *_words(channel), f"{channel.login}@{channel.address}", f"{RECEIVER} {wanted}")


def _words(channel: CopyChannel) -> tuple[str | int, ...]:
    return (
        *("-F", "/dev/null", "-i", f"{channel.folder}/key", "-p", channel.port),
        *(("-c", channel.transport.cipher) if channel.transport.cipher else ()),
        *_options_of(
            IdentitiesOnly="yes",
            UserKnownHostsFile=f"{channel.folder}/known_hosts",
            GlobalKnownHostsFile="/dev/null",
            StrictHostKeyChecking="yes",
            BatchMode="yes",
            Compression="no",
            ConnectTimeout="10",
            ServerAliveInterval="15",
        ),
    )


def destination(channel: CopyChannel) -> str:
    """New's side of an rsync command; the folder behind it is the receiver's business."""
    return (
        f"{channel.login}@[{channel.address}]:." if ":" in channel.address else f"{channel.login}@{channel.address}:."
    )


def discard(channel: CopyChannel) -> Shell:
    """On old: the ssh command whose standard input new throws away."""
    return ask(channel, DISCARD)


def receiver(label: str) -> str:
    """What to ask new for instead of `rsync`, to reach the folder of that label."""
    return f"{RECEIVER} {label}"


def address_of(new: Profile, resolved: str | None = None) -> str:
    """Where old reaches new: what the DBA said, else what the connection resolved, else the profile's own address."""
    return new.copy_address or resolved or new.address


def _options(channel: CopyChannel) -> str:
    targets = [word for target in channel.targets for word in target]
    receive = command("exec", *channel.becomes, "sh", "-c", script(RECEIVE), RECEIVER)
    forced = f'{receive.text} "$SSH_ORIGINAL_COMMAND" {command(*targets).text}'
    dequoted = forced.replace('"', '\\"')
    return f'restrict,from="{",".join(channel.sources)}",command="{dequoted}"'


def _receiving(new: Profile, login: str | None) -> tuple[str, tuple[str, ...]]:
    """Who logs in on new for the copy, and by which words that user becomes the database user."""
    if login == "root":
        return login, ("runuser", "-u", new.database_user, "--")
    if login is not None and login != new.database_user and new.rights in {Rights.SUDO, Rights.SUDO_POSTGRES}:
        return login, ("sudo", "-n", "-u", new.database_user, "--")
    return new.database_user, ()


def _options_of(**options: str) -> list[str]:
    return [word for name, value in options.items() for word in ("-o", f"{name}={value}")]


def _sources(facts: Facts) -> tuple[str, ...]:
    """Every address of old that another host may see it by."""
    if not facts.addresses:
        raise InputError(
            f"the facts of {facts.server} hold no network address, so the copy's key cannot be tied to it",
            f"read the facts again: pghaul facts {facts.server}",
        )
    return facts.addresses

"""The route by an rsync daemon on new: the contents of files unencrypted, all else over ssh as on that route.

The daemon is the database user's own, for one copy: it listens on one port, knows the addresses of old and a password
that old made up, and lets write into the copy's folders alone. It takes listed files and no more: a daemon that is not
root's changes links (rsyncd.conf(5), munge symlinks), so folders, links and what is gone are the receiver's business,
whose way is open too.

A keeper beside it flushes what arrives while more arrives, and ends it when its folder is gone, or when nothing came
for days, of a probe for minutes: whoever killed the workstation leaves no port open for ever.
"""

from ipaddress import ip_address
from typing import LiteralString

from core.migration.model.plan import Phase, Step, undone
from core.migration.transports import ssh
from core.migration.transports.copy_channel import CopyChannel
from core.migration.transports.rsync_versions import compression_options
from core.servers.shell import Shell, command, environment, script, sequence

FIRST_PORT, LAST_PORT = 8730, 8829
"""rsync's own 873 is root's: the first free one of these is taken."""

CONTENTS_ALONE = True

_USER = "pghaul"
_MOST_CONNECTIONS = 32
"""Eight streams for each of three folders side by side, and some that are about to end."""
IDLE_SECONDS = {"copy": 3 * 24 * 3600, "probe": 600}
"""By purpose. Over a weekend between the warm passes and the stop; after that --resume starts it anew."""
_CONNECT_SECONDS = 10

_KEEP: LiteralString = """cd -- @folder@ && rm -f ended || exit
rsync --daemon --no-detach --config=rsyncd.conf --port="$1" ${2:+--address="$2"} & daemon=$! idle=0
while [ -e rsyncd.conf ] && kill -0 "$daemon" && [ "$idle" -lt @most_idle@ ]; do
  if [ -n "$(cat "/proc/$daemon/task/$daemon/children" 2>/dev/null || pgrep -P "$daemon")" ]; then
    idle=0; for place in places/*; do sync -f "$place/" || sync; done; sleep 0.2
  else
    idle=$((idle + 1)); sleep 1
  fi
done
kill "$daemon"; wait "$daemon"; [ "$idle" -lt @most_idle@ ] || rm -rf -- @folder@
: >ended"""
"""What arrives goes to the disk while more arrives, so that no flush of gigabytes waits at the end."""

_START: LiteralString = """read -r password mark && [ "$mark" = @marker@ ] || {
  echo 'the password is cut off: nothing was started' >&2; exit 1; }
umask 077; mkdir -- @folder@ @folder@/places && cd -- @folder@ && sh -c @links@ && sh -c @settings@ >rsyncd.conf &&
printf '%s:%s\\n' @user@ "$password" >secrets || exit
listening() {
  awk '$4 == "0A" { sub(/.*:/, "", $2); print $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null |
  grep -qx "$(printf %04X "$port")"
}
serve() { # [ADDRESS]
  : >ended
  PGHAUL_COPY=@marker@ setsid sh -c @keep@ keeper "$port" "$@" </dev/null >/dev/null 2>&1 &
  while [ -e ended ] && kill -0 $!; do sleep 0.1; done 2>/dev/null
  while [ ! -e ended ]; do
    if listening; then printf '%s %s\\n' "$port" @marker@; exit; fi
    sleep 0.1
  done
}
port=@first@ tries=0
while [ "$port" -le @last@ ] && [ "$tries" -lt 3 ]; do
  if ! listening; then tries=$((tries + 1)); serve @address@; serve; fi
  port=$((port + 1))
done
cat log >&2; echo 'no rsync daemon could be started on new' >&2; exit 1"""

_END: LiteralString = """tries=0 signal=TERM
ours() { printf '%s\\n' PGHAUL_COPY=@marker@ | grep -lzxF -f - /proc/[0-9]*/environ 2>/dev/null; }
while found=$(ours); [ -n "$found" ]; do
  [ "$tries" -lt 100 ] || { echo 'the rsync daemon of this copy does not end' >&2; exit 1; }
  for each in $found; do each=${each#/proc/}; kill -"$signal" "${each%/environ}" 2>/dev/null; done
  sleep 0.1; tries=$((tries + 1)); [ "$tries" -lt 50 ] || signal=KILL
done
rm -rf -- @folder@"""

_REACH: LiteralString = """read -r port mark && [ "$mark" = @marker@ ] || {
  echo 'the port is cut off: nothing was tried' >&2; exit 1; }
umask 077; printf '%s\\n' "$port" >@file@ || exit
sh -c @nothing@; status=$?
case $status in
  0) ;;
  10 | 35) echo "port $port of "@host@" is not reached from old: is there a firewall between them?" >&2 ;;
  *) echo "the rsync daemon on port $port of "@host@" takes nothing from old" >&2 ;;
esac
exit "$status\""""
"""Exit 10 and 35: connecting failed, or came to nothing in time; source: rsync(1), EXIT VALUES."""


def opening(channel: CopyChannel, owner: str) -> list[Step]:
    """The way over ssh, then a password made on old, the daemon on new, and its port tried from old."""
    private = "nothing to undo: it lies in the key's folder and goes with it"
    return [
        *ssh.opening(channel, owner),
        Step(
            "make a password for the rsync daemon",
            "old",
            owner,
            str(make_password(channel)),
            "whoever else reaches the daemon's port can do nothing there",
            private,
            name="password",
            private=True,
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "start an rsync daemon for this copy",
            "new",
            channel.writer,
            str(sequence(end(channel), start(channel))),
            "contents travel unencrypted, as the move allows; it takes files from old for the target folders alone",
            undone(channel.writer, "new", end(channel)),
            name="daemon",
            reads="password",
            renewed=True,
            rehearsed=True,
        ),
        Step(
            "reach the rsync daemon from old",
            "old",
            owner,
            str(reach(channel)),
            "a firewall between the servers would show only when the copy begins",
            private,
            reads="daemon",
            renewed=True,
            rehearsed=True,
        ),
    ]


def closing(channel: CopyChannel, owner: str) -> list[Step]:
    """The daemon ended, then the way over ssh closed."""
    ended = Step(
        "end the rsync daemon",
        "new",
        channel.writer,
        str(end(channel)),
        "the copy is done: nothing of it listens on new",
        "start it again, as above",
        phase=Phase.CLOSE,
        timed_as=Phase.VERIFY,
        stopped=True,
        closes=True,
        rehearsed=True,
    )
    return [ended, *ssh.closing(channel, owner)]


target, flush = ssh.target, ssh.flush


def contents(channel: CopyChannel, label: str, source: str) -> tuple[str | Shell, ...]:
    """The words by which an rsync on old sends listed files below `source` into the folder of that label on new."""
    compression = compression_options(channel.rsync, channel.transport.compression)
    host = f"[{channel.address}]" if ":" in channel.address else channel.address
    module = [name for name, _ in channel.targets].index(label)
    return (
        *compression,
        f"--contimeout={_CONNECT_SECONDS}",
        f"--password-file={channel.folder}/password",
        source,
        f"{_USER}@{host}::{module}/",
    )


def sender(channel: CopyChannel) -> tuple[str | Shell, ...]:
    """The words ahead of the options of an rsync that sends contents: its port is known once the daemon listens."""
    return ("sh", "-c", script('exec rsync --port="$(cat -- "$0")" "$@"'), f"{channel.folder}/port")


def make_password(channel: CopyChannel) -> Shell:
    """On old: a password that nobody could guess, in the key's folder; prints it and the marker."""
    return script(
        "umask 077; od -An -N24 -tx1 /dev/urandom | tr -d ' \\n' >@file@ && "
        "printf '%s %s\\n' \"$(cat -- @file@)\" @marker@",
        file=f"{channel.folder}/password",
        marker=channel.marker,
    )


def start(channel: CopyChannel) -> Shell:
    """On new, as the database user: the daemon, its password from standard input; prints its port and the marker.

    It is bound to the address that old uses where that is one of new's own, else to all of them.
    """
    links = [
        command("ln", "-s", "--", target, f"places/{module}") for module, (_, target) in enumerate(channel.targets)
    ]
    return script(
        _START,
        marker=channel.marker,
        folder=_folder(channel),
        links=sequence(*links),
        settings=command("printf", "%s\\n", *_settings(channel)),
        user=_USER,
        keep=script(_KEEP, folder=_folder(channel), most_idle=IDLE_SECONDS[channel.purpose]),
        first=FIRST_PORT,
        last=LAST_PORT,
        address=channel.address if _is_number(channel.address) else "",
    )


def end(channel: CopyChannel) -> Shell:
    """On new, as the database user: no daemon, no keeper, no file of this copy."""
    return script(_END, folder=_folder(channel), marker=channel.marker)


def reach(channel: CopyChannel) -> Shell:
    """On old: the daemon's port, from standard input, remembered and tried; where it is not reached says why."""
    program, *words = sender(channel)
    words += ["-r", "--files-from=/dev/null", *contents(channel, channel.targets[0][0], "/")]
    return script(
        _REACH,
        marker=channel.marker,
        file=f"{channel.folder}/port",
        nothing=environment({"LC_ALL": "C"}, command(str(program), *words)),
        host=channel.address,
    )


def _settings(channel: CopyChannel) -> list[str]:
    """rsyncd.conf; the folders behind links of our own, for its values know no quotes."""
    folder = _folder(channel)
    shared = [
        "use chroot = no",
        "munge symlinks = yes",
        "read only = no",
        "write only = yes",
        "list = no",
        f"auth users = {_USER}",
        f"secrets file = {folder}/secrets",
        f"hosts allow = {' '.join(channel.sources)}",
        "reverse lookup = no",
        f"max connections = {_MOST_CONNECTIONS}",
        f"lock file = {folder}/lock",
        f"log file = {folder}/log",
        "timeout = 600",
        "refuse options = delete remove-source-files partial-dir backup-dir temp-dir log-file",
    ]
    modules = [line for n in range(len(channel.targets)) for line in (f"[{n}]", f"path = {folder}/places/{n}")]
    return shared + modules


def _folder(channel: CopyChannel) -> str:
    """On new; old's may be on the same host."""
    return f"{channel.folder}-daemon"


def _is_number(address: str) -> bool:
    """Whether it is an address itself: a name may mean another one on new, such as 127.0.1.1."""
    try:
        ip_address(address)
    except ValueError:
        return False
    return True

"""The scripts of the probes. Each is bounded in bytes and in seconds, and prints `bytes` and `nanoseconds` at its end.

Times are taken on the server that works, so that the workstation's way to it does not count.
"""

from core.migration.transports import copy_channel
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, script

SECONDS = 3
MOST_BYTES = 256 * 1024**2
_LARGE_BYTES = 8 * 1024**2
_MOST_FILES = 1000
"""So many small ones are told apart from the cost of a process."""


def read(folder: str) -> Shell:
    """On old: the largest files below `folder`, from the disk and past the page cache, in pieces of 32 MiB.

    Reading with O_DIRECT neither uses nor disturbs what the running server has cached. Where a file system has no such
    thing, the pages are dropped first and read through the cache; `direct no` says so. So they are where most files
    are small: to start a process for each takes longer than to read it.
    """
    return script(
        """cd -- @folder@ || exit
largest() { find . -type f ! -name 'pgsql_tmp*' ! -name '*
*' -printf '%s %P\\n' | sort -rn | head -n @files@; }
now() { date +%s%N; }
small() {
  names=$(largest | cut -d ' ' -f 2-)
  printf '%s\\n' "$names" | while read -r name; do dd if="$name" iflag=nocache count=0 2>/dev/null; done
  start=$(now)
  moved=$(printf '%s\\n' "$names" | tr '\\n' '\\0' | timeout --foreground @seconds@ xargs -0 cat -- 2>/dev/null |
    head -c @most@ | wc -c)
  printf 'nanoseconds %s\\nbytes %s\\ndirect no\\n' "$(($(now) - start))" "$moved"
}
largest | awk '{ all += $1; if ($1 >= @large@) large += $1 } END { exit large < @most@ / 2 && large < all / 2 }' ||
  { small; exit; }
largest | {
direct=direct moved=0 start=$(now)
while read -r size name; do
  [ "$size" -ge @large@ ] || break
  at=0
  while [ "$at" -lt "$size" ]; do
    [ "$moved" -lt @most@ ] && [ $(($(now) - start)) -lt @nanoseconds@ ] || break 2
    if ! dd if="$name" of=/dev/null bs=1048576 skip=$((at / 1048576)) count=32 iflag="$direct" 2>/dev/null; then
      [ "$direct" = direct ] && { direct=nocache; dd if="$name" iflag=nocache count=0 2>/dev/null; continue; }
      break
    fi
    piece=$((size - at)); [ "$piece" -le 33554432 ] || piece=33554432
    moved=$((moved + piece)) at=$((at + 33554432))
  done
done
echo "nanoseconds $(($(now) - start))"
echo "bytes $moved"
echo "direct $([ "$direct" = direct ] && echo yes || echo no)"
}""",
        folder=folder,
        files=_MOST_FILES,
        large=_LARGE_BYTES,
        most=MOST_BYTES,
        seconds=SECONDS,
        nanoseconds=SECONDS * 10**9,
    )


def write(folder: str) -> Shell:
    """On new: random bytes into one file and a flush at the end; a first piece of 32 MiB tells how many fit the time.

    What others have left to be written goes to the disk before, so that it is not measured; and the memory that the
    bytes pass through is used once before, for what a machine touches for the first time it has to find. Of two tries
    the faster counts: whatever else the server does only slows it down. The file is removed.
    """
    return script(
        """cd -- @folder@ || exit
trap 'rm -f block written' EXIT
fill() { # PIECES
  piece=0
  while [ "$piece" -lt "$1" ]; do
    dd if=block of=written bs=1048576 seek=$((piece * 32)) conv=notrunc 2>/dev/null || return
    piece=$((piece + 1))
  done
}
put() { # PIECES: prints the nanoseconds until they are on the disk
  begun=$(date +%s%N)
  fill "$1" || return
  dd if=/dev/null of=written conv=notrunc,fsync 2>/dev/null || return
  echo $(($(date +%s%N) - begun))
}
dd if=/dev/urandom of=block bs=1048576 count=32 2>/dev/null || exit
sync -f . 2>/dev/null || sync
first=$(put 1) || exit
pieces=$((@nanoseconds@ / (first + 1) + 1)); [ "$pieces" -le @most@ ] || pieces=@most@
fill "$pieces" && best= || exit
for try in 1 2; do
  rm written; sync -f . 2>/dev/null || sync
  taken=$(put "$pieces") || exit
  [ -n "$best" ] && [ "$best" -le "$taken" ] || best=$taken
done
echo "nanoseconds $best"
echo "bytes $((pieces * 33554432))\"""",
        folder=folder,
        most=MOST_BYTES // 32 // 1024**2,
        nanoseconds=SECONDS * 10**9 // 2,
    )


def ciphers() -> Shell:
    """On old: the ciphers that its ssh knows, one a line."""
    return script("ssh -Q cipher")


def cipher(channel: CopyChannel, seconds: float) -> Shell:
    """On old: zeros through ssh to new, where they are thrown away; the time of the connection itself is taken off."""
    return script(
        """cd -- @folder@ || exit
discard=@discard@
start=$(date +%s%N); sh -c "$discard" </dev/null || exit; connect=$(($(date +%s%N) - start))
start=$(date +%s%N)
{ moved=0
while [ "$moved" -lt @most@ ] && [ $(($(date +%s%N) - start)) -lt @nanoseconds@ ]; do
  dd if=/dev/zero bs=1048576 count=16 2>/dev/null || break
  moved=$((moved + 16777216))
done
echo "$moved" >moved
} | sh -c "$discard" || exit
echo "nanoseconds $(($(date +%s%N) - start - connect))"
echo "connect $connect"
echo "bytes $(cat moved)\"""",
        folder=channel.folder,
        discard=copy_channel.discard(channel),
        most=2 * MOST_BYTES,
        nanoseconds=round(seconds * 10**9),
    )


def make_scratch(target: str, name: str, user: str) -> Shell:
    """On new: a folder of that name on the file system of `target`, for `user`; prints it. Never in a data directory.

    It lies in the nearest folder that exists above the target; in the target itself only where that is a mount point.
    """
    return script(
        """folder=@target@
while [ ! -d "$folder" ]; do folder=$(dirname -- "$folder"); done
above=$(dirname -- "$folder")
if [ "$folder" = @target@ ] && [ "$(stat -c %d -- "$above")" = "$(stat -c %d -- "$folder")" ]; then folder=$above; fi
[ ! -e "$folder/PG_VERSION" ] || { echo "$folder is a data directory" >&2; exit 1; }
scratch=${folder%/}/@name@
rm -rf -- "$scratch" && mkdir -m 700 -- "$scratch" && chown @user@: -- "$scratch" && printf '%s' "$scratch\"""",
        target=target,
        name=name,
        user=user,
    )


def remove_scratch(target: str, name: str) -> Shell:
    """On new: the folder of that name, gone; a receiver that still works in it is ended first.

    It is looked for in the target and in every folder above: whoever was cut off does not know where it was made.
    """
    return script(
        """folder= above=@target@
while [ "$folder" != "$above" ]; do
  folder=$above above=$(dirname -- "$folder") scratch=${folder%/}/@name@ tries=0
  [ -e "$scratch" ] || continue
  while [ "$tries" -lt 50 ]; do
    busy=
    for process in /proc/[0-9]*; do
      case $(readlink "$process/cwd") in "$scratch" | "$scratch"/*) busy=yes; kill "${process#/proc/}" ;; esac
    done 2>/dev/null
    [ -n "$busy" ] || break
    sleep 0.1; tries=$((tries + 1))
  done
  rm -rf -- "$scratch" || exit
done""",
        target=target,
        name=name,
    )

# What the key of a copy may do on new: its receiver, which its line in authorized_keys runs whatever is asked.

# receive COMMAND [LABEL FOLDER]...   on new, forced by the key: what old may ask of the data root LABEL in FOLDER
# The first FOLDER is the data directory: nothing is taken while a server lives there.
# COMMAND: `pghaul-receive discard`, or `pghaul-receive LABEL` with `flush`, `bare` or the words of an rsync server without any path.
receive() {
  PATH=$PATH:/usr/sbin:/sbin # sshd gives a user none of them, and pivot_root is in one
  export PATH
  receive_wanted=${1#pghaul-receive }
  [ "$receive_wanted" != "$1" ] || not_for
  shift
  if [ "$receive_wanted" = discard ]; then exec cat >/dev/null; fi
  no_server "$2"
  receive_folder=
  while [ $# -gt 1 ]; do
    [ "$1" != "${receive_wanted%% *}" ] || receive_folder=$2
    shift 2
  done
  [ -n "$receive_folder" ] || not_for
  enter "$receive_folder"
  receive_wanted=${receive_wanted#* }
  if [ "$receive_wanted" = flush ] || [ "$receive_wanted" = bare ]; then
    "$receive_wanted" .
    return
  fi
  copy_needs "$receive_wanted" || not_for "$receive_wanted"
  { keep_flushing $$; } </dev/null >/dev/null 2>&1 & # braces: dash keeps the outputs of a plain call open
  set -f
  # shellcheck disable=SC2086 # the words of rsync's server, none of which has a blank
  set -- rsync $receive_wanted
  if (enclose rsync --version) >/dev/null 2>&1; then enclose "$@"; fi
  exec "$@"
}

# not_for [WORDS]   end with 126: the key is not for what was asked
not_for() {
  refuse 126 "this key is for one copy alone${1:+, which does not need: $1}"
}

# copy_needs WORDS   whether these are an rsync server's words of a copy: what a pass of ours makes some version of rsync say
# First links and folders as they are, hard links, modes, times; dry, --ignore-times, listed, zlib; behind `e`, which is no option,
# what the sender can. At the end this folder. All else is refused: --sender reads, --daemon and --config run programs, -s and
# --secluded-args hide more words, -K, -L and --no-implied-dirs follow links, --log-file and --temp-dir write elsewhere.
# Source: rsync's options.c, server_options.
copy_needs() {
  needs_options='timeout=600|stats|existing|ignore-existing|inplace|append|partial|delete|max-delete=(-1|[0-9]+)|log-format=%i'
  needs_options="$needs_options|compress-level=[1-9]|compress-choice=lz4|compress-choice=zstd|old-compress"
  printf '%s\0' "$1" | grep -qzxE -- "--server -n?lHtprI?R?z?(e[0-9.]*[A-Za-z]*)?( --($needs_options))* \. \."
}

# enclose COMMAND...   become COMMAND where there are this folder and programs alone, if the kernel lets a user make such a place
# Whoever sends may send links, and files behind them, and may know a hole of an old rsync: from in there nothing else is reached.
enclose() {
  enclose_folder=$(pwd -P) || fail 'the folder is gone'
  exec unshare --user --map-root-user --mount sh "$0" enclosed "$enclose_folder" "$@"
}

# enclosed FOLDER COMMAND...   the rest of it, in namespaces of its own, as their root
# It is built over /sys, below which no FOLDER lies. What is a user's own in it stays as it is where a mount cannot be made read-only.
# /proc would lead out again: umount alone needs it.
enclosed() {
  enclosed_folder=$1
  shift
  { mount -t tmpfs none /sys && cd /sys; } || fail 'nothing can be mounted here'
  for enclosed_each in bin sbin lib lib64 usr etc proc; do
    [ -d "/$enclosed_each" ] || continue
    { mkdir "$enclosed_each" && mount --rbind "/$enclosed_each" "$enclosed_each"; } || fail "/$enclosed_each cannot be had there"
    mount -o remount,bind,ro "$enclosed_each" 2>/dev/null
  done
  { mkdir -p old ".$enclosed_folder" && mount --rbind "$enclosed_folder" ".$enclosed_folder" && pivot_root . old &&
    umount -l /old /proc && cd "$enclosed_folder"; } || fail "$enclosed_folder cannot be had there"
  exec "$@"
}

# keep_flushing PROCESS   while it lives: what arrives here goes to the disk while more arrives, so that no flush waits at the end
# The kernel tells of a write that failed only once: it ends the PROCESS, and so the pass.
keep_flushing() {
  while sleep 0.2 && kill -s 0 "$1"; do (flush .) || kill -s TERM "$1"; done
}

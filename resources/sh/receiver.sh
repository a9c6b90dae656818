# What the key of a copy may do on the new server. Its line in authorized_keys runs this receiver, whatever command is
# asked for.

# receive_copy COMMAND [LABEL FOLDER]...   On the new server, forced by the key: do what the old server may ask of the
# data root LABEL in FOLDER. The first FOLDER is the data directory: nothing is accepted while a server is running
# there. COMMAND: `pghaul-receive discard`, or `pghaul-receive LABEL` with `flush_file_system`, `target_is_empty` or the
# words of an rsync server without any path.
receive_copy() {
  PATH=$PATH:/usr/sbin:/sbin # sshd gives a user none of them, and pivot_root is in one
  export PATH
  receive_wanted=${1#pghaul-receive }
  [ "$receive_wanted" != "$1" ] || refuse_command
  shift
  if [ "$receive_wanted" = discard ]; then exec cat >/dev/null; fi
  refuse_running_server "$2"
  receive_folder=
  while [ $# -gt 1 ]; do
    [ "$1" != "${receive_wanted%% *}" ] || receive_folder=$2
    shift 2
  done
  [ -n "$receive_folder" ] || refuse_command
  enter_folder "$receive_folder"
  receive_wanted=${receive_wanted#* }
  if [ "$receive_wanted" = flush_file_system ] || [ "$receive_wanted" = target_is_empty ]; then
    "$receive_wanted" .
    return
  fi
  is_copy_command "$receive_wanted" || refuse_command "$receive_wanted"
  { keep_flushing $$; } </dev/null >/dev/null 2>&1 & # braces: dash keeps the outputs of a plain call open
  set -f
  # shellcheck disable=SC2086 # the words of rsync's server, none of which has a blank
  set -- rsync $receive_wanted
  if (enclose rsync --version) >/dev/null 2>&1; then enclose "$@"; fi
  exec "$@"
}

# refuse_command [WORDS]   Exit with 126: the key does not allow this command.
refuse_command() {
  refuse 126 "this key allows one copy only${1:+, which does not need: $1}"
}

# is_copy_command WORDS   Succeed if these are the words of an rsync server in a copy, as the passes make some version
# of rsync say them. First the options for links and folders as they are, hard links, modes, times, dry run,
# --ignore-times, lists, zlib. `e` is followed by the abilities of the sender. The last word is the current folder.
# Everything else is refused: --sender reads, --daemon and --config run programs, -s and --secluded-args hide more
# words, -K, -L and --no-implied-dirs follow links, --log-file and --temp-dir write elsewhere. Source: rsync's
# options.c, server_options.
is_copy_command() {
  needs_options='timeout=600|stats|existing|ignore-existing|inplace|append|partial|delete|max-delete=(-1|[0-9]+)'
  needs_options="$needs_options|log-format=%i|bwlimit=[1-9][0-9]*"
  needs_options="$needs_options|compress-level=[1-9]|compress-choice=lz4|compress-choice=zstd|old-compress"
  printf '%s\0' "$1" | grep -qzxE -- "--server -n?lHtprI?R?z?(e[0-9.]*[A-Za-z]*)?( --($needs_options))* \. \."
}

# enclose COMMAND...   Become COMMAND in a namespace that contains only this folder and programs, if the kernel allows
# that to a user. The sender may send links and files behind them, and may know a hole in an old rsync. From inside
# nothing else can be reached.
enclose() {
  enclose_folder=$(pwd -P) || fail 'the folder no longer exists'
  exec unshare --user --map-root-user --mount sh "$0" run_enclosed "$enclose_folder" "$@"
}

# run_enclosed FOLDER COMMAND...   The second part of it, in its own namespaces, as their root. It is built over /sys,
# because no FOLDER is below it. If a mount cannot be made read-only, what the user owns stays writable. /proc would
# lead outside again. Only umount needs it.
run_enclosed() {
  enclosed_folder=$1
  shift
  { mount -t tmpfs none /sys && cd /sys; } || fail 'nothing can be mounted here'
  for enclosed_each in bin sbin lib lib64 usr etc proc; do
    [ -d "/$enclosed_each" ] || continue
    { mkdir "$enclosed_each" && mount --rbind "/$enclosed_each" "$enclosed_each"; } ||
      fail "/$enclosed_each cannot be mounted there"
    mount -o remount,bind,ro "$enclosed_each" 2>/dev/null
  done
  { mkdir -p old ".$enclosed_folder" && mount --rbind "$enclosed_folder" ".$enclosed_folder" && pivot_root . old &&
    umount -l /old /proc && cd "$enclosed_folder"; } || fail "$enclosed_folder cannot be mounted there"
  exec "$@"
}

# keep_flushing PROCESS   While it is running: write what has arrived to disk while more arrives, so that no long flush
# remains at the end. The kernel reports a failed write only once. Then this ends the PROCESS, and so the pass.
keep_flushing() {
  while sleep 0.2 && kill -s 0 "$1"; do (flush_file_system .) || kill -s TERM "$1"; done
}

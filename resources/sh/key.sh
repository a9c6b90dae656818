# The key of a copy: made on old, allowed on new to do this copy alone, gone afterwards on both.

# make_key FOLDER MARKER   on old: a fresh key in FOLDER, this user's alone; print its public half
# The lists of a copy that goes on stay.
make_key() {
  own_folder "$1"
  rm -f -- "$1/key" "$1/key.pub" "$1/known_hosts" "$1/ssh_config" || fail "an earlier key in $1 cannot be removed"
  ssh-keygen -q -t ed25519 -N '' -C "$2" -f "$1/key" </dev/null >&2 || fail "ssh-keygen made no key in $1"
  cat -- "$1/key.pub" || fail "$1/key.pub cannot be read"
}

# remove_folder FOLDER   gone, with all that is in it
remove_folder() {
  rm -rf -- "$1" || fail "$1 cannot be removed"
}

# host_keys   on new: print its public host keys, then the end mark
host_keys() {
  cat /etc/ssh/ssh_host_*_key.pub || fail 'this host shows no public host keys in /etc/ssh'
  end_mark
}

# pin_host_keys FOLDER ADDRESS PORT LOGIN   on old: trust the host keys of standard input and no other; how ssh reaches new
pin_host_keys() {
  umask 077
  pin_name=$2
  [ "$3" = 22 ] || pin_name="[$2]:$3"
  pin_keys=$(take_whole) || exit
  pin_keys=$(printf '%s\n' "$pin_keys" | awk -v name="$pin_name" 'NF > 1 { print name, $1, $2 }') || fail 'awk failed'
  [ -n "$pin_keys" ] || fail 'new has shown no host keys'
  printf '%s\n' "$pin_keys" >"$1/known_hosts" || fail "$1/known_hosts cannot be written"
  ssh_config "$@" >"$1/ssh_config" || fail "$1/ssh_config cannot be written"
}

# ssh_config FOLDER ADDRESS PORT LOGIN   print the ssh of the copy: this key, these host keys, no questions, nobody's settings
ssh_config() {
  printf '%s\n' "Host new
HostName $2
Port $3
User $4
IdentityFile $1/key
IdentitiesOnly yes
UserKnownHostsFile $1/known_hosts
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking yes
BatchMode yes
Compression no
ConnectTimeout 10
ServerAliveInterval 15"
}

# keep_functions FOLDER   on new: the functions of standard input in FOLDER/functions: `sh FILE FUNCTION WORD...` runs one
# All may read it and only this user, who may become whoever runs it, write it.
keep_functions() {
  umask 022
  { [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]; } || mkdir -- "$1" || fail "$1 cannot be made: something else lies there"
  whole "$1/functions.new" cat
  keep_end=$(tail -n 1 -- "$1/functions.new") || fail "$1/functions.new cannot be read"
  [ "$keep_end" = '# whole' ] || fail 'the functions are cut off: nothing was changed'
  mv -- "$1/functions.new" "$1/functions" || fail "$1/functions cannot be written"
}

# allow_key MARKER OPTIONS   on new, as who logs in: the public key of standard input may do what OPTIONS say
# A line that an earlier try left is replaced. The key's last word, its comment, shows that all of it came.
allow_key() {
  { read -r allow_type allow_key allow_comment && [ "$allow_comment" = "$1" ]; } ||
    fail 'the key is cut off: nothing was changed'
  umask 077
  allow_file=$(authorized_keys) || exit
  mkdir -p -- "${allow_file%/*}" || fail "${allow_file%/*} cannot be made"
  [ -e "$allow_file" ] || printf '# made by %s\n' "$1" >"$allow_file" || fail "$allow_file cannot be written"
  allow_kept=$(other_keys "$1" "$allow_file") || exit
  allow_kept=${allow_kept%x}
  if made_for "$1" "$allow_file"; then allow_kept="$allow_kept# made by $1
"; fi
  rewrite "$allow_file" "$allow_kept$2 $allow_type $allow_key $1
"
}

# forbid_key MARKER FOLDER   on new, as who logs in: the key's line gone, and FOLDER; the file too where it was made for the key
forbid_key() {
  forbid_file=$(authorized_keys) || exit
  if [ -e "$forbid_file" ]; then
    forbid_kept=$(other_keys "$1" "$forbid_file") || exit
    forbid_kept=${forbid_kept%x}
    if [ -z "$forbid_kept" ] && made_for "$1" "$forbid_file"; then
      rm -f -- "$forbid_file" || fail "$forbid_file cannot be removed"
      rmdir -- "${forbid_file%/*}" 2>/dev/null # it may hold more
    else
      rewrite "$forbid_file" "$forbid_kept"
    fi
  fi
  remove_folder "$2"
}

# other_keys MARKER FILE   print its lines but those of this copy, then an x
# -a: of a file with a byte that is no text grep would print no line, and every key would be lost.
other_keys() {
  grep -avF -- " $1" "$2" || [ $? -eq 1 ] || fail "$2 cannot be read"
  echo x # keeps the line break ahead of it, which $( ) would take away
}

# made_for MARKER FILE   whether the file was made for this copy
made_for() {
  grep -aqxF -- "# made by $1" "$2"
}

# authorized_keys   print where this user's file of keys lies
authorized_keys() {
  keys_user=$(id -un) || fail 'id does not say who this is'
  keys_entry=$(getent passwd "$keys_user") || fail "there is no user $keys_user"
  keys_home=${keys_entry%:*}
  printf '%s' "${keys_home##*:}/.ssh/authorized_keys"
}

# rewrite FILE TEXT   TEXT instead of what it holds; owner, mode and label stay, and a full disk loses nothing
rewrite() {
  printf '%s' "$2" >"$1.pghaul" || {
    rm -f -- "$1.pghaul"
    fail "$1 cannot be written: is its disk full?"
  }
  cat -- "$1.pghaul" >"$1" || fail "$1 is not whole: put $1.pghaul in its place"
  rm -f -- "$1.pghaul" || fail "$1.pghaul cannot be removed"
}

# receive COMMAND [LABEL FOLDER]...   on new, forced by the key: what old may ask of the data root LABEL in FOLDER
# The first FOLDER is the data directory: nothing is taken while a server lives there.
# COMMAND: `pghaul-receive discard`, or `pghaul-receive LABEL` with `flush` or the words of an rsync server without any path.
receive() {
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
  if [ "$receive_wanted" = flush ]; then
    flush .
    return
  fi
  set -f
  # shellcheck disable=SC2086 # the words of rsync's server, none of which has a blank
  set -- $receive_wanted
  [ "$1" = --server ] || not_for
  for receive_word; do
    copy_needs "$receive_word" || not_for "$receive_word"
  done
  { keep_flushing $$; } </dev/null >/dev/null 2>&1 & # braces: dash keeps the outputs of a plain call open
  exec rsync "$@"
}

# not_for [WORD]   end with 126: the key is not for what was asked
not_for() {
  refuse 126 "this key is for one copy alone${1:+, which needs no $1}"
}

# copy_needs WORD   whether a copy may have that word for rsync's server: what is not known here could do anything
# A path or a name leads elsewhere (`..`, a link that was sent before), --daemon reads a configuration that runs programs, -s and
# --sender hide more words or read, -K and --no-implied-dirs follow links. Letters behind `e` are no options: they say what
# the sender can. Source: rsync's options.c, server_options.
copy_needs() {
  case $1 in
    */* | --no-implied-dirs) return 1 ;;
    --server | . | --existing | --ignore-existing | --inplace | --append | --partial | --delete | --delete-* | --max-delete=*) ;;
    --timeout=* | --log-format=* | --info=* | --debug=* | --stats | --force | --from0 | --dirs | --numeric-ids | --no-*) ;;
    --compress-* | --old-compress | --new-compress | --checksum-choice=* | --checksum-seed=* | --use-qsort) ;;
    --ignore-missing-args | --msgs2stderr | --modify-window=* | -@-1 | -@0) ;;
    --*) return 1 ;;
    -[!-]*) case ${1%%e*} in -*[!DHIORWdgilnoprtuvxz]*) return 1 ;; *) ;; esac ;;
    *) return 1 ;;
  esac
}

# keep_flushing PROCESS   while it lives: what arrives here goes to the disk while more arrives, so that no flush waits at the end
# The kernel tells of a write that failed only once: it ends the PROCESS, and so the pass.
keep_flushing() {
  while sleep 0.2 && kill -s 0 "$1"; do (flush .) || kill -s TERM "$1"; done
}

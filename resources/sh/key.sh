# The key of a copy: created on the old server, allowed on the new server for this copy only, and removed from both
# afterwards.

# make_key FOLDER MARKER   On the old server: create a new key in the private folder FOLDER, and print its public half.
# The lists of a copy that is resumed stay there.
make_key() {
  make_private_folder "$1"
  rm -f -- "$1/key" "$1/key.pub" "$1/known_hosts" "$1/ssh_config" || fail "an earlier key in $1 cannot be removed"
  ssh-keygen -q -t ed25519 -N '' -C "$2" -f "$1/key" </dev/null >&2 || fail "ssh-keygen could not create a key in $1"
  cat -- "$1/key.pub" || fail "$1/key.pub cannot be read"
}

# remove_folder FOLDER   Remove it with everything in it.
remove_folder() {
  rm -rf -- "$1" || fail "$1 cannot be removed"
}

# print_host_keys   On the new server: print its public host keys, then the end mark.
print_host_keys() {
  cat /etc/ssh/ssh_host_*_key.pub || fail 'this host has no readable public host keys in /etc/ssh'
  print_end_mark
}

# pin_host_keys FOLDER ADDRESS PORT LOGIN   On the old server: write known_hosts with the host keys on standard input,
# and the ssh_config.
pin_host_keys() {
  umask 077
  pin_name=$2
  [ "$3" = 22 ] || pin_name="[$2]:$3"
  pin_keys=$(read_complete) || exit
  pin_keys=$(printf '%s\n' "$pin_keys" | awk -v name="$pin_name" 'NF > 1 { print name, $1, $2 }') || fail 'awk failed'
  [ -n "$pin_keys" ] || fail 'the new server has not sent its host keys'
  printf '%s\n' "$pin_keys" >"$1/known_hosts" || fail "$1/known_hosts cannot be written"
  print_ssh_config "$@" >"$1/ssh_config" || fail "$1/ssh_config cannot be written"
}

# print_ssh_config FOLDER ADDRESS PORT LOGIN   Print the ssh_config of the copy: this key, only these host keys, no
# questions. No banner of the new server and no notes of ssh: whatever is printed beside the messages of rsync counts as
# an error (only_shrunk_files).
print_ssh_config() {
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
LogLevel ERROR
Compression no
ConnectTimeout 10
ServerAliveInterval 15"
}

# keep_functions FOLDER   On the new server: write the functions on standard input to FOLDER/functions; `sh FILE
# FUNCTION WORD...` runs one. Everybody may read the file. Only this user, who may become the user who runs it, can
# write it.
keep_functions() {
  umask 022
  { [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]; } || mkdir -- "$1" ||
    fail "$1 cannot be created: something else exists at that path"
  write_complete "$1/functions.new" cat
  keep_end=$(tail -n 1 -- "$1/functions.new") || fail "$1/functions.new cannot be read"
  [ "$keep_end" = '# whole' ] || fail 'the functions are incomplete: nothing was changed'
  mv -- "$1/functions.new" "$1/functions" || fail "$1/functions cannot be written"
}

# allow_key MARKER MINUTES OPTIONS   On the new server, as the login user: allow the public key on standard input what
# OPTIONS say, for MINUTES. A line of an earlier try is replaced. The last word of the key, its comment, proves that all
# of it came.
allow_key() {
  { read -r allow_type allow_key allow_comment && [ "$allow_comment" = "$1" ]; } ||
    fail 'the key is incomplete: nothing was changed'
  allow_expiry=$(print_key_expiry "$2") || exit
  change_authorized_keys "$1" "$3$allow_expiry $allow_type $allow_key $1"
}

# forbid_key MARKER FOLDER   On the new server, as the login user: remove the line of the key, and FOLDER.
forbid_key() {
  change_authorized_keys "$1"
  remove_folder "$2"
}

# print_key_expiry MINUTES   Print the option by which sshd accepts the key no longer than that; sessions that are open
# stay. An sshd older than 7.7 rejects a key with this option, and prints its version only as part of a complaint. The
# time is that of the host, not of TZ. In the hour that repeats in autumn it may be wrong by an hour, and a probe is
# then repeated.
print_key_expiry() {
  expires_sshd=$(sshd -V 2>&1)
  case $expires_sshd in
    *OpenSSH_[1-6].* | *OpenSSH_7.[0-6]*) return 0 ;;
    *) ;;
  esac
  expires_at=$(unset TZ && date -d "$1 minutes" +%Y%m%d%H%M) || fail 'date failed'
  printf ',expiry-time="%s"' "$expires_at"
}

# change_authorized_keys MARKER [LINE]   Replace the line of MARKER in this user's authorized_keys by LINE, or remove
# it; also remove a file that pghaul has created.
change_authorized_keys() {
  umask 077
  change_file=$(print_keys_path) || exit
  [ $# -gt 1 ] || [ -e "$change_file" ] || return 0
  lock_keys "$change_file"
  rm -f -- "$change_file.pghaul" || fail "$change_file.pghaul cannot be removed" # left by a change that was killed
  change_kept=$(print_other_keys "$1" "$change_file") || exit
  change_kept=${change_kept%x}
  if [ $# -eq 1 ] && [ "$change_kept" = '# made by pghaul
' ]; then
    rm -f -- "$change_file" || fail "$change_file cannot be removed"
    rmdir -- "${change_file%/*}" 2>/dev/null # it may hold more
    return 0
  fi
  replace_file "$change_file" "$change_kept${2:+$2
}"
}

# lock_keys FILE   Create FILE if it is missing, and lock it until this shell ends, because two moves could undo each
# other's lines. The previous holder of the lock may have replaced the file: then the new file is locked.
lock_keys() {
  lock_tries=0
  while [ "$lock_tries" -lt 99 ]; do
    lock_tries=$((lock_tries + 1))
    mkdir -p -- "${1%/*}" || fail "${1%/*} cannot be created"
    [ -e "$1" ] || (set -C && echo '# made by pghaul' >"$1") 2>/dev/null
    # Opened, not created: the previous holder may have removed it.
    lock_why='it cannot be opened'
    { command exec 9<"$1"; } 2>/dev/null || continue
    lock_why='another program has locked it for a minute and a half'
    lock_said=$(flock -w 1 9 2>&1)
    case $? in
      0) [ "$1" -ef /proc/self/fd/9 ] && return ;;
      1) ;; # another user holds the lock
      *) fail "$1 cannot be locked: ${lock_said:-flock failed}: nothing was changed. Is this home directory on NFS" \
        'without locks? Start rpc.statd there, mount it with local_lock=flock, or log in as a user whose home' \
        'directory is on a local disk' ;;
    esac
  done
  fail "$1 cannot be locked: $lock_why: nothing was changed"
}

# print_other_keys MARKER FILE   Print its lines except those of this copy, then an x. -a: grep would print no line of a
# file with a byte that is not text, and every key would be lost.
print_other_keys() {
  grep -avF -- " $1" "$2" || [ $? -eq 1 ] || fail "$2 cannot be read"
  echo x # keeps the line break ahead of it, which $( ) would take away
}

# print_keys_path   Print the path of this user's authorized_keys, with links resolved.
print_keys_path() {
  keys_user=$(id -un) || fail 'id does not print the name of this user'
  keys_entry=$(getent passwd "$keys_user") || fail "there is no user $keys_user"
  keys_home=${keys_entry%:*}
  readlink -mn -- "${keys_home##*:}/.ssh/authorized_keys" ||
    fail "the path to the authorized_keys of $keys_user cannot be resolved"
}

# replace_file FILE TEXT   Replace the contents of FILE by TEXT, atomically and on disk; owner, mode and label stay.
# FILE is locked. The new file always has the same name, so that the next change removes what a killed one has left.
replace_file() {
  replace_new=$1.pghaul
  (set -C && : >"$replace_new") 2>/dev/null || fail "no file can be created in the folder of $1: is its disk full?"
  { cp -a -- "$1" "$replace_new" && printf '%s' "$2" >"$replace_new" && sync -- "$replace_new" &&
    mv -f -- "$replace_new" "$1" && sync -- "${1%/*}"; } || {
    rm -f -- "$replace_new"
    fail "$1 cannot be written: is its disk full?"
  }
}

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
# Nor a banner of new's, nor what ssh notes: what is printed beside rsync's own words counts as an error (only_shorter).
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
LogLevel ERROR
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

# allow_key MARKER MINUTES OPTIONS   on new, as who logs in: the public key of standard input may do what OPTIONS say, so long
# A line that an earlier try left is replaced. The key's last word, its comment, shows that all of it came.
allow_key() {
  { read -r allow_type allow_key allow_comment && [ "$allow_comment" = "$1" ]; } ||
    fail 'the key is cut off: nothing was changed'
  allow_expiry=$(expires_in "$2") || exit
  change_keys "$1" "$3$allow_expiry $allow_type $allow_key $1"
}

# forbid_key MARKER FOLDER   on new, as who logs in: the key's line gone, and FOLDER; the file too where it was made for keys of ours
forbid_key() {
  change_keys "$1"
  remove_folder "$2"
}

# expires_in MINUTES   print the option of a key by which sshd lets nobody log in by it afterwards; who is in stays
# An sshd older than 7.7 takes no key that has it, and says its version by way of complaint. It reads the host's time, not TZ's;
# in the hour that comes twice in autumn it may take the other one, and a probe is then taken again.
expires_in() {
  expires_sshd=$(sshd -V 2>&1)
  case $expires_sshd in
    *OpenSSH_[1-6].* | *OpenSSH_7.[0-6]*) return 0 ;;
    *) ;;
  esac
  expires_at=$(unset TZ && date -d "$1 minutes" +%Y%m%d%H%M) || fail 'date failed'
  printf ',expiry-time="%s"' "$expires_at"
}

# change_keys MARKER [LINE]   this user's file of keys with LINE for what it had of MARKER, or without any; no file stays that we made
change_keys() {
  umask 077
  change_file=$(authorized_keys) || exit
  [ $# -gt 1 ] || [ -e "$change_file" ] || return 0
  lock_keys "$change_file"
  change_kept=$(other_keys "$1" "$change_file") || exit
  change_kept=${change_kept%x}
  if [ $# -eq 1 ] && [ "$change_kept" = '# made by pghaul
' ]; then
    rm -f -- "$change_file" || fail "$change_file cannot be removed"
    rmdir -- "${change_file%/*}" 2>/dev/null # it may hold more
    return 0
  fi
  replace "$change_file" "$change_kept${2:+$2
}"
}

# lock_keys FILE   FILE, made where there is none, is this shell's alone until it ends: two moves would undo each other's lines
# Who was waited for has replaced it: then its successor is locked.
lock_keys() {
  lock_tries=0
  while [ "$lock_tries" -lt 99 ]; do
    lock_tries=$((lock_tries + 1))
    mkdir -p -- "${1%/*}" || fail "${1%/*} cannot be made"
    [ -e "$1" ] || (set -C && echo '# made by pghaul' >"$1") 2>/dev/null
    # opened, not made: who was waited for may have removed it
    lock_why='it cannot be opened'
    { command exec 9<"$1"; } 2>/dev/null || continue
    lock_why='another program has had it for a minute and a half'
    lock_said=$(flock -w 1 9 2>&1)
    case $? in
      0) [ "$1" -ef /proc/self/fd/9 ] && return ;;
      1) ;; # somebody else has it
      *) fail "$1 cannot be locked: ${lock_said:-flock failed}: nothing was changed. Is this home on NFS without locks?" \
        'Start rpc.statd there, mount it with local_lock=flock, or log in as a user whose home is on a local disk' ;;
    esac
  done
  fail "$1 cannot be locked: $lock_why: nothing was changed"
}

# other_keys MARKER FILE   print its lines but those of this copy, then an x
# -a: of a file with a byte that is no text grep would print no line, and every key would be lost.
other_keys() {
  grep -avF -- " $1" "$2" || [ $? -eq 1 ] || fail "$2 cannot be read"
  echo x # keeps the line break ahead of it, which $( ) would take away
}

# authorized_keys   print where this user's file of keys lies, whatever links lead there
authorized_keys() {
  keys_user=$(id -un) || fail 'id does not say who this is'
  keys_entry=$(getent passwd "$keys_user") || fail "there is no user $keys_user"
  keys_home=${keys_entry%:*}
  readlink -mn -- "${keys_home##*:}/.ssh/authorized_keys" || fail "the home of $keys_user cannot be read"
}

# replace FILE TEXT   TEXT instead of what it holds, at once and on the disk, or FILE as it was; owner, mode and label stay
replace() {
  replace_new=$(mktemp -- "$1.XXXXXX") || fail "nothing can be written beside $1: is its disk full?"
  { cp -a -- "$1" "$replace_new" && printf '%s' "$2" >"$replace_new" && sync -- "$replace_new" &&
    mv -f -- "$replace_new" "$1" && sync -- "${1%/*}"; } || {
    rm -f -- "$replace_new"
    fail "$1 cannot be written: is its disk full?"
  }
}

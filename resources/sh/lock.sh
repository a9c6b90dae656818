# The lock: a move's cluster is in one hand at a time. A symbolic link that leads nowhere and whose target is the text:
# made in one step or not at all, on any file system.

# take_lock LOCK TEXT   make it; the first word of TEXT is its owner's token. Ends with 75 and prints the other's text where another has it
# One's own lock, of a workstation that died, is good as it is.
take_lock() {
  lock_said=$(ln -sT -- "$2" "$1" 2>&1) && return
  lock_found=$(readlink -- "$1") || fail "the lock $1 cannot be made: $lock_said"
  lock_owners=$(id -u && stat -c %u -- "$1") || fail "it cannot be told whose the lock $1 is"
  [ "${lock_owners%%[!0-9]*}" = "${lock_owners##*[!0-9]}" ] ||
    fail "the lock $1 is of user ${lock_owners##*[!0-9]}, who is to have none: see who that is, and as root: rm $1"
  case $lock_found in
    "${2%% *} "*) ;;
    *)
      printf '%s\n' "$lock_found"
      refuse 75 "the lock $1 is held: $lock_found; if that one is gone for good, see that no rsync of its copy runs, and remove it"
      ;;
  esac
}

# release_lock LOCK TOKEN   remove it if it is that owner's
release_lock() {
  [ -L "$1" ] || return 0
  release_found=$(readlink -- "$1") || fail "the lock $1 cannot be read"
  case $release_found in
    "$2 "*) rm -f -- "$1" || fail "the lock $1 cannot be removed" ;;
    *) ;; # another's
  esac
}

# list_locks FOLDER NAME   print each lock of FOLDER whose name begins so and its text, a line each, then how many there are
list_locks() {
  locks_found=$(find "$1" -maxdepth 1 -ignore_readdir_race -name "$2*" -type l -printf '%p %l\n') || fail "$1 cannot be read"
  locks_number=$(printf '%s\n' "$locks_found" | grep -c .) || [ $? -eq 1 ] || fail 'grep failed' # 1: none
  printf '%s\n' "${locks_found:+$locks_found
}# $locks_number locks"
}

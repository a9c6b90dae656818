# The lock: a move's cluster is in one hand at a time. A symbolic link that leads nowhere and whose target is the text: made in
# one step or not at all, on any file system. Its name ends at random: where everybody may make names, nobody can have made it.
# Whoever has made one looks for others behind that: of two at once at least one sees both.

# take_lock LOCK TEXT   make LOCK-RANDOM of TEXT, whose first word is its owner's token. Ends with 75 and prints the other lock where
# this user has one of another token
# One's own lock, of a workstation that died, is good as it is. What another user has made under such a name is no lock.
take_lock() {
  lock_token=${2%% *} lock_new=''
  lock_own=$(find_locks "$1" -lname "$lock_token *") || exit
  if [ -z "$lock_own" ]; then
    lock_new=$(mktemp -u -- "$1-XXXXXXXXXX") || fail 'mktemp failed'
    ln -sT -- "$2" "$lock_new" || fail "the lock $lock_new cannot be made"
  fi
  lock_others=$(find_locks "$1" ! -lname "$lock_token *" -printf '%p %l\n') || exit
  [ -n "$lock_others" ] || return 0
  [ -z "$lock_new" ] || rm -f -- "$lock_new" || fail "the lock $lock_new cannot be removed"
  printf '%s\n' "$lock_others"
  refuse 75 "the lock ${lock_others%% *} is held: ${lock_others#* }; if that one is gone for good, see that no rsync of its copy" \
    'runs, and remove it'
}

# find_locks LOCK TEST...   find, with these TESTs, among the locks of that name that this user has made
find_locks() {
  locks_user=$(id -u) || fail 'id does not say who this is'
  locks_name=$1
  shift
  try_again 5 "${locks_name%/*} cannot be read" \
    find "${locks_name%/*}" -maxdepth 1 -ignore_readdir_race -name "${locks_name##*/}*" -type l -user "$locks_user" "$@"
}

# release_lock LOCK TOKEN   remove that owner's, if it is there
release_lock() {
  find_locks "$1" -lname "$2 *" -delete
}

# list_locks FOLDER NAME   print each lock of FOLDER whose name begins so and its text, a line each, then how many there are
# A text of several lines is none of ours.
list_locks() {
  locks_found=$(find "$1" -maxdepth 1 -ignore_readdir_race -name "$2*" -type l ! -lname '*
*' -printf '%p %l\n') || fail "$1 cannot be read"
  locks_number=$(printf '%s\n' "$locks_found" | grep -c .) || [ $? -eq 1 ] || fail 'grep failed' # 1: none
  printf '%s\n' "${locks_found:+$locks_found
}# $locks_number locks"
}

# The lock: only one execution at a time works on a cluster. It is a dangling symbolic link whose target is the text,
# because a link is created in one step or not at all, on any file system. Its name ends at random, so that nobody can
# create it first in a public folder. After creating one, each looks for others: of two at the same time, at least one
# sees both.

# take_lock LOCK TEXT   Create LOCK-RANDOM with TEXT, whose first word is the token of its owner. Exit with 75 and print
# the other lock if this user has one with another token. A lock of the same token, which an interrupted execution has
# left, is good as it is. A link of another user is not a lock.
take_lock() {
  lock_token=${2%% *} lock_new=''
  lock_own=$(find_locks "$1" -lname "$lock_token *") || exit
  if [ -z "$lock_own" ]; then
    lock_new=$(mktemp -u -- "$1-XXXXXXXXXX") || fail 'mktemp failed'
    ln -sT -- "$2" "$lock_new" || fail "the lock $lock_new cannot be created"
  fi
  lock_others=$(find_locks "$1" ! -lname "$lock_token *" -printf '%p %l\n') || exit
  [ -n "$lock_others" ] || return 0
  [ -z "$lock_new" ] || rm -f -- "$lock_new" || fail "the lock $lock_new cannot be removed"
  printf '%s\n' "$lock_others"
  refuse 75 "the lock ${lock_others%% *} is held: ${lock_others#* }. If its owner no longer exists, check that no" \
    'rsync of its copy is running, and remove the lock'
}

# find_locks LOCK TEST...   Run find with these TESTs on the locks of that name that this user has created.
find_locks() {
  locks_user=$(id -u) || fail 'id does not print the name of this user'
  locks_name=$1
  shift
  locks_folder=${locks_name%/*}
  allow_gone "$locks_folder" -- \
    find "$locks_folder" -maxdepth 1 -ignore_readdir_race -name "${locks_name##*/}*" -type l -user "$locks_user" "$@" ||
    fail "$locks_folder cannot be read"
}

# release_lock LOCK TOKEN   Remove the lock of that owner, if it exists.
release_lock() {
  find_locks "$1" -lname "$2 *" -delete
}

# list_locks FOLDER NAME   Print each lock in FOLDER whose name begins so, with its text, one per line, then their
# number. A link with a text of several lines is not a lock.
list_locks() {
  locks_found=$(allow_gone "$1" -- find "$1" -maxdepth 1 -ignore_readdir_race -name "$2*" -type l ! -lname '*
*' -printf '%p %l\n') || fail "$1 cannot be read"
  locks_number=$(printf '%s\n' "$locks_found" | grep -c .) || [ $? -eq 1 ] || fail 'grep failed' # 1: none
  printf '%s\n' "${locks_found:+$locks_found
}# $locks_number locks"
}

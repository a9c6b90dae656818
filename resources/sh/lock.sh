# The lock: a move's cluster is in one hand at a time. A symbolic link that leads nowhere and whose target is the text: made in
# one step or not at all, on any file system. Its name ends with its owner's token, which nobody knows beforehand: where everybody
# may make names, nobody can have made it. Whoever has made one looks for others behind that: of two at once at least one sees both.

# take_lock LOCK TEXT   make LOCK-TOKEN, TOKEN the first word of TEXT. Ends with 75 and prints the other lock where this user has one
# One's own lock, of a workstation that died, is good as it is. What another user has made under such a name is no lock.
take_lock() {
  lock_own=$1-${2%% *} lock_new=''
  lock_said=$(ln -sT -- "$2" "$lock_own" 2>&1) && lock_new=yes
  lock_others=$(locks_of "$1") || exit
  case "
$lock_others" in
    *"
$lock_own "*) ;;
    *) fail "the lock $lock_own cannot be made: $lock_said" ;;
  esac
  lock_others=$(printf '%s\n' "$lock_others" | grep -vF -m 1 -e "$lock_own ") || [ $? -eq 1 ] || fail 'grep failed'
  [ -n "$lock_others" ] || return 0
  [ -z "$lock_new" ] || rm -f -- "$lock_own" || fail "the lock $lock_own cannot be removed"
  printf '%s\n' "$lock_others"
  refuse 75 "the lock ${lock_others%% *} is held: ${lock_others#* }; if that one is gone for good, see that no rsync of its copy" \
    'runs, and remove it'
}

# locks_of LOCK   print the locks of that name that this user has made, and their texts, a line each
locks_of() {
  locks_user=$(id -u) || fail 'id does not say who this is'
  find "${1%/*}" -maxdepth 1 -ignore_readdir_race -name "${1##*/}*" -type l -user "$locks_user" -printf '%p %l\n' ||
    fail "${1%/*} cannot be read"
}

# release_lock LOCK TOKEN   remove that owner's, if it is there
release_lock() {
  rm -f -- "$1-$2" || fail "the lock $1-$2 cannot be removed"
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

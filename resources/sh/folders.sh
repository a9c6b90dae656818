# Folders of a database user, created safely by root: in a folder that other users can change, a link may replace a name
# at any moment.

# run_as USER COMMAND...   As root: run COMMAND as USER, in whose folders it works.
run_as() {
  run_is=$(id -un) || fail 'id does not print the name of this user'
  run_to=$1
  shift
  if [ "$run_is" = "$run_to" ]; then "$@"; else runuser -u "$run_to" -- "$@"; fi
}

# nearest_folder PATH   Print PATH, or the nearest existing folder above it.
nearest_folder() {
  nearest=$1
  until [ -d "$nearest" ]; do
    nearest=${nearest%/*}
    nearest=${nearest:-/}
  done
  printf '%s\n' "$nearest"
}

# make_folder_for USER PATH [MODE]   As root: make PATH a folder of USER, private or with MODE; create missing folders
# above it, too. MODE `kept`: private, but a folder that contains something keeps its mode, for the other files in it.
# Root itself creates a folder only where no other user can change anything on the way.
make_folder_for() {
  give_path=$2 give_wanted=${3-0700}
  [ "$give_wanted" != kept ] || give_wanted=0700
  # A link of root to a mounted disk.
  if [ -d "$2" ] && is_trusted 0 "$2"; then give_path=$(readlink -f -- "$2") || fail "$2 cannot be read"; fi
  give_above=${give_path%/*}
  give_above=${give_above:-/}
  [ -d "$give_above" ] || (make_folder_for "$1" "$give_above" "$give_wanted") || exit
  give_mode=$(stat -c %A -- "$give_above") || fail "$give_above cannot be read"
  # In a folder like /tmp (mode t) other users have names of their own.
  if [ "${give_mode%[tT]}" = "$give_mode" ] && is_trusted 0 "$give_above"; then
    enter_folder "$give_above"
    make_folder_here "$1" "${give_path##*/}"
  else
    [ -d "$give_path" ] || run_as "$1" mkdir -- "$give_path" ||
      fail "$1 cannot create $give_path. Create it, and make $1 its owner"
  fi
  if [ "${3-}" = kept ]; then
    # Root may have no access, for example over NFS.
    give_names=$(run_as "$1" ls -A -I lost+found -- "$give_path") ||
      fail "$give_path does not belong to $1. Make $1 its owner"
    [ -z "$give_names" ] || give_wanted=u+rwx
  fi
  run_as "$1" chmod "$give_wanted" -- "$give_path" || fail "$give_path does not belong to $1. Make $1 its owner"
}

# make_folder_here USER NAME   In a folder of root: make NAME a folder of USER; one that contains something keeps its
# owner.
make_folder_here() {
  [ -d "$2" ] || mkdir -m 0700 -- "$2" || fail "$PWD/$2 cannot be created"
  own_names=$(list_folder_names "$2") || exit
  [ -n "$own_names" ] || [ -L "$2" ] || chown -h "$1:" -- "$2" || fail "$PWD/$2 cannot be given to $1"
}

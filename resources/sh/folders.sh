# Folders of a database user's, made by root without being led astray: where others than root may change what lies there, a link
# may stand a moment later.

# run_as USER COMMAND...   as root: run it as USER, whose folders it works in
run_as() {
  run_is=$(id -un) || fail 'id does not say who this is'
  run_to=$1
  shift
  if [ "$run_is" = "$run_to" ]; then "$@"; else runuser -u "$run_to" -- "$@"; fi
}

# nearest_folder PATH   print PATH, or the folder nearest above it that is there
nearest_folder() {
  nearest=$1
  until [ -d "$nearest" ]; do
    nearest=${nearest%/*}
    nearest=${nearest:-/}
  done
  printf '%s\n' "$nearest"
}

# give_folder USER PATH [MODE]   as root: PATH is a folder of USER's, for them alone or by MODE; so is what was missing above it
# MODE `kept`: for them alone, but one that holds something keeps its mode, for what others have in it.
# Root itself makes it only in a folder of its own, into which none but root can put anything, nor into any link or folder on the way.
give_folder() {
  give_path=$2 give_wanted=${3-0700}
  [ "$give_wanted" != kept ] || give_wanted=0700
  # root's own link to a disk that it has mounted
  if [ -d "$2" ] && trusted 0 "$2"; then give_path=$(readlink -f -- "$2") || fail "$2 cannot be read"; fi
  give_above=${give_path%/*}
  give_above=${give_above:-/}
  [ -d "$give_above" ] || (give_folder "$1" "$give_above" "$give_wanted") || exit
  give_mode=$(stat -c %A -- "$give_above") || fail "$give_above cannot be read"
  # in a folder of /tmp's kind (t) others have names of their own
  if [ "${give_mode%[tT]}" = "$give_mode" ] && trusted 0 "$give_above"; then
    enter "$give_above"
    give_own "$1" "${give_path##*/}"
  else
    [ -d "$give_path" ] || run_as "$1" mkdir -- "$give_path" || fail "$1 cannot make $give_path: make it, and give it to $1"
  fi
  if [ "${3-}" = kept ]; then
    # root may be kept out, as by NFS
    give_names=$(run_as "$1" ls -A -I lost+found -- "$give_path") || fail "$give_path is not $1's: give it to $1"
    [ -z "$give_names" ] || give_wanted=u+rwx
  fi
  run_as "$1" chmod "$give_wanted" -- "$give_path" || fail "$give_path is not $1's: give it to $1"
}

# give_own USER NAME   here, in a folder of root's: NAME is a folder of USER's; one that holds something stays whose it is
give_own() {
  [ -d "$2" ] || mkdir -m 0700 -- "$2" || fail "$PWD/$2 cannot be made"
  own_names=$(names_in "$2") || exit
  [ -n "$own_names" ] || [ -L "$2" ] || chown -h "$1:" -- "$2" || fail "$PWD/$2 cannot be given to $1"
}

# Folders of a database user's, made by root without being led astray: where others than root may change what lies there, a link
# may stand a moment later.

# run_as USER COMMAND...   as root: run it as USER, whose folders it works in
run_as() {
  run_is=$(id -un) || fail 'id does not say who this is'
  run_to=$1
  shift
  if [ "$run_is" = "$run_to" ]; then "$@"; else runuser -u "$run_to" -- "$@"; fi
}

# give_folder USER PATH [MODE]   as root: PATH is a folder of USER's, for them alone or by MODE; so is what was missing above it
# Root itself makes it only in a folder of its own, which none but root can change, and to which no link leads.
give_folder() {
  give_above=${2%/*}
  give_above=${give_above:-/}
  [ -d "$give_above" ] || (give_folder "$1" "$give_above" "${3-0700}") || exit
  enter "$give_above"
  give_here=$(stat -c '%u %A' . && pwd -P) || fail "$give_above cannot be read"
  case $give_here in
    '0 d'????-??-?"
$give_above") give_own "$1" "${2##*/}" ;;
    *) [ -d "$2" ] || run_as "$1" mkdir -- "$2" || fail "$1 cannot make $2: make it, and give it to $1" ;;
  esac
  run_as "$1" chmod "${3-0700}" -- "$2" || fail "$2 is not $1's: give it to $1"
}

# give_own USER NAME   here, in a folder of root's: NAME is a folder of USER's; one that holds something stays whose it is
give_own() {
  [ -d "$2" ] || mkdir -m 0700 -- "$2" || fail "$PWD/$2 cannot be made"
  own_names=$(names_in "$2") || exit
  [ -n "$own_names" ] || [ -L "$2" ] || chown -h "$1:" -- "$2" || fail "$PWD/$2 cannot be given to $1"
}

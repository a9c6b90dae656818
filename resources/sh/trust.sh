# What may be run as whom: a program counts where nobody else can change it, nor any folder on the way to it.

# trusted UID FILE   whether root and that user alone can change FILE, what it leads to, and the folders on the way to both
# In a folder of /tmp's kind (t) others make names of their own, and change none of those that are there.
trusted() {
  trusted_uid=$1
  trusted_file=$(readlink -e -- "$2") && trusted_folder=$(readlink -e -- "${2%/*}/") || return 1
  set -- /
  for trusted_path in "$trusted_file" "$trusted_folder"; do
    while [ -n "$trusted_path" ]; do
      set -- "$@" "$trusted_path"
      trusted_path=${trusted_path%/*}
    done
  done
  trusted_said=$(stat -c '%u %A' -- "$@") || fail 'stat failed'
  trusted_others=$(printf '%s\n' "$trusted_said" | grep -vE "^(0|$trusted_uid) (.....-..-.|d........[tT])$") ||
    [ $? -eq 1 ] || fail 'grep failed'
  [ -z "$trusted_others" ]
}

# The proof of a copy: both sides sum up lists of what they hold, and print the same or differ. The lists themselves stay
# in LISTS, so that files that differ can be named.

# copy_began DATA   print from when on what changes is summed up, as @SECONDS: a moment ago by the host's clock
# A moment, for what is written within one tick of the clock; ten minutes where another host's clock sets the times.
copy_began() {
  began_type=$(stat -f -c %T -- "$1") || fail "$1 cannot be read"
  began_now=$(date +%s) || fail 'date failed'
  case $began_type in
    nfs* | smb* | cifs* | ceph* | fuse*) echo "@$((began_now - 600))" ;;
    *) echo "@$((began_now - 3))" ;;
  esac
}

# sum_up LISTS PATH DATA OWNER WHAT PROCESSES OPENSSL RELINKED [LABEL LINK ROOT WAL]...   print the sums of all data roots
# WHAT: whose contents are summed up: all, none, or since: what changed since the time on standard input. RELINKED: links
# that new has elsewhere, as patterns of find, with // between them. The control file always is.
sum_up() {
  sum_lists=$1 sum_path=$2 sum_data=$3 sum_owner=$4 sum_what=$5 sum_processes=$6 sum_openssl=$7 sum_relinked=$8
  shift 8
  if [ "$sum_what" = since ]; then
    read -r sum_what || fail 'the time since when it changed is missing'
    # find takes other words, and none, for a time too: both sides would agree on next to nothing
    case ${sum_what#@} in "$sum_what" | '' | *[!0-9]*) fail "no time since when it changed: $sum_what" ;; *) ;; esac
  fi
  own_folder "${sum_lists%/*}"
  : >"$sum_lists" || fail "$sum_lists cannot be written"
  while [ $# -gt 3 ]; do
    (sum_root "$@") || exit
    shift 4
  done
  echo control
  sha256sum <"$sum_data/global/pg_control" || fail "the control file of $sum_data cannot be read"
}

# sum_root LABEL LINK ROOT WAL   print LABEL and the sums of its lists: names, and contents where they are wanted
# LINK: below the data directory, `-` for that itself
sum_root() {
  sum_label=$1 sum_link=${2#-} sum_wal=$4
  enter "$3"
  echo "$sum_label"
  set -- -path ./lost+found
  if [ "$sum_label" = data ]; then
    set -- "$@" -o -path ./postmaster.pid -o -path ./pghaul-start.log
    sum_rest=$sum_relinked//
    while [ -n "${sum_rest%//}" ]; do
      set -- "$@" -o -path "./${sum_rest%%//*}"
      sum_rest=${sum_rest#*//}
    done
  fi
  if [ "$sum_wal" != - ]; then
    sum_ahead=./$sum_wal/
    [ "$sum_wal" != . ] || sum_ahead=./
    sum_idle=$(idle_wal "$sum_path" "$sum_data" "./$sum_wal" "$sum_ahead") || exit
    set -f
    for sum_pattern in $sum_idle; do set -- "$@" -o -path "$sum_pattern"; done
  fi
  list_names "$@"
  print_sum manifest
  if [ "$sum_what" != none ]; then
    list_contents "$@"
    print_sum sums
  fi
}

# print_sum KIND   the list that was just made: keep it under its heading, and print its sum
print_sum() {
  { printf '# %s %s\n' "$1" "$sum_link" && cat -- "$sum_lists.list"; } >>"$sum_lists" || fail "$sum_lists cannot be written"
  sha256sum <"$sum_lists.list" || fail "$sum_lists.list cannot be summed up"
  rm -f -- "$sum_lists".list "$sum_lists".found || fail "$sum_lists.list cannot be removed"
}

# list_names LEFT_OUT...   here: a line each of all that find's LEFT_OUT does not match, sorted
# Owner (by name, as numbers differ between hosts), type, mode, path; of a file its size and time of change in nanoseconds, of
# a link where it leads. A folder's size and time are its file system's own. A line break in a name is byte 1.
list_names() {
  whole "$sum_lists.found" find . -mindepth 1 \( "$@" \) -prune -o \
    \( -user "$sum_owner" -printf 'owner ' -o -printf '%u ' \) \
    \( -type f -printf '%y %m %s %T@ %P\0' -o -type l -printf '%y %P -> %l\0' -o -printf '%y %m %P\0' \)
  tr '\n\0' '\001\n' <"$sum_lists.found" >"$sum_lists.list" || fail "$sum_lists.list cannot be written"
  whole "$sum_lists.found" sort -- "$sum_lists.list"
  mv -- "$sum_lists.found" "$sum_lists.list" || fail "$sum_lists.list cannot be written"
}

# list_contents LEFT_OUT...   here: a line `SUM  ./PATH` of each file, of those that changed since sum_what alone, sorted
# openssl is some four times as fast where the processor has instructions for it, but slower to begin with.
list_contents() {
  set -- \( "$@" \) -prune -o -type f
  if [ "$sum_what" != all ]; then set -- "$@" -newermt "$sum_what"; fi
  if [ "$sum_openssl" = yes ]; then
    sum_files "$sum_lists.small" sha256sum -- "$@" ! -size +1024k -print0
    sum_files "$sum_lists.large" 'openssl dgst -sha256 -r' -- "$@" -size +1024k -print0
    sed 's/ \*/  /' "$sum_lists.large" >>"$sum_lists.small" || fail "$sum_lists.small cannot be written"
    rm -f -- "$sum_lists.large" || fail "$sum_lists.large cannot be removed"
  else
    sum_files "$sum_lists.small" sha256sum -- "$@" -print0
  fi
  whole "$sum_lists.list" sort -- "$sum_lists.small"
  rm -f -- "$sum_lists.small" || fail "$sum_lists.small cannot be removed"
}

# sum_files LIST PROGRAM -- EXPRESSION...   the sums of the files that find's EXPRESSION finds here, by several PROGRAMs at once
# A few files each: so their lines leave each in one write, and those of several never mix.
sum_files() {
  sum_list=$1 sum_program=$2
  shift 3
  whole "$sum_list.names" find . "$@"
  # shellcheck disable=SC2086 # a program with its options
  whole "$sum_list" xargs -0 -r -n 8 -P "$sum_processes" $sum_program <"$sum_list.names"
  sum_names=$(records "$sum_list.names") || exit
  sum_sums=$(lines "$sum_list") || exit
  [ "$sum_names" -eq "$sum_sums" ] || fail "of $sum_names files only $sum_sums were summed up"
  rm -f -- "$sum_list.names" || fail "$sum_list.names cannot be removed"
}

# print_lists LISTS BYTES   print lists that were kept, packed: of a million files some 20 MB, of more the beginning
print_lists() {
  whole "$1.gz" gzip -c -- "$1"
  whole "$1.cut" head -c "$2" -- "$1.gz"
  base64 -- "$1.cut" || fail "$1.cut cannot be read"
  rm -f -- "$1.gz" "$1.cut" || fail "$1.gz cannot be removed"
}

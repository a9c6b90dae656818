# Lists of files on the old server: what is there, what changed since a pass that ended well, and which stream carries
# what. One line per file: size, mtime and ctime in nanoseconds, inode, name. Lists are sorted so that two can be
# compared. A file counts as copied if its line is the same as before the pass. So not only its time counts, as in the
# quick check of rsync, but also its ctime, which no program can set back. The lists are in copy_folder; copy_share is
# use_one_stream or balance_streams.
# shellcheck disable=SC2154

# list_files LIST [TEST]...   Write LIST of the files below the current folder that pass find's TESTs; a line break in a
# name is byte 1 copy_parts: the names in this folder that belong to the cluster; if it is empty, all do.
list_files() {
  list=$1
  shift
  list_beside=$(exclude_parts "${copy_parts:-*}") || exit
  set -f
  # shellcheck disable=SC2086 # words of find
  write_complete "$list.found" allow_gone . -- find . -ignore_readdir_race \( -type d -name lost+found -o $list_beside \) -prune \
    -o -type f "$@" -printf '%s %T@ %C@ %i ./%P\0'
  set +f
  tr '\n\0' '\001\n' <"$list.found" >"$list.lines" || fail "$list.lines cannot be written"
  write_complete "$list" sort -- "$list.lines"
  rm -f -- "$list.found" "$list.lines" || fail "$list.found cannot be removed"
}

# exclude_parts PARTS   Print the words of find that match everything in this folder except PARTS, names with slashes
# between them.
exclude_parts() {
  beside_words='-path ./*' beside_rest=$1/
  while [ -n "$beside_rest" ]; do
    beside_words="$beside_words ! -path ./${beside_rest%%/*} ! -path ./${beside_rest%%/*}/*"
    beside_rest=${beside_rest#*/}
  done
  printf '%s\n' "$beside_words"
}

# list_changed_files LABEL   In the data root: divide the files that are not marked as synced among the streams, and
# prepare the next mark. Files changed in the last two seconds are not part of it: a second write within one tick of the
# clock does not change any time.
list_changed_files() {
  changed_label=$1
  changed_now=$(date +%s) || fail 'date failed'
  changed_limit=@$((changed_now - 2))
  umask 077
  list_root_files "$changed_label" next ! -newermt "$changed_limit" ! -newerct "$changed_limit"
  [ -e "$copy_folder/seen-$changed_label" ] || : >"$copy_folder/seen-$changed_label" ||
    fail "$copy_folder cannot be written"
  list_changed "$changed_label"
  "$copy_share" "$copy_folder/changed-$changed_label" "$changed_label"
}

# list_root_files LABEL LIST [TEST]...   Write the LIST of the data root LABEL: its files without idle WAL segments.
list_root_files() {
  moved_label=$1 moved_list=$2
  shift 2
  if [ -e "$copy_folder/idle-$moved_label" ]; then
    while read -r _ moved_idle; do set -- "$@" ! -path ".$moved_idle"; done <"$copy_folder/idle-$moved_label"
  fi
  list_files "$copy_folder/$moved_list-$moved_label" "$@"
}

# list_changed LABEL   Write the list `changed` of LABEL: the files that differ from those marked as synced.
list_changed() {
  list_root_files "$1" now
  write_complete "$copy_folder/changed-$1" comm -13 -- "$copy_folder/seen-$1" "$copy_folder/now-$1"
}

# print_changed LABEL   After a successful pass: print the size of the files that have changed since it began.
print_changed() {
  list_changed "$1"
  awk '{ sum += $1 } END { printf "%.0f bytes in %d files changed meanwhile\n", sum, NR }' "$copy_folder/changed-$1" ||
    fail "the sizes in the list of $1 cannot be added"
}

# use_one_stream LIST LABEL   Write the names of LIST, NUL-ended, for a single stream; print how much there is to send.
use_one_stream() {
  list_names=$copy_folder/files-$2-1
  write_complete "$list_names" cut -d ' ' -f 5- -- "$1"
  awk '{ sum += $1 } END { printf "%.0f bytes in %d files to send\n", sum, NR }' "$1" ||
    fail "the sizes in $1 cannot be added"
  write_name_lists "$1" "$list_names"
}

# balance_streams LIST LABEL   Divide the names of LIST by size among copy_streams streams.
balance_streams() {
  write_complete "$1.sorted" sort -rn -- "$1"
  awk -v streams="$copy_streams" -v list="$copy_folder/files-$2" '
    BEGIN { for (i = 1; i <= streams; i++) { file[i] = list "-" i; load[i] = 0; printf "" > file[i] } }
    {
      least = 1
      for (i = 2; i <= streams; i++) if (load[i] < load[least]) least = i
      load[least] += $1 + 65536 # a file costs a moment besides its bytes
      sum += $1
      sub(/^[^ ]* [^ ]* [^ ]* [^ ]* /, "")
      print > file[least]
    }
    END { printf "%.0f bytes in %d files to send\n", sum, NR }' "$1.sorted" ||
    fail "the files of $1 cannot be divided among the streams"
  list=$1 share_label=$2 share_stream=1
  set --
  while [ "$share_stream" -le "$copy_streams" ]; do
    set -- "$@" "$copy_folder/files-$share_label-$share_stream"
    share_stream=$((share_stream + 1))
  done
  write_name_lists "$list" "$@"
}

# write_name_lists LIST FILE...   Write FILE.names, NUL-ended, of the lines of each FILE; fail unless they are as many
# as the lines of LIST.
write_name_lists() {
  named_lines=$(count_lines "$1") || exit
  shift
  for named_file; do
    tr '\n\001' '\0\n' <"$named_file" >"$named_file.names" || fail "$named_file.names cannot be written"
    named_many=$(count_records "$named_file.names") || exit
    named_lines=$((named_lines - named_many))
  done
  [ "$named_lines" -eq 0 ] || fail "$named_lines of the files to send are missing from the lists of the streams"
}

# mark_synced LABEL   After a successful pass: record that the files that did not change before it began are on the new
# server.
mark_synced() {
  mv -f -- "$copy_folder/next-$1" "$copy_folder/seen-$1" || fail "$copy_folder cannot be written"
}

# Lists of files on old: what is there, what changed since a pass that ended well, and which stream carries what.
# A line a file: size, mtime and ctime in nanoseconds, inode, name; sorted, so that two lists can be compared. A file is
# trusted as copied when its line is what it was before the pass: not by its time alone, as by rsync's quick check, but also by
# what no program can set back, the ctime. Lists lie in copy_folder, and go with it; copy_share is one_list or share_out.
# shellcheck disable=SC2154

# list_files LIST [TEST]...   LIST of the files below here that find's TESTs leave; a line break in a name is byte 1
# copy_parts: the names here whose files they are; nothing: all are.
list_files() {
  list=$1
  shift
  list_beside=$(beside_parts "${copy_parts:-*}") || exit
  set -f
  # shellcheck disable=SC2086 # words of find
  whole "$list.found" find . -ignore_readdir_race \( -type d -name lost+found -o $list_beside \) -prune \
    -o -type f "$@" -printf '%s %T@ %C@ %i ./%P\0'
  set +f
  tr '\n\0' '\001\n' <"$list.found" >"$list.lines" || fail "$list.lines cannot be written"
  whole "$list" sort -- "$list.lines"
  rm -f -- "$list.found" "$list.lines" || fail "$list.found cannot be removed"
}

# beside_parts PARTS   print the words of find, without blanks, for what lies here beside PARTS: names with slashes between them
beside_parts() {
  beside_words='-path ./*' beside_rest=$1/
  while [ -n "$beside_rest" ]; do
    beside_words="$beside_words ! -path ./${beside_rest%%/*} ! -path ./${beside_rest%%/*}/*"
    beside_rest=${beside_rest#*/}
  done
  printf '%s\n' "$beside_words"
}

# changed_names LABEL   here: share the files that no pass has vouched for out to the streams; leave what the next may vouch for
# Lines of the two seconds before are no part of that: what is written within one tick of the clock leaves no trace in any time.
changed_names() {
  changed_label=$1
  changed_now=$(date +%s) || fail 'date failed'
  changed_limit=@$((changed_now - 2))
  umask 077
  list_moved "$changed_label" next ! -newermt "$changed_limit" ! -newerct "$changed_limit"
  [ -e "$copy_folder/seen-$changed_label" ] || : >"$copy_folder/seen-$changed_label" || fail "$copy_folder cannot be written"
  list_changed "$changed_label"
  "$copy_share" "$copy_folder/changed-$changed_label" "$changed_label"
}

# list_moved LABEL LIST [TEST]...   the LIST of LABEL, of its files here but for idle WAL
list_moved() {
  moved_label=$1 moved_list=$2
  shift 2
  if [ -e "$copy_folder/idle-$moved_label" ]; then
    while read -r _ moved_idle; do set -- "$@" ! -path ".$moved_idle"; done <"$copy_folder/idle-$moved_label"
  fi
  list_files "$copy_folder/$moved_list-$moved_label" "$@"
}

# list_changed LABEL   here: the list `changed` of LABEL, of the files that are not as a pass has vouched for them
list_changed() {
  list_moved "$1" now
  whole "$copy_folder/changed-$1" comm -13 -- "$copy_folder/seen-$1" "$copy_folder/now-$1"
}

# say_changed LABEL   here, behind a pass that ended well: print how much has changed since it began, in files, whole
say_changed() {
  list_changed "$1"
  awk '{ sum += $1 } END { printf "%.0f bytes in %d files changed meanwhile\n", sum, NR }' "$copy_folder/changed-$1" ||
    fail "the list of $1 cannot be added up"
}

# one_list LIST LABEL   its names as the NUL-ended ones of the one stream; print how much that is
one_list() {
  list_names=$copy_folder/files-$2-1
  whole "$list_names" cut -d ' ' -f 5- -- "$1"
  awk '{ sum += $1 } END { printf "%.0f bytes in %d files to send\n", sum, NR }' "$1" || fail "$1 cannot be added up"
  name_files "$1" "$list_names"
}

# share_out LIST LABEL   the same, by size, over copy_streams files
share_out() {
  whole "$1.sorted" sort -rn -- "$1"
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
    END { printf "%.0f bytes in %d files to send\n", sum, NR }' "$1.sorted" || fail "the files of $1 cannot be shared out"
  list=$1 share_label=$2 share_stream=1
  set --
  while [ "$share_stream" -le "$copy_streams" ]; do
    set -- "$@" "$copy_folder/files-$share_label-$share_stream"
    share_stream=$((share_stream + 1))
  done
  name_files "$list" "$@"
}

# name_files LIST FILE...   FILE.names, NUL-ended, of the lines of each; fails unless they are as many as LIST has
name_files() {
  named_lines=$(lines "$1") || exit
  shift
  for named_file; do
    tr '\n\001' '\0\n' <"$named_file" >"$named_file.names" || fail "$named_file.names cannot be written"
    named_many=$(records "$named_file.names") || exit
    named_lines=$((named_lines - named_many))
  done
  [ "$named_lines" -eq 0 ] || fail "$named_lines of the files to send are in no list"
}

# vouch LABEL   a pass has ended well: what stood still before it began is on new
vouch() {
  mv -f -- "$copy_folder/next-$1" "$copy_folder/seen-$1" || fail "$copy_folder cannot be written"
}

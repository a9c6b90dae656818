# The verification of a copy: each server lists everything that it has, with the checksum of each file, and prints the
# checksums of these lists. The lists stay in a private folder of this user, one per data root. So a file that was read
# while the old cluster was running is not read again in the downtime, and differences can be named. There is one line
# per name, sorted by path. Its fields are the path, `alike`, `own` and the checksum of a file. Byte 2 separates them; a
# line break in a name is byte 1.
#   alike  what both servers must have in common: owner, type and mode; size and time of a file in whole seconds, which
#          every rsync and file system preserves; the target of a link. The owner on the new server is the user who
#          writes there. On the old server all files count as the owner's, because they will belong to the owner.
#   own    what is particular to this server: size and time of a folder, which depend on its file system; ctime and
#          inode of a file. No program can set a ctime back, so a file with the same line has the same contents.

# checksum_in_advance FOLDER OWNER PROCESSES PROGRAM FORGET PATH DATA RELINKED [LABEL LINK ROOT WAL]...
# While the old cluster is running: compute the checksums of all files that have settled and have no checksum in FOLDER
# yet. FORGET: `forget_cached`, if the files are to be read from the disk. PROGRAM: openssl, sha256sum, or none, if only
# names are listed. WAL: as in begin_pass. RELINKED: the links that lead elsewhere on the new server, separated by //.
# LINK: the link to ROOT, or `-` for the data directory itself.
checksum_in_advance() {
  set_checksum_options "$@"
  shift 8
  sleep 1.2 || fail 'the program sleep is missing' # what the pass has just brought settles
  sum_until=$(print_settled_time "$sum_data") || exit
  sum_tolerated=123 # of xargs: a file that vanished or cannot be read has no sum yet
  while [ $# -gt 3 ]; do
    (update_checksums "$1" "$3" "$4") || exit
    shift 4
  done
}

# checksum_all WORDS...   Compute all missing checksums; print the size of each data root and the checksum of its list.
# The words are those of checksum_in_advance. No server may be running, and no cluster has fewer files than 20.
checksum_all() {
  set_checksum_options "$@"
  refuse_running_server "$sum_data"
  shift 8
  sum_until='' sum_tolerated=0 sum_many=0
  while [ $# -gt 3 ]; do
    (update_checksums "$1" "$3" "$4") || exit
    sum_said=$(checksum_list "$1") || exit
    printf '%s: %s\n' "$1" "$sum_said"
    sum_many=$((sum_many + ${sum_said%% *}))
    shift 4
  done
  [ "$sum_many" -ge 20 ] ||
    fail "only $sum_many files were found, but every cluster has at least 20. Check that every disk is mounted"
  echo control
  checksum_control_file "$sum_data"
  print_end_mark
}

# set_checksum_options FOLDER OWNER PROCESSES PROGRAM FORGET PATH DATA RELINKED   Set the variables that the functions
# here read.
set_checksum_options() {
  sum_lists=$1 sum_owner=$2 sum_processes=$3 sum_program=$4 sum_forget=$5 sum_path=$6 sum_data=$7 sum_relinked=$8
  sum_between=$(printf '\002')
  make_private_folder "$sum_lists"
}

# print_settled_time DATA   Print until when files there have settled, in milliseconds of the clock that their times are
# taken from A second write within one tick of that clock does not change any time. A tick is at most one second, and
# the kernel's clock for files is up to ten milliseconds late. Ten minutes are allowed if the clock is that of another
# host.
print_settled_time() {
  settled_type=$(stat -f -c %T -- "$1") || fail "$1 cannot be read"
  settled_now=$(date +%s%3N) || fail 'date failed'
  case $settled_type in
    nfs* | smb* | cifs* | ceph* | fuse*) echo "$((settled_now - 600000))" ;;
    *) echo "$((settled_now - 1100))" ;;
  esac
}

# update_checksums LABEL ROOT WAL   List the contents of ROOT, and keep the checksums of its files in the list of LABEL.
update_checksums() {
  sum_list=$sum_lists/list-$1
  enter_folder "$2"
  list_entries "$1" "$2" "$3"
  [ -e "$sum_list" ] || : >"$sum_list" || fail "$sum_list cannot be written"
  write_complete "$sum_lists/joined" \
    join -t "$sum_between" -a 1 -o 0,1.2,1.3,2.2,2.3,2.4 -- "$sum_lists/now" "$sum_list"
  rm -f -- "$sum_lists/now" "$sum_list" || fail "$sum_list cannot be removed"
  split_known
  : >"$sum_lists/sums" || fail "$sum_lists/sums cannot be written"
  # openssl is about four times as fast if the processor has instructions for it, but slower to start.
  add_checksums small sha256sum
  add_checksums large openssl dgst -sha256 -r
  sort_by_path sums
  write_complete "$sum_lists/read" join -t "$sum_between" -o 0,1.2,1.3,2.2 -- "$sum_lists/unknown" "$sum_lists/sums"
  sum_wanted=$(count_lines "$sum_lists/unknown") || exit
  sum_read=$(count_lines "$sum_lists/read") || exit
  [ "$sum_tolerated" != 0 ] || [ "$sum_wanted" -eq "$sum_read" ] ||
    fail "checksums were computed for only $sum_read of $sum_wanted files"
  write_complete "$sum_list" sort -m -t "$sum_between" -k 1,1 -- "$sum_lists/known" "$sum_lists/read"
  for keep_part in known unknown small large names said sums read; do
    rm -f -- "$sum_lists/$keep_part" || fail "$sum_lists/$keep_part cannot be removed"
  done
}

# list_entries LABEL ROOT WAL   In the data root: write the lines of everything in ROOT, without checksums, to `now`.
# What each server has of its own is left out: the lock file, the log of a start, the fence, the control file (which has
# a checksum of its own) and idle WAL. So are FIFOs, sockets and devices, which are not copied. sum_owner `-`: any
# owner.
list_entries() {
  alike_label=$1 alike_wal=$3
  set -- -type d -name lost+found -o -type p -o -type s -o -type b -o -type c
  [ "$alike_label" != data ] || set -- "$@" -o -path ./postmaster.pid -o -path ./pghaul-start.log \
    -o -path ./pghaul-fence -o -path ./global/pg_control
  case $alike_wal in
    PG_*) # what in the folder of a tablespace is the cluster's
      alike_beside=$(exclude_parts "$alike_wal") || exit
      set -f
      # shellcheck disable=SC2086 # words of find
      set -- "$@" -o $alike_beside
      set +f
      alike_wal=-
      ;;
    *) ;;
  esac
  if [ "$alike_wal" != - ]; then
    alike_ahead=./$alike_wal/
    [ "$alike_wal" != . ] || alike_ahead=./
    alike_idle=$(idle_wal "$sum_path" "$sum_data" "./$alike_wal" "$alike_ahead") || exit
    set -f
    for alike_pattern in $alike_idle; do set -- "$@" -o -path "$alike_pattern"; done
    set +f
  fi
  alike_owner="-user $sum_owner"
  [ "$sum_owner" != - ] || alike_owner=-true
  # shellcheck disable=SC2086 # words of find; a user's name has no blank
  write_complete "$sum_lists/found" allow_gone . -- find . -mindepth 1 -ignore_readdir_race \( "$@" \) -prune \
    -o -printf '%P\002' \( $alike_owner -printf 'owner ' -o -printf '%u ' \) \
    \( -type f -printf '%y %m %s %Ts\002%C@ %i\0' -o -type l -printf '%y -> %l\002\0' -o -printf '%y %m\002\0' \)
  tr '\n\0' '\001\n' <"$sum_lists/found" >"$sum_lists/now" || fail "$sum_lists/now cannot be written"
  rm -f -- "$sum_lists/found" || fail "$sum_lists/found cannot be removed"
  sort_by_path now
}

# sort_by_path LIST   Sort it by path, with little memory.
sort_by_path() {
  write_complete "$sum_lists/sorted" sort -t "$sum_between" -k 1,1 -S 64M -T "$sum_lists" -- "$sum_lists/$1"
  mv -f -- "$sum_lists/sorted" "$sum_lists/$1" || fail "$sum_lists/$1 cannot be written"
}

# split_known   Split `joined` into `known`, which has or needs no checksum, and `unknown`; by size `unknown` is also in
# `small` and `large`.
split_known() {
  for part_file in known unknown small large; do
    : >"$sum_lists/$part_file" || fail "$sum_lists/$part_file cannot be written"
  done
  relinked=$sum_relinked awk -F "$sum_between" -v folder="$sum_lists/" -v until="$sum_until" -v program="$sum_program" '
    BEGIN {
      OFS = FS
      nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
      for (many = split(ENVIRON["relinked"], links, "//"); many; many--) elsewhere[links[many]]
    }
    $1 in elsewhere { next }
    $3 == "" || program == "none" { print $1, $2, "", "" >(folder "known"); next }
    $6 != "" && $2 == $4 && $3 == $5 { print $1, $2, $3, $6 >(folder "known"); next }
    until != "" && $3 * 1000 > until + 0 { next }
    {
      split($2, alike, " ")
      if (alike[4] == 0) { print $1, $2, $3, nothing >(folder "known"); next }
      large = program == "openssl" && alike[4] > 1048576 && $1 !~ /[\\\001]/
      print "./" $1 >(folder (large ? "large" : "small"))
      print $1, $2, $3 >(folder "unknown")
    }' "$sum_lists/joined" || fail "$sum_list cannot be divided"
  rm -f -- "$sum_lists/joined" || fail "$sum_lists/joined cannot be removed"
}

# add_checksums NAMES PROGRAM...   Add the checksums of the files in the list NAMES to `sums`, by several PROGRAMs at
# once. Each gets few files, so that it writes all of its lines in one write, and the lines of several never mix.
add_checksums() {
  add_names=$sum_lists/names
  tr '\n\001' '\0\n' <"$sum_lists/$1" >"$add_names" || fail "$add_names cannot be written"
  shift
  "$sum_forget" "$add_names"
  xargs -0 -r -n 16 -P "$sum_processes" "$@" <"$add_names" >"$sum_lists/said" || [ $? -eq "$sum_tolerated" ] ||
    fail "$1 could not compute the checksums of all files"
  # sha256sum escapes line breaks and backslashes in a name, and marks this by a backslash before the checksum.
  awk -v between="$sum_between" '
    {
      escaped = sub(/^\\/, "")
      path = substr($0, 69)
      if (!match($0, /^[0-9a-f]+ [ *][.]\//) || RLENGTH != 68) exit 1
      if (escaped) {
        gsub(/\\\\/, "\003", path)
        gsub(/\\n/, "\001", path)
        gsub(/\\r/, "\r", path)
        gsub(/\003/, "\\", path)
      }
      print path between substr($0, 1, 64)
    }' "$sum_lists/said" >>"$sum_lists/sums" || fail "$sum_lists/sums cannot be written"
}

# forget_cached NAMES   Write the files of these names to disk and drop them from the page cache, so that the disk is
# read. Every user who may read a file may do so; source: posix_fadvise(2), POSIX_FADV_DONTNEED.
forget_cached() {
  flush_file_system .
  xargs -0 -r -P "$sum_processes" -I '{}' dd if='{}' iflag=nocache count=0 status=none <"$1" ||
    fail 'not every file could be dropped from the page cache'
}

# checksum_list LABEL   Print how many files and bytes the list of LABEL contains, and the checksum of what must be
# alike in it.
checksum_list() {
  list_alike=$sum_lists/alike
  list_said=$(awk -F "$sum_between" -v alike="$list_alike" '
    BEGIN { OFS = FS; printf "" >alike }
    { print $1, $2, $4 >alike }
    split($2, said, " ") && said[2] == "f" { files++; bytes += said[4] }
    END { printf "%d files, %.0f bytes\n", files, bytes }' "$sum_lists/list-$1") || fail "the list of $1 cannot be read"
  list_hash=$(sha256sum <"$list_alike") || fail "the checksum of $list_alike cannot be computed"
  rm -f -- "$list_alike" || fail "$list_alike cannot be removed"
  printf '%s, %s\n' "$list_said" "${list_hash%% *}"
}

# print_lists FOLDER BYTES [LABEL LINK]...   Print the lists in FOLDER, packed; of very many files only the beginning.
# The beginning of a checksum is enough to name what differs.
print_lists() {
  lists_folder=$1 lists_bytes=$2
  shift 2
  : >"$lists_folder/all" || fail "$lists_folder/all cannot be written"
  while [ $# -gt 1 ]; do
    printf '\002%s\002%s\n' "$1" "${2#-}" >>"$lists_folder/all" || fail "$lists_folder/all cannot be written"
    awk -F '\002' 'BEGIN { OFS = FS } { print $1, $2, substr($4, 1, 8) }' "$lists_folder/list-$1" \
      >>"$lists_folder/all" || fail "the list of $1 cannot be read"
    shift 2
  done
  write_complete "$lists_folder/packed" gzip -c -- "$lists_folder/all"
  write_complete "$lists_folder/cut" head -c "$lists_bytes" -- "$lists_folder/packed"
  base64 -- "$lists_folder/cut" || fail "$lists_folder/cut cannot be read"
  rm -f -- "$lists_folder/all" "$lists_folder/packed" "$lists_folder/cut" || fail "$lists_folder/all cannot be removed"
}

# mark_rest_synced [LABEL ROOT WAL]...   On the stopped old server, after a comparison: leave only the files of standard
# input to the passes, and mark all others as synced. One line per file: LABEL, byte 2, path; then the end mark.
# shellcheck disable=SC2154 # a setting
mark_rest_synced() {
  write_complete "$copy_folder/differ" read_complete
  while [ $# -gt 1 ]; do
    (
      # shellcheck disable=SC2034 # list_files reads it
      case $3 in PG_*) copy_parts=$3 ;; *) copy_parts='' ;; esac
      enter_folder "$2"
      list_files "$copy_folder/now-$1"
      # shellcheck disable=SC2016 # awk is to read these
      write_complete "$copy_folder/seen-$1" env label="$1" awk '
        FILENAME == ARGV[1] { differ[$0]; next }
        { path = $0; sub(/^[^ ]* [^ ]* [^ ]* [^ ]* [.]\//, "", path) }
        !((ENVIRON["label"] "\002" path) in differ)' "$copy_folder/differ" "$copy_folder/now-$1"
    ) || exit
    shift 3
  done
}

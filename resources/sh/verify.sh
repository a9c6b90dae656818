# The proof of a copy: each side lists all that it holds, with the sum of each file, and prints the sums of these lists. Lists
# stay in a folder of this user's own, one a data root: so what was read while old ran is not read again in its stop, and
# what differs can be named.
# A line a name, sorted by path: the path; what both sides must have alike; what is this side's own; the sum of a file. Byte 2
# stands between them; a line break in a name is byte 1.
#   alike  owner (on new: who writes there; on old all are taken for the owner's, whose they become), type, mode; of a file size and time, in whole seconds, which every
#          rsync and file system carries; of a link where it leads. A folder's size and time are its file system's own
#   own    ctime and inode of a file. No program can set a ctime back: what has the same line has the same contents

# sum_ahead FOLDER OWNER PROCESSES PROGRAM FORGET PATH DATA RELINKED [LABEL LINK ROOT WAL]...   while old runs: keep sums in FOLDER
# Of files that have settled and whose sums it does not hold yet. FORGET: forget_cached where they are to come from the disk.
# PROGRAM: openssl, sha256sum, or none for names alone. WAL: as begin_pass has it. RELINKED: links that new has elsewhere, with // between them. LINK: that to ROOT, `-` for the data directory itself.
sum_ahead() {
  sum_words "$@"
  shift 8
  sleep 1.2 || fail 'sleep is not there' # what the pass has just brought settles
  sum_until=$(settled "$sum_data") || exit
  sum_tolerated=123 # of xargs: a file that vanished or cannot be read has no sum yet
  while [ $# -gt 3 ]; do
    (keep_sums "$1" "$3" "$4") || exit
    shift 4
  done
}

# sum_up WORDS...   as sum_ahead, of all that has no sum yet; print how much each data root holds and the sum of its list
# No server lives there, and there are never fewer files than any cluster has.
sum_up() {
  sum_words "$@"
  no_server "$sum_data"
  shift 8
  sum_until='' sum_tolerated=0 sum_many=0
  while [ $# -gt 3 ]; do
    (keep_sums "$1" "$3" "$4") || exit
    sum_said=$(list_sum "$1") || exit
    printf '%s: %s\n' "$1" "$sum_said"
    sum_many=$((sum_many + ${sum_said%% *}))
    shift 4
  done
  [ "$sum_many" -ge 20 ] || fail "only $sum_many files are there, and any cluster has 20: is a disk not mounted?"
  echo control
  control_sum "$sum_data"
  end_mark
}

# sum_words FOLDER OWNER PROCESSES PROGRAM FORGET PATH DATA RELINKED   keep what the functions here read
sum_words() {
  sum_lists=$1 sum_owner=$2 sum_processes=$3 sum_program=$4 sum_forget=$5 sum_path=$6 sum_data=$7 sum_relinked=$8
  sum_between=$(printf '\002')
  own_folder "$sum_lists"
}

# settled DATA   print until when what was written there has settled, in milliseconds of the clock that its times are of
# What is written within one tick of it leaves no trace in any time: a second at the most, and ten milliseconds by which the
# kernel's clock for files is behind; ten minutes where it is another host's.
settled() {
  settled_type=$(stat -f -c %T -- "$1") || fail "$1 cannot be read"
  settled_now=$(date +%s%3N) || fail 'date failed'
  case $settled_type in
    nfs* | smb* | cifs* | ceph* | fuse*) echo "$((settled_now - 600000))" ;;
    *) echo "$((settled_now - 1100))" ;;
  esac
}

# keep_sums LABEL ROOT WAL   list what lies in ROOT, and keep the sums of its files in the list of LABEL
keep_sums() {
  sum_list=$sum_lists/list-$1
  enter "$2"
  list_alike "$1" "$2" "$3"
  [ -e "$sum_list" ] || : >"$sum_list" || fail "$sum_list cannot be written"
  whole "$sum_lists/joined" join -t "$sum_between" -a 1 -o 0,1.2,1.3,2.2,2.3,2.4 -- "$sum_lists/now" "$sum_list"
  rm -f -- "$sum_lists/now" "$sum_list" || fail "$sum_list cannot be removed"
  part_known
  : >"$sum_lists/sums" || fail "$sum_lists/sums cannot be written"
  # openssl is some four times as fast where the processor has instructions for it, but slower to begin with
  add_sums small sha256sum
  add_sums large openssl dgst -sha256 -r
  by_path sums
  whole "$sum_lists/read" join -t "$sum_between" -o 0,1.2,1.3,2.2 -- "$sum_lists/unknown" "$sum_lists/sums"
  sum_wanted=$(lines "$sum_lists/unknown") || exit
  sum_read=$(lines "$sum_lists/read") || exit
  [ "$sum_tolerated" != 0 ] || [ "$sum_wanted" -eq "$sum_read" ] || fail "of $sum_wanted files only $sum_read were summed up"
  whole "$sum_list" sort -m -t "$sum_between" -k 1,1 -- "$sum_lists/known" "$sum_lists/read"
  for keep_part in known unknown small large names said sums read; do
    rm -f -- "$sum_lists/$keep_part" || fail "$sum_lists/$keep_part cannot be removed"
  done
}

# list_alike LABEL ROOT WAL   here: the lines of all that lies in ROOT, without sums, in `now`
# But what each side has for itself: the lock file, the log of a start, the fence, the control file (summed up by itself), idle WAL.
# Nor FIFOs, sockets and devices, which no pass brings and PostgreSQL does not need. sum_owner `-`: whoever owns them.
list_alike() {
  alike_label=$1 alike_wal=$3
  set -- -type d -name lost+found -o -type p -o -type s -o -type b -o -type c
  [ "$alike_label" != data ] || set -- "$@" -o -path ./postmaster.pid -o -path ./pghaul-start.log \
    -o -path ./pghaul-fence -o -path ./global/pg_control
  case $alike_wal in
    PG_*) # what in the folder of a tablespace is the cluster's
      alike_beside=$(beside_parts "$alike_wal") || exit
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
  whole "$sum_lists/found" find . -mindepth 1 -ignore_readdir_race \( "$@" \) -prune -o -printf '%P\002' \
    \( $alike_owner -printf 'owner ' -o -printf '%u ' \) \
    \( -type f -printf '%y %m %s %Ts\002%C@ %i\0' -o -type l -printf '%y -> %l\002\0' -o -printf '%y %m\002\0' \)
  tr '\n\0' '\001\n' <"$sum_lists/found" >"$sum_lists/now" || fail "$sum_lists/now cannot be written"
  rm -f -- "$sum_lists/found" || fail "$sum_lists/found cannot be removed"
  by_path now
}

# by_path LIST   sort it by path, in little memory
by_path() {
  whole "$sum_lists/sorted" sort -t "$sum_between" -k 1,1 -S 64M -T "$sum_lists" -- "$sum_lists/$1"
  mv -f -- "$sum_lists/sorted" "$sum_lists/$1" || fail "$sum_lists/$1 cannot be written"
}

# part_known   part `joined`: `known`, what has its sum, needs none or is empty; `unknown`, and by their sizes `small` and `large`
part_known() {
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
    }' "$sum_lists/joined" || fail "$sum_list cannot be parted"
  rm -f -- "$sum_lists/joined" || fail "$sum_lists/joined cannot be removed"
}

# add_sums NAMES PROGRAM...   the sums of the files that the list NAMES holds, by several PROGRAMs at once, to `sums`
# A few files each: so their lines leave each in one write, and those of several never mix.
add_sums() {
  add_names=$sum_lists/names
  tr '\n\001' '\0\n' <"$sum_lists/$1" >"$add_names" || fail "$add_names cannot be written"
  shift
  "$sum_forget" "$add_names"
  xargs -0 -r -n 16 -P "$sum_processes" "$@" <"$add_names" >"$sum_lists/said" || [ $? -eq "$sum_tolerated" ] ||
    fail "$1 could not sum up all files"
  # sha256sum escapes line breaks and backslashes in a name, and says so by one ahead of the sum
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

# forget_cached NAMES   the files of these names go to the disk and out of the cache: what is read then is what the disk holds
# Whoever may read a file may do so; source: posix_fadvise(2), POSIX_FADV_DONTNEED.
forget_cached() {
  flush .
  xargs -0 -r -P "$sum_processes" -I '{}' dd if='{}' iflag=nocache count=0 status=none <"$1" ||
    fail 'not every file could be put out of the cache'
}

# list_sum LABEL   print how many files and bytes the list of LABEL holds, and the sum of what must be alike in it
list_sum() {
  list_alike=$sum_lists/alike
  list_said=$(awk -F "$sum_between" -v alike="$list_alike" '
    BEGIN { OFS = FS; printf "" >alike }
    { print $1, $2, $4 >alike }
    split($2, said, " ") && said[2] == "f" { files++; bytes += said[4] }
    END { printf "%d files, %.0f bytes\n", files, bytes }' "$sum_lists/list-$1") || fail "the list of $1 cannot be read"
  list_hash=$(sha256sum <"$list_alike") || fail "$list_alike cannot be summed up"
  rm -f -- "$list_alike" || fail "$list_alike cannot be removed"
  printf '%s, %s\n' "$list_said" "${list_hash%% *}"
}

# print_lists FOLDER BYTES [LABEL LINK]...   print the lists that were kept, packed; of very many files the beginning
# Of a sum its beginning tells enough to name what differs.
print_lists() {
  lists_folder=$1 lists_bytes=$2
  shift 2
  : >"$lists_folder/all" || fail "$lists_folder/all cannot be written"
  while [ $# -gt 1 ]; do
    printf '\002%s\002%s\n' "$1" "${2#-}" >>"$lists_folder/all" || fail "$lists_folder/all cannot be written"
    awk -F '\002' 'BEGIN { OFS = FS } { print $1, $2, substr($4, 1, 8) }' "$lists_folder/list-$1" >>"$lists_folder/all" ||
      fail "the list of $1 cannot be read"
    shift 2
  done
  whole "$lists_folder/packed" gzip -c -- "$lists_folder/all"
  whole "$lists_folder/cut" head -c "$lists_bytes" -- "$lists_folder/packed"
  base64 -- "$lists_folder/cut" || fail "$lists_folder/cut cannot be read"
  rm -f -- "$lists_folder/all" "$lists_folder/packed" "$lists_folder/cut" || fail "$lists_folder/all cannot be removed"
}

# trust_rest [LABEL ROOT WAL]...   on old, stopped, after a comparison: only the files of standard input are left to the passes
# A line a file: LABEL, byte 2, path; then the end mark. All others were found to be the same.
# shellcheck disable=SC2154 # a setting
trust_rest() {
  whole "$copy_folder/differ" take_whole
  while [ $# -gt 1 ]; do
    (
      # shellcheck disable=SC2034 # list_files reads it
      case $3 in PG_*) copy_parts=$3 ;; *) copy_parts='' ;; esac
      enter "$2"
      list_files "$copy_folder/now-$1"
      # shellcheck disable=SC2016 # awk is to read these
      whole "$copy_folder/seen-$1" env label="$1" awk '
        FILENAME == ARGV[1] { differ[$0]; next }
        { path = $0; sub(/^[^ ]* [^ ]* [^ ]* [^ ]* [.]\//, "", path) }
        !((ENVIRON["label"] "\002" path) in differ)' "$copy_folder/differ" "$copy_folder/now-$1"
    ) || exit
    shift 3
  done
}

# The folder on a volume that contains a benchmark's files: it is created, marked, kept, emptied, and always removed.
# Its name is `pghaul-bench-` with twelve hexadecimal digits. A marker file in it names the process of pghaul that
# created it. All processes of the benchmark have their working directory there. By this they are found, and they are
# ended before the folder is removed.

# bench_keep PARENT NAME OWNER SECONDS WHO   Create the folder NAME in PARENT, wait, and remove it.
# Prints `pghaul-ready` as soon as the folder is there. OWNER: the text of the marker file. WHO: who measures, for the
# messages to others. It waits until standard input ends or no beat has arrived for SECONDS. So the benchmark ends when
# pghaul or the connection ends, whatever the reason. Ends with 75 if another benchmark runs on this server.
bench_keep() {
  trap '' HUP INT PIPE TERM
  bench_lock
  bench_make "$1" "$2" "$3"
  keep_since=$(date -u '+%Y-%m-%d %H:%M:%S') || fail 'date failed'
  echo pghaul-ready
  keep_status=0
  while [ "$keep_status" -eq 0 ]; do
    bench_wait "$4" "$2 by $5 since $keep_since UTC"
    keep_status=$?
  done
  bench_remove "$1" "$2"
  case $keep_status in
    # 1: the input has ended. 124 and 137: no beat arrived in time, or bench_end_keeper ended the waiting process.
    1 | 124 | 137) ;;
    *) fail "the signals of pghaul could not be awaited: grep or timeout ended with exit status $keep_status" ;;
  esac
}

# bench_wait SECONDS WORDS   Wait for a beat, which is a line with a dot.
# Ends with 0 if it arrived, with 1 if the input has ended, and with 124 or 137 after SECONDS.
# WORDS are never found in the input. They are on grep's command line so that other users can read there who measures.
# Descriptor 9 is closed for timeout and grep, so that only the keeper holds the lock.
bench_wait() {
  timeout -s KILL "$1" grep -q -m 1 -F -e . -e "pghaul-bench-holder $2" 9<&-
}

# bench_lock   Take the server's lock for benchmarks on descriptor 9.
# Ends with 75, and says who holds the lock, if another benchmark has it. The lock is on `/`: every user can read it, a
# lock on it leaves no file behind, and the kernel releases it when its holder ends.
bench_lock() {
  exec 9</
  command -v flock >/dev/null 2>&1 || return 0 # without flock, nothing prevents two benchmarks at the same time
  flock -n 9 && return
  lock_status=$?
  [ "$lock_status" -eq 1 ] || fail "the lock for benchmarks cannot be taken: flock ended with $lock_status"
  lock_holder=$(bench_print_holder) || exit
  refuse 75 "${lock_holder:-by somebody}"
}

# bench_print_holder   Print who measures this server and since when. Prints nothing if no process contains these words.
bench_print_holder() {
  holder_waiting=$(bench_list_waiting '') || exit
  for holder_process in $holder_waiting; do
    holder_words=$(tr '\0' '\n' 2>/dev/null <"/proc/$holder_process/cmdline") || {
      [ ! -e "/proc/$holder_process" ] || fail "the command line of process $holder_process cannot be read"
      continue # the process has ended meanwhile
    }
    holder_said=$(printf '%s\n' "$holder_words" | sed -n 's/^pghaul-bench-holder pghaul-bench-[0-9a-f]* //p') ||
      fail 'sed failed'
    [ -n "$holder_said" ] || continue # it has ended meanwhile, or it is another grep that searches for these words
    printf '%s\n' "$holder_said"
    return
  done
}

# bench_list_waiting NAME   Print the IDs of the processes that wait for beats for the folder NAME.
# If NAME is empty, those of every benchmark folder are printed.
bench_list_waiting() {
  # The brackets prevent the pattern from matching the command line of this grep.
  waiting_files=$(grep -s -l -a -e "pghaul-bench-holde[r] $1" /proc/[0-9]*/cmdline)
  [ $? -le 2 ] || fail 'grep failed' # 1: there is none. 2: a process has ended meanwhile
  for waiting_file in $waiting_files; do
    waiting_file=${waiting_file#/proc/}
    echo "${waiting_file%/cmdline}"
  done
}

# bench_end_keeper PARENT NAME   End the wait of the folder's keeper. Then wait up to ten seconds until it has removed
# the folder. The keeper itself is not ended, because it holds the lock and removes the folder.
bench_end_keeper() {
  end_waiting=$(bench_list_waiting "$2") || exit
  [ -n "$end_waiting" ] || return 0
  for end_process in $end_waiting; do
    kill -s KILL "$end_process" 2>/dev/null # it may have ended meanwhile
  done
  end_tries=0
  while [ -d "$1/$2" ] && [ "$end_tries" -lt 100 ]; do
    end_tries=$((end_tries + 1))
    sleep 0.1 || fail 'the program sleep is missing'
  done
}

# bench_make PARENT NAME OWNER   Create the folder NAME in PARENT for this user alone.
# Its marker file contains OWNER.
bench_make() {
  umask 077
  cd -P -- "$1" || fail "$1 cannot be entered"
  make_said=$(mkdir -- "$2" 2>&1) || fail "no folder can be created in $1: $make_said"
  echo "$3" >"$2/.pghaul-bench" || {
    rm -rf -- "$2"
    fail "$1 cannot be written: is its disk full?"
  }
}

# bench_remove PARENT NAME   End the processes in the folder, undo what they did outside of it, and remove it.
# A folder has no marker if its creation was interrupted or if another process is just removing it. Such a folder is
# removed only if it is empty.
bench_remove() {
  [ -d "$1" ] || return 0 # the volume is no longer there, nor is the folder
  cd -P -- "$1" || fail "$1 cannot be entered"
  if [ ! -d "$2" ] || [ -L "$2" ]; then return 0; fi
  if [ ! -f "$2/.pghaul-bench" ]; then
    rmdir -- "$2" || [ ! -e "$2" ] ||
      fail "$1/$2 is not the folder of a benchmark: it is not empty and has no marker file"
    return
  fi
  bench_end_inside "$2"
  # The keeper may remove the folder at the same time.
  (enter_folder "$2" && bench_undo_all) || { [ ! -e "$2" ] && return 0; } || exit 1
  # The marker is removed last. If the removal is interrupted, the rest is still recognised as a benchmark's folder.
  find "$2" -ignore_readdir_race -mindepth 1 ! -path "$2/.pghaul-bench" -delete || [ ! -e "$2" ] ||
    fail "$1/$2 cannot be emptied"
  rm -rf -- "$2" || fail "$1/$2 cannot be removed"
}

# bench_end_inside NAME   End the processes in the folder: with TERM, and after two and a half seconds with KILL.
bench_end_inside() {
  for inside_signal in TERM TERM TERM TERM TERM KILL KILL; do
    inside_found=$(bench_list_processes "$1") || exit
    [ -n "$inside_found" ] || return 0
    for inside_process in $inside_found; do
      kill -s "$inside_signal" "$inside_process" 2>/dev/null # it may have ended meanwhile
    done
    sleep 0.5 || fail 'the program sleep is missing'
  done
}

# bench_list_processes NAME   Print the IDs of the processes whose working directory is in the folder NAME.
bench_list_processes() {
  # Without this test, status 1 of a find that lacks -lname would be read as: there is no process.
  find / -maxdepth 0 -lname - || fail 'find does not support -lname. Install GNU findutils'
  inside_links=$(find /proc/[0-9]*/cwd -maxdepth 0 -lname "*/$1*" 2>/dev/null)
  [ $? -le 1 ] || fail 'find failed' # 1: a process has ended meanwhile, or this user may not examine it
  for inside_link in $inside_links; do
    inside_link=${inside_link#/proc/}
    echo "${inside_link%/cwd}"
  done
}

# bench_empty   Undo what the tools did outside of the folder, and remove the files that they left in it.
# The working directory must be the folder.
bench_empty() {
  bench_undo_all
  rm -rf -- ./* || fail 'the folder of the benchmark cannot be emptied'
}

# bench_note_undo NAME WORDS...   Record in the folder which function undoes what NAME does outside of it.
# WORDS: the function and its arguments.
bench_note_undo() {
  undo_name=$1
  shift
  printf '%s\n' "$@" >".pghaul-undo-$undo_name" ||
    fail 'the folder of the benchmark cannot be written: is its disk full?'
}

# bench_undo_all   Call each function that bench_note_undo has recorded. The working directory must be the folder.
# Only notes of this user are read, because other users may be able to create a folder of that name.
bench_undo_all() {
  for undo_file in ./.pghaul-undo-*; do
    if [ -O . ] && [ -f "$undo_file" ] && [ -O "$undo_file" ] && [ ! -L "$undo_file" ]; then bench_undo "$undo_file"; fi
  done
}

# bench_undo FILE   Call the function that the note FILE names. Each line after its name is an argument.
# Fails if the note names a function that is not made to undo something.
bench_undo() {
  undo_note=$1
  set --
  while IFS= read -r undo_word; do set -- "$@" "$undo_word"; done <"$undo_note" || fail "$undo_note cannot be read"
  case $1 in
    bench_database_drop | temporary_cluster_remove_segment) "$@" ;;
    *) fail "$undo_note names ${1:-nothing}, which is not a function that undoes anything" ;;
  esac
}

# bench_leftovers PARENT   Print `NAME RECENT BUSY OWNER` for each benchmark folder in PARENT, then their number.
# RECENT is `yes` if the marker was touched within the last two minutes. BUSY is `yes` if a process runs in the folder.
# Otherwise the field is empty.
bench_leftovers() {
  leftovers=0
  if [ -d "$1" ]; then cd -P -- "$1" || fail "$1 cannot be entered"; fi
  for leftover in ./pghaul-bench-*; do
    leftover=${leftover#./}
    if [ -d "$leftover" ] && [ ! -L "$leftover" ] && [ -f "$leftover/.pghaul-bench" ]; then
      leftover_touched=$(find "$leftover/.pghaul-bench" -mmin -2) || fail "$1/$leftover cannot be read"
      leftover_inside=$(bench_list_processes "$leftover") || exit
      read -r leftover_owner <"$leftover/.pghaul-bench" || leftover_owner= # a full disk cut the marker off
      echo "$leftover ${leftover_touched:+yes} ${leftover_inside:+yes} $leftover_owner"
      leftovers=$((leftovers + 1))
    fi
  done
  echo "# $leftovers folders"
}

# bench_inspect FOLDER PATH PROGRAM...   Examine the folder in which a benchmark's folder is to be created.
# Changes nothing. Prints `missing` if FOLDER does not exist. Otherwise prints, on a line each: `path P`, resolved;
# `writable`; `df …`; `cluster P` for each data directory at or above FOLDER; `engine E`, which fio can use; `program P`
# for each PROGRAM that is found; and `# whole`. PATH is searched before $PATH. A PROGRAM that is a path is printed only
# if nobody but root and this user can change it, because it will run as this user. No program in PATH is run here.
bench_inspect() {
  if [ ! -d "$1" ]; then
    echo missing
    return
  fi
  cd -P -- "$1" || fail "$1 cannot be entered"
  inspect_place=$(pwd -P) || fail "$1 cannot be resolved"
  echo "path $inspect_place"
  if [ -w . ]; then echo writable; fi
  inspect_space=$(df -Pk .) || fail "the space of $1 could not be determined"
  printf '%s\n' "$inspect_space" | sed -n 's/^/df /;$p' || fail 'sed failed'
  bench_clusters_above "$inspect_place"
  bench_fio_engine
  inspect_user=$(id -u) || fail 'id failed'
  inspect_path=${2:+$2:}$PATH
  shift 2
  for inspect_program in "$@"; do
    (PATH=$inspect_path && command -v "$inspect_program" >/dev/null 2>&1) || continue
    case $inspect_program in */*) is_trusted "$inspect_user" "$inspect_program" || continue ;; *) ;; esac
    echo "program $inspect_program"
  done
  print_end_mark
}

# bench_clusters_above FOLDER   Print `cluster P` for each folder P at or above FOLDER that is a data directory, a
# tablespace or a WAL directory. A cluster that pghaul does not know may have a link to it.
bench_clusters_above() {
  above=$1
  while [ -n "$above" ]; do
    for above_sign in "$above"/PG_VERSION "$above"/PG_[0-9]*_[0-9]* "$above"/archive_status; do
      if [ -e "$above_sign" ]; then
        echo "cluster $above"
        break
      fi
    done
    above=${above%/*}
  done
}

# bench_fio_engine   Print `engine E` for the first asynchronous engine that fio can use, or nothing if there is none.
bench_fio_engine() {
  command -v fio >/dev/null 2>&1 || return 0
  for engine in libaio io_uring; do
    # The message about an engine that fio or the kernel lacks differs between versions. Therefore only the exit
    # status counts.
    if fio --readonly --name=try --filename=/bin/sh --rw=read --bs=4k --size=4k --ioengine="$engine" \
      >/dev/null 2>&1; then
      echo "engine $engine"
      return
    fi
  done
}

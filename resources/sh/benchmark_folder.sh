# The folder on a volume that a benchmark's files lie in: made, marked, kept, emptied, and removed whatever happened.
# It is `pghaul-bench-` and twelve hex digits, with a marker that names the process of pghaul that made it. What runs for
# the benchmark has its working directory there: so it is found, and ended with the folder.

# bench_keep PARENT NAME OWNER SECONDS WHO   make the folder, print `pghaul-ready`, wait, and remove it
# Waits until standard input ends, or until nothing came on it for so many seconds: whatever ends pghaul or the line to it
# ends the benchmark too. Ends with 75 where somebody else measures this server.
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
    1 | 124 | 137) ;; # the input ended; or it was silent, for which timeout kills; or bench_end_keeper did
    *) fail "the signals of pghaul could not be awaited: grep or timeout ended with exit status $keep_status" ;;
  esac
}

# bench_wait SECONDS WORDS   wait for a beat, a line with a dot; ends with 0 where it came, 1 where the input has ended
# WORDS are no pattern that ever counts: they stand on grep's command line for others to read, who look who measures. The
# lock stays with the keeper alone: descriptor 9 is closed for what waits.
bench_wait() {
  timeout -s KILL "$1" grep -q -m 1 -F -e . -e "pghaul-bench-holder $2" 9<&-
}

# bench_lock   take the server's lock for benchmarks, on descriptor 9; ends with 75 and says who has it
# "/" is on every server, readable to all, and a lock on it leaves no file behind; it ends with whoever holds it.
bench_lock() {
  exec 9</
  command -v flock >/dev/null 2>&1 || return 0 # where there are no locks nobody is kept from measuring beside
  flock -n 9 && return
  lock_status=$?
  [ "$lock_status" -eq 1 ] || fail "the lock for benchmarks cannot be taken: flock ended with $lock_status"
  lock_holder=$(bench_print_holder) || exit
  refuse 75 "${lock_holder:-by somebody}"
}

# bench_print_holder   print who measures this server and since when; nothing where no process says so
bench_print_holder() {
  holder_waiting=$(bench_list_waiting '') || exit
  for holder_process in $holder_waiting; do
    holder_words=$(tr '\0' '\n' 2>/dev/null <"/proc/$holder_process/cmdline") || {
      [ ! -e "/proc/$holder_process" ] || fail "the command line of process $holder_process cannot be read"
      continue # it has ended meanwhile
    }
    holder_said=$(printf '%s\n' "$holder_words" | sed -n 's/^pghaul-bench-holder pghaul-bench-[0-9a-f]* //p') || fail 'sed failed'
    [ -n "$holder_said" ] || continue # it has ended meanwhile, or only looks for such words
    printf '%s\n' "$holder_said"
    return
  done
}

# bench_list_waiting NAME   print the processes that wait for beats for the folder NAME; of every folder where NAME is empty
bench_list_waiting() {
  # the brackets keep the pattern from matching the words of this very grep
  waiting_files=$(grep -s -l -a -e "pghaul-bench-holde[r] $1" /proc/[0-9]*/cmdline)
  [ $? -le 2 ] || fail 'grep failed' # 1: none; 2: a process ended meanwhile
  for waiting_file in $waiting_files; do
    waiting_file=${waiting_file#/proc/}
    echo "${waiting_file%/cmdline}"
  done
}

# bench_end_keeper PARENT NAME   end the waiting of the folder's keeper, and wait for it to clean up, ten seconds at most
# Not the keeper itself: it holds the lock, and it is the one that removes.
bench_end_keeper() {
  end_waiting=$(bench_list_waiting "$2") || exit
  [ -n "$end_waiting" ] || return 0
  for end_process in $end_waiting; do
    kill -s KILL "$end_process" 2>/dev/null # it may have ended by itself
  done
  end_tries=0
  while [ -d "$1/$2" ] && [ "$end_tries" -lt 100 ]; do
    end_tries=$((end_tries + 1))
    sleep 0.1 || fail 'the program sleep is missing'
  done
}

# bench_make PARENT NAME OWNER   make the folder for this user alone, with its marker
bench_make() {
  umask 077
  cd -P -- "$1" || fail "$1 cannot be entered"
  make_said=$(mkdir -- "$2" 2>&1) || fail "no folder can be created in $1: $make_said"
  echo "$3" >"$2/.pghaul-bench" || {
    rm -rf -- "$2"
    fail "$1 cannot be written: is its disk full?"
  }
}

# bench_remove PARENT NAME   end what runs in the folder, take back what it did outside of it, and remove it
# A folder without marker was cut off while it was made, or somebody else is about to remove it: removed if it is empty.
bench_remove() {
  [ -d "$1" ] || return 0 # its volume is gone, and the folder with it
  cd -P -- "$1" || fail "$1 cannot be entered"
  if [ ! -d "$2" ] || [ -L "$2" ]; then return 0; fi
  if [ ! -f "$2/.pghaul-bench" ]; then
    rmdir -- "$2" || [ ! -e "$2" ] || fail "$1/$2 is not the folder of a benchmark: it is not empty and has no marker file"
    return
  fi
  bench_end_inside "$2"
  # whoever waits for beats may have removed it meanwhile
  (enter_folder "$2" && bench_undo_all) || { [ ! -e "$2" ] && return 0; } || exit 1
  # its marker goes last: what a cut leaves is known as a benchmark's, also to whoever removes it at the same time
  find "$2" -ignore_readdir_race -mindepth 1 ! -path "$2/.pghaul-bench" -delete || [ ! -e "$2" ] ||
    fail "$1/$2 cannot be emptied"
  rm -rf -- "$2" || fail "$1/$2 cannot be removed"
}

# bench_end_inside NAME   end the processes that live in the folder: TERM, after two and a half seconds KILL
bench_end_inside() {
  for inside_signal in TERM TERM TERM TERM TERM KILL KILL; do
    inside_found=$(bench_list_processes "$1") || exit
    [ -n "$inside_found" ] || return 0
    for inside_process in $inside_found; do
      kill -s "$inside_signal" "$inside_process" 2>/dev/null # it may have ended by itself
    done
    sleep 0.5 || fail 'the program sleep is missing'
  done
}

# bench_list_processes NAME   print the processes whose working directory is the folder or lies in it
bench_list_processes() {
  find / -maxdepth 0 -lname - || fail 'find does not support -lname. Install GNU findutils' # else 1 would be taken for nobody
  inside_links=$(find /proc/[0-9]*/cwd -maxdepth 0 -lname "*/$1*" 2>/dev/null)
  [ $? -le 1 ] || fail 'find failed' # 1: a process ended meanwhile, or is not ours to look at
  for inside_link in $inside_links; do
    inside_link=${inside_link#/proc/}
    echo "${inside_link%/cwd}"
  done
}

# bench_empty   remove what the tools left in the folder, where this is called, with what they did outside of it
bench_empty() {
  bench_undo_all
  rm -rf -- ./* || fail 'the folder of the benchmark cannot be emptied'
}

# bench_note_undo NAME WORDS...   note the function that takes back what NAME did outside of the folder, with its words
bench_note_undo() {
  undo_name=$1
  shift
  printf '%s\n' "$@" >".pghaul-undo-$undo_name" || fail 'the folder of the benchmark cannot be written: is its disk full?'
}

# bench_undo_all   take back what was noted in the folder, where this is called
# Only what this user wrote counts: others may be able to make a folder of that name.
bench_undo_all() {
  for undo_file in ./.pghaul-undo-*; do
    if [ -O . ] && [ -f "$undo_file" ] && [ -O "$undo_file" ] && [ ! -L "$undo_file" ]; then bench_undo "$undo_file"; fi
  done
}

# bench_undo FILE   call the function that a note names, with its words, a line each; of those alone that take back
bench_undo() {
  undo_note=$1
  set --
  while IFS= read -r undo_word; do set -- "$@" "$undo_word"; done <"$undo_note" || fail "$undo_note cannot be read"
  case $1 in
    bench_database_drop | throwaway_remove_segment) "$@" ;;
    *) fail "$undo_note names ${1:-nothing}, which is not a function that undoes anything" ;;
  esac
}

# bench_leftovers PARENT   print `NAME RECENT BUSY OWNER` of each folder of a benchmark, then how many there are
# RECENT: its marker was touched within two minutes; BUSY: a process lives in it; each yes or no.
bench_leftovers() {
  leftovers=0
  if [ -d "$1" ]; then cd -P -- "$1" || fail "$1 cannot be entered"; fi
  for leftover in ./pghaul-bench-*; do
    leftover=${leftover#./}
    if [ -d "$leftover" ] && [ ! -L "$leftover" ] && [ -f "$leftover/.pghaul-bench" ]; then
      leftover_touched=$(find "$leftover/.pghaul-bench" -mmin -2) || fail "$1/$leftover cannot be read"
      leftover_inside=$(bench_list_processes "$leftover") || exit
      read -r leftover_owner <"$leftover/.pghaul-bench" || leftover_owner= # a full disk cut it off
      echo "$leftover ${leftover_touched:+yes} ${leftover_inside:+yes} $leftover_owner"
      leftovers=$((leftovers + 1))
    fi
  done
  echo "# $leftovers folders"
}

# bench_inspect FOLDER PATH PROGRAM...   look at the place where a folder is to be made; changes nothing
# Prints `missing`; or, a line each: `path P` resolved, `writable`, `df …`, `cluster P` of each data directory at or above
# it, `engine E` that fio works with, `program P` of each PROGRAM that is there, on PATH too, then `# whole`. A PROGRAM by its
# path counts only where none but root and this user can change it: it will run as this user. None of PATH is run here.
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

# bench_clusters_above FOLDER   print `cluster P` where a data directory, a tablespace or a folder of WAL lies at or above
# A link may lead here from a cluster that nobody knows of.
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

# bench_fio_engine   print `engine E` of the first asynchronous engine that fio works with; nothing where none does
bench_fio_engine() {
  command -v fio >/dev/null 2>&1 || return 0
  for engine in libaio io_uring; do
    # what fio says of an engine that it or the kernel lacks differs by version: only whether it works counts
    if fio --readonly --name=try --filename=/bin/sh --rw=read --bs=4k --size=4k --ioengine="$engine" >/dev/null 2>&1; then
      echo "engine $engine"
      return
    fi
  done
}

# Work on a host whose PostgreSQL server is in use: at low priority, and ended before it fills the disk.

# run_beside_server FILES FOLDER FUNCTION WORD...   Run FUNCTION at low priority, and only while FOLDER's file system
# has room.
run_beside_server() {
  lower_priority
  run_within_free_space "$@"
}

# run_at_low_priority FUNCTION WORD...   Run it at low priority.
run_at_low_priority() {
  lower_priority
  "$@"
}

# lower_priority   Lower the priority of this shell, and of everything that it starts from here on. The effect is that
# of `low_priority`: under full load, it gets a tenth of the time of a session of the server, so that a copy still
# completes. If the kernel divides the processor among sessions (autogroup), priorities count only within a session, and
# the session itself has a priority. What this host does not support or allow is left unchanged. This is no failure.
lower_priority() {
  # Not $$: a shell within parentheses is a process of its own.
  read -r lower_self _ </proc/self/stat || return 0
  echo 10 2>/dev/null >"/proc/$lower_self/autogroup"
  renice -n 10 -p "$lower_self" >/dev/null 2>&1
  ionice -c 2 -n 7 -p "$lower_self" >/dev/null 2>&1
  return 0
}

# run_within_free_space FILES FOLDER FUNCTION WORD...   Run FUNCTION, which writes lists of FILES files to the file
# system of FOLDER. It is not started if the lists may not fit, and ended if the file system gets full, for whatever
# reason: a server on it stops when it cannot write.
run_within_free_space() {
  room_files=$1 room_folder=$2
  shift 2
  room_least=$(space_to_keep_free "$room_files" "$room_folder") || exit
  ("$@") &
  room_work=$!
  (watch_free_space "$room_folder" "$room_least" "$room_work") </dev/null >/dev/null &
  room_watch=$!
  wait "$room_work"
  room_status=$?
  kill -s TERM "$room_watch" 2>/dev/null
  wait "$room_watch" 2>/dev/null
  case $? in
    0 | 143) return "$room_status" ;; # 143: it was ended before it had set its trap
    75) fail "the file system of $room_folder got full: this work was ended before the server on it ran out of space." \
      'Free some space, and go on with --resume' ;;
    *) fail "the free space of $room_folder could not be monitored" ;;
  esac
}

# space_to_keep_free FILES FOLDER   Print how many kB of the file system of FOLDER must stay free. This is a twentieth
# of the file system, but at most 1 GiB and at most half of the space that is free now. Fails unless 1 kB per file is
# free in addition.
space_to_keep_free() {
  reserve_kilobytes=$(free_space "$2") || exit
  reserve_all=$(stat -f -c '%b %S' -- "$2") || fail "the size of the file system of $2 could not be determined"
  reserve_least=$((${reserve_all% *} * ${reserve_all#* } / 1024 / 20))
  [ "$reserve_least" -lt 1048576 ] || reserve_least=1048576
  [ "$reserve_least" -lt $((reserve_kilobytes / 2)) ] || reserve_least=$((reserve_kilobytes / 2))
  [ $((reserve_kilobytes - $1)) -ge "$reserve_least" ] ||
    fail "the file system of $2 has $((reserve_kilobytes / 1024)) MB free. That is too little for the lists of $1" \
      "files, which may take $(($1 / 1024)) MB, and a server on it stops when it is full. Free some space, and go on" \
      'with --resume'
  echo "$reserve_least"
}

# free_space FOLDER   Print how many kB an ordinary user may still write on its file system.
free_space() {
  left_said=$(stat -f -c '%a %S' -- "$1") || fail "the free space of $1 could not be determined"
  echo $((${left_said% *} * ${left_said#* } / 1024))
}

# watch_free_space FOLDER LEAST PROCESS   Until PROCESS has ended: if fewer than LEAST kB are free, end PROCESS and
# everything that it has started, and exit with 75; with another status if the free space cannot be read. If the waiting
# shell is killed, nobody ends this watch, and the process id of PROCESS may be used again.
watch_free_space() {
  watch_since=$(process_start "$3") || exit
  [ -n "$watch_since" ] || return 0
  watch_pause='' # not $!, which comes from the parent shell
  trap '[ -z "$watch_pause" ] || kill "$watch_pause" 2>/dev/null; exit 0' TERM
  watch_status=0
  while [ "$watch_status" = 0 ]; do
    sleep 0.5 &
    watch_pause=$!
    wait "$watch_pause" || watch_status=1
    watch_pause=''
    watch_now=$(process_start "$3") || exit
    [ "$watch_now" = "$watch_since" ] || exit 0
    watch_left=$(free_space "$1") || watch_status=1
    [ "$watch_status" != 0 ] || [ "$watch_left" -ge "$2" ] || watch_status=75
  done
  trap '' TERM # from the process that waits for the first one
  end_process_tree "$3"
  exit "$watch_status"
}

# end_process_tree PROCESS [BUT]   Send TERM to PROCESS and all its descendants, except BUT and its descendants. All are
# stopped first, because a process that one of them starts meanwhile would be missed. PROCESS continues last: it may end
# the caller of this.
end_process_tree() {
  end_known='' end_found=$(list_process_tree "$@")
  until [ "$end_found" = "$end_known" ]; do
    end_known=$end_found
    for end_each in $end_known; do kill -s STOP "$end_each" 2>/dev/null; done
    end_found=$(list_process_tree "$@")
  done
  # A process may have ended meanwhile.
  for end_each in $end_known; do kill -s TERM "$end_each" 2>/dev/null; done
  for end_each in $end_known; do [ "$end_each" = "$1" ] || kill -s CONT "$end_each" 2>/dev/null; done
  kill -s CONT "$1" 2>/dev/null
}

# list_process_tree PROCESS [BUT]   Print the ids of PROCESS and all its descendants, except BUT and its descendants.
# shellcheck disable=SC2154 # read_process sets process_fields
list_process_tree() {
  started=" $1 " started_before='' started_but=${2-}
  while [ "$started" != "$started_before" ]; do
    started_before=$started
    for started_each in /proc/[0-9]*; do
      started_each=${started_each#/proc/}
      read_process "$started_each" || continue
      # shellcheck disable=SC2086 # they are words
      set -- $process_fields
      case $started$started_but in
        *" $started_each "* | *" $started_each") ;;
        *" $2 "*) started="$started$started_each " ;;
        *) ;;
      esac
    done
  done
  echo "$started"
}

# Work beside a server that serves: it lets the server go first, and ends before it has filled the disk.

# beside_server FILES FOLDER FUNCTION WORD...   run FUNCTION at low priority, and only while FOLDER's file system has room
beside_server() {
  lower_priority
  within_room "$@"
}

# lowered FUNCTION WORD...   run it at low priority
lowered() {
  lower_priority
  "$@"
}

# lower_priority   of this shell, and so of all that it starts from here on
# As `gently` does: under full load a tenth of what a session of the server gets, so that a copy still comes to its end. Where
# the kernel shares the processor out by sessions (autogroup), priorities count within one alone, and the session has its own.
# What this host does not know or allow stays as it is: it is no reason not to work.
lower_priority() {
  # not $$: a shell within parentheses is a process of its own
  read -r lower_self _ </proc/self/stat || return 0
  echo 10 2>/dev/null >"/proc/$lower_self/autogroup"
  renice -n 10 -p "$lower_self" >/dev/null 2>&1
  ionice -c 2 -n 7 -p "$lower_self" >/dev/null 2>&1
  return 0
}

# within_room FILES FOLDER FUNCTION WORD...   run FUNCTION, which keeps lists of FILES files on FOLDER's file system
# Not begun where they may not fit; ended where that file system gets full meanwhile, by whatever: a server that lies on it
# stops when it cannot write.
within_room() {
  room_files=$1 room_folder=$2
  shift 2
  room_least=$(room_reserve "$room_files" "$room_folder") || exit
  ("$@") &
  room_work=$!
  (watch_room "$room_folder" "$room_least" "$room_work") </dev/null >/dev/null &
  room_watch=$!
  wait "$room_work"
  room_status=$?
  kill -s TERM "$room_watch" 2>/dev/null
  wait "$room_watch" 2>/dev/null
  case $? in
    0 | 143) return "$room_status" ;; # 143: it was ended before it had set its trap
    75) fail "the file system of $room_folder got full: this was ended before the server on it could not write any more." \
      'Free some of it, and go on with --resume' ;;
    *) fail "the free space of $room_folder could not be watched" ;;
  esac
}

# room_reserve FILES FOLDER   print how many kB of FOLDER's file system must stay free; fails where 1 kB a file are not free above it
# A twentieth of it, a GiB at the most; and where less than that is free already, half of what is.
room_reserve() {
  reserve_kilobytes=$(room_left "$2") || exit
  reserve_all=$(stat -f -c '%b %S' -- "$2") || fail "the size of the file system of $2 cannot be told"
  reserve_least=$((${reserve_all% *} * ${reserve_all#* } / 1024 / 20))
  [ "$reserve_least" -lt 1048576 ] || reserve_least=1048576
  [ "$reserve_least" -lt $((reserve_kilobytes / 2)) ] || reserve_least=$((reserve_kilobytes / 2))
  [ $((reserve_kilobytes - $1)) -ge "$reserve_least" ] ||
    fail "the file system of $2 has $((reserve_kilobytes / 1024)) MB free, too few for the lists of $1 files, which may take" \
      "$(($1 / 1024)) MB: a server that lies on it stops when it is full. Free some of it, and go on with --resume"
  echo "$reserve_least"
}

# room_left FOLDER   print how many kB an ordinary user may still write on its file system
room_left() {
  left_said=$(stat -f -c '%a %S' -- "$1") || fail "the free space of $1 cannot be told"
  echo $((${left_said% *} * ${left_said#* } / 1024))
}

# watch_room FOLDER LEAST PROCESS   till it is ended, or PROCESS has ended: where fewer than LEAST kB are free, end PROCESS and what
# it has started, and end with 75; the same with another status where nobody can tell
# Who waits for both may be killed: then nobody ends it, and the number of PROCESS may be used again.
watch_room() {
  watch_since=$(begun_at "$3") || exit
  [ -n "$watch_since" ] || return 0
  watch_pause='' # not $!, which is of the shell that this one was split from
  trap '[ -z "$watch_pause" ] || kill "$watch_pause" 2>/dev/null; exit 0' TERM
  watch_status=0
  while [ "$watch_status" = 0 ]; do
    sleep 0.5 &
    watch_pause=$!
    wait "$watch_pause" || watch_status=1
    watch_pause=''
    watch_now=$(begun_at "$3") || exit
    [ "$watch_now" = "$watch_since" ] || exit 0
    watch_left=$(room_left "$1") || watch_status=1
    [ "$watch_status" != 0 ] || [ "$watch_left" -ge "$2" ] || watch_status=75
  done
  trap '' TERM # of who waits for the first of them
  end_started "$3"
  exit "$watch_status"
}

# end_started PROCESS [BUT]   TERM to PROCESS and to all that it and they have started, but for BUT and what that has
# All are halted first: what one of them starts meanwhile would otherwise run on, as nobody's. PROCESS goes on last: it may end who
# calls this.
end_started() {
  end_known='' end_found=$(started_by "$@")
  until [ "$end_found" = "$end_known" ]; do
    end_known=$end_found
    for end_each in $end_known; do kill -s STOP "$end_each" 2>/dev/null; done
    end_found=$(started_by "$@")
  done
  # what has ended by itself is no matter
  for end_each in $end_known; do kill -s TERM "$end_each" 2>/dev/null; done
  for end_each in $end_known; do [ "$end_each" = "$1" ] || kill -s CONT "$end_each" 2>/dev/null; done
  kill -s CONT "$1" 2>/dev/null
}

# started_by PROCESS [BUT]   print the id of PROCESS, and of all processes that it and they have started, but for BUT and what that has
# shellcheck disable=SC2154 # read_process sets process_fields
started_by() {
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

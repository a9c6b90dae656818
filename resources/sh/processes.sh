# Processes: which live where, and how a group of them is ended.

# read_process PROCESS   set process_fields to what its stat has behind its name: state, parent, group, …; fails where it has ended
# A name may hold blanks, parentheses and line ends: whoever runs the process chooses it. The fields stand in the last line.
read_process() {
  process_fields=
  while read -r process_last; do process_fields=${process_last##*) }; done 2>/dev/null <"/proc/$1/stat"
  [ -n "$process_fields" ]
}

# begun_at PROCESS   print when it began, in ticks since this boot; nothing where it has ended
begun_at() {
  [ -n "$1" ] && read_process "$1" || return 0
  # the state is the third field of all, the start the 22nd
  # shellcheck disable=SC2086 # they are words
  set -- $process_fields
  [ "$1" != Z ] || return 0
  shift 19
  echo "$1"
}

# ours PROCESS SINCE   whether that process still runs: it began then, and where root asks, it is root's
# Numbers are used again. Nobody but root can signal what is another's.
ours() {
  ours_since=$(begun_at "$1")
  ours_user=$(id -u) || fail 'id failed'
  [ -n "$ours_since" ] && [ "$ours_since" = "$2" ] && { [ -O "/proc/$1" ] || [ "$ours_user" -ne 0 ]; }
}

# end_begun_group GROUP SINCE TRIES   end_group where its leader is the one that began then; fails where that has gone and others of
# GROUP run on: nobody knows then whose they are
# SINCE is 0 where the host hides root's processes (hidepid), leaders by sudo among them: nobody knows then when they began.
end_begun_group() {
  if [ "$2" = 0 ] || ours "$1" "$2"; then
    end_group "$1" "$3"
  elif [ -z "$(begun_at "$1")" ] && runs_in "$1"; then
    fail "the first process of group $1 has gone, and others of it run on: look at them (ps -o pid,user,args -g $1), and end them"
  fi
}

# runs_in GROUP   whether a process of it runs; one that has ended, and was not waited for, does not
runs_in() {
  runs_group=$1
  for runs_process in /proc/[0-9]*; do
    read_process "${runs_process#/proc/}" || continue
    # shellcheck disable=SC2086 # they are words
    set -- $process_fields
    [ "$1" = Z ] || [ "$3" != "$runs_group" ] || return 0
  done
  return 1
}

# end_group GROUP TRIES   TERM to all of a process group, after TRIES tenths of a second KILL; fails where one is left
# Whoever calls it has seen that it is the group that is meant. kill's POSIX form: dash's own kill does not take `kill -TERM -- -GROUP`.
end_group() {
  kill -s TERM -- "-$1" 2>/dev/null # it may have ended by itself
  end_tries=0
  while kill -s 0 -- "-$1" 2>/dev/null; do
    end_tries=$((end_tries + 1))
    if [ "$end_tries" -eq "$2" ]; then kill -s KILL -- "-$1" 2>/dev/null; fi
    [ "$end_tries" -le $(($2 + 30)) ] || fail "process group $1 still runs"
    sleep 0.1 || fail 'sleep is not there'
  done
}

# server_processes   print the process id of each process of a PostgreSQL server
server_processes() {
  for server_process in /proc/[0-9]*; do
    server_name=
    # a process may end between two looks at it
    read -r server_name 2>/dev/null <"$server_process/comm" || continue
    case $server_name in
      postgres | postmaster) printf '%s\n' "${server_process#/proc/}" ;;
      *) ;;
    esac
  done
}

# lives_in PROCESS FOLDER   whether FOLDER is its working directory
# The kernel shows that of a process with capabilities, as systemd's AmbientCapabilities= gives them, to root alone: of a server
# the lock file in FOLDER tells then.
lives_in() {
  [ ! "/proc/$1/cwd" -ef "$2" ] || return 0
  [ ! -r "/proc/$1/cwd" ] || return 1
  lives_name='' lives_lock=''
  { read -r lives_name <"/proc/$1/comm" && read -r lives_lock <"$2/postmaster.pid"; } 2>/dev/null
  case $lives_name:$lives_lock in "postgres:$1" | "postmaster:$1") ;; *) return 1 ;; esac
}

# servers_in FOLDER   print the process id of each PostgreSQL server whose data directory is FOLDER
# A server may live there without its lock file, if somebody removed that: its working directory tells.
servers_in() {
  for server_process in $(server_processes); do
    if lives_in "$server_process" "$1"; then printf '%s\n' "$server_process"; fi
  done
}

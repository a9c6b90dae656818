# Processes: which folder they work in, and how a process group is ended.

# read_process PROCESS   Set process_fields to the fields after the name in its stat: state, parent, group, …; fail if
# it has ended. The user who runs a process chooses its name, which may contain blanks, parentheses and line breaks. The
# fields are in the last line.
read_process() {
  process_fields=
  while read -r process_last; do process_fields=${process_last##*) }; done 2>/dev/null <"/proc/$1/stat"
  [ -n "$process_fields" ]
}

# process_start PROCESS   Print its start time, in ticks since the boot; nothing if it has ended.
process_start() {
  [ -n "$1" ] && read_process "$1" || return 0
  # The state is the third field of all, the start the 22nd.
  # shellcheck disable=SC2086 # they are words
  set -- $process_fields
  [ "$1" != Z ] || return 0
  shift 19
  echo "$1"
}

# is_own_process PROCESS SINCE   Succeed if that process, started then, is still running and, for root, belongs to root.
# Process ids are used again. Only root can signal processes of other users.
is_own_process() {
  ours_since=$(process_start "$1")
  ours_user=$(id -u) || fail 'id failed'
  [ -n "$ours_since" ] && [ "$ours_since" = "$2" ] && { [ -O "/proc/$1" ] || [ "$ours_user" -ne 0 ]; }
}

# end_known_group GROUP SINCE TRIES   End_group, if its leader was started then; fail if the leader has ended and other
# processes of GROUP are running, because nobody knows whose they are. SINCE is 0 on a host that hides processes of root
# (hidepid), such as leaders started by sudo: their start time is not known then.
end_known_group() {
  if [ "$2" = 0 ] || is_own_process "$1" "$2"; then
    end_group "$1" "$3"
  elif [ -z "$(process_start "$1")" ] && group_is_running "$1"; then
    fail "the first process of group $1 has ended, but others of the group are still running. Check them (ps -o" \
      "pid,user,args -g $1), and end them"
  fi
}

# group_is_running GROUP   Succeed if a process of it is running; a zombie does not count.
group_is_running() {
  runs_group=$1
  for runs_process in /proc/[0-9]*; do
    read_process "${runs_process#/proc/}" || continue
    # shellcheck disable=SC2086 # they are words
    set -- $process_fields
    [ "$1" = Z ] || [ "$3" != "$runs_group" ] || return 0
  done
  return 1
}

# end_group GROUP TRIES   Send TERM to the process group, after TRIES tenths of a second KILL; fail if a process is
# left. The caller has checked that it is the right group. POSIX form of kill, because dash's kill does not take `kill
# -TERM -- -GROUP`.
end_group() {
  kill -s TERM -- "-$1" 2>/dev/null # it may have ended by itself
  end_tries=0
  while kill -s 0 -- "-$1" 2>/dev/null; do
    end_tries=$((end_tries + 1))
    if [ "$end_tries" -eq "$2" ]; then kill -s KILL -- "-$1" 2>/dev/null; fi
    [ "$end_tries" -le $(($2 + 30)) ] || fail "process group $1 is still running"
    sleep 0.1 || fail 'the program sleep is missing'
  done
}

# list_server_processes   Print the process ids of all PostgreSQL server processes.
list_server_processes() {
  for server_process in /proc/[0-9]*; do
    server_name=
    # A process may end between two looks.
    read -r server_name 2>/dev/null <"$server_process/comm" || continue
    case $server_name in
      postgres | postmaster) printf '%s\n' "${server_process#/proc/}" ;;
      *) ;;
    esac
  done
}

# process_lives_in PROCESS FOLDER   Succeed if FOLDER is its working directory. The kernel shows the working directory
# of a process with capabilities (AmbientCapabilities= of systemd) to root only. Then the lock file in FOLDER decides
# for a server.
process_lives_in() {
  [ ! "/proc/$1/cwd" -ef "$2" ] || return 0
  [ ! -r "/proc/$1/cwd" ] || return 1
  lives_name='' lives_lock=''
  { read -r lives_name <"/proc/$1/comm" && read -r lives_lock <"$2/postmaster.pid"; } 2>/dev/null
  case $lives_name:$lives_lock in "postgres:$1" | "postmaster:$1") ;; *) return 1 ;; esac
}

# list_servers_in FOLDER   Print the process id of each PostgreSQL server whose data directory is FOLDER. A server may
# be running without its lock file, if somebody has removed that, so its working directory counts.
list_servers_in() {
  for server_process in $(list_server_processes); do
    if process_lives_in "$server_process" "$1"; then printf '%s\n' "$server_process"; fi
  done
}

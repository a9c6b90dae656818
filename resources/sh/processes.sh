# Processes: which live where, and how a group of them is ended.

# begun PROCESS   print when it began, in ticks since this boot; nothing where it has ended
begun() {
  read -r begun_line 2>/dev/null <"/proc/$1/stat" || return 0
  # behind the name, which may hold blanks: the state is the third field, the start the 22nd
  begun_line=${begun_line##*) }
  # shellcheck disable=SC2086 # they are words
  set -- $begun_line
  [ "$1" != Z ] || return 0
  shift 19
  echo "$1"
}

# ours PROCESS SINCE   whether that process still runs: it began then, and where root asks, it is root's
# Numbers are used again. Nobody but root can signal what is another's.
ours() {
  ours_since=$(begun "$1")
  ours_user=$(id -u) || fail 'id failed'
  [ -n "$ours_since" ] && [ "$ours_since" = "$2" ] && { [ -O "/proc/$1" ] || [ "$ours_user" -ne 0 ]; }
}

# end_begun_group GROUP SINCE TRIES   end_group where its leader is the one that began then; else all of it has ended
# SINCE is 0 where the host hides root's processes (hidepid), leaders by sudo among them: nobody knows then when they began.
end_begun_group() {
  if [ "$2" = 0 ] || ours "$1" "$2"; then end_group "$1" "$3"; fi
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

# servers_in FOLDER   print the process id of each PostgreSQL server whose data directory is FOLDER
# A server may live there without its lock file, if somebody removed that: its working directory tells.
servers_in() {
  for server_process in $(server_processes); do
    if [ "/proc/$server_process/cwd" -ef "$1" ]; then printf '%s\n' "$server_process"; fi
  done
}

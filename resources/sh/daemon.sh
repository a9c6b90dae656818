# The rsync daemon of a copy, which runs as the database user on the new server; its password and port are on the old
# server. All its processes have PGHAUL_COPY=MARKER in their environment, by which they are found at the end.

# make_password FOLDER MARKER   On the old server: keep a random password in FOLDER; print it and MARKER.
make_password() {
  umask 077
  password_bytes=$(od -An -N24 -v -tx1 /dev/urandom) || fail 'no random bytes can be read'
  password=
  for password_byte in $password_bytes; do password=$password$password_byte; done
  [ "${#password}" -eq 48 ] || fail 'too few random bytes were read'
  printf '%s' "$password" >"$1/password" || fail "$1 cannot be written"
  printf '%s %s\n' "$password" "$2" || fail 'the password could not be passed on'
}

# start_daemon FOLDER MARKER FILE FIRST LAST ADDRESS SECONDS SOURCES [LABEL TARGET]...
# On the new server: start the daemon. One that is still running is ended first. It uses the first free port from FIRST
# to LAST. It listens at ADDRESS if the new server has this address, otherwise (or for -) at every address. It ends by
# itself if no data arrive for SECONDS. FILE contains the functions. The other arguments are those of
# make_daemon_folder. The password and MARKER are read from standard input. Prints the port and MARKER.
start_daemon() {
  { read -r start_password start_mark && [ "$start_mark" = "$2" ]; } ||
    fail 'the password is incomplete: nothing was started'
  { [ -f "$3" ] && [ -O "$3" ]; } || fail "$3 is missing or belongs to another user: nothing was started"
  end_daemon "$1" "$2"
  umask 077
  (start_folder=$1 && shift 7 && make_daemon_folder "$start_folder" "$@") || exit
  printf 'pghaul:%s\n' "$start_password" >"$1/secrets" || fail "$1 cannot be written"
  start_port=$4 start_tries=0
  while [ "$start_port" -le "$5" ] && [ "$start_tries" -lt 3 ]; do
    if ! port_is_taken "$start_port"; then
      start_tries=$((start_tries + 1))
      if serve_daemon "$1" "$2" "$3" "$start_port" "$6" "$7" || serve_daemon "$1" "$2" "$3" "$start_port" - "$7"; then
        printf '%s %s\n' "$start_port" "$2" || fail 'the port could not be passed on'
        return
      fi
    fi
    start_port=$((start_port + 1))
  done
  if [ -e "$1/log" ]; then cat -- "$1/log" >&2; fi
  fail "no rsync daemon could be started on the new server on a port from $4 to $5"
}

# make_daemon_folder FOLDER SOURCES [LABEL TARGET]...   Create FOLDER with the settings and the modules of the daemon.
# SOURCES: the addresses that it serves. Each LABEL is a module and leads to TARGET by a link, because the values of
# rsyncd.conf cannot be quoted.
make_daemon_folder() {
  umask 077
  mkdir -- "$1" "$1/places" || fail "$1 cannot be created: something else exists at that path, or its disk is full"
  daemon_folder=$1
  print_daemon_settings "$1" "$2" >"$1/rsyncd.conf" || fail "$1 cannot be written"
  shift 2
  while [ $# -gt 1 ]; do
    ln -s -- "$2" "$daemon_folder/places/$1" || fail "a link to $2 cannot be created in $daemon_folder"
    printf '[%s]\npath = %s\n' "$1" "$daemon_folder/places/$1" >>"$daemon_folder/rsyncd.conf" ||
      fail "$daemon_folder cannot be written"
    shift 2
  done
}

# print_daemon_settings FOLDER SOURCES   Print the settings of every module in rsyncd.conf: who may connect, and only to
# write 32 connections: eight streams for each of three folders at a time, and some that are about to end.
print_daemon_settings() {
  printf '%s\n' \
    'use chroot = no' \
    'munge symlinks = yes' \
    'read only = no' \
    'write only = yes' \
    'list = no' \
    'auth users = pghaul' \
    "secrets file = $1/secrets" \
    "hosts allow = $2" \
    'reverse lookup = no' \
    'max connections = 32' \
    "lock file = $1/lock" \
    "log file = $1/log" \
    'timeout = 600' \
    'refuse options = delete remove-source-files partial-dir backup-dir temp-dir log-file'
}

# serve_daemon FOLDER MARKER FILE PORT ADDRESS SECONDS   Start it with its keeper, and wait until it listens; 1: it does
# not.
serve_daemon() {
  PGHAUL_COPY=$2 setsid sh "$3" keep_daemon "$1" "$4" "$5" "$6" </dev/null >>"$1/log" 2>&1 &
  serve_tries=0
  until port_is_taken "$4"; do
    kill -s 0 "$!" 2>/dev/null || return 1
    serve_tries=$((serve_tries + 1))
    if [ "$serve_tries" -ge 100 ]; then
      end_copy_processes "$2"
      return 1
    fi
    sleep 0.1 || fail 'the program sleep is missing'
  done
  kill -s 0 "$!" 2>/dev/null # else another one was faster
}

# keep_daemon FOLDER PORT ADDRESS SECONDS   Run it until FOLDER is gone or nothing came for SECONDS, then remove FOLDER.
# So no port stays open for ever if the workstation is lost.
keep_daemon() {
  case $3 in
    -) set -- "$1" "$2" '' "$4" ;;
    *) set -- "$1" "$2" "--address=$3" "$4" ;;
  esac
  rsync --daemon --no-detach --config="$1/rsyncd.conf" --port="$2" ${3:+"$3"} &
  keep_rsync=$!
  (watch_daemon "$1" "$keep_rsync" "$4")
  keep_status=$?
  kill -s TERM "$keep_rsync" 2>/dev/null # it may have ended by itself
  wait "$keep_rsync"
  [ "$keep_status" -eq 0 ] || exit "$keep_status"
  rm -rf -- "$1" || fail "$1 cannot be removed"
}

# watch_daemon FOLDER PROCESS SECONDS   Return when FOLDER is gone or nothing came for SECONDS; fail if PROCESS ends.
# Files are written to disk while more arrive, so that no long flush remains at the end.
watch_daemon() {
  [ -e "/proc/$$/task/$$/children" ] ||
    fail 'the kernel of the new server does not list the children of a process (/proc/PID/task/TID/children)'
  watch_idle=0
  while [ -e "$1/rsyncd.conf" ] && [ "$watch_idle" -lt "$3" ]; do
    watch_children=
    # One process per connection; the line has no line break, so the status of read says nothing.
    read -r watch_children 2>/dev/null <"/proc/$2/task/$2/children"
    if [ -n "$watch_children" ]; then
      watch_idle=0
      for watch_place in "$1"/places/*; do flush_file_system "$watch_place/"; done
      sleep 0.2 || fail 'the program sleep is missing'
    else
      watch_idle=$((watch_idle + 1))
      sleep 1 || fail 'the program sleep is missing'
    fi
    kill -s 0 "$2" 2>/dev/null || fail 'the rsync daemon ended by itself'
    [ ! -e "$1/places/data/postmaster.pid" ] || [ -e "$1/places/data/pghaul-fence/server" ] ||
      fail 'a PostgreSQL server is running in the target'
  done
}

# end_daemon FOLDER MARKER   On the new server: end the daemon and its keeper, and remove the files of this copy.
end_daemon() {
  end_copy_processes "$2"
  rm -rf -- "$1" || fail "$1 cannot be removed"
}

# close_daemon FOLDER MARKER KEPT   On the new server: as end_daemon, and remove KEPT, the folder with its functions.
close_daemon() {
  end_daemon "$1" "$2"
  remove_folder "$3"
}

# end_copy_processes MARKER   End all processes of that copy: TERM, after 5 seconds KILL; fail if one is left.
end_copy_processes() {
  end_copy_tries=0 end_copy_signal=TERM
  while :; do
    end_copy_found=$(list_copy_processes "$1") || exit
    [ -n "$end_copy_found" ] || return 0
    [ "$end_copy_tries" -lt 100 ] || fail 'the rsync daemon of this copy cannot be ended'
    for end_copy_process in $end_copy_found; do
      kill -s "$end_copy_signal" "$end_copy_process" 2>/dev/null # it may have ended meanwhile
    done
    sleep 0.1 || fail 'the program sleep is missing'
    end_copy_tries=$((end_copy_tries + 1))
    [ "$end_copy_tries" -lt 50 ] || end_copy_signal=KILL
  done
}

# list_copy_processes MARKER   Print the process id of each process of that copy.
list_copy_processes() {
  copy_found=$(printf 'PGHAUL_COPY=%s\0' "$1" | grep -lzxF -e "PGHAUL_COPY=$1" /proc/[0-9]*/environ - 2>/dev/null)
  # grep ends with 2 if it cannot read other users' processes; its own input, last in the list, proves that it got to
  # the end.
  case $?:$copy_found in
    [02]:*'(standard input)') ;;
    *) fail 'grep failed, so the processes of this copy are not known' ;;
  esac
  for copy_process in ${copy_found%'(standard input)'}; do
    copy_process=${copy_process#/proc/}
    printf '%s\n' "${copy_process%/environ}"
  done
}

# port_is_taken PORT   Succeed if any process listens on that TCP port of this host.
port_is_taken() {
  listens_as=$(printf ':%04X [0-9A-F]*:0000 0A ' "$1")
  set -- /proc/net/tcp
  [ ! -e /proc/net/tcp6 ] || set -- "$@" /proc/net/tcp6
  grep -q -e "$listens_as" "$@"
  case $? in
    0) return 0 ;;
    1) return 1 ;;
    *) fail 'the ports in use cannot be read' ;;
  esac
}

# test_daemon FOLDER MARKER HOST WORD...   On the old server: store the port of the daemon in FOLDER, and test the
# daemon with an empty list. The port and MARKER are read from standard input. The WORDs are the options and the target
# of rsync. Ends with the exit status of rsync.
test_daemon() {
  { read -r reach_port reach_mark && [ "$reach_mark" = "$2" ]; } || fail 'the port is incomplete: nothing was tried'
  umask 077
  printf '%s\n' "$reach_port" >"$1/port" || fail "$1 cannot be written"
  reach_at="port $reach_port of $3" reach_folder=$1
  shift 3
  rsync --port="$reach_port" --contimeout=10 --password-file="$reach_folder/password" -r --files-from=/dev/null "$@"
  reach_status=$?
  case $reach_status in # 10: connecting failed, 35: it came to nothing in time; source: rsync(1), EXIT VALUES
    0) ;;
    10 | 35)
      refuse "$reach_status" "the old server cannot connect to $reach_at: is there a firewall between the servers?"
      ;;
    *) refuse "$reach_status" "the rsync daemon on $reach_at refuses files from the old server" ;;
  esac
}

# read_daemon_port FOLDER   On the old server: print the port of the daemon that test_daemon has kept.
read_daemon_port() {
  daemon_port=
  read -r daemon_port 2>/dev/null <"$1/port"
  case $daemon_port in
    '' | *[!0-9]*) fail "$1/port does not contain the port of the rsync daemon: was the daemon started and reached?" ;;
    *) printf '%s\n' "$daemon_port" || fail 'the port could not be passed on' ;;
  esac
}

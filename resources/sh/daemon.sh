# The rsync daemon of a copy, of the database user on new: begun, kept, ended; its password and its port on old.
# All that runs for it bears PGHAUL_COPY=MARKER in its environment: by that it is found at the end.

# make_password FOLDER MARKER   on old: keep a password that nobody could guess in FOLDER; prints it and MARKER
make_password() {
  umask 077
  password_bytes=$(od -An -N24 -v -tx1 /dev/urandom) || fail 'no random bytes can be read'
  password=
  for password_byte in $password_bytes; do password=$password$password_byte; done
  [ "${#password}" -eq 48 ] || fail 'too few random bytes were read'
  printf '%s' "$password" >"$1/password" || fail "$1 cannot be written"
  printf '%s %s\n' "$password" "$2" || fail 'the password could not be handed on'
}

# start_daemon FOLDER MARKER FILE FIRST LAST ADDRESS SECONDS SOURCES [LABEL TARGET]...   on new: begin it anew
# It takes the first free port of FIRST to LAST, at ADDRESS if that is new's own, else (or for -) at every one, and ends
# by itself when nothing came for SECONDS. FILE holds the functions; the rest is as daemon_folder has it. Password and
# MARKER come on standard input; prints port and MARKER.
start_daemon() {
  { read -r start_password start_mark && [ "$start_mark" = "$2" ]; } ||
    fail 'the password is cut off: nothing was started'
  { [ -f "$3" ] && [ -O "$3" ]; } || fail "$3 is missing, or it is another user's: nothing was started"
  end_daemon "$1" "$2"
  umask 077
  (start_folder=$1 && shift 7 && daemon_folder "$start_folder" "$@") || exit
  printf 'pghaul:%s\n' "$start_password" >"$1/secrets" || fail "$1 cannot be written"
  start_port=$4 start_tries=0
  while [ "$start_port" -le "$5" ] && [ "$start_tries" -lt 3 ]; do
    if ! listens_on "$start_port"; then
      start_tries=$((start_tries + 1))
      if serve_daemon "$1" "$2" "$3" "$start_port" "$6" "$7" || serve_daemon "$1" "$2" "$3" "$start_port" - "$7"; then
        printf '%s %s\n' "$start_port" "$2" || fail 'the port could not be handed on'
        return
      fi
    fi
    start_port=$((start_port + 1))
  done
  if [ -e "$1/log" ]; then cat -- "$1/log" >&2; fi
  fail "no rsync daemon could be started on new on a port of $4 to $5"
}

# daemon_folder FOLDER SOURCES [LABEL TARGET]...   make FOLDER with the settings and the modules of the daemon
# SOURCES: the addresses that it serves. Each LABEL is a module and leads to TARGET, by a link of our own: the values of
# rsyncd.conf know no quotes.
daemon_folder() {
  umask 077
  mkdir -- "$1" "$1/places" || fail "$1 cannot be made: something else lies there, or its disk is full"
  daemon_folder=$1
  daemon_settings "$1" "$2" >"$1/rsyncd.conf" || fail "$1 cannot be written"
  shift 2
  while [ $# -gt 1 ]; do
    ln -s -- "$2" "$daemon_folder/places/$1" || fail "$daemon_folder cannot lead to $2"
    printf '[%s]\npath = %s\n' "$1" "$daemon_folder/places/$1" >>"$daemon_folder/rsyncd.conf" ||
      fail "$daemon_folder cannot be written"
    shift 2
  done
}

# daemon_settings FOLDER SOURCES   print what rsyncd.conf says of every module: who comes in, and that it writes alone
# 32 connections: eight streams for each of three folders side by side, and some that are about to end.
daemon_settings() {
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

# serve_daemon FOLDER MARKER FILE PORT ADDRESS SECONDS   begin it with its keeper, and see it listen; 1: it does not
serve_daemon() {
  PGHAUL_COPY=$2 setsid sh "$3" keep_daemon "$1" "$4" "$5" "$6" </dev/null >>"$1/log" 2>&1 &
  serve_tries=0
  until listens_on "$4"; do
    kill -s 0 "$!" 2>/dev/null || return 1
    serve_tries=$((serve_tries + 1))
    if [ "$serve_tries" -ge 100 ]; then
      end_copy "$2"
      return 1
    fi
    sleep 0.1 || fail 'sleep is not there'
  done
  kill -s 0 "$!" 2>/dev/null # else another one was faster
}

# keep_daemon FOLDER PORT ADDRESS SECONDS   run it till FOLDER is gone or nothing came for SECONDS, then remove FOLDER
# So whoever killed the workstation leaves no port open for ever.
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

# watch_daemon FOLDER PROCESS SECONDS   return when FOLDER is gone or nothing came for SECONDS; fails where PROCESS ends
# What arrives goes to the disk while more arrives, so that no flush of gigabytes waits at the end.
watch_daemon() {
  [ -e "/proc/$$/task/$$/children" ] || fail 'the kernel of new does not say which processes a process began'
  watch_idle=0
  while [ -e "$1/rsyncd.conf" ] && [ "$watch_idle" -lt "$3" ]; do
    watch_children=
    # a process for each connection; the line has no end, so the status of read says nothing
    read -r watch_children 2>/dev/null <"/proc/$2/task/$2/children"
    if [ -n "$watch_children" ]; then
      watch_idle=0
      for watch_place in "$1"/places/*; do flush "$watch_place/"; done
      sleep 0.2 || fail 'sleep is not there'
    else
      watch_idle=$((watch_idle + 1))
      sleep 1 || fail 'sleep is not there'
    fi
    kill -s 0 "$2" 2>/dev/null || fail 'the rsync daemon ended by itself'
    [ ! -e "$1/places/data/postmaster.pid" ] || [ -e "$1/places/data/pghaul-fence/server" ] ||
      fail 'a server runs in the target'
  done
}

# end_daemon FOLDER MARKER   on new: no daemon, no keeper, no file of this copy
end_daemon() {
  end_copy "$2"
  rm -rf -- "$1" || fail "$1 cannot be removed"
}

# close_daemon FOLDER MARKER KEPT   on new: as end_daemon, and KEPT, the folder with its functions, gone
close_daemon() {
  end_daemon "$1" "$2"
  remove_folder "$3"
}

# end_copy MARKER   end all that runs for that copy: TERM, after 5 seconds KILL; fails where one is left
end_copy() {
  end_copy_tries=0 end_copy_signal=TERM
  while :; do
    end_copy_found=$(copy_processes "$1") || exit
    [ -n "$end_copy_found" ] || return 0
    [ "$end_copy_tries" -lt 100 ] || fail 'the rsync daemon of this copy does not end'
    for end_copy_process in $end_copy_found; do
      kill -s "$end_copy_signal" "$end_copy_process" 2>/dev/null # it may have ended meanwhile
    done
    sleep 0.1 || fail 'sleep is not there'
    end_copy_tries=$((end_copy_tries + 1))
    [ "$end_copy_tries" -lt 50 ] || end_copy_signal=KILL
  done
}

# copy_processes MARKER   print the process id of each that runs for that copy
copy_processes() {
  copy_found=$(printf 'PGHAUL_COPY=%s\0' "$1" | grep -lzxF -e "PGHAUL_COPY=$1" /proc/[0-9]*/environ - 2>/dev/null)
  # it ends with 2, as others' processes may not be looked at; that it saw its own input last shows that it saw all
  case $?:$copy_found in
    [02]:*'(standard input)') ;;
    *) fail 'grep failed: it is not known what runs for this copy' ;;
  esac
  for copy_process in ${copy_found%'(standard input)'}; do
    copy_process=${copy_process#/proc/}
    printf '%s\n' "${copy_process%/environ}"
  done
}

# listens_on PORT   whether anybody listens there on this host; 1: nobody
listens_on() {
  listens_as=$(printf ':%04X [0-9A-F]*:0000 0A ' "$1")
  set -- /proc/net/tcp
  [ ! -e /proc/net/tcp6 ] || set -- "$@" /proc/net/tcp6
  grep -q -e "$listens_as" "$@"
  case $? in
    0) return 0 ;;
    1) return 1 ;;
    *) fail 'it cannot be seen which ports are taken' ;;
  esac
}

# reach_daemon FOLDER MARKER HOST WORD...   on old: keep the daemon's port in FOLDER and try it with an empty list
# Port and MARKER come on standard input; WORD... is what rsync is told to send, and where to. Ends as rsync does.
reach_daemon() {
  { read -r reach_port reach_mark && [ "$reach_mark" = "$2" ]; } || fail 'the port is cut off: nothing was tried'
  umask 077
  printf '%s\n' "$reach_port" >"$1/port" || fail "$1 cannot be written"
  reach_at="port $reach_port of $3" reach_folder=$1
  shift 3
  rsync --port="$reach_port" --contimeout=10 --password-file="$reach_folder/password" -r --files-from=/dev/null "$@"
  reach_status=$?
  case $reach_status in # 10: connecting failed, 35: it came to nothing in time; source: rsync(1), EXIT VALUES
    0) ;;
    10 | 35) refuse "$reach_status" "$reach_at is not reached from old: is there a firewall between them?" ;;
    *) refuse "$reach_status" "the rsync daemon on $reach_at takes nothing from old" ;;
  esac
}

# daemon_port FOLDER   on old: print the daemon's port, as reach_daemon kept it
daemon_port() {
  daemon_port=
  read -r daemon_port 2>/dev/null <"$1/port"
  case $daemon_port in
    '' | *[!0-9]*) fail "the port of the rsync daemon does not stand in $1/port: was the daemon started and reached?" ;;
    *) printf '%s\n' "$daemon_port" || fail 'the port could not be handed on' ;;
  esac
}

# Proof that a cluster is stopped, and the local-only start of the new cluster. pg_ctl gets the folder by PGDATA. With
# -D it would put the path into a shell command between double quotes, where a name that contains $(...) would be run
# (pg_ctl.c, start_postmaster).

# prove_stopped PATH DATA   Fail unless no server is running there and it was shut down cleanly; print its state and the
# checksum of its control file.
prove_stopped() {
  refuse_running_server "$2"
  stopped_control=$(print_control_data "$1" "$2") || exit
  stopped_state=$(printf '%s\n' "$stopped_control" | sed -n '/^Database cluster state: *shut down$/p') ||
    fail 'sed failed'
  [ -n "$stopped_state" ] || fail "the server in $2 was not shut down cleanly. Start it and stop it again"
  printf '%s\n' "$stopped_state"
  checksum_control_file "$2"
}

# check_stays_stopped DATA   After the cutover, on the old server: fail with 67 if a server is running in DATA; print a
# warning if one has run since the stop, whose record comes on standard input. A file that was edited there does not
# matter, because nothing is copied from it any more.
check_stays_stopped() {
  stays_then=$(tail -n 1) || fail 'tail failed'
  case $stays_then in *[0-9a-f]'  -') ;; *) fail 'the record of the stop is incomplete' ;; esac
  stays_found=$(list_servers_in "$1") || exit
  [ -z "$stays_found" ] ||
    refuse 67 "the old server was started again in $1: process ${stays_found%%[!0-9]*}. What clients write to one of" \
      'the two servers is missing on the other. Stop the old server, and go on with --resume'
  if [ ! -d "$1" ]; then
    echo "warning: The data directory of the old server, $1, no longer exists."
    return 0
  fi
  stays_now=$(checksum_control_file "$1") || exit
  [ "$stays_now" = "$stays_then" ] ||
    echo "warning: The old server was started again after its stop, and has ended since. What clients" \
      'wrote to it in that time is not on the new server: look for it in the log of the old server.'
}

# prove_running PATH DATA PORTS UNIT [SETTING...]   Fail unless a server is running there, accepts connections and
# listens on one of PORTS, with commas between them; `-`: not known. UNIT is the systemd unit in which it ran before: a
# warning names another one. Another warning names each SETTING, NAME=VALUE, with which it was started. The fourth line
# of its lock file is its port, since 9.1.
prove_running() {
  PATH=$1
  PGDATA=$2 pg_ctl status || fail "no PostgreSQL server is running in $2"
  wait_until_ready "$2" || fail "the server in $2 is running, but does not accept connections. Read its log"
  running_port=$(sed -n 4p -- "$2/postmaster.pid") || fail "$2/postmaster.pid cannot be read"
  case "-,$3," in
    -,-, | *,"${running_port:-$3}",*) ;;
    *) fail "the server in $2 listens on port $running_port instead of port $3." \
      "Stop it, start it on port $3, and go on" ;;
  esac
  [ "$4" = - ] || warn_of_other_unit "$2" "$4"
  [ $# -le 4 ] || warn_of_start_options "$@"
}

# warn_of_start_options PATH DATA PORTS UNIT SETTING...   Print a warning with each SETTING among the options of the
# last start.
warn_of_start_options() {
  given_options=$(print_start_options "$2" 2>/dev/null) || {
    echo "warning: The options with which the old server was started cannot be read from $2/postmaster.opts. Check" \
      'that they are right.'
    return 0
  }
  shift 4
  given_names=''
  for given_one; do
    given_quoted=$(printf '%s\n' "$given_one" | sed "s/'/'\\\\''/g") || fail 'sed failed'
    case $given_options in *" '$given_quoted'"*) given_names="$given_names${given_names:+, }$given_one" ;; *) ;; esac
  done
  [ -z "$given_names" ] ||
    echo "warning: The old server was started with $given_names on its command line, because its files say otherwise." \
      'These options override its files, also after a reload. Once the files are right, start it without these options.'
}

# warn_of_other_unit DATA UNIT   Print a warning if the server there is running in another unit than UNIT.
warn_of_other_unit() {
  ran_process=$(head -n 1 -- "$1/postmaster.pid") || fail "$1/postmaster.pid cannot be read"
  # One line for each hierarchy of control groups, any of which may be the one with the units.
  ran_groups=$(sed 's,$,/,' "/proc/$ran_process/cgroup") || fail "process $ran_process has ended"
  case $ran_groups in
    */"$2"/*) ;;
    *) echo "warning: The old cluster is running outside of $2, where it ran before. Stop it, and start it with" \
      "systemctl start $2." ;;
  esac
}

# start_local_only PATH DATA PORT CONFIG OPTIONS SOCKET
# Start the server for local connections only, or wait until the one that this copy has started accepts connections. It
# does nothing if the fence was lifted since. CONFIG is its configuration file if that is not DATA/postgresql.conf, or
# `-`. OPTIONS are the isolation settings. They follow the options of the old server, which were copied with
# postmaster.opts. Afterwards that file contains only the latter. OPTIONS name SOCKET as the folder of the Unix socket.
# It is created here, and only this user can enter it, so nothing else on this host connects to the server where it is
# used to find one. As soon as the server has read its PG_VERSION, that is moved behind the fence, so that nothing starts
# it after a reboot before the operator has decided. If this function is interrupted between the start of the server and
# the record of its lock file, check_own_server recognises the server by its options.
start_local_only() {
  PATH=$1
  [ ! -e "$2/pghaul-fence/opened" ] || return 0
  start_found=$(list_servers_in "$2") || exit
  if [ -z "$start_found" ]; then
    refuse_running_server "$2"
    start_known=$2/pghaul-fence/server
    # As the shell of pg_ctl will split them.
    (eval "set -- $5 -c port=$3" && write_complete "$start_known" printf '%s\n' 'started with' "$@") || exit
    make_socket_folder "$2" "$6"
    open_fence "$2"
    save_options "$2"
    # Not from DATA, where the login shell of the owner may stand: only the server itself shall work there.
    (cd / && start_by_pg_ctl "$2" "$4" "$5 -c port=$3") &
    start_job=$!
    start_status=0
    (hide_version "$2" "$start_job") || start_status=$?
    wait "$start_job" || {
      move_behind_fence "$2" PG_VERSION # it may run all the same
      restore_options "$2"
      exit 1
    }
  else
    start_status=0
    check_own_server "$2"
    wait_until_ready "$2" || fail "the server in $2 is running, but does not accept connections. Read its log"
  fi
  restore_options "$2"
  write_complete "$2/pghaul-fence/server" head -n 3 -- "$2/postmaster.pid"
  move_behind_fence "$2" PG_VERSION
  [ "$start_status" -eq 0 ] || exit "$start_status"
}

# hide_version DATA PROCESS   Move PG_VERSION behind the fence as soon as a server works in DATA; give up when PROCESS,
# which starts it, has ended. A server has read PG_VERSION before it works in DATA (postmaster.c, checkDataDir).
hide_version() {
  until hide_found=$(list_servers_in "$1") && [ -n "$hide_found" ]; do
    kill -s 0 -- "$2" 2>/dev/null || return 0
    sleep 0.02 || fail 'the program sleep is missing'
  done
  move_behind_fence "$1" PG_VERSION
}

# make_socket_folder DATA SOCKET   Create the folder of the Unix socket, and record it in the fence of DATA.
make_socket_folder() {
  remove_socket_folder "$1"
  write_complete "$1/pghaul-fence/socket" printf '%s\n' "$2"
  mkdir -m 700 -- "$2" || fail "$2 cannot be created"
}

# lift_fence DATA   Stop what start_local_only has started there, and allow anybody to start the new cluster. Called
# again after that, it only finishes what was interrupted. The checksum of its control file is kept, so that
# refuse_changed_copy can tell whether a server has run since.
lift_fence() {
  if [ -e "$1/pghaul-fence/mark" ]; then
    stop_local_only "$1"
    remove_socket_folder "$1"
    [ ! -e "$1/postmaster.pid" ] || fail "the server in $1 has ended by itself. Read its log. --resume starts it again"
    write_complete "$1/pghaul-fence/control" checksum_control_file "$1"
    open_target "$1"
  elif [ -e "$1/pghaul-fence/opened" ]; then
    open_fence "$1"
  fi
}

# refuse_changed_copy DATA   Fail if a server has run there since its fence was lifted: clients may have written to it.
# A server writes its control file before it accepts a connection; source: PostgreSQL's xlog.c, StartupXLOG.
refuse_changed_copy() {
  [ -e "$1/pghaul-fence/opened" ] || return 0
  refuse_running_server "$1"
  unopened_then=$(cat -- "$1/pghaul-fence/control") || fail "$1/pghaul-fence/control cannot be read"
  unopened_now=$(checksum_control_file "$1") || exit
  [ "$unopened_now" = "$unopened_then" ] ||
    fail 'the new cluster was started for clients, and they may have written to it'
}

# fail_client_start DATA LOG WHY   Fail after a start that did not succeed. WHY is the reason, if known, LOG says where
# to read more. Exit with 69 if this was the start of the new cluster and no client can have connected to it.
fail_client_start() {
  [ -e "$1/pghaul-fence/opened" ] || fail "the server in $1 did not start: ${3:+$3; }$2"
  refuse_running_server "$1"
  refuse_changed_copy "$1"
  refuse 69 'the new cluster did not start, and no client could connect to it. Fix what its log says and go on, or roll' \
    "back. ${3:+$3; }$2"
}

# start_by_pg_ctl DATA CONFIG OPTIONS   Start the server there with the options of postmaster.opts, then OPTIONS, which
# override them. Its output goes to pghaul-start.log in DATA.
start_by_pg_ctl() {
  start_before=$(print_start_options "$1") || exit
  start_options="$start_before $3"
  if [ "$2" != - ]; then
    # Quoted once more, because pg_ctl passes them to another shell.
    start_files=$(printf '%s\n' "config_file=$2" "data_directory=$1" |
      sed "N; s/'/'\\\\''/g; s/\\(.*\\)\\n\\(.*\\)/-c '\\1' -c '\\2'/") || fail 'sed failed'
    start_options="$start_options $start_files"
  fi
  start_since=$(date +%s) || fail 'date failed'
  PGDATA=$1 pg_ctl -w -t 600 -o "$start_options" start </dev/null >"$1/pghaul-start.log" 2>&1 || {
    start_why=$(explain_failed_start "$1" "$start_since" tail -c 20000 -- "$1/pghaul-start.log") || exit
    fail "the server in $1 did not start: ${start_why:+$start_why; }read $1/pghaul-start.log"
  }
}

# append_settings DATA SETTING...   On the new server, before its first start: append each SETTING, NAME=VALUE, to its
# postgresql.auto.conf. They override the lines above, which stay, also those of an earlier move, and all other files.
# In a value, an apostrophe and a backslash are doubled (guc-file.l). A missing file counts as an empty one.
append_settings() {
  keep_file=$1/postgresql.auto.conf
  shift
  keep_now='' keep_mode=600
  if [ -e "$keep_file" ]; then
    keep_now=$(cat -- "$keep_file") || fail "$keep_file cannot be read"
    keep_mode=$(stat -c %a -- "$keep_file") || fail "$keep_file cannot be read"
  fi
  keep_more=$(printf '%s\n' "$@" | sed "s/['\\]/&&/g; s/=\(.*\)/ = '\1' # by pghaul: in force on the old server/") ||
    fail 'sed failed'
  umask 077
  write_complete "$keep_file" printf '%s\n' "$keep_now" "$keep_more"
  chmod -- "$keep_mode" "$keep_file" || fail 'chmod failed'
}

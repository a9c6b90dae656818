# Starting, enabling and stopping a cluster for its clients with the service manager of its host: one function per kind.
# systemd may hold back units that failed to start behind a fence (start-limit-hit) until they are reset.

# start_debian SERIES NAME DATA   Start the cluster with pg_ctlcluster, which uses systemd if the host has it.
start_debian() {
  debian_since=$(date +%s) || fail 'date failed'
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || fail 'systemctl daemon-reload failed'
    systemctl reset-failed "postgresql@$1-$2.service" 2>/dev/null # it fails if the unit has never run
  fi
  debian_said=$(pg_ctlcluster "$1" "$2" start 2>&1) || [ $? -eq 2 ] || server_starting "$3" ||
    fail_debian_start "$@" # 2: it runs
  [ -z "$debian_said" ] || printf '%s\n' "$debian_said"
  wait_until_ready "$3" || fail_debian_start "$@"
}

# fail_debian_start SERIES NAME DATA   Fail as fail_client_start does, with the reason from pg_ctlcluster, the journal
# and the log.
fail_debian_start() {
  debian_why=$(explain_failed_start "$3" "$debian_since" print_debian_logs "$1" "$2") || exit
  fail_client_start "$3" "read its log in /var/log/postgresql" "$debian_why"
}

# print_debian_logs SERIES NAME   Print the output of pg_ctlcluster, and the ends of the journal and the log, as far as
# they are of this start.
print_debian_logs() {
  printf '%s\n' "$debian_said"
  [ ! -d /run/systemd/system ] || print_journal "$debian_since" -u "postgresql@$1-$2.service"
  debian_log=/var/log/postgresql/postgresql-$1-$2.log
  debian_changed=$(stat -c %Y -- "$debian_log" 2>/dev/null) || return 0
  [ "$debian_changed" -lt "$debian_since" ] || tail -c 20000 -- "$debian_log"
}

# print_journal SINCE WORDS...   Print the journal since then, as selected by these WORDS of journalctl.
print_journal() {
  journal_since=$1
  shift
  journalctl --no-pager -q -o cat -n 50 --since "@$journal_since" "$@" || fail 'the journal cannot be read'
}

# start_unit UNIT DATA   Start the unit with the systemd of the host.
start_unit() {
  refuse_shared_unit "$1" "$2"
  unit_since=$(date +%s) || fail 'date failed'
  systemctl reset-failed "$1" 2>/dev/null # it fails if the unit has never run
  # It fails if the server needs more time than the unit gives it. A server in recovery is not stopped.
  if ! { systemctl start "$1" || server_starting "$2"; } || ! wait_until_ready "$2"; then
    # systemd would try to start it again and again.
    systemctl stop "$1" || fail "$1 did not stop. Read its log with journalctl -u $1"
    unit_why=$(explain_failed_start "$2" "$unit_since" print_journal "$unit_since" -u "$1") || exit
    fail_client_start "$2" "journalctl -u $1" "$unit_why"
  fi
}

# start_user_unit UNIT DATA   Start the unit with the systemd of the user who runs this.
start_user_unit() {
  unit_user=$(id -u) || fail 'id does not print the name of this user'
  refuse_shared_unit "$1" "$2" "$unit_user"
  unit_since=$(date +%s) || fail 'date failed'
  (run_user_systemctl reset-failed "$1") 2>/dev/null # it fails if the unit has never run
  if ! { (run_user_systemctl start "$1") || server_starting "$2"; } || ! wait_until_ready "$2"; then
    run_user_systemctl stop "$1"
    unit_why=$(explain_failed_start "$2" "$unit_since" print_journal "$unit_since" --user -u "$1") || exit
    fail_client_start "$2" "journalctl --user -u $1" "$unit_why"
  fi
}

# start_folder PATH DATA CONFIG [OPTIONS]   Start the server with pg_ctl as postmaster.opts says; CONFIG is its
# configuration file if that is not DATA/postgresql.conf, or `-`. OPTIONS, quoted for a shell, follow: values in force
# that the files do not have. If the server does not start with them (pg_ctl before 15 cuts a long command line off), it
# is started without them, and a warning says so.
start_folder() {
  PATH=$1
  PGDATA=$2 pg_ctl status >/dev/null && return 0
  folder_why=$(start_by_pg_ctl "$2" "$3" "${4-}" 2>&1) || {
    # The time limit of pg_ctl is no limit for a recovery.
    if server_starting "$2" && wait_until_ready "$2"; then return; fi
    stop_folder "$1" "$2"
    folder_why=${folder_why#"pghaul: the server in $2 did not start: "}
    folder_why=${folder_why#pghaul: }
    [ -z "${4-}" ] || {
      echo "warning: The server in $2 did not start with the options $4, and is started without them: $folder_why"
      start_folder "$1" "$2" "$3"
      return
    }
    folder_why=${folder_why%"read $2/pghaul-start.log"}
    fail_client_start "$2" "read $2/pghaul-start.log" "${folder_why%; }"
  }
}

# stop_debian SERIES NAME DATA   Stop the cluster with a fast shutdown, which needs no recovery; do nothing if it is
# stopped.
stop_debian() {
  [ -e "$3/postmaster.pid" ] || return 0
  pg_ctlcluster "$1" "$2" stop -m fast || fail "the cluster $1/$2 did not stop. Read its log in /var/log/postgresql"
}

# stop_unit UNIT DATA   Stop the unit of the host with a fast shutdown; do nothing if it is stopped.
stop_unit() {
  refuse_shared_unit "$1" "$2"
  (stop_server_of_unit "$2" "$1" '' systemctl) || exit
  systemctl stop "$1" || fail "$1 did not stop. Read its log with journalctl -u $1"
}

# stop_user_unit UNIT DATA   Stop the unit of the user who runs this with a fast shutdown; do nothing if it is stopped.
stop_user_unit() {
  unit_user=$(id -u) || fail 'id does not print the name of this user'
  refuse_shared_unit "$1" "$2" "$unit_user"
  (stop_server_of_unit "$2" "$1" "$unit_user" env "XDG_RUNTIME_DIR=/run/user/$unit_user" systemctl --user) || exit
  run_user_systemctl stop "$1"
}

# stop_server_of_unit DATA UNIT UID SYSTEMCTL...   Let the server of UNIT there shut down fast, and wait for its end; do
# nothing if it does not run in UNIT. By itself systemd would send SIGTERM, unless the unit says otherwise: the server
# would then wait for its clients to leave. After the time limit of the unit systemd would kill it, also during its
# checkpoint. Of a unit that would start the server again, systemd begins the stop first, and its time limit counts. It
# counts also if the server reports its stop to systemd (Type=notify). Then the limit is extended as sd_notify(3) says.
stop_server_of_unit() {
  [ -e "$1/postmaster.pid" ] || return 0
  fast_data=$1 fast_unit=$2 fast_user=$3
  shift 3
  fast_process=$(sed -n 1p -- "$fast_data/postmaster.pid") || fail "$fast_data/postmaster.pid cannot be read"
  fast_since=$(process_start "$fast_process") || exit
  [ -n "$fast_since" ] && process_lives_in "$fast_process" "$fast_data" || return 0
  process_is_in_unit "/proc/$fast_process/cgroup" "$fast_unit" "$fast_user" || return 0
  fast_said=$("$@" show -p Restart -p ExecStop -p ExecStopPost -p NotifyAccess "$fast_unit") ||
    fail "systemctl show $fast_unit failed"
  fast_restart=$(printf '%s\n' "$fast_said" | sed -n 's/^Restart=//p') || fail 'sed failed'
  # Without a server its commands for the stop fail, and on-failure counts that.
  case $fast_restart:$fast_said in
    no:* | on-abnormal:* | on-abort:* | on-watchdog:*) ;;
    on-failure:*ExecStop*=*) "$@" stop --no-block "$fast_unit" || fail "systemctl stop --no-block $fast_unit failed" ;;
    on-failure:*) ;;
    *) "$@" stop --no-block "$fast_unit" || fail "systemctl stop --no-block $fast_unit failed" ;;
  esac
  kill -s INT "$fast_process" 2>/dev/null # it may have ended meanwhile
  fast_tries=0
  while fast_now=$(process_start "$fast_process") && [ "$fast_now" = "$fast_since" ]; do
    # Only root may send it in the name of the server. Without it the time limit of the unit stays.
    case $fast_user:$fast_said:$((fast_tries % 10)) in
      :*NotifyAccess=none*) ;;
      :*:0)
        NOTIFY_SOCKET=/run/systemd/notify systemd-notify --pid="$fast_process" EXTEND_TIMEOUT_USEC=60000000 2>/dev/null
        ;;
      *) ;;
    esac
    fast_tries=$((fast_tries + 1))
    sleep 0.1 || fail 'the program sleep is missing'
  done
}

# refuse_shared_unit UNIT DATA [UID]   Fail if UNIT, of the host or of that user, runs servers and none of them is in
# DATA: somebody has given it to another cluster since the checks.
refuse_shared_unit() {
  unit_other=''
  for unit_process in $(list_server_processes); do
    process_is_in_unit "/proc/$unit_process/cgroup" "$1" "${3-}" || continue
    ! process_lives_in "$unit_process" "$2" || return 0
    unit_other=$unit_process
  done
  [ -n "$unit_other" ] && unit_folder=$(readlink "/proc/$unit_other/cwd") || return 0 # it may have ended meanwhile
  fail "$1 now runs another server, in $unit_folder, and none in $2. It is neither started nor stopped. Give that" \
    'server a unit of its own, or stop it permanently, and let this unit start the cluster. Then go on with --resume'
}

# process_is_in_unit CGROUP UNIT UID   Succeed if a process, whose cgroup file of /proc is CGROUP, runs in UNIT of the
# host or, with a UID, of that user.
process_is_in_unit() {
  while IFS=: read -r _ _ in_path; do
    in_user=''
    case $in_path in */user@*.service/*) in_user=${in_path#*/user@} in_user=${in_user%%.*} ;; *) ;; esac
    case $in_user:$in_path/ in "$3":*/"$2"/*) return 0 ;; *) ;; esac
  done 2>/dev/null <"$1" # it may have ended meanwhile
  return 1
}

# stop_folder PATH DATA   Stop the server with pg_ctl; do nothing if it is stopped.
stop_folder() {
  PATH=$1
  [ -e "$2/postmaster.pid" ] || return 0
  PGDATA=$2 pg_ctl -m fast -w -t 3600 stop || fail "the server in $2 did not stop. Read its log"
}

# write_start_conf FOLDER WORD   Set whether the cluster of that configuration folder starts with the host: auto or
# manual.
write_start_conf() {
  echo "$2" >"$1/start.conf" || fail "$1/start.conf cannot be written"
}

# run_user_systemctl VERB UNIT   Run systemctl for the systemd of this user, also without a login session.
run_user_systemctl() {
  own_number=$(id -u) || fail 'id does not print the name of this user'
  XDG_RUNTIME_DIR=/run/user/$own_number systemctl --user "$1" "$2" ||
    fail "systemctl --user $1 $2 failed. Read its log with journalctl --user -u $2"
}

# enable_linger USER   Let the systemd of this user run from the boot on, and wait until it does.
enable_linger() {
  loginctl enable-linger "$1" || fail "the systemd of the user $1 cannot be started at boot (loginctl enable-linger)"
  linger_number=$(id -u "$1") || fail "there is no user $1"
  systemctl start "user@$linger_number.service" || fail "the systemd of the user $1 did not start"
}

# wait_until_ready DATA   Wait until the server there accepts connections; return 1 if it does not within a minute. Not
# every service waits for its server. A server in recovery gets all the time that it needs: if it were stopped, the next
# start would have to begin the recovery again.
wait_until_ready() {
  accepts_tries=0
  until server_ready "$1"; do
    accepts_tries=$((accepts_tries + 1))
    if [ "$accepts_tries" -gt 600 ]; then
      server_starting "$1" || server_ready "$1" || return 1
      [ "$accepts_tries" -ne 601 ] ||
        echo "The server in $1 is still starting, probably in recovery: its log says how far it is. This step waits" \
          'until the server accepts connections.'
    fi
    sleep 0.1 || fail 'the program sleep is missing'
  done
}

# server_starting DATA   Succeed if the server there is running and still starting, as in a recovery; since 10.
server_starting() {
  [ -e "$1/postmaster.pid" ] || return 1
  starting_line=0
  while IFS= read -r starting_said; do
    starting_line=$((starting_line + 1))
    [ "$starting_line" -gt 1 ] || process_lives_in "$starting_said" "$1" || return 1
    case $starting_line:$starting_said in 8:starting*) return 0 ;; *) ;; esac
  done <"$1/postmaster.pid"
  return 1
}

# server_ready DATA   Succeed if the server there accepts connections; before 10, whether it is running. The eighth line
# of its lock file says so (LOCK_FILE_LINE_PM_STATUS, pidfile.h). The first line is its process id, which is checked,
# because a lock file remains after a power failure.
server_ready() {
  [ -e "$1/postmaster.pid" ] || return 1
  ready_version=$1/PG_VERSION
  [ -e "$ready_version" ] || ready_version=$1/pghaul-fence/PG_VERSION
  read -r ready_series <"$ready_version" || return 1
  ready_line=0
  while IFS= read -r ready_said; do
    ready_line=$((ready_line + 1))
    [ "$ready_line" -gt 1 ] || process_lives_in "$ready_said" "$1" || return 1
    case $ready_series:$ready_line:$ready_said in 8.*:1:* | 9.*:1:* | *:8:ready*) return 0 ;; *) ;; esac
  done <"$1/postmaster.pid"
  return 1
}

# register_debian FILE DATA NAME CONFIG   Let FILE, Debian's postgresql.conf, include CONFIG in DATA; the earlier FILE
# is kept next to it. NAME is as 15-main. A configuration that was copied with the data directory stays there as it is.
# Without hba_file and ident_file in FILE, pg_ctlcluster names the files next to FILE, which are not the old cluster's.
# They stand before the include, so that a value in the included file counts.
register_debian() {
  [ ! -e "$1" ] || [ -e "$1.before-pghaul" ] || mv -- "$1" "$1.before-pghaul" || fail "$1 cannot be kept"
  register_data=$(printf '%s' "$2" | sed "s/'/''/g") || fail 'sed failed'
  register_config=$(printf '%s' "$4" | sed "s/'/''/g") || fail 'sed failed'
  printf '%s\n' "hba_file = '$register_data/pg_hba.conf'" "ident_file = '$register_data/pg_ident.conf'" \
    "include '$register_config'" "data_directory = '$register_data'" \
    "external_pid_file = '/run/postgresql/$3.pid'" >"$1" || fail "$1 cannot be written"
}

# unregister_debian FILE   Restore FILE as it was before; do nothing if it was not changed.
unregister_debian() {
  [ ! -e "$1.before-pghaul" ] || mv -fT -- "$1.before-pghaul" "$1" || fail "$1 cannot be restored"
}

# set_debian_settings FILE [SETTING VALUE]...   Set these in FILE, Debian's postgresql.conf, which was copied from the
# old server.
set_debian_settings() {
  adopt_file=$1
  shift
  # What is appended must not join a last line without a line break.
  adopt_end=$(tail -c 1 -- "$adopt_file") || fail "$adopt_file cannot be read"
  [ -z "$adopt_end" ] || echo >>"$adopt_file" || fail "$adopt_file cannot be written"
  while [ $# -gt 1 ]; do
    set_debian_setting "$adopt_file" "$1" "$2"
    shift 2
  done
}

# set_debian_setting FILE SETTING VALUE   Set the value at the place of the setting, and also at the end of FILE if a
# later line or an included file overrides it.
set_debian_setting() {
  pg_conftool -s "$1" set "$2" "$3" || fail "$2 cannot be set in $1"
  adopt_now=$(pg_conftool -s "$1" show "$2") || fail "$2 cannot be read from $1"
  [ "$adopt_now" != "$3" ] || return 0
  adopt_value=$(printf '%s' "$3" | sed "s/['\\]/&&/g") || fail 'sed failed'
  printf "%s = '%s'\n" "$2" "$adopt_value" >>"$1" || fail "$1 cannot be written"
}

# The operator's own queries, measured by pgbench on the old server and on the copy of a dress rehearsal. They run as a
# role of the operator, as the application runs them, in transactions that are read-only by default and have a time
# limit. What functions, views and foreign tables of that role do is not limited.

# check_role DATABASE ROLE PATH SOCKET PORT SERIES SECONDS   Fail with the reason if ROLE has administrator rights
# there.
check_role() {
  role_database=$1 role_name=$2
  shift 2
  connect_to "$@"
  watch_slots "$2" "$3"
  refuse_admin_role "$role_database" "$role_name"
}

# refuse_admin_role DATABASE ROLE   Do the same as check_role, on the server that psql already uses. ROLE has the rights
# of all roles that it is a member of, directly or not, because a session can become any of them (SET ROLE).
refuse_admin_role() {
  role_found=$(query_database "$1" "with recursive reached as (select oid from pg_roles where rolname = '$2'
      union select m.roleid from pg_auth_members m join reached r on m.member = r.oid),
    against (why) as (
      select 'there is no such role that can log in'
      where not exists (select from pg_roles where rolname = '$2' and rolcanlogin)
      union all select format('%s %s', case rolname when '$2' then 'it'
        else 'it is a member of ' || rolname || ', which' end, what)
      from pg_roles r join reached using (oid), lateral (values
        (rolsuper, 'is a superuser'), (rolcreaterole, 'makes roles'), (rolcreatedb, 'makes databases'),
        (rolreplication, 'replicates'), (rolbypassrls, 'bypasses row security'), (oid = 10, 'owns the cluster'),
        (oid = (select datdba from pg_database where datname = current_database()), 'owns the database'))
        as attribute (has, what) where has
      union all select 'it is a member of ' || rolname from pg_roles join reached using (oid) where rolname ~ '^pg_'
      and rolname not in ('pg_monitor', 'pg_read_all_data', 'pg_read_all_settings', 'pg_read_all_stats',
        'pg_stat_scan_tables'))
    select 'asked' || coalesce(': ' || translate(string_agg(why, '; ' order by why), chr(10) || chr(13), '  '), '')
    from against;") || exit
  case $role_found in
    asked) ;;
    'asked: '*) fail "the queries are not run as the role $2: ${role_found#asked: }. Name a role that an application" \
      'uses, with --queries-as' ;;
    *) fail "the server did not report the rights of the role $2" ;;
  esac
}

# run_with_queries DATABASE ROLE CLIENTS SECONDS COUNT [WEIGHT LINES LINE...]... FUNCTION WORD...
# Store COUNT scripts for measure_twice in a folder, run FUNCTION, and remove the folder. Each script has a WEIGHT and a
# number of LINES. If the scripts cannot be stored, FUNCTION finds the reason in queries_lacks. Each run uses CLIENTS
# for SECONDS. PGPASSWORD may contain a password for ROLE. Only the sessions of ROLE get it.
run_with_queries() {
  queries_database=$1 queries_role=$2 queries_clients=$3 queries_seconds=$4 queries_count=$5
  shift 5
  queries_password=${PGPASSWORD-} queries_lacks='' queries_weights='' queries_number=0
  unset PGPASSWORD
  queries_line='' queries_side=''
  # In the folder of its job, which is removed however that ends.
  queries_folder=$(mktemp -d "${pghaul_job:-/var/tmp}/pghaul-queries.XXXXXXXX") ||
    queries_lacks='no folder for the scripts can be created'
  trap clean_up_queries EXIT
  trap 'exit 143' HUP INT PIPE TERM
  while [ "$queries_number" -lt "$queries_count" ]; do
    queries_number=$((queries_number + 1)) queries_weights="$queries_weights $1" queries_lines=$2
    shift 2
    while [ "$queries_lines" -gt 0 ]; do
      [ -n "$queries_lacks" ] || printf '%s\n' "$1" >>"$queries_folder/$queries_number.sql" ||
        queries_lacks="$queries_folder cannot be written"
      shift
      queries_lines=$((queries_lines - 1))
    done
  done
  "$@"
}

# clean_up_queries   In a trap: end the sessions of the queries, and remove the folder of the scripts.
clean_up_queries() {
  queries_status=$?
  trap '' HUP INT PIPE TERM
  [ -z "$queries_line" ] || end_process_tree "$queries_line"
  [ -z "$queries_side" ] || (end_sessions)
  [ -z "$queries_folder" ] || rm -rf -- "$queries_folder" || fail "$queries_folder cannot be removed"
  exit "$queries_status"
}

# run_while_followed FUNCTION WORDS...   Run FUNCTION, whose queries end if nothing comes on standard input for 45
# seconds.
run_while_followed() {
  exec 3<&0 </dev/null
  (while timeout --foreground 45 grep -q -m 1 ''; do :; done) <&3 >/dev/null 2>&1 &
  queries_line=$!
  "$@"
}

# is_followed   Succeed if the workstation has been heard from lately. Succeeds too if the connection to it is not
# watched.
is_followed() {
  [ -z "$queries_line" ] || [ -n "$(process_start "$queries_line")" ]
}

# measure_twice SIDE PATH SOCKET PORT SERIES DATA   Measure the scripts twice there, as `SIDE 1` and `SIDE 2`. If one
# run fails, a warning gives the reason. It is no failure of the step, because no data depend on it.
measure_twice() {
  queries_side=$1 queries_path=$2 queries_socket=$3 queries_port=$4 queries_series=$5 queries_data=$6
  for queries_run in 1 2; do
    queries_why=$queries_lacks
    [ -n "$queries_why" ] || printf '' >"$queries_folder/said" || queries_why="$queries_folder cannot be written"
    is_followed || queries_why='the connection to pghaul was lost'
    if [ -z "$queries_why" ]; then
      if (measure_watched) 2>>"$queries_folder/said"; then continue; fi
      queries_why=$(cat -- "$queries_folder/ended" 2>/dev/null) ||
        queries_why=$(sed -n 's/^pghaul: //p' "$queries_folder/said") ||
        queries_why='its output cannot be read'
      queries_why=$(last_line "$queries_why")
    fi
    printf 'queries %s not measured: %s\n' "$1 $queries_run" "${queries_why:=no reason is known}"
    echo "warning: run $queries_run of the queries on the $1 server was not measured: $queries_why"
  done
}

# measure_watched   Run measure_queries under watch_queries; end its sessions, and print its results.
measure_watched() {
  rm -f -- "$queries_folder/ended" || fail "$queries_folder cannot be written"
  connect_as_owner $((queries_seconds * 2 + 120))
  watch_slots "$queries_socket" "$queries_port"
  queries_log=$(query_cluster "select current_setting('log_directory');") || exit
  queries_since=$(process_start $$) || exit # the start time of the first shell: no other process would notice its end
  (measure_queries) >"$queries_folder/found" &
  queries_work=$!
  (watch_queries $$ "$queries_since" "$queries_work") </dev/null >/dev/null 2>&1 &
  queries_watch=$!
  wait "$queries_work"
  queries_status=$?
  kill -s TERM "$queries_watch" 2>/dev/null
  wait "$queries_watch" 2>/dev/null
  case $? in # 143: it was ended before it had set its trap
    0 | 143) ;;
    *) fail 'the resources that the queries used could not be monitored' ;;
  esac
  (end_sessions) || exit
  [ "$queries_status" = 0 ] && [ ! -e "$queries_folder/ended" ] || exit 1
  cat -- "$queries_folder/found" || fail "$queries_folder/found cannot be read"
}

# connect_as_owner SECONDS   From here on, query the server of the queries as the owner of the cluster.
connect_as_owner() {
  connect_to "$queries_path" "$queries_socket" "$queries_port" "$queries_series" "$1"
  # On the copy: set by a client, these override the settings of roles and databases.
  [ "$queries_side" = old ] || PGOPTIONS="$PGOPTIONS -c session_preload_libraries= -c dynamic_library_path=\$libdir"
}

# end_sessions   End the remaining sessions of pgbench, by their application name.
end_sessions() {
  connect_as_owner 30
  query_cluster "select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = '${queries_folder##*/}';" >/dev/null
}

# watch_queries SHELL SINCE PROCESS
# Watch the resources that the queries use, and end PROCESS with all its descendants if they use too much. SHELL is the
# process that measures, and SINCE is its start time. PROCESS is ended if SHELL has ended, if pghaul no longer follows
# the job, if the free space on a file system of the cluster, of its log or of the scripts has shrunk by a quarter, if
# the available memory has shrunk by three quarters, or if the temporary files of the server have grown by more than 1
# GiB. It does not matter who has used them. The reason is written to `ended` in the folder of the scripts. The watch
# ends when it gets TERM or when PROCESS has ended.
watch_queries() {
  watch_shell=$1 watch_shell_since=$2 watch_work=$3 watch_pause=''
  trap '[ -z "$watch_pause" ] || kill "$watch_pause" 2>/dev/null; exit 0' TERM
  watch_since=$(process_start "$3") || exit
  watch_temporary=$(temporary_file_size "$queries_data") || exit
  watch_memory=$(available_memory) || exit
  read -r watch_server <"$queries_data/postmaster.pid" || watch_server=self
  case $queries_log in /*) ;; *) queries_log=$queries_data/$queries_log ;; esac
  set --
  # /proc/PID/fd/2 is the log of a server without the logging collector.
  for watch_each in "$queries_data/." "$queries_data/pg_wal/." "$queries_data"/pg_tblspc/*/. "$queries_folder/." \
    "$queries_log/." /var/log/. "/proc/$watch_server/fd/2"; do
    [ -d "$watch_each" ] || [ -f "$watch_each" ] || continue
    watch_free=$(free_space "$watch_each") || exit
    set -- "$@" "$watch_each" "$((watch_free * 3 / 4))"
  done
  while [ -n "$watch_since" ]; do
    sleep 0.5 &
    watch_pause=$!
    watch_ended=''
    wait "$watch_pause" || watch_ended='the resources that the queries used could not be monitored'
    watch_pause=''
    watch_now=$(process_start "$watch_work")
    [ "$watch_now" = "$watch_since" ] || exit 0
    is_followed || watch_ended='the connection to pghaul was lost'
    watch_now=$(temporary_file_size "$queries_data") ||
      watch_ended='the resources that the queries used could not be monitored'
    [ $((${watch_now:-0} - watch_temporary)) -le 1048576 ] ||
      watch_ended='the temporary files of the server grew by more than 1 GiB'
    watch_now=$(available_memory) || watch_ended='the resources that the queries used could not be monitored'
    [ "${watch_now:-0}" -ge $((watch_memory / 4)) ] || watch_ended='three quarters of the available memory were used up'
    watch_left=$#
    while [ "$watch_left" -gt 0 ]; do
      watch_free=$(free_space "$1") || watch_free=0
      [ "$watch_free" -ge "$2" ] || watch_ended="a quarter of the free space on the file system of ${1%/.} was used up"
      set -- "$@" "$1" "$2"
      shift 2
      watch_left=$((watch_left - 2))
    done
    watch_now=$(process_start "$watch_shell")
    if [ -n "$watch_ended" ] || [ "$watch_now" != "$watch_shell_since" ]; then
      trap '' TERM # from the process that waits for the first one
      printf '%s\n' "$watch_ended" >"$queries_folder/ended"
      end_process_tree "$watch_work"
      [ "$watch_now" = "$watch_shell_since" ] || { # no other process would do it
        (end_sessions)
        rm -rf -- "$queries_folder"
      }
      exit 0
    fi
  done
}

# available_memory   Print the available memory in kB, or 0 if this kernel does not report it.
available_memory() {
  awk '$1 == "MemAvailable:" { left = $2 } END { printf "%.0f\n", left }' /proc/meminfo || fail 'awk failed'
}

# temporary_file_size DATA   Print the size of the temporary files of its queries in kB.
temporary_file_size() {
  temporary_found=''
  for temporary_each in "$1"/base/pgsql_tmp "$1"/pg_tblspc/*/PG_*/pgsql_tmp; do
    [ ! -d "$temporary_each" ] || # files may disappear meanwhile
      temporary_found="$temporary_found
$(find "$temporary_each" -ignore_readdir_race -type f -printf '%k\n' 2>/dev/null)"
  done
  printf '%s\n' "$temporary_found" | awk '{ sum += $1 } END { printf "%.0f\n", sum }' || fail 'awk failed'
}

# measure_queries   Run the scripts on this server, and print the results. Prints `queries RUN`, the report of pgbench,
# and for each script `took NUMBER` with a list of MICROSECONDS:TRANSACTIONS. The time of a transaction is rounded to
# within one percent. Messages of the server are never taken for the report, because the report is in a file of its own.
measure_queries() {
  lower_priority
  command -v pgbench >/dev/null ||
    fail "pgbench is missing among the programs of this major version, $queries_path. Install it"
  queries_free=$(free_space "$queries_folder") || exit
  [ "$queries_free" -ge 262144 ] ||
    fail "the file system of $queries_folder has $((queries_free / 1024)) MB free. That is too little for the log of" \
      'pgbench, which may take 256 MB'
  if [ -n "$slots_all" ] && queries_used=$(count_client_sessions) &&
    [ $((slots_all - queries_used)) -lt $((queries_clients * 2 + 2)) ]; then
    fail "of $slots_all sessions that the server allows its clients, $((slots_all - queries_used)) are free. That is" \
      "too few for $queries_clients more. Measure with fewer clients (--queries-clients)"
  fi
  if [ "$queries_side" = old ]; then check_connection_limits; else refuse_foreign_libraries "$queries_database"; fi
  refuse_admin_role "$queries_database" "$queries_role"
  require_free_slot
  queries_owner=$(id -un) || fail 'id failed'
  # From here on all queries run as this role. The password is sent only to a server of this account, through its
  # socket.
  PGUSER=$queries_role PGREQUIREPEER=$queries_owner PGAPPNAME=${queries_folder##*/}
  PGOPTIONS='-c statement_timeout=10000'
  export PGUSER PGREQUIREPEER PGAPPNAME PGOPTIONS
  [ -z "$queries_password" ] || export PGPASSWORD="$queries_password"
  queries_said=$(in_database "$queries_database" psql -XAtqw -c 'select 1;' 2>&1 </dev/null) ||
    fail "the role $queries_role cannot log in: $(last_line "$queries_said")"
  export PGCLIENTENCODING=UTF8
  # The role keeps its own search_path, because its queries need it.
  PGOPTIONS='-c default_transaction_read_only=on -c lock_timeout=2000 -c client_min_messages=error'
  PGOPTIONS="$PGOPTIONS -c statement_timeout=${queries_seconds}000"
  PGOPTIONS="$PGOPTIONS -c idle_in_transaction_session_timeout=${queries_seconds}000"
  set --
  case $queries_series in
    1[0-3]) ;;
    *)
      PGOPTIONS="$PGOPTIONS -c client_connection_check_interval=10000"
      PGOPTIONS="$PGOPTIONS -c idle_session_timeout=$((queries_seconds + 30))000"
      ;;
  esac
  case $queries_series in
    1[0-4]) ;;
    *) set -- "$@" --verbose-errors ;;
  esac
  queries_number=0
  # Ahead of a script that begins with a statement stands a command: else pgbench (14 to 18) takes the time of its end
  # from its beginning where the answer is there at once, which then took 0 microseconds (pgbench.c,
  # advanceConnectionState: `now` is set anew by commands alone).
  for queries_weight in $queries_weights; do
    queries_number=$((queries_number + 1))
    { printf '%s\n' '\set pghaul_begins 1' &&
      cat -- "$queries_folder/$queries_number.sql"; } >"$queries_folder/$queries_number.run" ||
      fail "$queries_folder cannot be written"
    set -- "$@" -f "$queries_folder/$queries_number.run@$queries_weight"
  done
  rm -f -- "$queries_folder"/log.* || fail "$queries_folder cannot be written"
  printf '' >"$queries_folder/status" || fail "$queries_folder cannot be written"
  # What it says is bounded, and so is its log. It ends with who reads what it says, since it says how far it is each
  # second, and dd hands that on at once.
  # shellcheck disable=SC2069,SC3045 # the report goes elsewhere; dash, bash and busybox know ulimit -c
  queries_said=$({
    (ulimit -c 0 && ulimit -f 131072 && exec timeout --foreground -k 10 "$((queries_seconds + 30))" pgbench -n -P 1 \
      -c "$queries_clients" -j $(((queries_clients + 15) / 16)) -T "$queries_seconds" -l \
      --log-prefix="$queries_folder/log" "$@" "dbname='$queries_database'" 2>&1 >"$queries_folder/report" </dev/null)
    echo $? >"$queries_folder/status"
  } | dd bs=1 count=131072 status=none) || fail 'dd failed'
  read -r queries_status <"$queries_folder/status" ||
    fail 'the exit status of pgbench could not be read: is the disk full?'
  queries_why=$(printf '%s\n' "$queries_said" | sed -n '/ERROR:\|FATAL:\|PANIC:\|aborted\|error:/{p;q;}') ||
    fail 'sed failed'
  case $queries_status-$queries_said in
    153-*) fail 'the log of pgbench got too large. Measure for a shorter time (--queries-seconds)' ;; # 128 + SIGXFSZ
    124-* | 137-*) fail 'pgbench was ended, because it ran for 30 seconds longer than it' \
      "should${queries_why:+: $queries_why}" ;;
    141-*' got an error '*) fail "transactions failed: $queries_why" ;;
    141-*) fail "the server printed more than 128 kB of messages${queries_why:+: $queries_why}" ;; # 128 + SIGPIPE
    0-*'Run was aborted'* | [!0]*) fail "pgbench ended with exit status $queries_status: $queries_why" ;;
    *) ;;
  esac
  queries_failed=$(sed -n 's/^number of failed transactions: \([0-9]*\).*/\1/p' "$queries_folder/report") ||
    fail 'sed failed'
  [ "${queries_failed:-0}" = 0 ] || fail "$queries_failed transactions failed: $queries_why"
  queries_done=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$queries_folder/report") ||
    fail 'sed failed'
  [ "${queries_done:-0}" -gt 0 ] || fail 'no transaction was completed'
  queries_took=$(awk '
    $3 ~ /^[0-9]+$/ { times[$4 " " ($3 > 0 ? int(log($3) / log(1.02) + 0.5) : 0)]++; all++ }
    END {
      for (each in times) {
        split(each, of, " ")
        took[of[1]] = took[of[1]] sprintf(" %.0f:%d", exp(of[2] * log(1.02)), times[each])
      }
      for (each in took) print "took " each took[each]
      print "logged " all + 0
    }' "$queries_folder"/log.*) || fail 'awk failed'
  # Pgbench does not look whether its log can be written.
  [ "${queries_took##*logged }" = "$queries_done" ] ||
    fail "the log of pgbench holds ${queries_took##*logged } of $queries_done transactions: is the disk full?"
  queries_report=$(cat -- "$queries_folder/report") || fail "$queries_folder/report cannot be read"
  queries_report=$(indent_lines "$queries_report") || exit
  printf '%s\n' "queries $queries_side $queries_run" "$queries_report" "${queries_took%
logged *}"
}

# check_connection_limits   Fail if limits of the role or the database would leave the application no connections during
# the measurement.
check_connection_limits() {
  room_limit=$(query_database "$queries_database" "with others as (
      select * from pg_stat_activity where application_name <> '${queries_folder##*/}' and pid <> pg_backend_pid()),
    limits (most, used) as (
      select rolconnlimit, (select count(*) from others where usename = '$queries_role') from pg_roles
      where rolname = '$queries_role'
      union all select datconnlimit, (select count(*) from others o where o.datname = d.datname) from pg_database d
      where datname = current_database())
    select min(most - used) from limits where most >= 0;") || exit
  [ "${room_limit:-$((queries_clients * 2))}" -ge $((queries_clients * 2)) ] ||
    fail "of the connections that the role $queries_role and its database are limited to, $room_limit are free. That" \
      "is too few for $queries_clients more. Measure with fewer clients (--queries-clients)"
}

# drop_cache_for_queries   Drop the page cache of the whole server if no PostgreSQL server is running there; print `page
# cache dropped`, or the reason why not, which is no failure.
drop_cache_for_queries() {
  cold_found=$(list_server_processes)
  if [ -n "$cold_found" ]; then
    echo 'page cache kept: a PostgreSQL server is running here'
  elif cold_said=$( (bench_drop_caches) 2>&1); then
    echo 'page cache dropped'
  else
    printf 'page cache kept: %s\n' "${cold_said#pghaul: }"
  fi
}

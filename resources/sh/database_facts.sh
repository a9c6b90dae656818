# What only SQL tells of a running cluster, by psql as its owner through its Unix socket: read-only, with timeouts for
# statements and locks.
# shellcheck disable=SC2154 # cluster_… are set by cluster_open

# cluster_query GROUP SINCE BEFORE SQL   keep a question for the clusters of series SINCE up to, not including, BEFORE
# A series is a number: 9.6 is 906, 15 is 1500. GROUP: known, databases (their names, as escaped_name_sql has them), wide, each or edited.
cluster_query() {
  cluster_queries="$cluster_queries$1 $2 $3 $4
"
}

# cluster_sql   print the rows that the questions bring; the sums of its locales' order; `x509 ` lines of its certificate
# Nothing of a stopped cluster. What fails behind the settings leaves out a last row, by which that is known. `lost` where the
# server ended a session in the middle: no further one is begun.
cluster_sql() {
  [ -n "$cluster_pid" ] || return 0
  sql_reach
  sql_environment
  require_free_slot
  sql_find_home
  sql_known=$(sql_questions known | run_psql "$sql_home" -v ON_ERROR_STOP=1) || fail 'psql failed'
  printf '%s\n' "$sql_known"
  # a session a database, one after the other, with one transaction in each
  sql_databases=$(sql_questions databases | run_psql "$sql_home")
  sql_found=$(
    sql_session wide "$sql_home" && sql_ask_each_database || echo lost
  )
  printf '%s\n' "$sql_found"
  sql_print_orders
  sql_certificate
}

# sql_find_home   set sql_home, the database in which the whole cluster is asked: template1 where nobody gets into postgres
# Fails where another cluster answers: the lock file of a server in a container names a socket that is the host's own server's here.
sql_find_home() {
  sql_home=postgres
  sql_answers=$(sql_identity | run_psql postgres 2>/dev/null) || {
    if sql_answers=$(sql_identity | run_psql template1 2>/dev/null); then sql_home=template1; else return 0; fi
  }
  sql_lock=$(sql_started | run_psql "$sql_home" 2>/dev/null) || sql_lock=''
  sql_own=''
  if { read -r sql_process && IFS= read -r sql_data && read -r sql_start; } 2>/dev/null <"$cluster_folder/postmaster.pid"; then
    sql_own="$sql_process $sql_data $sql_start"
  fi
  # a clone of it has the same system identifier, and a lock file of its own
  if [ -n "$sql_lock" ] && [ -n "$sql_own" ] && [ "$sql_lock" != "$sql_own" ]; then
    fail "another cluster answers at port ${cluster_port:-5432} of ${cluster_socket:-its usual socket}, whose lock file begins with" \
      "$sql_lock. That of this cluster begins with $sql_own: the server of this cluster may run in a container. Stop it there, and move" \
      'the cluster while it is stopped'
  fi
  find_control "$cluster_folder"
  sql_control=$("$cluster_programs/pg_controldata" "$control_in" 2>/dev/null) || return 0
  sql_own=$(printf '%s\n' "$sql_control" | sed -n 's/^Database system identifier: *//p') || fail 'sed failed'
  if [ -n "$sql_answers" ] && [ -n "$sql_own" ] && [ "$sql_answers" != "$sql_own" ]; then
    fail "another cluster answers at port ${cluster_port:-5432} of ${cluster_socket:-its usual socket}, of system identifier" \
      "$sql_answers. The server of this cluster may run in a container. Stop it there, and move the cluster while it is stopped"
  fi
}

# sql_started   print the question for the first lines of the lock file: process, data directory, time of the start; nothing before 9.1
# A superuser alone is told.
sql_started() {
  [ "$sql_rank" -lt 901 ] || echo "select array_to_string((string_to_array(pg_read_file('postmaster.pid'), chr(10)))[1:3], ' ')" \
    "where current_setting('is_superuser') = 'on';"
}

# sql_identity   print the question for the system identifier; nothing before 9.6, which has none
sql_identity() {
  [ "$sql_rank" -lt 906 ] || echo 'select system_identifier from pg_control_system();'
}

# sql_reach   set sql_client, the psql that asks the server
sql_reach() {
  sql_client=$cluster_programs/psql
  [ -x "$sql_client" ] || sql_client=$(command -v psql) || fail 'psql is not installed'
}

# sql_environment   set what psql reads, and sql_rank, the series as a number; from here on the slots of clients are counted
# Names mean what PostgreSQL itself means by them, in the session's own role: see connect_to.
sql_environment() {
  if [ -n "$cluster_socket" ]; then export PGHOST="$cluster_socket"; fi
  if [ -n "$cluster_port" ]; then export PGPORT="$cluster_port"; fi
  case $cluster_series in
    *.*) sql_rank=$((${cluster_series%%.*} * 100 + ${cluster_series#*.})) ;;
    *) sql_rank=$((cluster_series * 100)) ;;
  esac
  PGOPTIONS='-c search_path=pg_catalog -c role=none -c statement_timeout=10000 -c default_transaction_read_only=on'
  if [ "$sql_rank" -ge 903 ]; then PGOPTIONS="$PGOPTIONS -c lock_timeout=1000"; fi
  if [ "$sql_rank" -ge 1100 ]; then PGOPTIONS="$PGOPTIONS -c jit=off"; fi
  export PGOPTIONS PGCONNECT_TIMEOUT=5 PGAPPNAME=pghaul
  watch_slots "$cluster_socket" "${cluster_port:-5432}"
}

# run_psql DATABASE OPTIONS...   psql with the statements on standard input
# The database by the variable, which is never taken for a connection string as -d would be.
run_psql() {
  PGDATABASE=$1
  export PGDATABASE
  shift
  "$sql_client" -X -q -A -t -w "$@"
}

# sql_session GROUP DATABASE   print what the questions of that group bring there; fails where the server ended the session
sql_session() {
  (require_free_slot) || return 0
  sql_said=$(sql_questions "$1" | run_psql "$2")
  sql_status=$?
  printf '%s\n' "$sql_said"
  # psql's 2: there is no connection; the first row says that there was one
  case $sql_status-$sql_said in 2-*'entered|'*) return 1 ;; *) ;; esac
}

# sql_questions GROUP   print the questions of that group which the series knows
# In a shell of its own, which splits words at line breaks alone. To cut off what is left line by line takes dash a time
# that grows with the square of it: half a second for the questions of a cluster, on a server at work.
sql_questions() {
  (
    set -f
    IFS='
'
    for sql_line in $cluster_queries; do
      sql_group=${sql_line%% *} sql_line=${sql_line#* }
      sql_since=${sql_line%% *} sql_line=${sql_line#* }
      if [ "$sql_group" = "$1" ] && [ "$sql_rank" -ge "$sql_since" ] && [ "$sql_rank" -lt "${sql_line%% *}" ]; then
        printf '%s\n' "${sql_line#* }"
      fi
    done
  )
}

# sql_ask_each_database   print what the questions for each database bring; fails where the server ended a session
sql_ask_each_database() {
  [ -z "$sql_databases" ] || printf '%s\n' "$sql_databases" | while IFS= read -r sql_database; do
    unescape_name "$sql_database"
    sql_session each "$name_whole" </dev/null || return 1
  done
}

# sql_print_orders   print the sums of the libc locales that the databases use; what cannot be summed is not known
sql_print_orders() {
  sql_locales=$(printf '%s\n%s\n' "$sql_known" "$sql_found" | sed -n 's/^libc //p') || fail 'sed failed'
  sql_locales=$(printf '%s\n' "$sql_locales" | sort -u) || fail 'sort failed'
  # shellcheck disable=SC2086 # they are words
  (collation_order $sql_locales)
}

# sql_certificate   print what openssl says of the server's certificate; nothing where it cannot be read
sql_certificate() {
  sql_path=$(printf '%s\n' "$sql_known" | sed -n 's/^certificate //p') || fail 'sed failed'
  if [ -n "$sql_path" ] && command -v openssl >/dev/null; then
    enter_folder "$cluster_folder"
    sql_said=$(openssl x509 -noout -enddate -subject -nameopt multiline,utf8 -text -in "$sql_path" </dev/null) || return 0
    printf '%s\n' "$sql_said" | sed 's/^/x509 /' || fail 'sed failed'
  fi
}

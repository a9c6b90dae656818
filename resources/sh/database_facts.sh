# What only SQL can tell about a running cluster. psql runs as the cluster's owner and connects through the Unix socket.
# All sessions are read-only, with time limits for statements and locks.
# shellcheck disable=SC2154 # cluster_… are set by cluster_open

# cluster_query GROUP SINCE BEFORE SQL   Add a query to cluster_queries.
# It is for clusters whose major version is at least SINCE and below BEFORE. These are numbers: 906 for 9.6, 1500 for
# 15. GROUP: known, databases (prints their names as escaped_name_sql does), wide, each or edited.
cluster_query() {
  cluster_queries="$cluster_queries$1 $2 $3 $4
"
}

# cluster_sql   Print the rows of all queries, the checksums of the collation order, and the server certificate.
# Prints nothing if the cluster is stopped. The lines of the certificate begin with `x509 `. Fails if the group `known`
# fails. If a later query fails, the last row of its group is missing, and the reader notices that. Prints `lost` if the
# server has ended a session early. In this case no further session is started.
cluster_sql() {
  [ -n "$cluster_pid" ] || return 0
  sql_reach
  sql_environment
  require_free_slot
  sql_find_home
  sql_known=$(sql_questions known | run_psql "$sql_home" -v ON_ERROR_STOP=1) || fail 'psql failed'
  printf '%s\n' "$sql_known"
  # One session per database, one after the other, each with a single transaction.
  sql_databases=$(sql_questions databases | run_psql "$sql_home")
  sql_found=$(
    sql_session wide "$sql_home" && sql_ask_each_database || echo lost
  )
  printf '%s\n' "$sql_found"
  sql_print_orders
  sql_certificate
}

# sql_find_home   Set sql_home, the database for queries about the whole cluster.
# This is postgres, or template1 if no session in postgres is possible. Fails if another cluster answers. If the server
# runs in a container, its lock file can name a socket that belongs to another server on this host.
sql_find_home() {
  sql_home=postgres
  sql_answers=$(sql_identity | run_psql postgres 2>/dev/null) || {
    if sql_answers=$(sql_identity | run_psql template1 2>/dev/null); then sql_home=template1; else return 0; fi
  }
  sql_lock=$(sql_started | run_psql "$sql_home" 2>/dev/null) || sql_lock=''
  sql_own=''
  if { read -r sql_process && IFS= read -r sql_data &&
    read -r sql_start; } 2>/dev/null <"$cluster_folder/postmaster.pid"; then
    sql_own="$sql_process $sql_data $sql_start"
  fi
  # A clone of this cluster has the same system identifier, but a lock file of its own.
  if [ -n "$sql_lock" ] && [ -n "$sql_own" ] && [ "$sql_lock" != "$sql_own" ]; then
    fail "another cluster answers at port ${cluster_port:-5432} of ${cluster_socket:-its usual socket}, whose lock" \
      "file begins with $sql_lock. That of this cluster begins with $sql_own: the server of this cluster may run in a" \
      'container. Stop it there, and move the cluster while it is stopped'
  fi
  find_control "$cluster_folder"
  sql_control=$("$cluster_programs/pg_controldata" "$control_in" 2>/dev/null) || return 0
  sql_own=$(printf '%s\n' "$sql_control" | sed -n 's/^Database system identifier: *//p') || fail 'sed failed'
  if [ -n "$sql_answers" ] && [ -n "$sql_own" ] && [ "$sql_answers" != "$sql_own" ]; then
    fail "another cluster answers at port ${cluster_port:-5432} of ${cluster_socket:-its usual socket}, of system" \
      "identifier $sql_answers. The server of this cluster may run in a container. Stop it there, and move the" \
      'cluster while it is stopped'
  fi
}

# sql_started   Print the query for the first lines of the lock file: process, data directory, time of the start.
# It returns a row only for superusers. Prints nothing for versions before 9.1.
sql_started() {
  [ "$sql_rank" -lt 901 ] ||
    echo "select array_to_string((string_to_array(pg_read_file('postmaster.pid'), chr(10)))[1:3], ' ')" \
      "where current_setting('is_superuser') = 'on';"
}

# sql_identity   Print the query for the system identifier. Prints nothing before 9.6, which has no function for it.
sql_identity() {
  [ "$sql_rank" -lt 906 ] || echo 'select system_identifier from pg_control_system();'
}

# sql_reach   Set sql_client, the path of psql. Fails if psql is not installed.
sql_reach() {
  sql_client=$cluster_programs/psql
  [ -x "$sql_client" ] || sql_client=$(command -v psql) || fail 'psql is not installed'
}

# sql_environment   Set the environment of psql, and sql_rank, the major version as a number.
# From here on require_free_slot counts the free connection slots. Names refer to PostgreSQL's own objects, and the role
# is that of the session: see connect_to.
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

# run_psql DATABASE OPTIONS...   Run psql with the statements on standard input.
# The database is passed in PGDATABASE, because the value of -d could be interpreted as a connection string.
run_psql() {
  PGDATABASE=$1
  export PGDATABASE
  shift
  "$sql_client" -X -q -A -t -w "$@"
}

# sql_session GROUP DATABASE   Print the rows of the queries of GROUP in DATABASE. Fails if the server ended the
# session.
sql_session() {
  (require_free_slot) || return 0
  sql_said=$(sql_questions "$1" | run_psql "$2")
  sql_status=$?
  printf '%s\n' "$sql_said"
  # psql ends with 2 if it has lost the connection or got none. The first row proves that it had one.
  case $sql_status-$sql_said in 2-*'entered|'*) return 1 ;; *) ;; esac
}

# sql_questions GROUP   Print the queries of GROUP that are for the major version of this cluster.
# This runs in a subshell that splits words only at line breaks. To remove one line at a time from the text is much
# slower in dash, because the time grows with the square of the number of lines: it takes half a second on a busy
# server.
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

# sql_ask_each_database   Print the rows of the group `each` for every database. Fails if the server ended a session.
sql_ask_each_database() {
  [ -z "$sql_databases" ] || printf '%s\n' "$sql_databases" | while IFS= read -r sql_database; do
    unescape_name "$sql_database"
    sql_session each "$name_whole" </dev/null || return 1
  done
}

# sql_print_orders   Print the checksums of the collation order of the libc locales that the databases use.
# A locale for which that fails is not printed.
sql_print_orders() {
  sql_locales=$(printf '%s\n%s\n' "$sql_known" "$sql_found" | sed -n 's/^libc //p') || fail 'sed failed'
  sql_locales=$(printf '%s\n' "$sql_locales" | sort -u) || fail 'sort failed'
  # shellcheck disable=SC2086 # the list is split into words on purpose
  (collation_order $sql_locales)
}

# sql_certificate   Print what openssl reports about the server's certificate. Prints nothing if it cannot be read.
sql_certificate() {
  sql_path=$(printf '%s\n' "$sql_known" | sed -n 's/^certificate //p') || fail 'sed failed'
  if [ -n "$sql_path" ] && command -v openssl >/dev/null; then
    enter_folder "$cluster_folder"
    sql_said=$(openssl x509 -noout -enddate -subject -nameopt multiline,utf8 -text -in "$sql_path" </dev/null) ||
      return 0
    printf '%s\n' "$sql_said" | sed 's/^/x509 /' || fail 'sed failed'
  fi
}

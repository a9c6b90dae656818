# What SQL tells of a cluster: held side by side before the stop and after the first start.

# connect_to PATH SOCKET PORT SERIES SECONDS   from here on psql and its kin ask the server there, for SECONDS in all
# SOCKET `-`: where they look by default. Whatever server, role or database have set, names mean what PostgreSQL itself means by
# them (who owns a database could have its owner's session run their own functions by the same names), the session is in its
# own role, no commit waits for a standby and no statement for a lock that is not given; what outlives its client ends.
connect_to() {
  connect_end=$(date +%s) || fail 'date failed'
  connect_end=$((connect_end + $5))
  # shellcheck disable=SC2034 # for keep_slots
  slots_all='' # nothing is counted unless leave_slots follows
  PATH=$1 PGPORT=$3 PGAPPNAME=pghaul PGCONNECT_TIMEOUT=30
  PGOPTIONS="-c search_path=pg_catalog -c role=none -c statement_timeout=${5}000"
  case $4 in
    8.* | 9.0) ;;
    9.[12]) PGOPTIONS="$PGOPTIONS -c synchronous_commit=local" ;;
    *) PGOPTIONS="$PGOPTIONS -c synchronous_commit=local -c lock_timeout=60000" ;;
  esac
  case $4 in
    1[4-9] | [2-9][0-9]) PGOPTIONS="$PGOPTIONS -c client_connection_check_interval=10000" ;;
    *) ;;
  esac
  export PATH PGPORT PGAPPNAME PGCONNECT_TIMEOUT PGOPTIONS
  if [ "$2" != - ]; then export PGHOST="$2"; fi
}

# in_database DATABASE COMMAND...   run psql or its kin there, for what is left of the time that connect_to was given
# The database by the variable, which is never taken for a connection string as -d would be.
in_database() {
  PGDATABASE=$1
  export PGDATABASE
  shift
  time_now=$(date +%s) || fail 'date failed'
  [ "$time_now" -lt "$connect_end" ] || fail "no time is left for $1 in the database $PGDATABASE"
  # in the foreground: who ends this step ends all that it runs
  timeout --foreground -k 10 $((connect_end - time_now)) "$@" && return 0 # bare, in a trap, it would be another's
  in_status=$?
  [ "$in_status" -ne 124 ] || printf 'pghaul: %s was ended: its time was over\n' "$1" >&2
  return "$in_status"
}

# changing FUNCTION WORDS...   run it in sessions that may write, also where they only read by default
# No trigger of a user's is called, event triggers included.
changing() {
  changing_from=$PGOPTIONS
  PGOPTIONS="$PGOPTIONS -c default_transaction_read_only=off -c session_replication_role=replica"
  PGOPTIONS="$PGOPTIONS -c client_min_messages=warning"
  "$@" || exit 1
  PGOPTIONS=$changing_from
}

# by_its_path FUNCTION WORDS...   run it in sessions that look for names where the database says, as an index's functions may need
# Only for statements that name everything with its schema.
by_its_path() {
  by_its_from=$PGOPTIONS
  PGOPTIONS=${PGOPTIONS#-c search_path=pg_catalog}
  "$@" || exit 1
  PGOPTIONS=$by_its_from
}

# ask_sql DATABASE STATEMENTS   print what they select there, bare; the first that fails ends it
ask_sql() {
  keep_slots
  printf '%s\n' "$2" | in_database "$1" psql -XAtqw -v ON_ERROR_STOP=1 || fail "the database $1 could not be asked"
}

# database_names   print the names of all databases that take connections; each row says how many there must be
database_names() {
  names_found=$(ask_sql postgres "
    select (select count(*) from pg_database where datallowconn and not datistemplate)::text || ' ' || datname
    from pg_database where datallowconn and not datistemplate order by datname;") || exit
  names_number=$(printf '%s\n' "$names_found" | grep -c '') || fail 'grep failed'
  [ "${names_found%% *}" = "$names_number" ] || fail 'the list of the databases broke off'
  printf '%s\n' "$names_found" | cut -d ' ' -f 2- || fail 'cut failed'
}

# take_inventory PATH SOCKET PORT SERIES SECONDS   print settings, databases, their relations and invalid indexes, the same on both sides
# But where things lie, and what the first start on new sets; of what may hold a secret a hash, of 32 bits. `storage` is
# how many relations of a database have files of their own. Sorted here: two servers may sort otherwise.
take_inventory() {
  connect_to "$@"
  leave_slots "$2" "$3"
  inventory=$(ask_sql postgres "
    select 'setting ' || name || case when name ~ '(conninfo|command|passphrase|password|secret|token|salt|[.])'
    and name not like 'ssl%file' then ' # ' || hashtext(setting)::text else ' = ' || setting end from pg_settings where source = 'configuration file' and name not in (
    'listen_addresses', 'port', 'archive_mode', 'archive_library', 'autovacuum', 'event_triggers',
    'session_preload_libraries', 'local_preload_libraries', 'synchronous_standby_names',
    'max_wal_senders', 'max_worker_processes', 'max_logical_replication_workers',
    'data_directory', 'config_file', 'hba_file', 'ident_file', 'external_pid_file');") || exit
  printf '%s\n' "$inventory" | sort || fail 'sort failed'
  inventory_names=$(database_names) || exit
  printf '%s\n' "$inventory_names" | while IFS= read -r inventory_name; do
    printf 'database %s\n' "$inventory_name"
    inventory=$(ask_sql "$inventory_name" "
      select 'relations ' || c.relkind::text || ' ' || count(*)::text from pg_class c
      join pg_namespace n on n.oid = c.relnamespace where n.nspname !~ '^pg_(temp|toast_temp)' group by c.relkind;
      select 'storage ' || count(*)::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname !~ '^pg_(temp|toast_temp)' and c.relkind in ('r', 'i', 'S', 't', 'm') and not c.relisshared;
      select 'invalid index ' || indexrelid::regclass::text from pg_index where not indisvalid;") || exit
    printf '%s\n' "$inventory" | sort || fail 'sort failed'
  done || exit
  end_mark
}

# connected_clients PATH SOCKET PORT SERIES SECONDS   print who is connected, the most connections first
connected_clients() {
  connect_to "$@"
  leave_slots "$2" "$3"
  clients_name=application_name clients_which='pid <> pg_backend_pid()'
  case $4 in
    8.*) clients_name="''::text" clients_which='procpid <> pg_backend_pid()' ;;
    9.[01]) clients_which='procpid <> pg_backend_pid()' ;;
    9.*) ;;
    *) clients_which="$clients_which and backend_type in ('client backend', 'walsender')" ;;
  esac
  ask_sql postgres "
    select regexp_replace(count(*)::text || ' of ' || coalesce(usename::text, 'nobody') || coalesce(' on ' || datname, '')
    || coalesce(' from ' || host(client_addr), ', local') || case when $clients_name = '' then '' else ', ' || $clients_name
    end, '[[:cntrl:]]', '?', 'g') from pg_stat_activity where $clients_which
    group by usename, datname, client_addr, $clients_name order by count(*) desc, 1;"
}

# collation_versions PATH SOCKET PORT SERIES SECONDS   print a warning for each database whose default collation has another version here
collation_versions() {
  connect_to "$@"
  ask_sql postgres "
    select 'warning: the collation of database ' || datname || ' was ' || datcollversion || ' on old and is ' ||
    coalesce(pg_database_collation_actual_version(oid), 'unknown') || ' here: rebuild its indexes on text'
    from pg_database where datcollversion <> coalesce(pg_database_collation_actual_version(oid), '') order by datname;"
}

# ask_new PATH SOCKET PORT SERIES SECONDS   print the server's version, whether it is in recovery, and how many databases it has
ask_new() {
  connect_to "$@"
  ask_sql postgres 'select version(), pg_is_in_recovery(), (select count(*) from pg_database);'
}

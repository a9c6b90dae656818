# The search for corruption on the new server: page checksums while the cluster is stopped, tables and indexes while it
# is running.

# check_pages PATH PROGRAM DATA   Verify the checksum of every page; PROGRAM is pg_checksums, in 11 pg_verify_checksums.
# The program needs the control file in its place. Before the cutover, PG_VERSION is behind the fence meanwhile.
check_pages() {
  PATH=$1
  if [ ! -d "$3/pghaul-fence" ]; then
    run_page_check "$2" "$3"
    return 0
  fi
  move_behind_fence "$3" PG_VERSION
  move_out_of_fence "$3" global/pg_control
  check_status=0
  (run_page_check "$2" "$3") || check_status=$?
  move_behind_fence "$3" global/pg_control
  move_out_of_fence "$3" PG_VERSION
  return "$check_status"
}

# run_page_check PROGRAM DATA   Run it there; fail if it finds corruption.
run_page_check() {
  if [ "$1" = pg_checksums ]; then
    pg_checksums --check --progress -D "$2"
  else
    "$1" -D "$2"
  fi || fail 'corruption was found, or not everything could be read. The lines above say where'
}

# check_relations PATH SOCKET PORT SERIES SECONDS JOBS   Verify tables and B-tree indexes of each database with
# pg_amcheck.
check_relations() {
  connect_to "$1" "$2" "$3" "$4" "$5"
  check_known=$(query_cluster "select count(*) from pg_available_extensions where name = 'amcheck';") || exit
  if [ "$check_known" = 0 ]; then
    echo 'warning: The extension amcheck is not available on the new server. Tables and indexes were not checked.'
    return 0
  fi
  check_names=$(database_names) || exit
  printf '%s\n' "$check_names" | {
    check_worst=0
    while IFS= read -r check_name; do
      unescape_name "$check_name"
      # shellcheck disable=SC2154 # unescape_name sets it
      (check_database "$name_whole" "$6") || check_worst=$?
    done
    exit "$check_worst"
  } || refuse $? 'corruption was found, or not everything could be read. The lines above say where'
}

# check_database DATABASE JOBS   Run pg_amcheck there, with its extension installed meanwhile; end as it does. No event
# trigger of a user is called.
check_database() {
  check_in=$1
  check_had=$(query_database "$1" "select count(*) from pg_extension where extname = 'amcheck';") || exit
  if [ "$check_had" = 0 ]; then
    remove_amcheck
    trap 'exit 143' TERM INT HUP
    trap remove_amcheck EXIT
    run_writing query_database "$1" 'create schema pghaul_amcheck; create extension amcheck schema pghaul_amcheck;'
  fi
  check_line=$(escape_name "$1") || exit
  printf 'database %s\n' "$check_line"
  # pg_amcheck takes a name with `=` or like a URL for a connection string, so it always gets a connection string.
  check_quoted=$(printf '%sx\n' "$1" | sed "s/[\\\\']/\\\\&/g") || fail 'sed failed'
  in_database "dbname='${check_quoted%x}'" pg_amcheck -w -j "$2" </dev/null 2>&1
  exit # a command of its own, because otherwise dash would not run the trap
}

# remove_amcheck   Remove the extension and its schema from the database check_in.
remove_amcheck() {
  run_writing query_database "$check_in" 'drop schema if exists pghaul_amcheck cascade;'
}

# What looks for corruption on new: page checksums while it is stopped, tables and indexes while it runs.

# check_pages PATH PROGRAM DATA   look at the checksum of every page; PROGRAM is pg_checksums, in 11 pg_verify_checksums
# It wants the control file in its place: meanwhile PG_VERSION lies behind the fence, where new is not opened yet.
check_pages() {
  PATH=$1
  if [ ! -d "$3/pghaul-fence" ]; then
    look_at_pages "$2" "$3"
    return 0
  fi
  put_behind "$3" PG_VERSION
  take_out "$3" global/pg_control
  check_status=0
  (look_at_pages "$2" "$3") || check_status=$?
  put_behind "$3" global/pg_control
  take_out "$3" PG_VERSION
  return "$check_status"
}

# look_at_pages PROGRAM DATA   run it there; fails where it finds anything
look_at_pages() {
  if [ "$1" = pg_checksums ]; then
    pg_checksums --check --progress -D "$2"
  else
    "$1" -D "$2"
  fi || fail 'corruption was found, or not all was read: the lines above say where'
}

# check_relations PATH SOCKET PORT SERIES SECONDS JOBS   look through tables and B-tree indexes of each database by pg_amcheck
check_relations() {
  connect_to "$1" "$2" "$3" "$4" "$5"
  check_known=$(ask_cluster "select count(*) from pg_available_extensions where name = 'amcheck';") || exit
  if [ "$check_known" = 0 ]; then
    echo 'warning: new has no extension amcheck: tables and indexes were not looked through'
    return 0
  fi
  check_names=$(database_names) || exit
  printf '%s\n' "$check_names" | {
    check_worst=0
    while IFS= read -r check_name; do
      whole_name "$check_name"
      # shellcheck disable=SC2154 # whole_name sets it
      (check_database "$name_whole" "$6") || check_worst=$?
    done
    exit "$check_worst"
  } || refuse $? 'corruption was found, or not all was read: the lines above say where'
}

# check_database DATABASE JOBS   run pg_amcheck there, with its extension for as long as that takes; end as it does
# No event trigger of the user's is called.
check_database() {
  check_in=$1
  check_had=$(ask_sql "$1" "select count(*) from pg_extension where extname = 'amcheck';") || exit
  if [ "$check_had" = 0 ]; then
    remove_amcheck
    trap 'exit 143' TERM INT HUP
    trap remove_amcheck EXIT
    changing ask_sql "$1" 'create schema pghaul_amcheck; create extension amcheck schema pghaul_amcheck;'
  fi
  check_line=$(name_line "$1") || exit
  printf 'database %s\n' "$check_line"
  # it takes the variable for a connection string where it holds `=` or begins like a URL: so it always gets one
  check_quoted=$(printf '%sx\n' "$1" | sed "s/[\\\\']/\\\\&/g") || fail 'sed failed'
  in_database "dbname='${check_quoted%x}'" pg_amcheck -w -j "$2" </dev/null 2>&1
  exit # by itself, or dash would not come to the trap
}

# remove_amcheck   the extension, gone from the database check_in with the schema that was made for it
remove_amcheck() {
  changing ask_sql "$check_in" 'drop schema if exists pghaul_amcheck cascade;'
}

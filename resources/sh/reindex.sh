# Rebuilding the indexes that depend on a collation, if the libraries of the new server sort text differently.

# rebuild_indexes PATH SOCKET PORT SERIES SECONDS [DATABASE NUMBER COLLATION...]...   Rebuild in each DATABASE the
# indexes of NUMBER collations.
rebuild_indexes() {
  connect_to "$1" "$2" "$3" "$4" "$5"
  rebuild_series=${4%%.*}
  shift 5
  while [ $# -gt 0 ]; do
    rebuild_database=$1 rebuild_left=$2 rebuild_names=
    shift 2
    while [ "$rebuild_left" -gt 0 ]; do
      rebuild_name=$(escape_name "$1") || exit
      rebuild_names="$rebuild_names$rebuild_name
"
      rebuild_left=$((rebuild_left - 1))
      shift
    done
    rebuild_database_indexes "$rebuild_database" "$rebuild_series" "$rebuild_names"
  done
}

# rebuild_database_indexes DATABASE SERIES COLLATIONS   Rebuild the indexes, the largest first, then refresh the
# versions of their collations. Only the versions of rebuilt indexes are refreshed, because that silences the warning of
# PostgreSQL itself.
rebuild_database_indexes() {
  run_generated "$1" "$3" "
    select format('reindex index %I.%I;', n.nspname, c.relname)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid in (select id from (
    $(index_collations_sql)
    ) k where coll in (select oid from pg_collation
      where $(escaped_name_sql collname) = any(string_to_array(:'names', chr(10)))))
    order by c.relpages desc;"
  [ "$2" -ge 10 ] || return 0
  run_generated "$1" "$3" "
    select format('alter collation %I.%I refresh version;', n.nspname, collname)
    from pg_collation c join pg_namespace n on n.oid = collnamespace
    where $(escaped_name_sql collname) = any(string_to_array(:'names', chr(10)))
    and collversion <> pg_collation_actual_version(c.oid);"
  [ "$2" -ge 15 ] || return 0
  run_generated "$1" "$3" "
    select format('alter database %I refresh collation version;', datname) from pg_database
    where 'default' = any(string_to_array(:'names', chr(10))) and datname = current_database()
    and datcollversion <> pg_database_collation_actual_version(oid);"
}

# index_collations_sql   Print the query for the indexes that depend on a collation, as the facts ask it. Some operator
# classes (bytes, trigrams, hashes) and some index types do not use the collation. A range type has one of its own,
# which its columns do not show. Indexes of TOAST tables (namespace 99) contain no text.
index_collations_sql() {
  echo "
    select indexrelid as id, coalesce(nullif(indcollation[n], 0),
    case when exists (select 1 from pg_range where rngcollation <> 0)
    then (select nullif(rngcollation, 0) from pg_range where rngtypid =
    (select atttypid from pg_attribute where attrelid = indexrelid and attnum = n + 1)) end) as coll
    from (select indexrelid, indcollation, indclass, generate_subscripts(indcollation, 1) as n from pg_index i
    join pg_class x on x.oid = i.indexrelid and x.relkind = 'i' and x.relnamespace <> 99
    join pg_am a on a.oid = x.relam and a.amname not in ('hash', 'spgist', 'bloom') where indexrelid >= 16384) i
    join pg_opclass o on o.oid = indclass[n] and o.opcname !~ '(_pattern|_trgm|_bloom)_ops\$'"
}

# run_generated DATABASE COLLATIONS QUERY   Run the commands that QUERY prints, each shown first; :'names' are
# COLLATIONS.
run_generated() {
  made=$(printf '%s\n' "$3" | in_database "$1" psql -XAtqw -v ON_ERROR_STOP=1 -v "names=$2") ||
    fail "the database $1 could not be queried for its indexes"
  [ -n "$made" ] || return 0
  printf '%s\n' "$made" | run_with_database_path run_writing in_database "$1" psql -Xew -v ON_ERROR_STOP=1 ||
    fail "not all indexes of the database $1 were rebuilt"
}

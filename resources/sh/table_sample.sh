# Probes of dump & restore: a sample of the pages of the largest tables goes through COPY on the old server, and is
# loaded into a temporary cluster on the new server.

# copy_probe FOLDER BYTES SECONDS DATABASE PATH SOCKET PORT SERIES
# On the old server: time COPY of a sample of the largest tables of DATABASE. The sample is taken from at most four
# tables. It has BYTES of their pages, or as many as can be read in SECONDS. The probe only reads from the database, and
# writes only to FOLDER/rows. Prints `locked NAME` for each table that is left out because a session has locked it
# exclusively, and `table NUMBER BYTES TEXT NANOSECONDS SIZE` for each other table, SIZE being that of all of it. If its
# rows were kept completely, `columns NUMBER PLACE:TYPE…` and `key NUMBER PLACE…` follow. Also prints `others BYTES`, the
# size of the largest tables that are not sampled.
copy_probe() {
  sample_folder=$1/rows sample_bytes=$2 sample_seconds=$3 sample_database=$4
  shift 4
  sample_series=$4
  connect_to "$@" $((sample_seconds * 4 + 5))
  watch_slots "$2" "$3"
  sample_session
  umask 077
  rm -rf -- "$sample_folder" || fail "$sample_folder cannot be removed"
  mkdir -- "$sample_folder" || fail "$sample_folder cannot be created"
  sample_found=$(largest_tables "$sample_database") || exit
  sample_tables=$(printf '%s\n' "$sample_found" |
    awk '!/^locked / && NR - left <= 4 { print } /^locked / { left++ }') || fail 'awk failed'
  printf '%s\n' "$sample_found" | awk '/^locked /' || fail 'awk failed'
  [ -n "$sample_tables" ] || [ -z "$sample_found" ] ||
    fail "every table of $sample_database that is large enough for a sample is locked"
  [ -n "$sample_tables" ] || fail "the database $sample_database has no table that is large enough for a sample"
  # Each table gets a part of the sample by its size, but no small one so little that starting COPY is all that counts.
  sample_shares=$(printf '%s\n' "$sample_tables" | awk '
    { size[NR] = $1; all += $1 }
    END {
      for (n = 1; n <= NR; n++) whole += size[n] < all / 8 ? all / 8 : size[n]
      printf "%.0f %.0f\n", all / 8, whole
    }') || fail 'awk failed'
  printf '%s\n' "$sample_found" |
    awk '!/^locked / && ++seen > 4 { others += $1 } END { printf "others %.0f\n", others }' || fail 'awk failed'
  sample_number=0
  printf '%s\n' "$sample_tables" | while IFS= read -r sample_line; do
    sample_number=$((sample_number + 1))
    # A table that is locked must not prevent the samples of the others. The reason has been printed.
    (sample_table "$sample_number" "$sample_line") || continue
  done || exit
  print_end_mark
}

# sample_session   Set the options of the sessions that read the sample: they are read-only, do not wait for locks, and
# run at low priority.
sample_session() {
  PGOPTIONS="$PGOPTIONS -c default_transaction_read_only=on -c statement_timeout=$((sample_seconds * 2))000"
  case $PGOPTIONS in
    *lock_timeout=*) PGOPTIONS="$PGOPTIONS -c lock_timeout=1000" ;;
    *) ;;
  esac
  PGCLIENTENCODING=UTF8 PGDATESTYLE=ISO # as in pg_dump: another server may not be able to read 31/01/2026
  export PGOPTIONS PGCLIENTENCODING PGDATESTYLE
  renice -n 10 -p $$ >/dev/null 2>&1 # without renice, the priority stays as it is
}

# largest_tables DATABASE   Print `BYTES ROWS COLUMNS KEY NAME` for the largest tables of DATABASE, from 1 MiB on. BYTES
# includes TOAST. Only a limited number of candidates, chosen by the catalogs, is measured, because each costs the
# session memory until it ends. `locked NAME` is printed for a table that is locked in ACCESS EXCLUSIVE mode, or for
# which such a lock is requested, because asking for its size would have to wait too. COLUMNS are `PLACE:TYPE,…`, with
# `text` for a user-defined type. KEY is the places of the columns of a B-tree index, or `-`. NAME is quoted and has its
# schema.
largest_tables() {
  query_database "$1" "
    select case when busy then 'locked ' || name else
    size::text || ' ' || reltuples::bigint::text || ' ' || array_to_string(array(
    select attnum::text || ':' || case when t.typnamespace = 11 then t.typname::text else 'text' end
    from pg_attribute a join pg_type t on t.oid = a.atttypid where attrelid = c.oid and attnum > 0 and not attisdropped
    order by attnum), ',') || ' ' || coalesce((select array_to_string(indkey, ',') from pg_index i
    join pg_class x on x.oid = i.indexrelid join pg_am m on m.oid = x.relam
    where i.indrelid = c.oid and m.amname = 'btree'
    and indexprs is null and indpred is null and indisvalid order by indisprimary desc, x.relpages desc limit 1), '-')
    || ' ' || name end
    from (select oid, reltuples, name, busy,
    case when busy then pages * current_setting('block_size')::bigint else pg_relation_size(oid) +
    case when reltoastrelid = 0 then 0 else pg_relation_size(reltoastrelid) end end as size
    from (select c.oid, reltuples, reltoastrelid, relpages::bigint as pages,
    quote_ident(nspname) || '.' || quote_ident(relname) as name,
    exists (select 1 from pg_locks where relation in (c.oid, c.reltoastrelid) and mode = 'AccessExclusiveLock'
    and database = (select oid from pg_database where datname = current_database())) as busy
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where relkind = 'r' and nspname !~ '^(pg_|information_schema\$)'
    and nspname || relname !~ '[[:cntrl:]]' and c.oid in (
    (select oid from pg_class where relkind = 'r' order by relpages desc, oid desc limit 200) union
    (select oid from pg_class where relkind = 'r' and relpages = 0 order by oid desc limit 200) union
    (select t.oid from pg_class t join pg_class x on x.oid = t.reltoastrelid
    order by x.relpages desc, t.oid desc limit 200))) b) c
    where size >= 1048576
    and exists (select 1 from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped)
    order by size desc limit 24;"
}

# sample_table NUMBER LINE   Print the lines of copy_probe for one table. LINE is its line from largest_tables. Reading
# a sixteenth of the sample shows how many pages can be read in the table's share of the time. The faster of two tries
# counts, and their pages were read just before: the speed of the disks has probes of its own. The time of a query that
# reads no pages is subtracted, but at most half of the measured time, because on a busy server either of them may have
# had to wait.
sample_table() {
  sample_number=$1 sample_size=${2%% *} sample_rest=${2#* }
  sample_row_count=${sample_rest%% *} sample_rest=${sample_rest#* }
  sample_columns=${sample_rest%% *} sample_rest=${sample_rest#* }
  sample_key=${sample_rest%% *} sample_name=${sample_rest#* }
  table_share=$(awk -v size="$sample_size" -v least="${sample_shares% *}" -v whole="${sample_shares#* }" \
    'BEGIN { print (size < least ? least : size) / whole }') || fail 'awk failed'
  table_part=$(awk -v size="$sample_size" -v share="$table_share" -v bytes="$sample_bytes" \
    'BEGIN { part = bytes * share / size; print (part < 1 ? part : 1) / 16 }') || fail 'awk failed'
  table_empty=$(time_rows 0) || exit
  table_first=$(time_rows "$table_part") || exit
  table_times=$(awk -v first="${table_first#* }" -v empty="${table_empty#* }" -v share="$table_share" \
    -v seconds="$sample_seconds" \
    'BEGIN {
      taken = first - empty
      times = taken > 0 ? seconds * 1e9 * share / 2 / taken : 16
      print (times < 1 ? 1 : (times > 16 ? 16 : times))
    }') || fail 'awk failed'
  table_part=$(awk -v part="$table_part" -v times="$table_times" 'BEGIN { printf "%.9f", part * times }') ||
    fail 'awk failed'
  table_most=$(awk -v part="$table_part" -v size="$sample_size" 'BEGIN { printf "%.0f", 2 * part * size + 65536 }') ||
    fail 'awk failed'
  keep_rows "$sample_folder/$sample_number" "$table_most"
  table_whole=$(time_rows "$table_part") || exit
  table_again=$(time_rows "$table_part") || exit
  [ "${table_whole#* }" -le "${table_again#* }" ] || table_whole=$table_again
  awk -v number="$sample_number" -v size="$sample_size" -v part="$table_part" -v text="${table_whole% *}" \
    -v whole="${table_whole#* }" -v empty="${table_empty#* }" \
    'BEGIN {
      if (text == 0) exit 1
      taken = whole - empty
      if (taken < whole / 2) taken = whole / 2
      printf "table %d %.0f %.0f %.0f %.0f\n", number, part * size, text, taken, size
    }' || fail "reading $sample_name could not be timed"
  [ -e "$sample_folder/$sample_number" ] || return 0
  echo "columns $sample_number $sample_columns" | tr , ' ' || fail 'tr failed'
  [ "$sample_key" = - ] || echo "key $sample_number $sample_key" | tr , ' ' || fail 'tr failed'
}

# print_rows PART   Print this part of the table's rows, as pg_dump would. It is a part of its pages (since 9.5), and
# the same pages each time.
print_rows() {
  case $sample_series in
    8.* | 9.[0-4])
      rows_number=$(awk -v part="$1" -v rows="$sample_row_count" 'BEGIN { printf "%.0f", part * rows }') ||
        fail 'awk failed'
      rows_which="limit $rows_number"
      ;;
    *)
      rows_percent=$(awk -v part="$1" 'BEGIN { printf "%.7f", 100 * part }') || fail 'awk failed'
      rows_which="tablesample pg_catalog.system ($rows_percent) repeatable (1)"
      ;;
  esac
  query_database "$sample_database" "copy (select * from only $sample_name $rows_which) to stdout;"
}

# time_rows PART   Print `BYTES NANOSECONDS` of reading this part of the rows. The rows themselves are discarded.
time_rows() {
  timed_start=$(date +%s%N) || fail 'date failed'
  timed_said=$({
    {
      print_rows "$1" && echo whole >&3
    } | wc -c
  } 3>&1) || fail 'wc failed'
  timed_now=$(date +%s%N) || fail 'date failed'
  case $timed_said in
    *whole*) ;;
    *) fail "$sample_name could not be read" ;;
  esac
  timed_said=${timed_said#whole}
  echo $((${timed_said%whole} + 0)) $((timed_now - timed_start))
}

# keep_rows FILE BYTES   Write the rows of the part table_part to FILE. Writes no FILE if they are more than BYTES or
# incomplete.
keep_rows() {
  keep_said=$({
    {
      print_rows "$table_part" && echo whole >&3
    } | head -c "$2" >"$1"
  } 3>&1) || fail "$1 cannot be written"
  keep_size=$(wc -c <"$1") || fail "$1 cannot be read"
  if [ "$keep_said" != whole ] || [ "$keep_size" -ge "$2" ]; then
    rm -f -- "$1" || fail "$1 cannot be removed"
  fi
}

# send_rows TARGET SECONDS   On the old server: send the rows that copy_probe has kept, by the copy's transport, within
# at most SECONDS.
send_rows() {
  # shellcheck disable=SC2034 # read where a copy sends
  copy_limit="timeout --foreground -k 2 $2"
  # shellcheck disable=SC2154 # settings of a copy
  run_tolerating 0 "$copy_send" sample "$copy_folder/rows/" "$1" >/dev/null
}

# load_probe FOLDER PATH MEMORY STATEMENT...   On the new server: execute the STATEMENTs in a temporary cluster in
# FOLDER, print their marks, and remove the cluster. Before them, small tables are created. No connection to the cluster
# is possible. Of the server's output only the marks are passed on, because an error message could contain a row of a
# user.
load_probe() {
  trial_folder=$1/cluster PATH=$2 load_memory=$3
  export PATH
  shift 3
  umask 077
  mkdir -- "$trial_folder" || fail "$trial_folder cannot be created"
  trap 'rm -rf -- "$trial_folder" || fail "$trial_folder cannot be removed"' EXIT
  trap 'exit 143' HUP INT TERM
  enter_folder "$trial_folder"
  postgres --version >/dev/null || fail 'no server program (postgres) can be run'
  make_trial
  load_small=$(small_tables 60) || exit
  printf '%s\n' "$load_small" "$@" | single_user -c log_min_messages=fatal -c maintenance_work_mem="$load_memory" |
    grep -aoE '"pghaul [a-z]+ [0-9]+( [0-9.]+)*"' || fail "the server program loaded none of the rows"
}

# small_tables COUNT   Print statements that create COUNT tables with one row each, then an index on each, every one in
# a transaction of its own, and that print marks with the time. Twenty more tables are created first without marks,
# because the first ones fill the server's caches of its catalogs.
small_tables() {
  awk -v count="$1" '
    function mark(name) {
      print "select \047pghaul " name " 0 \047 || extract(epoch from clock_timestamp())::text || \047 " count "\047"
    }
    function table(n) { print "create table s" n " (c1 int4)\ninsert into s" n " values (1)" }
    function key(n) { print "create index k" n " on s" n " (c1)" }
    BEGIN {
      for (n = 1; n <= 20; n++) { table(n); key(n) }
      mark("creating")
      for (n = 21; n <= 20 + count; n++) table(n)
      mark("created")
      mark("keying")
      for (n = 21; n <= 20 + count; n++) key(n)
      mark("keyed")
    }' || fail 'awk failed'
}

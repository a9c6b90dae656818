# Probes of dump & restore: some pages of the largest tables go through COPY on the old server, and into a throwaway
# cluster on new.

# copy_probe FOLDER BYTES SECONDS DATABASE PATH SOCKET PORT SERIES   on the old server: time COPY of a sample of the
# largest tables of DATABASE Of four at the most, BYTES of their pages, or what SECONDS allow of them. It reads, and
# writes the rows to FOLDER/rows alone. Prints `locked NAME` of each that it leaves out, as somebody has it to himself;
# of the others `table NUMBER BYTES TEXT NANOSECONDS`, of what was kept whole `columns NUMBER PLACE:TYPE…` and `key
# NUMBER PLACE…`.
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
  sample_all=$(printf '%s\n' "$sample_tables" | awk '{ all += $1 } END { print all }') || fail 'awk failed'
  sample_number=0
  printf '%s\n' "$sample_tables" | while IFS= read -r sample_line; do
    sample_number=$((sample_number + 1))
    (sample_table "$sample_number" "$sample_line") || continue # it has said why: one that is locked costs no other
  done || exit
  print_end_mark
}

# sample_session   what a session of the sample has besides: it only reads, gives way to other locks, and yields its
# processor
sample_session() {
  PGOPTIONS="$PGOPTIONS -c default_transaction_read_only=on -c statement_timeout=$((sample_seconds * 2))000"
  case $PGOPTIONS in
    *lock_timeout=*) PGOPTIONS="$PGOPTIONS -c lock_timeout=1000" ;;
    *) ;;
  esac
  PGCLIENTENCODING=UTF8 PGDATESTYLE=ISO # as pg_dump has it: another server need not read 31/01/2026
  export PGOPTIONS PGCLIENTENCODING PGDATESTYLE
  renice -n 10 -p $$ >/dev/null 2>&1 # a host without it gives no way
}

# largest_tables DATABASE   print of the largest tables there `BYTES ROWS COLUMNS KEY NAME`, TOAST included, from 1 MiB
# on Of those that may be it by the catalog a bounded number is measured: each one costs the session memory until it
# ends. Of one in ACCESS EXCLUSIVE mode, or that somebody waits for in it, `locked NAME`: whoever asks for its size
# waits too. COLUMNS are `PLACE:TYPE,…`, a type of a user's is text; KEY the places of a B-tree index, or `-`; NAME
# stands quoted, with its schema.
largest_tables() {
  query_database "$1" "
    select case when busy then 'locked ' || name else size::text || ' ' || reltuples::bigint::text || ' ' || array_to_string(array(
    select attnum::text || ':' || case when t.typnamespace = 11 then t.typname::text else 'text' end
    from pg_attribute a join pg_type t on t.oid = a.atttypid where attrelid = c.oid and attnum > 0 and not attisdropped
    order by attnum), ',') || ' ' || coalesce((select array_to_string(indkey, ',') from pg_index i
    join pg_class x on x.oid = i.indexrelid join pg_am m on m.oid = x.relam where i.indrelid = c.oid and m.amname = 'btree'
    and indexprs is null and indpred is null and indisvalid order by indisprimary desc, x.relpages desc limit 1), '-') || ' ' || name end
    from (select oid, reltuples, name, busy, case when busy then pages * current_setting('block_size')::bigint else pg_relation_size(oid) +
    case when reltoastrelid = 0 then 0 else pg_relation_size(reltoastrelid) end end as size
    from (select c.oid, reltuples, reltoastrelid, relpages::bigint as pages, quote_ident(nspname) || '.' || quote_ident(relname) as name,
    exists (select 1 from pg_locks where relation in (c.oid, c.reltoastrelid) and mode = 'AccessExclusiveLock'
    and database = (select oid from pg_database where datname = current_database())) as busy
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where relkind = 'r' and nspname !~ '^(pg_|information_schema\$)'
    and nspname || relname !~ '[[:cntrl:]]' and c.oid in (
    (select oid from pg_class where relkind = 'r' order by relpages desc, oid desc limit 200) union
    (select oid from pg_class where relkind = 'r' and relpages = 0 order by oid desc limit 200) union
    (select t.oid from pg_class t join pg_class x on x.oid = t.reltoastrelid order by x.relpages desc, t.oid desc limit 200))) b) c
    where size >= 1048576 and exists (select 1 from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped)
    order by size desc limit 24;"
}

# sample_table NUMBER LINE   the lines of a table, one of those of largest_tables
# A sixteenth tells how many of its pages its part of the time allows. What is timed, the faster of two tries, was read
# just before: disks have probes of their own. What a pass over none of its pages takes is taken off, but half of it at
# the most: on a server that is busy the one may wait longer than the other.
sample_table() {
  sample_number=$1 sample_size=${2%% *} sample_rest=${2#* }
  sample_row_count=${sample_rest%% *} sample_rest=${sample_rest#* }
  sample_columns=${sample_rest%% *} sample_rest=${sample_rest#* }
  sample_key=${sample_rest%% *} sample_name=${sample_rest#* }
  table_part=$(awk -v size="$sample_size" -v all="$sample_all" -v bytes="$sample_bytes" \
    'BEGIN { part = bytes / all; print (part < 1 ? part : 1) / 16 }') || fail 'awk failed'
  table_empty=$(time_rows 0) || exit
  table_first=$(time_rows "$table_part") || exit
  table_times=$(awk -v first="${table_first#* }" -v empty="${table_empty#* }" -v size="$sample_size" -v all="$sample_all" \
    -v seconds="$sample_seconds" \
    'BEGIN { taken = first - empty; times = taken > 0 ? seconds * 1e9 * size / all / 2 / taken : 16; print (times < 1 ? 1 : (times > 16 ? 16 : times)) }') || fail 'awk' \
    'failed'
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
      printf "table %d %.0f %.0f %.0f\n", number, part * size, text, taken
    }' || fail "reading $sample_name could not be timed"
  [ -e "$sample_folder/$sample_number" ] || return 0
  echo "columns $sample_number $sample_columns" | tr , ' ' || fail 'tr failed'
  [ "$sample_key" = - ] || echo "key $sample_number $sample_key" | tr , ' ' || fail 'tr failed'
}

# print_rows PART   print that part of the table's rows, as pg_dump would: of its pages (since 9.5), the same ones each
# time
print_rows() {
  case $sample_series in
    8.* | 9.[0-4]) rows_which="limit $(awk -v part="$1" -v rows="$sample_row_count" 'BEGIN { printf "%.0f", part * rows }')" ;;
    *) rows_which="tablesample pg_catalog.system ($(awk -v part="$1" 'BEGIN { printf "%.7f", 100 * part }')) repeatable (1)" ;;
  esac || fail 'awk failed'
  query_database "$sample_database" "copy (select * from only $sample_name $rows_which) to stdout;"
}

# time_rows PART   print `BYTES NANOSECONDS` of these rows, which go nowhere
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

# keep_rows FILE BYTES   these rows of the part table_part in FILE; none where they are more than BYTES, or not all came
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

# send_rows TARGET SECONDS   on the old server: the rows that copy_probe has kept, by the copy's transport, in so long
# at the most
send_rows() {
  # shellcheck disable=SC2034 # read where a copy sends
  copy_limit="timeout --foreground -k 2 $2"
  # shellcheck disable=SC2154 # settings of a copy
  run_tolerating 0 "$copy_send" sample "$copy_folder/rows/" "$1" >/dev/null
}

# load_probe FOLDER PATH MEMORY STATEMENT...   on the new server: carry these out in a throwaway cluster in FOLDER,
# print their marks, remove it Before them small tables are made. It is opened to nobody. Of what the server says the
# marks alone are passed on: a complaint would hold somebody's row.
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

# small_tables COUNT   print statements that make so many tables of a row, then an index on each, a transaction each,
# and mark when Twenty go before them untimed: the first ones fill the server's caches of its catalogs.
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

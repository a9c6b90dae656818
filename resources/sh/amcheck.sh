# In a dress rehearsal, the extension amcheck verifies the B-tree indexes of the copy. The copy only replays WAL, so the
# extension cannot be created in it: a database that lacks it is reported as not verified.

# with_amcheck SECONDS FUNCTION WORDS...   Run FUNCTION, which calls dress_try_copy, so that it verifies the indexes for
# at most SECONDS.
with_amcheck() {
  amcheck_seconds=$1
  shift
  "$@"
}

# amcheck_copy PATH SOCKET PORT SERIES   On the new server, of the replaying copy: print for each database how many
# indexes were verified and which were not; fail if one is damaged.
amcheck_copy() {
  amcheck_end=$(date +%s) || fail 'date failed'
  amcheck_end=$((amcheck_end + amcheck_seconds))
  connect_to "$@" $((amcheck_seconds + 600)) # listing the indexes takes additional time
  PGOPTIONS="$PGOPTIONS -c session_preload_libraries= -c dynamic_library_path=\$libdir -c client_min_messages=error"
  amcheck_names=$(database_names) || exit
  amcheck_all=$(printf '%s\n' "$amcheck_names" | while IFS= read -r amcheck_name; do
    unescape_name "$amcheck_name"
    # shellcheck disable=SC2154 # unescape_name sets it
    amcheck_of=$(amcheck_database "$name_whole") && amcheck_of=$(printf '%s\n' "$amcheck_of" |
      amcheck_words "$amcheck_name") ||
      amcheck_of="wrong database $amcheck_name: its indexes could not be verified"
    printf '%s\n' "$amcheck_of"
  done) || exit
  printf '%s\n' "$amcheck_all" | sed '/^wrong /d' || fail 'sed failed'
  amcheck_wrong=$(printf '%s\n' "$amcheck_all" | sed -n 's/^wrong //p') || fail 'sed failed'
  if [ -n "$amcheck_wrong" ]; then
    amcheck_line=$(printf '%s\n' "$amcheck_wrong" | join_lines) || exit
    fail "amcheck found damage in the copy: $amcheck_line. Check whether the old server has the same damage, and" \
      'rebuild these indexes with REINDEX'
  fi
}

# amcheck_database DATABASE   Print the output of psql for each of its B-tree indexes: `sound`, `late` after the time
# limit, or an error with its statement, which names the index; before that `lacks` if there is no amcheck, or `asked N
# M`: N are verified, M are not. The function must be that of the library, because anybody may have created another of
# its name. An index whose operator class runs functions of users is left out, because they would run here. Arrays, rows
# and ranges compare by the operator class of their elements (typcache.c), so they are left out if there is any such
# class. So is an index that may be incomplete in a copy in recovery.
amcheck_database() {
  amcheck_function="from pg_proc p join pg_namespace s on s.oid = p.pronamespace
    where p.proname = 'bt_index_check' and p.pronargs = 1
    and p.prolang = 13 and p.probin = '\$libdir/amcheck'"
  amcheck_index="pg_class c join pg_index i on i.indexrelid = c.oid join pg_namespace n on n.oid = c.relnamespace
    where c.relam = 403 and c.relkind = 'i' and c.relpersistence <> 't'"
  amcheck_whole="i.indisvalid and c.relpersistence = 'p' and not exists (select from pg_opclass o
    join pg_amproc a on a.amprocfamily = o.opcfamily or o.opcintype in (select oid from pg_type where typtype = 'p')
    join pg_opfamily b on b.oid = a.amprocfamily and b.opfmethod = 403 join pg_proc f on f.oid = a.amproc
    where o.oid = any (i.indclass::oid[]) and f.prolang not in (12, 13))"
  amcheck_found=$(query_database "$1" "select case when exists (select $amcheck_function) then 'asked ' || (select
    count(case when $amcheck_whole then 1 end)::text || ' ' || count(case when not ($amcheck_whole) then 1 end)::text
    from $amcheck_index) else 'lacks' end;") || exit
  printf '%s\n' "$amcheck_found"
  case $amcheck_found in
    lacks) return 0 ;;
    asked*) ;;
    *) fail 'the server did not say whether it has the extension amcheck' ;;
  esac
  require_free_slot
  # One after the other, each with the rest of the time.
  printf '%s\n' "select format('select set_config(''statement_timeout'', greatest(1, trunc(extract(epoch from
      to_timestamp($amcheck_end) - clock_timestamp()) * 1000))::bigint::text, false)'),
    format('select case when clock_timestamp() < to_timestamp($amcheck_end) ' ||
      'then ''sound'' || %I.bt_index_check(%s)::text else ''late'' end -- %s',
      (select s.nspname $amcheck_function limit 1), c.oid, $(escaped_name_sql "n.nspname || '.' || c.relname"))
    from $amcheck_index and $amcheck_whole order by c.relpages, c.oid \\gexec" |
    in_database "$1" psql -XAtqw -v VERBOSITY=verbose -v ECHO=errors 2>&1 || fail 'psql failed'
}

# amcheck_words DATABASE   Print the output of amcheck_database for DATABASE, on standard input, for people: `database
# …`, warnings, and `wrong …` for each index that is damaged or not known. The SQLSTATE decides: XX is damage, 58 a file
# that cannot be read, 57014 the time limit; anything else means that it was not verified.
amcheck_words() {
  database=$1 awk '
    BEGIN { of = "database " ENVIRON["database"] ": " }
    $1 == "lacks" {
      print "warning: " of "its B-tree indexes were not verified: it does not have the extension amcheck"
      lacks = 1
    }
    $1 == "asked" { asked = $2; left = $3; known = 1 }
    $1 == "sound" { sound++; next }
    $1 == "late" { late++; next }
    /STATEMENT: .* -- / && said != "" {
      sub(/^.* -- /, "")
      if (state ~ /^(XX|58)/) print "wrong " of $0 ": " said
      else if (state == "57014") late++
      else { other++; if (why == "") why = $0 ": " said }
      ended += state != "57014"
      said = ""
      next
    }
    match($0, /^[^ ]*:  *[0-9A-Z][0-9A-Z][0-9A-Z][0-9A-Z][0-9A-Z]: /) {
      state = substr($0, RLENGTH - 6, 5)
      said = substr($0, RLENGTH + 1)
      sub(/^ */, "", said)
    }
    END {
      if (!known && !lacks) exit 1
      if (lacks) exit
      print of sound + 0 " B-tree indexes were verified by amcheck"
      if (late) print "warning: " of late " indexes were not verified: the time limit for amcheck was reached"
      if (other) print "warning: " of other " indexes were not verified: " why
      if (left)
        print "warning: " of left " indexes were not verified: they are unlogged or invalid, " \
          "or their operator classes use functions of users"
      if (sound + late + ended < asked) print "wrong " of "the server ended while its indexes were verified"
    }' || fail 'awk failed'
}

# A dress rehearsal: the copied cluster is started on the new server while the old cluster serves its clients. The pass
# runs inside a low-level backup of the old cluster, which belongs to one session. A temporary replication slot of that
# session keeps the WAL, and the end of the session ends both. The copy is started in recovery and stays there: it
# replays the WAL of the backup, and is examined. Source: PostgreSQL's manual, "Making a Base Backup Using the Low Level
# API" (versions 10 to 18). The settings of the copy are read as in copy.sh.
# shellcheck disable=SC2154

# dress_set_version SERIES   Set the variables that differ between major versions: the calls that begin and end the
# backup, the end of its WAL, the file that keeps the copy in recovery and its contents, and the settings of the session
# of the backup.
dress_set_version() {
  dress_begin="pg_backup_start('pghaul', true)" dress_stop='pg_backup_stop(false)'
  # Since 17 the function names the segment behind a position that is the border of two.
  dress_border='(lsn - 1)'
  dress_signal=standby.signal dress_recovery=''
  dress_idles='-c idle_session_timeout=0'
  case $1 in 1[0-6]) dress_border=lsn ;; *) ;; esac
  case $1 in
    1[0-4]) dress_begin="pg_start_backup('pghaul', true, false)" dress_stop='pg_stop_backup(false, false)' ;;
    *) ;;
  esac
  case $1 in 1[0-3]) dress_idles='' ;; *) ;; esac
  case $1 in 1[01]) dress_signal=recovery.conf dress_recovery="standby_mode = 'on'" ;; *) ;; esac
}

# dress_pass PATH SOCKET PORT SERIES SECONDS LIMIT CALM [LABEL SOURCE TARGET WAL]...
# On the old server: copy, as a backup, what earlier passes have not copied yet. The copy gets WAL, the control file,
# backup_label and the files for its start. Prints how much WAL was kept, and the load of the server for CALM seconds
# before the backup and during it. LIMIT: how many bytes of WAL may be written during the backup; `-`: a quarter of the
# free space on the file system of the WAL. The backup is ended if more is written, if half of that free space is used
# up by anything, or if no pghaul has followed its job for five minutes.
dress_pass() {
  connect_to "$1" "$2" "$3" "$4" "$5"
  watch_slots "$2" "$3"
  dress_set_version "$4"
  dress_series=$4 dress_seconds=$5 dress_limit=$6 dress_calm=$7
  shift 7
  dress_data=$2
  dress_free=$(dress_free_space) || exit
  [ "$dress_limit" != - ] || dress_limit=$((dress_free / 4))
  trap dress_clean_up EXIT
  trap 'exit 143' HUP INT TERM
  dress_begin_backup
  dress_roots=$#
  while [ "$dress_roots" -gt 0 ]; do
    # The copying processes must not keep the session open.
    (exec 8>&- && precopy_pass "$1" "$2" "$3" "$4") || exit
    is_own_process "$dress_watcher" "$dress_watcher_since" ||
      fail 'the process that watches the amount of WAL has ended'
    set -- "$@" "$1" "$2" "$3" "$4"
    shift 4
    dress_roots=$((dress_roots - 4))
  done
  dress_now=$(date +%s) || fail 'date failed'
  # shellcheck disable=SC2034 # of in_database: the copying has taken what it took
  connect_end=$((dress_now + dress_seconds))
  dress_write_settings "$dress_series"
  dress_copy_control
  dress_stop_backup
  (enter_folder "$dress_data" &&
    allow_gone . -- find . -ignore_readdir_race -type d -name lost+found -prune -o -type l -printf '%P\n') \
    >"$copy_folder/dress/pghaul-fence/dress/links" || fail "not all links of $dress_data could be read"
  while [ $# -gt 0 ]; do
    case $4 in
      - | PG_*) ;;
      *) (exec 8>&- && dress_send_wal "$1" "$2" "$3" "$4") || exit ;;
    esac
    [ "$1" != data ] || dress_target=$3
    shift 4
  done
  # On the new server it gets the mode of the old data directory.
  chmod --reference="$dress_data" -- "$copy_folder/dress" || fail "$copy_folder/dress cannot be set"
  (exec 8>&- && enter_folder "$copy_folder/dress" &&
    run_tolerating 0 "$copy_send" data ./ "$dress_target" --ignore-times) || exit
  dress_asks=$(dress_load_question last && dress_wal_question kept) || exit
  dress_send "$dress_asks"
  dress_await kept
  echo "$dress_heard bytes of WAL were kept for it"
  dress_print_activity
}

# dress_begin_backup   Begin the backup; set dress_session and dress_from, and open descriptor 8, the input of its
# session. Whatever ends this shell closes the descriptor, which ends the session.
dress_begin_backup() {
  rm -rf -- "$copy_folder/dress" "$copy_folder/dress-in" "$copy_folder/dress-said" "$copy_folder/dress-error" \
    "$copy_folder/dress-ended" || fail "$copy_folder cannot be written"
  umask 077
  (mkdir -p "$copy_folder/dress/pghaul-fence/global" "$copy_folder/dress/pghaul-fence/dress" &&
    mkfifo "$copy_folder/dress-in" && : >"$copy_folder/dress-said") || fail "$copy_folder cannot be written"
  PGOPTIONS="$PGOPTIONS $dress_idles"
  dress_names=$(database_names) || exit
  # In a database that clients use: a session in template1 would prevent everybody from creating a database.
  case "
$dress_names
" in
    *'
postgres
'*) PGDATABASE=postgres ;;
    *)
      unescape_name "${dress_names%%
*}"
      PGDATABASE=${name_whole:-template1}
      ;;
  esac
  export PGDATABASE
  require_free_slot
  psql -XAtqw -v ON_ERROR_STOP=1 -v VERBOSITY=verbose <"$copy_folder/dress-in" >"$copy_folder/dress-said" \
    2>>"$copy_folder/dress-error" &
  dress_session=$!
  dress_session_since=$(process_start "$dress_session") || exit
  exec 8>"$copy_folder/dress-in"
  dress_asks=$(dress_load_question calm) || exit
  while [ "$dress_calm" -gt 0 ]; do
    dress_asks="$dress_asks
select from pg_sleep(1);
$(dress_load_question calm)" || exit
    dress_calm=$((dress_calm - 1))
  done
  dress_send "$dress_asks
select 'began ' || $dress_begin;"
  dress_await began
  dress_from=$dress_heard
  # After the start of the backup, whose checkpoint could remove an older slot if the server limits what slots keep. If
  # no slot is free, the amount of WAL is only watched.
  dress_name=$(od -An -N 8 -tx8 /dev/urandom) || fail 'od failed'
  dress_send "\\set ON_ERROR_STOP off
select from pg_create_physical_replication_slot('pghaul_${dress_name# }', true, true);
\\set ON_ERROR_STOP on
select 'slot asked';"
  dress_await slot
  dress_slot=$(grep -v '^$' "$copy_folder/dress-error" | head -n 1)
  : >"$copy_folder/dress-error" || fail "$copy_folder cannot be written"
  read -r dress_self _ </proc/self/stat || fail 'the shell does not know its number'
  dress_since=$(process_start "$dress_self") || exit
  (dress_watch_session "$dress_self" "$dress_since") </dev/null >/dev/null 8>&- &
  dress_watcher=$!
  dress_watcher_since=$(process_start "$dress_watcher") || exit
}

# dress_send STATEMENTS   Send them to the session of the backup.
dress_send() {
  (trap '' PIPE && printf '%s\n' "$1" >&8) 2>/dev/null || dress_fail_ended
}

# dress_await WORD   Wait for the answer that begins with WORD; set dress_heard to the rest of it.
dress_await() {
  dress_until=$(date +%s) || fail 'date failed'
  dress_until=$((dress_until + dress_seconds))
  until dress_heard=$(sed -n "s/^$1 //p" "$copy_folder/dress-said") && [ -n "$dress_heard" ]; do
    is_own_process "$dress_session" "$dress_session_since" || dress_fail_ended
    dress_time=$(date +%s) || fail 'date failed'
    [ "$dress_time" -le "$dress_until" ] || fail 'the session of the backup does not answer'
    sleep 0.1 || fail 'the program sleep is missing'
  done
}

# dress_fail_ended   Fail with the reason why the session of the backup has ended, or without one if dress_clean_up will
# print it.
dress_fail_ended() {
  [ ! -e "$copy_folder/dress-ended" ] || exit 1
  dress_why=$(dress_print_error) || exit
  fail "$dress_why"
}

# dress_print_error   Print why the session of the backup has ended. The text after the SQLSTATE is found in every
# language.
dress_print_error() {
  dress_why=$(sed -n 's/^[^ ]*  *[0-9A-Z]\{5\}: *\(.*\)$/\1/p' "$copy_folder/dress-error") || fail 'sed failed'
  dress_why=$(last_line "$dress_why")
  [ -n "$dress_why" ] || dress_why=$(grep -v '^$' "$copy_folder/dress-error" | tail -n 1)
  printf '%s\n' "the session of the backup has ended${dress_why:+: $dress_why}"
}

# dress_watch_session SHELL SINCE   In the background: end the session if too much WAL is kept, if nobody follows, or if
# SHELL has ended. If one of its checks fails, the others go on. It asks through the session of the backup, so that it
# needs no connection of its own.
dress_watch_session() {
  dress_pause=''
  trap '[ -z "$dress_pause" ] || kill "$dress_pause" 2>/dev/null; exit 0' TERM
  dress_asked=0
  while :; do
    sleep 2 &
    dress_pause=$!
    wait "$dress_pause"
    dress_pause=''
    dress_now=$(process_start "$1")
    [ "$dress_now" = "$2" ] || break
    if ! is_own_process "$dress_session" "$dress_session_since"; then
      dress_why=$(dress_print_error)
      dress_end_session "$1" "$dress_why"
    fi
    dress_kept=$(sed -n 's/^at //p' "$copy_folder/dress-said") && dress_answers=$(printf '%s' "$dress_kept" |
      grep -c '')
    dress_kept=$(last_line "$dress_kept")
    if [ "${dress_kept:-0}" -gt "$dress_limit" ]; then
      dress_end_session "$1" "the old server has written $dress_kept bytes of WAL during the backup, more than the" \
        "limit of $dress_limit bytes for a dress rehearsal. Rehearse when the server has less to do, or free space on" \
        'the file system of its WAL'
    fi
    if [ "$dress_answers" = "$dress_asked" ]; then
      dress_asked=$((dress_asked + 1))
      # Opened for reading too, so that nothing waits here if nobody reads.
      { dress_load_question load && dress_wal_question at; } 1<>"$copy_folder/dress-in"
    fi
    dress_left=$(dress_free_space 2>/dev/null) && [ "$dress_left" -lt $((dress_free / 2)) ] &&
      dress_end_session "$1" 'the file system of the WAL of the old server got too full.' \
        'Free some space, and rehearse again'
    [ -n "${pghaul_job-}" ] || continue
    dress_looked=$(stat -c %Y -- "$pghaul_job/looked" 2>/dev/null || stat -c %Y -- "$pghaul_job/group") || continue
    dress_time=$(date +%s) || continue
    [ $((dress_time - dress_looked)) -le 300 ] ||
      dress_end_session "$1" 'no pghaul has followed this job for five minutes'
  done
  if is_own_process "$dress_session" "$dress_session_since"; then kill -s TERM "$dress_session"; fi
}

# dress_end_session SHELL WHY...   End the session, and SHELL with everything that it has started, except this process.
dress_end_session() {
  dress_main=$1
  shift
  printf '%s\n' "$*" >"$copy_folder/dress-ended" || :
  if is_own_process "$dress_session" "$dress_session_since"; then kill -s TERM "$dress_session"; fi
  read -r dress_self _ </proc/self/stat
  end_process_tree "$dress_main" "$dress_self"
  exit 0
}

# dress_free_space   Print the free bytes of the file system of the WAL.
dress_free_space() {
  room_free=$(stat -L -f -c '%a %S' -- "$dress_data/pg_wal/.") ||
    fail "the free space of $dress_data/pg_wal could not be determined"
  echo $((${room_free% *} * ${room_free#* }))
}

# dress_wal_question WORD   Print the query for the bytes of WAL written since the backup began; the answer begins with
# WORD.
dress_wal_question() {
  printf '%s\n' "select '$1 ' || trunc(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$dress_from'));"
}

# dress_load_question WORD   Print the query for the load of the old server: WORD, milliseconds, the number of ended
# transactions, and the number of client sessions that wait for its disks; `-` if this account cannot see that.
dress_load_question() {
  printf '%s\n' "select '$1 ' || trunc(extract(epoch from clock_timestamp()) * 1000)::bigint || ' ' ||
    sum(xact_commit + xact_rollback)::bigint || ' ' || (select case current_setting('is_superuser') when 'on'
    then count(*)::text else '-' end from pg_stat_activity
    where state = 'active' and wait_event_type = 'IO' and backend_type = 'client backend') from pg_stat_database;"
}

# dress_print_activity   Print the load before the backup and during it, by these answers.
dress_print_activity() {
  awk '
    $1 == "calm" || $1 == "load" || $1 == "last" {
      part = $1 == "calm" ? "before" : "during"
      if (part == "during" && !(part in first)) { first[part] = latest; counted[part] = ended }
      if (!(part in first)) { first[part] = $2; counted[part] = $3 }
      latest = $2; ended = $3
      seconds[part] = (latest - first[part]) / 1000; many[part] = ended - counted[part]
      looks[part]++; waited[part] += $4
      if ($4 == "-") unseen = 1
    }
    END {
      for (each = 1; each <= split("before during", parts, " "); each++) {
        part = parts[each]
        # If the statistics were reset meanwhile, they tell nothing.
        if (seconds[part] <= 0 || many[part] < 0) continue
        waiting = unseen ? "-" : sprintf("%.2f", waited[part] / looks[part])
        printf "%s it %.0f transactions ended in %.1f seconds, and %s sessions waited for disks\n", \
          part, many[part], seconds[part], waiting
      }
    }' "$copy_folder/dress-said" || fail 'awk failed'
}

# dress_write_settings SERIES   Write the settings in force on the old server, from all sources, into the files that are
# sent. So the copy needs no file outside of it. Settings of a library that this session has not loaded are left out.
# The file of ALTER SYSTEM is sent empty: it would override the others, and may contain values that are not in force.
dress_write_settings() {
  dress_value=$(setting_value_sql) dress_own=$(setting_override_sql) dress_in_force=$(setting_source_sql "$1") || exit
  dress_in_force="$dress_in_force or source = 'environment variable'"
  # Of a setting that the role, the database or the client of this session overrides, only the files say the value of
  # the server. If several lines set it, the last one counts.
  dress_hidden="source in ('global', 'database', 'user', 'database user', 'client')
    or source = 'session' and $dress_own"
  dress_files="select distinct on (lower(name)) lower(name) as low, setting as filed from pg_file_settings
      where error is null order by lower(name), seqno desc"
  dress_reads=$(query_cluster "select has_table_privilege('pg_file_settings', 'select')
    and has_function_privilege('pg_show_all_file_settings()', 'execute');") || exit
  if [ "$dress_reads" != t ]; then
    dress_files="select ''::text as low, ''::text as filed where false"
    echo 'warning: This role may not read pg_file_settings. If a setting of the old server is overridden for this' \
      'role or for its database, the copy starts with the default.'
  fi
  dress_line="replace(value, chr(92), chr(92) || chr(92))" # as guc-file.l reads a string
  for dress_each in 10-n 13-r 39-chr39; do
    dress_to="chr(92) || '${dress_each#*-}'"
    [ "$dress_each" != 39-chr39 ] || dress_to='chr(39) || chr(39)'
    dress_line="replace($dress_line, chr(${dress_each%-*}), $dress_to)"
  done
  query_without_options "$1" "select name || ' = ' || chr(39) || $dress_line || chr(39) from (
      select name, context, case when in_force then in_force_value when hidden then filed end as value from (
        select name, context, $dress_value as in_force_value, ($dress_in_force) as in_force, ($dress_hidden) as hidden
        from pg_settings) as known left join ($dress_files) as files on low = lower(name)) as found
    where value is not null and context <> 'internal'
    and name ~ '^[A-Za-z_][A-Za-z0-9_.]*\$' and name not in ('config_file', 'data_directory', 'hba_file', 'ident_file',
    'external_pid_file', 'primary_conninfo', 'restore_command', 'archive_command', 'ssl_passphrase_command')
    order by name;" \
    >"$copy_folder/dress/pghaul-fence/dress/postgresql.conf" || exit
  : >"$copy_folder/dress/postgresql.auto.conf" || fail "$copy_folder cannot be written"
}

# dress_copy_control   Copy a consistent control file into the files that are sent.
dress_copy_control() {
  dress_tries=0
  until cp -- "$dress_data/global/pg_control" "$copy_folder/dress/pghaul-fence/global/pg_control" &&
    dress_read=$(LC_ALL=C pg_controldata "$copy_folder/dress/pghaul-fence" 2>&1) && [ -n "$dress_read" ] &&
    ! printf '%s\n' "$dress_read" | grep -q 'CRC checksum does not match'; do
    dress_tries=$((dress_tries + 1))
    [ "$dress_tries" -le 20 ] || fail "the control file of $dress_data cannot be read completely"
    sleep 0.1 || fail 'the program sleep is missing'
  done
}

# dress_stop_backup   End the backup, while its session goes on and keeps the WAL; set dress_first and dress_last, WAL
# segments.
dress_stop_backup() {
  dress_asks="select 'label ' || pg_walfile_name($dress_border) || ' ' || $(escaped_name_sql labelfile)"
  dress_send "$dress_asks from $dress_stop;"
  dress_await label
  dress_last=${dress_heard%% *}
  unescape_name "${dress_heard#* }"
  # shellcheck disable=SC2154 # unescape_name sets it
  printf '%s' "$name_whole" >"$copy_folder/dress/backup_label" || fail "$copy_folder cannot be written"
  dress_first=$(sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p' "$copy_folder/dress/backup_label")
  case $dress_first-$dress_last in
    *[!0-9A-F-]* | -* | *-) fail 'the backup does not say which WAL it needs' ;;
    *) ;;
  esac
  echo "$dress_first $dress_last $dress_from" >"$copy_folder/dress/pghaul-fence/dress/wal" ||
    fail "$copy_folder cannot be written"
  echo "$dress_recovery" >"$copy_folder/dress/$dress_signal" || fail "$copy_folder cannot be written"
}

# dress_send_wal LABEL SOURCE TARGET WAL   Copy the segments from the first to the last, and the timeline history files.
dress_send_wal() {
  begin_pass "$1" "$2" -
  dress_names=$copy_folder/files-$1-1.names
  write_complete "$dress_names.found" allow_gone "./$4" -- find "./$4" -ignore_readdir_race -maxdepth 1 -type f -printf '%f\n'
  # Compared as strings: awk would compare what looks like a number by 16 digits.
  awk -v ahead="$4/" -v first="x$dress_first" -v last="x$dress_last" '
    BEGIN { if (ahead == "./") ahead = "" }
    /^[0-9A-F]+[.]history$/ { print ahead $0; next }
    /^[0-9A-F]+$/ && length == 24 {
      name = "x" $0
      if (name >= first && name <= last) {
        print ahead $0
        begun += name == first
        ended += name == last
      }
    }
    END { exit !(begun && ended) }' "$dress_names.found" >"$dress_names.lines" ||
    fail "the old server has removed WAL that the backup needs, $dress_first to" \
      "$dress_last${dress_slot:+. No replication slot kept it: $dress_slot}"
  tr '\n' '\0' <"$dress_names.lines" >"$dress_names" || fail "$copy_folder cannot be written"
  # shellcheck disable=SC2086 # options without blanks
  run_tolerating 0 send_listed 1 "$1" "$3" $copy_left_out --ignore-times --inplace
}

# dress_clean_up   In a trap: end the session, and with it the backup and its slot; print the reason if the watch has
# ended it.
dress_clean_up() {
  dress_status=$?
  trap '' HUP INT TERM
  if [ -n "${dress_watcher-}" ] &&
    is_own_process "$dress_watcher" "$dress_watcher_since"; then kill -s TERM "$dress_watcher" 2>/dev/null; fi
  exec 8>&-
  if [ -n "${dress_session-}" ] &&
    is_own_process "$dress_session" "$dress_session_since"; then kill -s TERM "$dress_session" 2>/dev/null; fi
  wait 2>/dev/null
  if [ -e "$copy_folder/dress-ended" ]; then
    dress_why=$(cat -- "$copy_folder/dress-ended")
    dress_status=1
    printf 'pghaul: %s\n' "$dress_why" >&2
  fi
  rm -rf -- "$copy_folder/dress" "$copy_folder/dress-in" "$copy_folder/dress-said" "$copy_folder/dress-error" \
    "$copy_folder/dress-ended" 2>/dev/null
  exit "$dress_status"
}

# dress_check_programs PATH LIBRARIES FOLDERS PROGRAM...   On the new server: fail unless the programs of a dress
# rehearsal exist and nobody else can change the libraries that the copy would load. LIBRARIES and FOLDERS are
# shared_preload_libraries and dynamic_library_path of the old server, as far as they are known.
dress_check_programs() {
  dress_path=$1 dress_named=$2 dress_folders=$3
  shift 3
  for dress_each; do
    PATH=$dress_path command -v "$dress_each" >/dev/null ||
      fail "$dress_each is missing among the programs of this major version, $dress_path. Install it"
  done
  dress_check_libraries "$dress_named" "$dress_folders"
}

# dress_run_copy PATH DATA PORT OPTIONS SERIES SECONDS [LINK TARGET]...
# On the new server, as the owner: start the copy for this account only, and examine its databases. In any case stop it
# and restore its fence. Prints how long the start took, and what was found. SECONDS: the time limit, to which one
# second per megabyte of WAL is added. LINKs are all links of the cluster that lead to a folder, with their paths below
# DATA. Here they lead to the TARGETs. Within run_with_queries, the copy is measured before anything else has read from
# it.
dress_run_copy() {
  PATH=$1
  dress_data=$2
  [ -e "$2/backup_label" ] && [ -e "$2/pghaul-fence/mark" ] || fail "$2 does not contain a backup to start." \
    'Go on with --resume, which copies one'
  trap : HUP INT PIPE TERM # what runs below is ended by them, and this one sees to the end
  (dress_try_copy "$@")
  dress_status=$?
  [ "$dress_status" = 0 ] || tail -n 100 -- "$2/pghaul-start.log" 2>/dev/null
  dress_stop_copy "$2"
  return "$dress_status"
}

# dress_try_copy PATH DATA PORT OPTIONS SERIES SECONDS [LINK TARGET]...   Start and examine the copy as dress_run_copy
# does, but do not stop it.
dress_try_copy() {
  dress_port=$3 dress_options=$4 dress_series=$5 dress_seconds=$6
  shift 6
  refuse_running_server "$dress_data"
  dress_set_links "$@"
  dress_check_wal
  # Of another backup that was taken meanwhile: it would create links to tablespaces (xlogrecovery.c,
  # read_tablespace_map).
  rm -f -- "$dress_data/tablespace_map" "$dress_data/tablespace_map.old" ||
    fail "$dress_data/tablespace_map cannot be removed"
  # The folder of a slot without its state would end the server (slot.c, RestoreSlotFromDisk); the next pass copies them
  # again.
  find "$dress_data/pg_replslot/." -mindepth 1 -delete || fail "$dress_data/pg_replslot cannot be emptied"
  dress_start_server
  [ -z "${queries_count-}" ] || measure_twice new "$PATH" "$dress_socket" "$dress_port" "$dress_series" "$dress_data"
  dress_examine "$PATH" "$dress_socket" "$dress_port" "$dress_series" 3600
  [ -z "${amcheck_seconds-}" ] || amcheck_copy "$PATH" "$dress_socket" "$dress_port" "$dress_series"
}

# dress_set_links [LINK TARGET]...   Let the LINKs lead to TARGETs, and no other link to a folder, so that replay writes
# to the copy only.
dress_set_links() {
  enter_folder "$dress_data"
  # Links that an earlier pass has copied and that the old cluster no longer has.
  dress_found=$(find . -type d -name lost+found -prune -o -type l -printf '%P\n') ||
    fail "not all links of $dress_data could be read"
  [ -z "$dress_found" ] || printf '%s\n' "$dress_found" | while IFS= read -r dress_each; do
    grep -qxF -e "$dress_each" pghaul-fence/dress/links || rm -f -- "$dress_each" ||
      fail "$dress_each cannot be removed"
  done || exit
  dress_left=$#
  while [ "$dress_left" -gt 0 ]; do
    [ ! -L "$1" ] || ln -sfnT -- "$2" "$1" || fail "$dress_data/$1 cannot be set"
    dress_to=$(readlink -f -- "$2") || fail "the path $2 cannot be resolved"
    set -- "$@" "$1" "$dress_to"
    shift 2
    dress_left=$((dress_left - 2))
  done
  (check_known_links "$@") || exit
  for dress_each in pg_tblspc/*; do # including links whose target does not exist yet
    [ ! -L "$dress_each" ] || dress_knows_link "$dress_each" "$@" ||
      fail "the tablespace $dress_each was created after the plan was made." \
        'Begin with a new plan: --dress-rehearsal --start-over'
  done
}

# dress_knows_link LINK [KNOWN TARGET]...   Succeed if LINK is KNOWN.
dress_knows_link() {
  dress_link=$1
  shift
  while [ $# -gt 0 ]; do
    [ "$1" != "$dress_link" ] || return 0
    shift 2
  done
  return 1
}

# dress_check_wal   Fail if the WAL of the backup creates a tablespace: replay clears its folder, which may belong to
# another cluster on this server (tablespace.c, create_tablespace_directories).
dress_check_wal() {
  read -r dress_first dress_last dress_from <"$dress_data/pghaul-fence/dress/wal" ||
    fail "$dress_data does not contain a backup"
  # Up to the end of the last segment, as recovery reads it.
  dress_made=$(pg_waldump -p "$dress_data/pg_wal" -r Tablespace -s "$dress_from" "$dress_first" "$dress_last" 2>&1) ||
    fail "the WAL of the backup cannot be read: $dress_made"
  case $dress_made in
    *CREATE*) fail 'a tablespace was created on the old server during the backup. Rehearse again with' \
      '--dress-rehearsal --start-over' ;;
    *) ;;
  esac
}

# dress_start_server   Start the copy, and wait until it can be queried; print how long that took. Not by pg_ctl, which
# would not say which process it has started if it is ended itself. As soon as the server has its lock file, its
# PG_VERSION is behind the fence, so that nobody can start it again, whatever happens.
dress_start_server() {
  dress_fence=$dress_data/pghaul-fence
  dress_account=$(id -un) || fail 'id failed'
  if [ -n "${queries_count-}" ]; then # this account alone may be the role of the queries, in their database
    write_complete "$dress_fence/dress/pg_hba.conf" \
      printf 'local all "%s" peer\nlocal "%s" "%s" peer map=pghaul\n' \
      "$dress_account" "$queries_database" "$queries_role"
    write_complete "$dress_fence/dress/pg_ident.conf" printf 'pghaul "%s" "%s"\n' "$dress_account" "$queries_role"
  else
    write_complete "$dress_fence/dress/pg_hba.conf" printf 'local all "%s" peer\n' "$dress_account"
    write_complete "$dress_fence/dress/pg_ident.conf" :
  fi
  # A private folder with a short path, in which no other server has a socket.
  dress_name=$(od -An -N 4 -tx4 /dev/urandom) || fail 'od failed'
  dress_socket=/tmp/pghaul-dress.${dress_name# }
  write_complete "$dress_fence/dress/socket" echo "$dress_socket"
  mkdir -m 700 -- "$dress_socket" || fail "$dress_socket cannot be created"
  write_complete "$dress_fence/dressed" :
  sync -- "$dress_fence/dressed" "$dress_fence" || fail "$dress_fence cannot be written to disk"
  dress_check_preloads "$dress_fence/dress/postgresql.conf"
  save_options "$dress_data"
  open_fence "$dress_data"
  dress_began=$(date +%s) || fail 'date failed'
  # Without the name of the job, by which the processes of a job are found: this server is found by its record.
  eval "(unset pghaul_job && PGDATA=\$dress_data exec postgres $dress_options"' -c port="$dress_port" \
    -c data_directory="$dress_data" -c unix_socket_directories="$dress_socket" \
    -c config_file="$dress_fence/dress/postgresql.conf" -c hba_file="$dress_fence/dress/pg_hba.conf" \
    -c ident_file="$dress_fence/dress/pg_ident.conf" </dev/null >"$dress_data/pghaul-start.log" 2>&1) &'
  dress_process=$!
  dress_since=$(process_start "$dress_process") || exit
  (write_complete "$dress_fence/dressed" echo "$dress_process $dress_since") || exit
  dress_bytes=$(find "$dress_data/pg_wal/" -maxdepth 1 -type f -printf '%s\n') || fail 'find failed'
  dress_bytes=$(printf '%s\n' "$dress_bytes" | awk '{ sum += $1 } END { printf "%.0f", sum }') || fail 'awk failed'
  # Every disk replays more than a megabyte per second.
  dress_until=$((dress_began + dress_seconds + dress_bytes / 1000000)) dress_consistent=0
  until dress_lock=$(sed -n 1p "$dress_data/postmaster.pid" 2>/dev/null) &&
    [ "$dress_lock" = "$dress_process" ]; do dress_wait; done
  move_behind_fence "$dress_data" PG_VERSION
  # The eighth line: LOCK_FILE_LINE_PM_STATUS, pidfile.h.
  until dress_lock=$(sed -n 8p "$dress_data/postmaster.pid" 2>/dev/null) &&
    [ "${dress_lock%% *}" = ready ]; do dress_wait; done
  dress_now=$(date +%s) || fail 'date failed'
  echo "the copy was ready after $((dress_now - dress_began)) seconds, for connections of this account alone"
}

# dress_check_preloads FILE   Fail if the settings in FILE load a library that another user of the new server could have
# written.
dress_check_preloads() {
  [ -e "$1" ] || return 0
  dress_named=$(sed -n "s/^shared_preload_libraries = '\(.*\)'\$/\1/p" "$1") || fail "$1 cannot be read"
  dress_folders=$(sed -n "s/^dynamic_library_path = '\(.*\)'\$/\1/p" "$1") || fail "$1 cannot be read"
  dress_check_libraries "$dress_named" "$dress_folders"
}

# dress_check_libraries LIBRARIES FOLDERS   Fail if another user of the new server could have written one of them.
# shellcheck disable=SC2154 # loadable sets loadable_why
dress_check_libraries() {
  dress_user=$(id -u) || fail 'id failed'
  dress_named=$(printf '%s\n' "$1" | tr , '\n' | tr -d '"') || fail 'tr failed'
  dress_folders=$(printf '%s\n' "$2" | tr : '\n') || fail 'tr failed'
  printf '%s\n' "$dress_named" | while read -r dress_each; do
    check_library "$dress_user" "$dress_each" || [ $? -eq 2 ] ||
      fail "the copy was not started, because shared_preload_libraries names $dress_each: $loadable_why"
  done || exit
  printf '%s\n' "$dress_folders" | while IFS= read -r dress_each; do
    case $dress_each in '' | \$libdir) continue ;; *) ;; esac
    [ ! -e "$dress_each" ] || is_trusted "$dress_user" "$dress_each" ||
      fail "the copy was not started, because dynamic_library_path names $dress_each, where other users can" \
        'write. Remove their permission (chmod g-w,o-w), or remove the folder from the setting'
  done || exit
}

# dress_wait   Wait a moment; fail if the server has ended, or if its replay does not come to an end.
dress_wait() {
  sleep 0.2 || fail 'the program sleep is missing'
  dress_now=$(date +%s) || fail 'date failed'
  if ! is_own_process "$dress_process" "$dress_since"; then
    dress_why=$(explain_failed_start "$dress_data" "$dress_began" tail -c 20000 -- "$dress_data/pghaul-start.log") ||
      exit
    fail "the copy did not start: ${dress_why:-its server ended without a message}"
  fi
  if [ "$dress_consistent" = 0 ]; then
    ! grep -q 'consistent recovery state reached' "$dress_data/pghaul-start.log" || dress_consistent=$dress_now
  else
    # It waits for a snapshot that holds all transactions under way (procarray.c, ProcArrayApplyRecoveryInfo).
    [ $((dress_now - dress_consistent)) -le 60 ] ||
      fail 'the copy has replayed the backup, but accepts no connections. This happens if' \
        'a transaction with more than 64 subtransactions was open on the old server. Rehearse again when none is open'
  fi
  [ "$dress_now" -le "$dress_until" ] ||
    fail "the copy was not ready after $((dress_now - dress_began)) seconds. Its WAL has $dress_bytes bytes"
}

# dress_stop_copy DATA   On the new server: stop the server of a dress rehearsal, remove its files and put the fence up;
# do nothing if there was none.
dress_stop_copy() {
  [ -e "$1/pghaul-fence/dressed" ] || [ -d "$1/pghaul-fence/dress" ] || {
    refuse_running_server "$1"
    return 0
  }
  dress_looks=0
  while dress_found=$(list_servers_in "$1") && [ -n "$dress_found" ]; do
    # If this was ended before the process was recorded, a server whose files for a start are complete belongs to this
    # rehearsal.
    dress_process=$(sed -n 1p "$1/postmaster.pid" 2>/dev/null) dress_since=$(process_start "$dress_process")
    [ ! -s "$1/pghaul-fence/dressed" ] || read -r dress_process dress_since <"$1/pghaul-fence/dressed"
    # An immediate shutdown is sufficient: the copy is replaying, and the next pass compares every byte of it anyway.
    if [ -n "$dress_process" ] && is_own_process "$dress_process" "$dress_since"; then kill -s QUIT "$dress_process"; fi
    dress_looks=$((dress_looks + 1))
    [ "$dress_looks" -le 600 ] || fail "the PostgreSQL server in $1 does not stop (process ${dress_found%%[!0-9]*})"
    sleep 0.1 || fail 'the program sleep is missing'
  done
  dress_socket=''
  [ ! -e "$1/pghaul-fence/dress/socket" ] || read -r dress_socket <"$1/pghaul-fence/dress/socket" ||
    fail "$1/pghaul-fence cannot be read"
  case $dress_socket in
    /tmp/pghaul-dress.????????) rm -rf -- "$dress_socket" || fail "$dress_socket cannot be removed" ;;
    *) ;;
  esac
  for dress_each in postmaster.pid backup_label backup_label.old tablespace_map tablespace_map.old standby.signal \
    recovery.conf pghaul-start.log; do
    rm -f -- "$1/$dress_each" || fail "$1/$dress_each cannot be removed"
  done
  restore_options "$1"
  (close_target "$1") || exit
  rm -rf -- "$1/pghaul-fence/dress" "$1/pghaul-fence/dressed" "$1/pghaul-fence/dressed.part" ||
    fail "$1/pghaul-fence cannot be written"
  flush_fence "$1"
}

# dress_examine PATH SOCKET PORT SERIES SECONDS   On the new server: print what each database of the replaying copy
# contains, and what was not verified; fail if a database allows no connections or a library or dictionary of it cannot
# be loaded.
dress_examine() {
  connect_to "$@"
  PGOPTIONS="$PGOPTIONS -c client_min_messages=error"
  # For a client these would override the settings of roles and databases.
  look_options=$PGOPTIONS PGOPTIONS="$PGOPTIONS -c session_preload_libraries= -c dynamic_library_path=\$libdir"
  look_preloads=$(count_foreign_preloads) || exit
  case $look_preloads in
    0) PGOPTIONS=$look_options ;;
    [1-9]*)
      echo "warning: $look_preloads libraries or library folders in settings of roles or databases were not" \
        'verified, because they are outside of the library folder of the server'
      ;;
    *) fail 'the server did not say which libraries its sessions load' ;;
  esac
  look_replays=$(query_cluster 'select pg_is_in_recovery();') || exit
  [ "$look_replays" = t ] || fail 'the copy has ended its recovery, so it is no longer a copy of the old cluster'
  look_names=$(database_names) || exit
  look_said=$(printf '%s\n' "$look_names" | while IFS= read -r look_name; do
    unescape_name "$look_name"
    # shellcheck disable=SC2154 # unescape_name sets it
    (dress_examine_database "$name_whole" "$look_name") || printf 'wrong %s: it could not be asked\n' "$look_name"
  done) || exit
  printf '%s\n' "$look_said" | sed -n 's/^seen //p' || fail 'sed failed'
  look_wrong=$(printf '%s\n' "$look_said" | sed -n 's/^wrong //p') || fail 'sed failed'
  if [ -n "$look_wrong" ]; then
    look_line=$(printf '%s\n' "$look_wrong" | join_lines) || exit
    fail "not everything works on the new server: $look_line"
  fi
  query_cluster "select 'warning: database ' || $(escaped_name_sql datname) ||
    ' was not verified, because it allows no connections or is a template'
    from pg_database where (datistemplate or not datallowconn or datconnlimit = -2)
    and datname not in ('template0', 'template1') order by datname;"
  case $4 in
    1[0-4]) ;; # those of a database have no version before 15
    *) warn_of_collation_versions "$@" ;;
  esac
}

# count_foreign_preloads   Print how many libraries or library folders outside of the server's folder the settings of
# roles and databases name.
count_foreign_preloads() {
  query_cluster "select count(*) from pg_db_role_setting,
    unnest(setconfig) as entry, regexp_split_to_table(substr(entry, strpos(entry, '=') + 1), '[,\"[:space:]]+') as word
    where entry ~ '^session_preload_libraries=' and strpos(word, '/') > 0
    and (word not like '\$libdir/%' or word ~ '(^|/)[.][.](/|\$)')
    or entry ~ '^dynamic_library_path=' and word not in ('', '\$libdir');"
}

# server_library_condition   Print the SQL condition that a row of pg_proc has no library, or one from the library
# folder of the server.
server_library_condition() {
  printf '%s' "(coalesce(probin like '\$libdir/%'
    or (strpos(probin, '/') = 0 and current_setting('dynamic_library_path') = '\$libdir'), true)
    and coalesce(probin !~ '(^|/)[.][.](/|\$)', true))"
}

# refuse_foreign_libraries DATABASE   Fail if a client of the copy could make it load a library from outside of the
# server's folder. On this host, any user may be able to write there.
refuse_foreign_libraries() {
  loads_found=$(count_foreign_preloads) || exit
  [ "$loads_found" = 0 ] ||
    fail 'a setting of a role or a database loads libraries from outside of the library folder of the server'
  loads_found=$(query_database "$1" "select count(*) from pg_proc
    where prolang = 13 and not $(server_library_condition);") || exit
  [ "$loads_found" = 0 ] ||
    fail "$loads_found functions of the database would load libraries from outside of the library folder of the server"
}

# dress_examine_database DATABASE LINE   Print, each after `seen `, `database LINE: N relations, N libraries, N
# dictionaries` and warnings; then a line `wrong LINE: WHY` for each library and dictionary that fails. Each library is
# loaded and each user-defined dictionary is used, which needs their files on this host. Libraries whose names may lead
# into a folder of another user are left out.
dress_examine_database() {
  look_own=$(server_library_condition)
  look_words="pg_ts_dict d where d.oid >= 16384 and not exists (select from pg_ts_template t join pg_proc p
    on p.oid in (t.tmplinit, t.tmpllexize) where t.oid = d.dicttemplate and prolang = 13 and not $look_own)"
  look_held=$(query_database "$1" "select count(*) from pg_class
    union all select count(distinct probin) from pg_proc where prolang = 13 and $look_own
    union all select count(*) from $look_words
    union all select count(distinct probin) from pg_proc where prolang = 13 and not $look_own
    union all select count(*) from pg_collation where collversion <> coalesce(pg_collation_actual_version(oid), '')
      and oid in (select unnest(indcollation::oid[]) from pg_index where indrelid >= 16384);") || exit
  # shellcheck disable=SC2086 # they are five numbers
  set -- "$1" "$2" $look_held
  [ $# -eq 7 ] || fail 'the server did not say what the database contains'
  require_free_slot
  look_errors=$(printf '%s\n' "select format('load %L;', probin) from (select distinct probin from pg_proc
      where prolang = 13 and $look_own) p order by probin \\gexec" \
    "select format('select from pg_catalog.ts_lexize(%s::pg_catalog.regdictionary, %L);', d.oid, 'a') from $look_words
      order by d.oid \\gexec" |
    in_database "$1" psql -XAtqw -v VERBOSITY=verbose 2>&1 >/dev/null) || fail 'psql failed'
  printf 'seen database %s: %s relations, %s libraries, %s dictionaries\n' "$2" "$3" "$4" "$5"
  [ "$6" = 0 ] ||
    printf 'seen warning: database %s: %s libraries and their dictionaries were not verified, %s\n' "$2" "$6" \
      'because they are outside of the library folder of the server'
  [ "$7" = 0 ] ||
    printf 'seen warning: database %s: %s collations of its indexes have another version on the new server. %s\n' \
      "$2" "$7" 'Rebuild these indexes'
  # By the SQLSTATE, which is the same in every language.
  printf '%s\n' "$look_errors" | database=$2 awk '
    sub(/^[^ ]*:  *[0-9A-Z][0-9A-Z][0-9A-Z][0-9A-Z][0-9A-Z]: /, "") { print "wrong " ENVIRON["database"] ": " $0 }' ||
    fail 'awk failed'
}

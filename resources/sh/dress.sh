# A dress rehearsal: the copied cluster itself is started on the new server while the old one serves its clients.
# Its pass runs inside a low-level backup of the old server, which belongs to one session; a temporary slot of that session keeps
# the WAL. Whatever ends the session ends both. The copy is started in recovery, from which nothing takes it: it replays the WAL of
# the backup, and is looked at. Source: PostgreSQL's manual, "Making a Base Backup Using the Low Level API" (series 10 to 18).
# Settings of the copy are read as in copy.sh.
# shellcheck disable=SC2154

# dress_by_series SERIES   set what differs between them: the calls that begin and end the backup, where its WAL ends, the file that
# keeps the copy in recovery, with what it holds, and the settings of the session of the backup
dress_by_series() {
  dress_begin="pg_backup_start('pghaul', true)" dress_stop='pg_backup_stop(false)'
  # since 17 the function names the segment behind a position that is the border of two
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

# dress_pass PATH SOCKET PORT SERIES SECONDS LIMIT CALM [LABEL SOURCE TARGET WAL]...   on old: copy what is in none of the passes
# before, as a backup: WAL, control file, backup_label and what the copy is started with included; print how much WAL was kept, and
# what the server did for CALM seconds before the backup and during it
# LIMIT: of how many bytes of WAL; `-`: a quarter of what is free where it is written. It ends where more was written meanwhile, where
# half of that room is taken, by whatever, or where nobody has followed its job for five minutes.
dress_pass() {
  connect_to "$1" "$2" "$3" "$4" "$5"
  leave_slots "$2" "$3"
  dress_by_series "$4"
  dress_seconds=$5 dress_limit=$6 dress_calm=$7
  shift 7
  dress_data=$2
  dress_free=$(dress_room) || exit
  [ "$dress_limit" != - ] || dress_limit=$((dress_free / 4))
  trap dress_over EXIT
  trap 'exit 143' HUP INT TERM
  dress_begins
  dress_roots=$#
  while [ "$dress_roots" -gt 0 ]; do
    # what copies must not hold the session open
    (exec 8>&- && warm_pass "$1" "$2" "$3" "$4") || exit
    ours "$dress_watcher" "$dress_watcher_since" || fail 'nobody watches any more how much WAL is kept'
    set -- "$@" "$1" "$2" "$3" "$4"
    shift 4
    dress_roots=$((dress_roots - 4))
  done
  dress_now=$(date +%s) || fail 'date failed'
  # shellcheck disable=SC2034 # of in_database: the copying has taken what it took
  connect_end=$((dress_now + dress_seconds))
  dress_settings
  dress_control
  dress_stops
  (enter "$dress_data" && find . -ignore_readdir_race -type d -name lost+found -prune -o -type l -printf '%P\n') \
    >"$copy_folder/dress/pghaul-fence/dress/links" || fail "not all links of $dress_data could be read"
  while [ $# -gt 0 ]; do
    case $4 in
      - | PG_*) ;;
      *) (exec 8>&- && dress_wal "$1" "$2" "$3" "$4") || exit ;;
    esac
    [ "$1" != data ] || dress_target=$3
    shift 4
  done
  # it lies on new as old's own: who may enter it, too
  chmod --reference="$dress_data" -- "$copy_folder/dress" || fail "$copy_folder/dress cannot be set"
  (exec 8>&- && enter "$copy_folder/dress" && passed 0 "$copy_send" data ./ "$dress_target" --ignore-times) || exit
  dress_asks=$(dress_load last && dress_written kept) || exit
  dress_says "$dress_asks"
  dress_hears kept
  echo "$dress_heard bytes of WAL were kept for it"
  dress_activity
}

# dress_begins   the backup has begun; sets dress_session and dress_from, and descriptor 8 is its session's input
# Closed by whatever ends this shell, it ends the session.
dress_begins() {
  rm -rf -- "$copy_folder/dress" "$copy_folder/dress-in" "$copy_folder/dress-said" "$copy_folder/dress-error" \
    "$copy_folder/dress-ended" || fail "$copy_folder cannot be written"
  umask 077
  (mkdir -p "$copy_folder/dress/pghaul-fence/global" "$copy_folder/dress/pghaul-fence/dress" &&
    mkfifo "$copy_folder/dress-in") || fail "$copy_folder cannot be written"
  PGOPTIONS="$PGOPTIONS $dress_idles"
  dress_names=$(database_names) || exit
  # any of those that clients enter: a session in template1 keeps everybody from making a database
  case "
$dress_names
" in
    *'
postgres
'*) PGDATABASE=postgres ;;
    *)
      whole_name "${dress_names%%
*}"
      PGDATABASE=${name_whole:-template1}
      ;;
  esac
  export PGDATABASE
  keep_slots
  psql -XAtqw -v ON_ERROR_STOP=1 -v VERBOSITY=verbose <"$copy_folder/dress-in" >"$copy_folder/dress-said" \
    2>>"$copy_folder/dress-error" &
  dress_session=$!
  dress_session_since=$(begun_at "$dress_session") || exit
  exec 8>"$copy_folder/dress-in"
  dress_asks=$(dress_load calm) || exit
  while [ "$dress_calm" -gt 0 ]; do
    dress_asks="$dress_asks
select from pg_sleep(1);
$(dress_load calm)" || exit
    dress_calm=$((dress_calm - 1))
  done
  dress_says "$dress_asks
select 'began ' || $dress_begin;"
  dress_hears began
  dress_from=$dress_heard
  # behind the start of the backup, whose checkpoint would take an older slot away where the server bounds what slots keep. Where
  # none is free the WAL is only watched
  dress_name=$(od -An -N 8 -tx8 /dev/urandom) || fail 'od failed'
  dress_says "\\set ON_ERROR_STOP off
select from pg_create_physical_replication_slot('pghaul_${dress_name# }', true, true);
\\set ON_ERROR_STOP on
select 'slot asked';"
  dress_hears slot
  dress_slot=$(grep -v '^$' "$copy_folder/dress-error" | head -n 1)
  : >"$copy_folder/dress-error" || fail "$copy_folder cannot be written"
  read -r dress_self _ </proc/self/stat || fail 'the shell does not know its number'
  dress_since=$(begun_at "$dress_self") || exit
  (dress_watch "$dress_self" "$dress_since") </dev/null >/dev/null 8>&- &
  dress_watcher=$!
  dress_watcher_since=$(begun_at "$dress_watcher") || exit
}

# dress_says STATEMENTS   to the session of the backup
dress_says() {
  (trap '' PIPE && printf '%s\n' "$1" >&8) 2>/dev/null || dress_gone
}

# dress_hears WORD   wait for its line that begins so; sets dress_heard to the rest
dress_hears() {
  dress_until=$(date +%s) || fail 'date failed'
  dress_until=$((dress_until + dress_seconds))
  until dress_heard=$(sed -n "s/^$1 //p" "$copy_folder/dress-said") && [ -n "$dress_heard" ]; do
    ours "$dress_session" "$dress_session_since" || dress_gone
    dress_time=$(date +%s) || fail 'date failed'
    [ "$dress_time" -le "$dress_until" ] || fail 'the session of the backup does not answer'
    sleep 0.1 || fail 'sleep is not there'
  done
}

# dress_gone   fail, and say why the session of the backup has ended; where the watch has ended it dress_over says that
dress_gone() {
  [ ! -e "$copy_folder/dress-ended" ] || exit 1
  dress_why=$(dress_said) || exit
  fail "$dress_why"
}

# dress_said   print why the session of the backup has ended
# What stands behind the SQLSTATE is the same in every language.
dress_said() {
  dress_why=$(sed -n 's/^[^ ]*  *[0-9A-Z]\{5\}: *\(.*\)$/\1/p' "$copy_folder/dress-error") || fail 'sed failed'
  dress_why=$(last_line "$dress_why")
  [ -n "$dress_why" ] || dress_why=$(grep -v '^$' "$copy_folder/dress-error" | tail -n 1)
  printf '%s\n' "the session of the backup has ended${dress_why:+: $dress_why}"
}

# dress_watch SHELL SINCE   beside: the session ends where too much WAL is kept, nobody follows any more, or that SHELL has ended
# Each of its looks stands for itself: where one fails, the others go on. It asks through the session of the backup, so that
# it takes no connection of its own.
dress_watch() {
  dress_pause=''
  trap '[ -z "$dress_pause" ] || kill "$dress_pause" 2>/dev/null; exit 0' TERM
  dress_asked=0
  while :; do
    sleep 2 &
    dress_pause=$!
    wait "$dress_pause"
    dress_pause=''
    dress_now=$(begun_at "$1")
    [ "$dress_now" = "$2" ] || break
    if ! ours "$dress_session" "$dress_session_since"; then
      dress_why=$(dress_said)
      dress_ends "$1" "$dress_why"
    fi
    dress_kept=$(sed -n 's/^at //p' "$copy_folder/dress-said") && dress_answers=$(printf '%s' "$dress_kept" | grep -c '')
    dress_kept=$(last_line "$dress_kept")
    if [ "${dress_kept:-0}" -gt "$dress_limit" ]; then
      dress_ends "$1" "the old server has written $dress_kept bytes of WAL meanwhile, more than the $dress_limit that may be kept for" \
        'a dress rehearsal: rehearse when it has less to do, or free space where it writes its WAL'
    fi
    if [ "$dress_answers" = "$dress_asked" ]; then
      dress_asked=$((dress_asked + 1))
      # to read as well: so nothing waits here where nobody reads
      { dress_load load && dress_written at; } 1<>"$copy_folder/dress-in"
    fi
    dress_left=$(dress_room 2>/dev/null) && [ "$dress_left" -lt $((dress_free / 2)) ] &&
      dress_ends "$1" 'the file system of the old server on which it writes WAL got full meanwhile: free some of it, and rehearse again'
    [ -n "${pghaul_job-}" ] || continue
    dress_looked=$(stat -c %Y -- "$pghaul_job/looked" 2>/dev/null || stat -c %Y -- "$pghaul_job/group") || continue
    dress_time=$(date +%s) || continue
    [ $((dress_time - dress_looked)) -le 300 ] || dress_ends "$1" 'nobody has followed it for five minutes'
  done
  if ours "$dress_session" "$dress_session_since"; then kill -s TERM "$dress_session"; fi
}

# dress_ends SHELL WHY...   the session is ended, and so is SHELL with all that it has started, but for this one
dress_ends() {
  dress_main=$1
  shift
  printf '%s\n' "$*" >"$copy_folder/dress-ended" || :
  if ours "$dress_session" "$dress_session_since"; then kill -s TERM "$dress_session"; fi
  read -r dress_self _ </proc/self/stat
  end_started "$dress_main" "$dress_self"
  exit 0
}

# dress_room   print how many bytes are free where WAL is written
dress_room() {
  room_free=$(stat -L -f -c '%a %S' -- "$dress_data/pg_wal/.") || fail "the free space of $dress_data/pg_wal cannot be told"
  echo $((${room_free% *} * ${room_free#* }))
}

# dress_written WORD   print the question how many bytes of WAL were written since the backup began; WORD is ahead of the answer
dress_written() {
  printf '%s\n' "select '$1 ' || trunc(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$dress_from'));"
}

# dress_load WORD   print the question what the old server does: WORD, milliseconds, how many transactions have ended since it counts,
# and how many sessions of clients wait for its disks; `-` where this account cannot see that
dress_load() {
  printf '%s\n' "select '$1 ' || trunc(extract(epoch from clock_timestamp()) * 1000)::bigint || ' ' ||
    sum(xact_commit + xact_rollback)::bigint || ' ' || (select case current_setting('is_superuser') when 'on'
    then count(*)::text else '-' end from pg_stat_activity
    where state = 'active' and wait_event_type = 'IO' and backend_type = 'client backend') from pg_stat_database;"
}

# dress_activity   print what the answers say of the time before the backup, and of the time from then on
dress_activity() {
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
        # where the statistics were reset meanwhile, they tell nothing
        if (seconds[part] <= 0 || many[part] < 0) continue
        waiting = unseen ? "-" : sprintf("%.2f", waited[part] / looks[part])
        printf "%s it %.0f transactions ended in %.1f seconds, and %s sessions waited for disks\n", part, many[part], seconds[part], waiting
      }
    }' "$copy_folder/dress-said" || fail 'awk failed'
}

# dress_settings   the settings with which the old server runs, wherever they come from, lie in what is sent
# So the copy needs no file outside of it. Those of a library that this session has not loaded are not among them. The file of
# ALTER SYSTEM comes empty: it would be stronger, and may hold what is not in force.
dress_settings() {
  dress_line="replace(setting, chr(92), chr(92) || chr(92))" # as guc-file.l reads a string
  for dress_each in 10-n 13-r 39-chr39; do
    dress_to="chr(92) || '${dress_each#*-}'"
    [ "$dress_each" != 39-chr39 ] || dress_to='chr(39) || chr(39)'
    dress_line="replace($dress_line, chr(${dress_each%-*}), $dress_to)"
  done
  ask_cluster "select name || ' = ' || chr(39) || $dress_line || chr(39) from pg_settings
    where source in ('configuration file', 'command line', 'environment variable') and context <> 'internal'
    and name ~ '^[A-Za-z_][A-Za-z0-9_.]*\$' and name not in ('config_file', 'data_directory', 'hba_file', 'ident_file',
    'external_pid_file', 'primary_conninfo', 'restore_command', 'archive_command', 'ssl_passphrase_command') order by name;" \
    >"$copy_folder/dress/pghaul-fence/dress/postgresql.conf" || exit
  : >"$copy_folder/dress/postgresql.auto.conf" || fail "$copy_folder cannot be written"
}

# dress_control   a control file that was read whole lies in what is sent
dress_control() {
  dress_tries=0
  until cp -- "$dress_data/global/pg_control" "$copy_folder/dress/pghaul-fence/global/pg_control" &&
    dress_read=$(LC_ALL=C pg_controldata "$copy_folder/dress/pghaul-fence" 2>&1) && [ -n "$dress_read" ] &&
    ! printf '%s\n' "$dress_read" | grep -q 'CRC checksum does not match'; do
    dress_tries=$((dress_tries + 1))
    [ "$dress_tries" -le 20 ] || fail "the control file of $dress_data cannot be read whole"
    sleep 0.1 || fail 'sleep is not there'
  done
}

# dress_stops   the backup has ended; its session stays, and keeps the WAL; sets dress_first and dress_last, segments of WAL
dress_stops() {
  dress_says "select 'label ' || pg_walfile_name($dress_border) || ' ' || $(escaped labelfile) from $dress_stop;"
  dress_hears label
  dress_last=${dress_heard%% *}
  whole_name "${dress_heard#* }"
  # shellcheck disable=SC2154 # whole_name sets it
  printf '%s' "$name_whole" >"$copy_folder/dress/backup_label" || fail "$copy_folder cannot be written"
  dress_first=$(sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p' "$copy_folder/dress/backup_label")
  case $dress_first-$dress_last in *[!0-9A-F-]* | -* | *-) fail 'the backup says nothing of its WAL' ;; *) ;; esac
  echo "$dress_first $dress_last $dress_from" >"$copy_folder/dress/pghaul-fence/dress/wal" || fail "$copy_folder cannot be written"
  echo "$dress_recovery" >"$copy_folder/dress/$dress_signal" || fail "$copy_folder cannot be written"
}

# dress_wal LABEL SOURCE TARGET WAL   the segments from the first to the last, and what tells of timelines
dress_wal() {
  begin_pass "$1" "$2" -
  dress_names=$copy_folder/files-$1-1.names
  whole "$dress_names.found" find "./$4" -ignore_readdir_race -maxdepth 1 -type f -printf '%f\n'
  # compared as words: awk takes what looks like a number for one, of which it knows 16 digits
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
    fail "the old server has removed WAL that the backup needs, $dress_first to $dress_last${dress_slot:+; no slot kept it: $dress_slot}"
  tr '\n' '\0' <"$dress_names.lines" >"$dress_names" || fail "$copy_folder cannot be written"
  # shellcheck disable=SC2086 # options without blanks
  passed 0 send_listed 1 "$1" "$3" $copy_left_out --ignore-times --inplace
}

# dress_over   in a trap: the session has ended, and with it the backup and its slot; say why where the watch has ended it
dress_over() {
  dress_status=$?
  trap '' HUP INT TERM
  if [ -n "${dress_watcher-}" ] && ours "$dress_watcher" "$dress_watcher_since"; then kill -s TERM "$dress_watcher" 2>/dev/null; fi
  exec 8>&-
  if [ -n "${dress_session-}" ] && ours "$dress_session" "$dress_session_since"; then kill -s TERM "$dress_session" 2>/dev/null; fi
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

# dress_needs PATH LIBRARIES FOLDERS PROGRAM...   on new: the programs are there that a dress rehearsal runs here, and what the copy
# would load nobody else wrote
# LIBRARIES and FOLDERS are shared_preload_libraries and dynamic_library_path of old, as far as they are known.
dress_needs() {
  dress_path=$1 dress_named=$2 dress_folders=$3
  shift 3
  for dress_each; do
    PATH=$dress_path command -v "$dress_each" >/dev/null ||
      fail "$dress_each is not among the programs of this series, $dress_path: install it"
  done
  dress_loads "$dress_named" "$dress_folders"
}

# dress_copy PATH DATA PORT OPTIONS SERIES SECONDS [LINK TARGET]...   on new, as the owner: start the copy for this account
# alone, look at its databases, stop it and put its fence up, however that ends; print how long the start took, and what was seen
# SECONDS: how long it may take, besides one for each megabyte of WAL. LINKs are all of the cluster's that lead to a folder, by their
# paths below DATA; here they lead to TARGETs. Within with_queries the copy is measured before anybody else has read in it.
dress_copy() {
  PATH=$1
  dress_data=$2
  [ -e "$2/backup_label" ] && [ -e "$2/pghaul-fence/mark" ] || fail "$2 holds no backup to start:" \
    'go on with --resume, which brings one'
  trap : HUP INT PIPE TERM # what runs below is ended by them, and this one sees to the end
  (dress_tries "$@")
  dress_status=$?
  [ "$dress_status" = 0 ] || tail -n 100 -- "$2/pghaul-start.log" 2>/dev/null
  dress_end "$2"
  return "$dress_status"
}

# dress_tries PATH DATA PORT OPTIONS SERIES SECONDS [LINK TARGET]...   the same but for the end
dress_tries() {
  dress_port=$3 dress_options=$4 dress_series=$5 dress_seconds=$6
  shift 6
  no_server "$dress_data"
  dress_links "$@"
  dress_replays
  # of a backup that somebody else took meanwhile: it would set links to tablespaces (xlogrecovery.c, read_tablespace_map)
  rm -f -- "$dress_data/tablespace_map" "$dress_data/tablespace_map.old" || fail "$dress_data/tablespace_map cannot be removed"
  # a folder of a slot without its state ends the server (slot.c, RestoreSlotFromDisk); the next pass brings them again
  find "$dress_data/pg_replslot/." -mindepth 1 -delete || fail "$dress_data/pg_replslot cannot be emptied"
  dress_starts
  [ -z "${queries_count-}" ] || measure_twice new "$PATH" "$dress_socket" "$dress_port" "$dress_series" "$dress_data"
  dress_look "$PATH" "$dress_socket" "$dress_port" "$dress_series" 3600
  [ -z "${amcheck_seconds-}" ] || amcheck_copy "$PATH" "$dress_socket" "$dress_port" "$dress_series"
}

# dress_links [LINK TARGET]...   LINKs lead to TARGETs, and nothing else leads to a folder: what replay writes or clears is the copy's own
dress_links() {
  enter "$dress_data"
  # what an earlier pass has brought, and old has no more; the links alone
  dress_found=$(find . -type d -name lost+found -prune -o -type l -printf '%P\n') || fail "not all links of $dress_data could be read"
  [ -z "$dress_found" ] || printf '%s\n' "$dress_found" | while IFS= read -r dress_each; do
    grep -qxF -e "$dress_each" pghaul-fence/dress/links || rm -f -- "$dress_each" || fail "$dress_each cannot be removed"
  done || exit
  dress_left=$#
  while [ "$dress_left" -gt 0 ]; do
    [ ! -L "$1" ] || ln -sfnT -- "$2" "$1" || fail "$dress_data/$1 cannot be set"
    dress_to=$(readlink -f -- "$2") || fail "nobody can tell where $2 leads"
    set -- "$@" "$1" "$dress_to"
    shift 2
    dress_left=$((dress_left - 2))
  done
  (known_links "$@") || exit
  for dress_each in pg_tblspc/*; do # those that lead nowhere yet, too
    [ ! -L "$dress_each" ] || dress_knows "$dress_each" "$@" ||
      fail "$dress_each is a tablespace that the plan does not know, made since: begin with a new plan, --dress-rehearsal --start-over"
  done
}

# dress_knows LINK [KNOWN TARGET]...   whether LINK is KNOWN
dress_knows() {
  dress_link=$1
  shift
  while [ $# -gt 0 ]; do
    [ "$1" != "$dress_link" ] || return 0
    shift 2
  done
  return 1
}

# dress_replays   fail where the WAL of the backup makes a tablespace: to replay that clears the folder that it names, which may be
# another cluster's here (tablespace.c, create_tablespace_directories)
dress_replays() {
  read -r dress_first dress_last dress_from <"$dress_data/pghaul-fence/dress/wal" || fail "$dress_data holds no backup"
  # to the end of the last segment, as recovery goes
  dress_made=$(pg_waldump -p "$dress_data/pg_wal" -r Tablespace -s "$dress_from" "$dress_first" "$dress_last" 2>&1) || fail "the WAL of the backup cannot be read: $dress_made"
  case $dress_made in
    *CREATE*) fail 'a tablespace was made on the old server during the backup: rehearse again, with --dress-rehearsal --start-over' ;;
    *) ;;
  esac
}

# dress_starts   start the copy, and wait until it can be looked at; print how long that took
# By its program, not by pg_ctl, which ends without a word of which process it was where it is itself ended. As soon as the server
# has its lock its PG_VERSION lies behind the fence: whatever happens, nobody starts it again.
dress_starts() {
  dress_fence=$dress_data/pghaul-fence
  dress_account=$(id -un) || fail 'id failed'
  if [ -n "${queries_count-}" ]; then # this account alone may be the role of the queries, in their database
    whole "$dress_fence/dress/pg_hba.conf" printf 'local all "%s" peer\nlocal "%s" "%s" peer map=pghaul\n' "$dress_account" \
      "$queries_database" "$queries_role"
    whole "$dress_fence/dress/pg_ident.conf" printf 'pghaul "%s" "%s"\n' "$dress_account" "$queries_role"
  else
    whole "$dress_fence/dress/pg_hba.conf" printf 'local all "%s" peer\n' "$dress_account"
    whole "$dress_fence/dress/pg_ident.conf" :
  fi
  # a folder of its own, of a short path: nobody else looks there, and no other server has a socket in it
  dress_name=$(od -An -N 4 -tx4 /dev/urandom) || fail 'od failed'
  dress_socket=/tmp/pghaul-dress.${dress_name# }
  whole "$dress_fence/dress/socket" echo "$dress_socket"
  mkdir -m 700 -- "$dress_socket" || fail "$dress_socket cannot be made"
  whole "$dress_fence/dressed" :
  sync -- "$dress_fence/dressed" "$dress_fence" || fail "$dress_fence cannot be flushed"
  dress_preloads "$dress_fence/dress/postgresql.conf"
  keep_options "$dress_data"
  open_fence "$dress_data"
  dress_began=$(date +%s) || fail 'date failed'
  # without the name of the job, by which its processes are known: this one is found by what is written down of it
  eval "(unset pghaul_job && PGDATA=\$dress_data exec postgres $dress_options"' -c port="$dress_port" \
    -c data_directory="$dress_data" -c unix_socket_directories="$dress_socket" \
    -c config_file="$dress_fence/dress/postgresql.conf" -c hba_file="$dress_fence/dress/pg_hba.conf" \
    -c ident_file="$dress_fence/dress/pg_ident.conf" </dev/null >"$dress_data/pghaul-start.log" 2>&1) &'
  dress_process=$!
  dress_since=$(begun_at "$dress_process") || exit
  (whole "$dress_fence/dressed" echo "$dress_process $dress_since") || exit
  dress_bytes=$(find "$dress_data/pg_wal/" -maxdepth 1 -type f -printf '%s\n') || fail 'find failed'
  dress_bytes=$(printf '%s\n' "$dress_bytes" | awk '{ sum += $1 } END { printf "%.0f", sum }') || fail 'awk failed'
  # a megabyte a second is less than any disk replays
  dress_until=$((dress_began + dress_seconds + dress_bytes / 1000000)) dress_consistent=0
  until dress_lock=$(sed -n 1p "$dress_data/postmaster.pid" 2>/dev/null) && [ "$dress_lock" = "$dress_process" ]; do dress_waits; done
  put_behind "$dress_data" PG_VERSION
  # the eighth line: LOCK_FILE_LINE_PM_STATUS, pidfile.h
  until dress_lock=$(sed -n 8p "$dress_data/postmaster.pid" 2>/dev/null) && [ "${dress_lock%% *}" = ready ]; do dress_waits; done
  dress_now=$(date +%s) || fail 'date failed'
  echo "the copy was ready after $((dress_now - dress_began)) seconds, for connections of this account alone"
}

# dress_preloads FILE   fail where the settings in FILE load what somebody else on new could have written
dress_preloads() {
  [ -e "$1" ] || return 0
  dress_named=$(sed -n "s/^shared_preload_libraries = '\(.*\)'\$/\1/p" "$1") || fail "$1 cannot be read"
  dress_folders=$(sed -n "s/^dynamic_library_path = '\(.*\)'\$/\1/p" "$1") || fail "$1 cannot be read"
  dress_loads "$dress_named" "$dress_folders"
}

# dress_loads LIBRARIES FOLDERS   fail where one of them could have been written by somebody else on new
# shellcheck disable=SC2154 # loadable sets loadable_why
dress_loads() {
  dress_user=$(id -u) || fail 'id failed'
  dress_named=$(printf '%s\n' "$1" | tr , '\n' | tr -d '"') || fail 'tr failed'
  dress_folders=$(printf '%s\n' "$2" | tr : '\n') || fail 'tr failed'
  printf '%s\n' "$dress_named" | while read -r dress_each; do
    loadable "$dress_user" "$dress_each" || [ $? -eq 2 ] ||
      fail "the copy was not started, as shared_preload_libraries has it load $dress_each: $loadable_why"
  done || exit
  printf '%s\n' "$dress_folders" | while IFS= read -r dress_each; do
    case $dress_each in '' | \$libdir) continue ;; *) ;; esac
    [ ! -e "$dress_each" ] || trusted "$dress_user" "$dress_each" ||
      fail "the copy was not started, as dynamic_library_path has it load libraries from $dress_each, where others can" \
        'write: take that from them there (chmod g-w,o-w), or the folder out of the setting'
  done || exit
}

# dress_waits   a moment; fails where the server has ended, or will not come to the end of what it replays
dress_waits() {
  sleep 0.2 || fail 'sleep is not there'
  dress_now=$(date +%s) || fail 'date failed'
  if ! ours "$dress_process" "$dress_since"; then
    dress_why=$(why_not "$dress_data" "$dress_began" tail -c 20000 -- "$dress_data/pghaul-start.log") || exit
    fail "the copy did not start: ${dress_why:-its server ended without a word}"
  fi
  if [ "$dress_consistent" = 0 ]; then
    ! grep -q 'consistent recovery state reached' "$dress_data/pghaul-start.log" || dress_consistent=$dress_now
  else
    # it waits for a snapshot that holds all transactions under way (procarray.c, ProcArrayApplyRecoveryInfo)
    [ $((dress_now - dress_consistent)) -le 60 ] || fail 'the copy has replayed the backup, and lets nobody in to look at it, as' \
      'where a transaction with more than 64 subtransactions was open on the old server. Rehearse again when none is'
  fi
  [ "$dress_now" -le "$dress_until" ] ||
    fail "the copy was not ready after $((dress_now - dress_began)) seconds; its WAL has $dress_bytes bytes"
}

# dress_end DATA   on new: the server of a dress rehearsal is stopped, what was only for it is gone, and the fence is up; nothing where
# there was none
dress_end() {
  [ -e "$1/pghaul-fence/dressed" ] || [ -d "$1/pghaul-fence/dress" ] || {
    no_server "$1"
    return 0
  }
  dress_looks=0
  while dress_found=$(servers_in "$1") && [ -n "$dress_found" ]; do
    # where it was ended before it had written that down: nobody else has found all that a start needs
    dress_process=$(sed -n 1p "$1/postmaster.pid" 2>/dev/null) dress_since=$(begun_at "$dress_process")
    [ ! -s "$1/pghaul-fence/dressed" ] || read -r dress_process dress_since <"$1/pghaul-fence/dressed"
    # at once, as by a power cut: the copy is replaying, and of what it was a pass compares every byte
    if [ -n "$dress_process" ] && ours "$dress_process" "$dress_since"; then kill -s QUIT "$dress_process"; fi
    dress_looks=$((dress_looks + 1))
    [ "$dress_looks" -le 600 ] || fail "a server runs in $1, and does not stop: process ${dress_found%%[!0-9]*}"
    sleep 0.1 || fail 'sleep is not there'
  done
  dress_socket=''
  [ ! -e "$1/pghaul-fence/dress/socket" ] || read -r dress_socket <"$1/pghaul-fence/dress/socket" || fail "$1/pghaul-fence cannot be read"
  case $dress_socket in /tmp/pghaul-dress.????????) rm -rf -- "$dress_socket" || fail "$dress_socket cannot be removed" ;; *) ;; esac
  for dress_each in postmaster.pid backup_label backup_label.old tablespace_map tablespace_map.old standby.signal recovery.conf \
    pghaul-start.log; do
    rm -f -- "$1/$dress_each" || fail "$1/$dress_each cannot be removed"
  done
  options_again "$1"
  (close_target "$1") || exit
  rm -rf -- "$1/pghaul-fence/dress" "$1/pghaul-fence/dressed" "$1/pghaul-fence/dressed.part" || fail "$1/pghaul-fence cannot be written"
  flush_names "$1"
}

# dress_look PATH SOCKET PORT SERIES SECONDS   on new, of a copy that replays: print what each database holds, and what was not looked
# at; fails where one lets nobody in, or a library or a dictionary of it cannot be loaded
dress_look() {
  connect_to "$@"
  PGOPTIONS="$PGOPTIONS -c client_min_messages=error"
  # of a client they hold against those of roles and databases
  look_options=$PGOPTIONS PGOPTIONS="$PGOPTIONS -c session_preload_libraries= -c dynamic_library_path=\$libdir"
  look_preloads=$(preloads_elsewhere) || exit
  case $look_preloads in
    0) PGOPTIONS=$look_options ;;
    [1-9]*)
      echo "warning: $look_preloads libraries, or folders of libraries, that a setting of a role or a database names were not" \
        'verified: they lie outside of the folder of the server'
      ;;
    *) fail 'the server says nothing of what its sessions load' ;;
  esac
  look_replays=$(ask_cluster 'select pg_is_in_recovery();') || exit
  [ "$look_replays" = t ] || fail 'the copy has left its recovery: nothing that clients write to the old server would come to it'
  look_names=$(database_names) || exit
  look_said=$(printf '%s\n' "$look_names" | while IFS= read -r look_name; do
    whole_name "$look_name"
    # shellcheck disable=SC2154 # whole_name sets it
    (dress_database "$name_whole" "$look_name") || printf 'wrong %s: it could not be asked\n' "$look_name"
  done) || exit
  printf '%s\n' "$look_said" | sed -n 's/^seen //p' || fail 'sed failed'
  look_wrong=$(printf '%s\n' "$look_said" | sed -n 's/^wrong //p') || fail 'sed failed'
  if [ -n "$look_wrong" ]; then
    look_line=$(printf '%s\n' "$look_wrong" | in_a_line) || exit
    fail "not all works on the new server: $look_line"
  fi
  ask_cluster "select 'warning: database ' || $(escaped datname) || ' was not verified: it lets nobody in, or is a template'
    from pg_database where (datistemplate or not datallowconn or datconnlimit = -2)
    and datname not in ('template0', 'template1') order by datname;"
  case $4 in
    1[0-4]) ;; # those of a database have no version before 15
    *) collation_versions "$@" ;;
  esac
}

# preloads_elsewhere   print how many libraries, or folders of libraries, settings of roles and databases name outside of the server's folder
preloads_elsewhere() {
  ask_cluster "select count(*) from pg_db_role_setting,
    unnest(setconfig) as entry, regexp_split_to_table(substr(entry, strpos(entry, '=') + 1), '[,\"[:space:]]+') as word
    where entry ~ '^session_preload_libraries=' and strpos(word, '/') > 0
    and (word not like '\$libdir/%' or word ~ '(^|/)[.][.](/|\$)')
    or entry ~ '^dynamic_library_path=' and word not in ('', '\$libdir');"
}

# of_the_server   print the condition of SQL that a row of pg_proc has no library, or one from the server's folder
of_the_server() {
  printf '%s' "(coalesce(probin like '\$libdir/%' or (strpos(probin, '/') = 0 and current_setting('dynamic_library_path') = '\$libdir'), true)
    and coalesce(probin !~ '(^|/)[.][.](/|\$)', true))"
}

# copy_loads DATABASE   fail where a client of the copy could have it load a library from outside of the server's folder
# Anybody may be able to write there on this host.
copy_loads() {
  loads_found=$(preloads_elsewhere) || exit
  [ "$loads_found" = 0 ] ||
    fail 'a setting of a role or a database has its sessions load libraries from outside of the folder of the server'
  loads_found=$(ask_sql "$1" "select count(*) from pg_proc where prolang = 13 and not $(of_the_server);") || exit
  [ "$loads_found" = 0 ] || fail "$loads_found functions of the database would load libraries from outside of the folder of the server"
}

# dress_database DATABASE LINE   print, each behind `seen `, `database LINE: N relations, N libraries, N dictionaries` and warnings; then a
# line `wrong LINE: WHY` for each library and dictionary that fails
# Each library is loaded, each dictionary that somebody made is used: what they need of the host is looked for then. Not one by a
# name that may lead into a folder of anybody's on this host.
dress_database() {
  look_own=$(of_the_server)
  look_words="pg_ts_dict d where d.oid >= 16384 and not exists (select from pg_ts_template t join pg_proc p
    on p.oid in (t.tmplinit, t.tmpllexize) where t.oid = d.dicttemplate and prolang = 13 and not $look_own)"
  look_held=$(ask_sql "$1" "select count(*) from pg_class
    union all select count(distinct probin) from pg_proc where prolang = 13 and $look_own
    union all select count(*) from $look_words
    union all select count(distinct probin) from pg_proc where prolang = 13 and not $look_own
    union all select count(*) from pg_collation where collversion <> coalesce(pg_collation_actual_version(oid), '')
      and oid in (select unnest(indcollation::oid[]) from pg_index where indrelid >= 16384);") || exit
  # shellcheck disable=SC2086 # they are five numbers
  set -- "$1" "$2" $look_held
  [ $# -eq 7 ] || fail 'the server says nothing of what it holds'
  keep_slots
  look_errors=$(printf '%s\n' "select format('load %L;', probin) from (select distinct probin from pg_proc
      where prolang = 13 and $look_own) p order by probin \\gexec" \
    "select format('select from pg_catalog.ts_lexize(%s::pg_catalog.regdictionary, %L);', d.oid, 'a') from $look_words
      order by d.oid \\gexec" |
    in_database "$1" psql -XAtqw -v VERBOSITY=verbose 2>&1 >/dev/null) || fail 'psql failed'
  printf 'seen database %s: %s relations, %s libraries, %s dictionaries\n' "$2" "$3" "$4" "$5"
  [ "$6" = 0 ] || printf 'seen warning: database %s: %s libraries were not verified, nor dictionaries of them: they lie outside of the folder of the server\n' "$2" "$6"
  [ "$7" = 0 ] || printf 'seen warning: database %s: %s collations of its indexes have another version here: rebuild these\n' "$2" "$7"
  # by the SQLSTATE, which is the same in every language
  printf '%s\n' "$look_errors" | database=$2 awk '
    sub(/^[^ ]*:  *[0-9A-Z][0-9A-Z][0-9A-Z][0-9A-Z][0-9A-Z]: /, "") { print "wrong " ENVIRON["database"] ": " $0 }' ||
    fail 'awk failed'
}

# What SQL tells about a cluster: queried before the stop, after the local-only start, and after the cutover.

# connect_to PATH SOCKET PORT SERIES SECONDS   Let psql and related programs query the server there, for SECONDS in all.
# SOCKET `-`: their default. Whatever the settings of the server, the role or the database are: names mean what
# PostgreSQL itself means by them (the owner of a database could otherwise have functions of the same names run by
# others), the session has its own role, no commit waits for a standby, no statement waits for a lock without limit, and
# a query ends if its client has gone.
connect_to() {
  connect_end=$(date +%s) || fail 'date failed'
  connect_end=$((connect_end + $5))
  # shellcheck disable=SC2034 # for require_free_slot
  slots_all='' # nothing is counted unless watch_slots follows
  PATH=$1 PGPORT=$3 PGAPPNAME=pghaul PGCONNECT_TIMEOUT=30
  PGOPTIONS="-c search_path=pg_catalog -c role=none -c statement_timeout=${5}000"
  case $4 in
    8.* | 9.0) ;;
    9.[12]) PGOPTIONS="$PGOPTIONS -c synchronous_commit=local" ;;
    *) PGOPTIONS="$PGOPTIONS -c synchronous_commit=local -c lock_timeout=60000" ;;
  esac
  # JIT costs more than these queries, and if its library cannot be loaded the first of them would fail.
  case $4 in
    1[1-9] | [2-9][0-9]) PGOPTIONS="$PGOPTIONS -c jit=off" ;;
    *) ;;
  esac
  case $4 in
    1[4-9] | [2-9][0-9]) PGOPTIONS="$PGOPTIONS -c client_connection_check_interval=10000" ;;
    *) ;;
  esac
  export PATH PGPORT PGAPPNAME PGCONNECT_TIMEOUT PGOPTIONS
  if [ "$2" != - ]; then export PGHOST="$2"; fi
}

# in_database DATABASE COMMAND...   Run psql or a related program there, for the rest of the time that connect_to was
# given. The database is named by the variable, because -d would take some names for a connection string.
in_database() {
  PGDATABASE=$1
  export PGDATABASE
  shift
  time_now=$(date +%s) || fail 'date failed'
  [ "$time_now" -lt "$connect_end" ] ||
    fail "the time limit was reached before $1 could run in the database $PGDATABASE"
  # In the foreground, so that whoever ends this step ends everything that it runs.
  timeout --foreground -k 10 $((connect_end - time_now)) "$@" && return 0 # bare, in a trap, it would be another's
  in_status=$?
  [ "$in_status" -ne 124 ] || printf 'pghaul: %s was ended, because the time limit was reached\n' "$1" >&2
  return "$in_status"
}

# run_writing FUNCTION WORDS...   Run FUNCTION in sessions that may write, even if they are read-only by default. No
# user's trigger is called, and no event trigger.
run_writing() {
  changing_from=$PGOPTIONS
  PGOPTIONS="$PGOPTIONS -c default_transaction_read_only=off -c session_replication_role=replica"
  PGOPTIONS="$PGOPTIONS -c client_min_messages=warning"
  "$@" || exit 1
  PGOPTIONS=$changing_from
}

# run_with_database_path FUNCTION WORDS...   Run FUNCTION in sessions with the search_path of the database, as functions
# of an index may need it. Only for statements that name everything with its schema.
run_with_database_path() {
  by_its_from=$PGOPTIONS
  PGOPTIONS=${PGOPTIONS#-c search_path=pg_catalog}
  "$@" || exit 1
  PGOPTIONS=$by_its_from
}

# query_cluster STATEMENTS   Query_database in the database postgres, or in template1 if that is missing or allows no
# connections.
query_cluster() {
  require_free_slot
  if cluster_said=$(printf '%s\n' "$1" | in_database postgres psql -XAtqw -v ON_ERROR_STOP=1); then
    [ -z "$cluster_said" ] || printf '%s\n' "$cluster_said"
  # 2: there was no connection.
  elif [ $? -ne 2 ] || [ -n "$cluster_said" ] || ! (query_database template1 "$1") 2>/dev/null; then
    fail 'the database postgres could not be queried'
  fi
}

# query_without_options SERIES STATEMENTS   Query_cluster in a session without options of pghaul. In pg_settings such
# options would hide the values of files, role and database. SET leaves reset_val as it was. It looks up no function, so
# it may come before the search path is set.
query_without_options() {
  (
    case $1 in
      1[1-9] | [2-9][0-9]) as_set_first='set jit = off;' ;;
      *) as_set_first='' ;;
    esac
    PGOPTIONS=''
    query_cluster "set search_path = pg_catalog; set role none; set statement_timeout = 60000; $as_set_first
      $2"
  ) || exit
}

# query_database DATABASE STATEMENTS   Print the unaligned result of the statements there; the first that fails ends it.
query_database() {
  require_free_slot
  printf '%s\n' "$2" | in_database "$1" psql -XAtqw -v ON_ERROR_STOP=1 || fail "the database $1 could not be queried"
}

# database_names   Print a line for each database that allows connections, its name as escaped_name_sql has it. Each row
# says how many rows there must be.
database_names() {
  names_open='datallowconn and datconnlimit <> -2 and not datistemplate' # -2: a DROP DATABASE was interrupted
  names_found=$(query_cluster "
    select (select count(*) from pg_database where $names_open)::text || ' ' || $(escaped_name_sql datname)
    from pg_database where $names_open order by datname;") || exit
  names_number=$(printf '%s\n' "$names_found" | grep -c '') || fail 'grep failed'
  [ "${names_found%% *}" = "$names_number" ] || fail 'the list of the databases is incomplete'
  printf '%s\n' "$names_found" | cut -d ' ' -f 2- || fail 'cut failed'
}

# take_inventory PATH SOCKET PORT SERIES SECONDS DATA   Print the inventory of the cluster in DATA, for
# compare_inventory and compare_settings. One line per item. A value that may contain a secret is a hash of 32 bits;
# control characters are question marks. The lines are sorted here, because two servers may sort differently.
#   identifier N                           the system identifier, since 9.6
#   setting NAME = VALUE, option NAME = …  what is in force by a file, and by the server's command line
#   file NAME = TEXT                       what the files say, in force or not, since 9.5
#   limit VALUE NAME, log FILE, …          how its process runs, as print_process has it
#   exists OID                             each database, also one that takes no connections
#   database NAME, as escaped_name_sql has it; then of that database:
#     oid N; relations KIND N; invalid index NAME; lost N NAMES, relations that have no file
take_inventory() {
  connect_to "$@"
  watch_slots "$2" "$3"
  enter_folder "$6"
  inventory_files='' inventory_identifier='' inventory_value=setting inventory_source=$(setting_source_sql "$4")
  case $4 in
    8.*) ;;
    *) inventory_value=$(setting_value_sql) ;;
  esac
  case $4 in
    8.* | 9.[0-5]) ;;
    *) inventory_identifier="select 'identifier ' || system_identifier::text from pg_control_system();" ;;
  esac
  case $4 in
    8.* | 9.[0-4]) ;;
    *) inventory_files=$(query_cluster "select 'yes' from pg_roles where rolname = current_user and rolsuper;") ||
      exit ;;
  esac
  # If several lines set one setting, the last one counts.
  [ -z "$inventory_files" ] || inventory_files="
    select distinct on (name) 'file ' || $(setting_line_sql setting) from pg_file_settings
    where name is not null and setting is not null order by name, seqno desc;"
  inventory=$(query_without_options "$4" "$inventory_identifier
    select case source when 'command line' then 'option ' else 'setting ' end ||
    $(setting_line_sql "$inventory_value || coalesce(' ' || unit, '')") from pg_settings where $inventory_source;
    select 'exists ' || oid::text from pg_database;
    $inventory_files") || exit
  printf '%s\n' "$inventory" | sort || fail 'sort failed'
  print_process "$6"
  inventory_names=$(database_names) || exit
  printf '%s\n' "$inventory_names" | while IFS= read -r inventory_name; do
    printf 'database %s\n' "$inventory_name"
    unescape_name "$inventory_name"
    # shellcheck disable=SC2154 # unescape_name sets it
    inventory=$(query_database "$name_whole" "
      select 'oid ' || oid::text from pg_database where datname = current_database();
      select 'relations ' || c.relkind::text || ' ' || count(*)::text from pg_class c
      join pg_namespace n on n.oid = c.relnamespace where n.nspname !~ '^pg_(temp|toast_temp)' group by c.relkind;
      select 'invalid index ' || regexp_replace(indexrelid::regclass::text, '[[:cntrl:]]', '?', 'g')
      from pg_index where not indisvalid;") || exit
    printf '%s\n' "$inventory" | sort || fail 'sort failed'
    case $4 in 8.*) ;; *) report_lost_relations "$name_whole" || exit ;; esac
  done || exit
  print_end_mark
}

# setting_value_sql   Print the SQL for the value of a setting, even if query_without_options has set another value.
setting_value_sql() {
  echo "case when source = 'session' then reset_val else setting end"
}

# setting_source_sql SERIES   Print the SQL for whether a setting comes from files or the command line, even if
# query_without_options has set it; settings of the role or the database of this session do not count.
setting_source_sql() {
  case $1 in
    8.*) echo "source in ('configuration file', 'command line')" ;;
    *)
      echo "(source in ('configuration file', 'command line')
        or source = 'session' and reset_val is distinct from boot_val
        and not $(setting_override_sql))"
      ;;
  esac
}

# setting_override_sql   Print the SQL for whether the role or the database of this session has a value of its own for a
# setting; since 9.0.
setting_override_sql() {
  echo "exists (select 1 from (select unnest(setconfig) as given from pg_db_role_setting
          where setdatabase in (0, (select oid from pg_database where datname = current_database()))
          and setrole in (0, (select oid from pg_roles where rolname = session_user))) as own
        where split_part(given, '=', 1) = name)"
}

# setting_line_sql VALUE   Print the SQL for the name of a setting and VALUE in a line; a value that may contain a
# secret is a hash.
setting_line_sql() {
  printf '%s' "name || case when name ~ '(conninfo|command|passphrase|password|secret|token|salt|[.])'
    and name not like 'ssl%file' then ' # ' || hashtext($1)::text
    else ' = ' || regexp_replace($1, '[[:cntrl:]]', '?', 'g') end"
}

# report_lost_relations DATABASE   In the data directory: print how many of its relations have no file, with the first
# of these files, and a warning. Clients may drop or rewrite a relation between two looks. A relation is lost if its
# file is missing and it is in the catalogs twice.
report_lost_relations() {
  lost_first=$(list_absent_relations "$1") || exit
  [ -n "$lost_first" ] || return 0
  lost_again=$(list_absent_relations "$1") || exit
  printf '%s\n' "$lost_first" "$lost_again" | database=$1 awk '
    NF && seen[$0]++ { many++; if (many <= 5) names = names " " $0 }
    END {
      if (!many) exit
      said = many names (many > 5 ? " ..." : "")
      database = ENVIRON["database"]
      gsub(/[[:cntrl:]]/, "?", database)
      print "lost " said
      print "warning: In the database " database " these relations have no file: " said ". Check its disks."
    }' || fail 'awk failed'
}

# list_absent_relations DATABASE   In the data directory: print the file of each relation whose file is missing
# pg_relation_filepath is called for one relation per tablespace only: for a million relations it would take much
# memory.
list_absent_relations() {
  absent_files=$(query_database "$1" "
    select f.folder || c.relfilenode::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join (select reltablespace, substring(pg_relation_filepath(min(oid)) from '.*/') as folder from pg_class
    where relkind in ('r', 'i', 'S', 't', 'm') and relfilenode <> 0 and not relisshared group by reltablespace) f
    on f.reltablespace = c.reltablespace
    where c.relkind in ('r', 'i', 'S', 't', 'm') and c.relfilenode <> 0 and not c.relisshared
    and n.nspname !~ '^pg_(temp|toast_temp)' and f.folder is not null;") || exit
  printf '%s\n' "$absent_files" | while IFS= read -r absent_file; do
    [ -z "$absent_file" ] || [ -e "$absent_file" ] || printf '%s\n' "$absent_file"
  done
}

# compare_inventory PATH SOCKET PORT SERIES SECONDS DATA HELD   On the new server: compare the cluster in DATA with the
# inventory of the old cluster on standard input; print notes and warnings. Clients worked while the inventory was
# taken, and the old server may have run with other settings than those of its files. Differences that this explains are
# notes with numbers. HELD: the isolation settings, with commas between them. Fail if another cluster answers, a
# database is missing whose files exist, a relation has no file, or a file and the setting in force both differ from
# those of the old cluster.
compare_inventory() {
  same_data=$6 same_held=$7
  same_before=$(read_complete) || exit
  same_now=$(take_inventory "$1" "$2" "$3" "$4" "$5" "$6") || exit
  same_judged=$(compare_inventories "$same_before" "$same_now" "$same_held") || exit
  enter_folder "$same_data"
  same_said=$(printf '%s\n' "$same_judged" | while IFS=' ' read -r same_word same_rest; do
    case $same_word in
      gone) judge_missing_database "${same_rest%% *}" "${same_rest#* }" ;;
      *) [ -z "$same_word" ] || printf '%s %s\n' "$same_word" "$same_rest" ;;
    esac
  done) || exit
  printf '%s\n' "$same_said" | sed '/^$/d; /^wrong: /d' || fail 'sed failed'
  same_wrong=$(printf '%s\n' "$same_said" | awk '/^wrong: / { printf "%s%s", many++ ? " " : "", substr($0, 8) }') ||
    fail 'awk failed'
  [ -z "$same_wrong" ] || fail "$same_wrong"
}

# judge_missing_database OID NAME   In the data directory: say whether a database of the inventory that is missing was
# dropped or lost.
judge_missing_database() {
  for gone_folder in "base/$1" pg_tblspc/*/"$1" pg_tblspc/*/*/"$1"; do
    if [ -e "$gone_folder" ]; then
      echo "wrong: The database $2 does not exist, but its files in $gone_folder do. Roll back with --rollback."
      return 0
    fi
  done
  echo "note: The database $2 was dropped after the inventory was taken."
}

# compare_inventories BEFORE NOW HELD   Print how two inventories differ: `wrong: …`, `warning: …`, `note: …` or, for a
# database, `gone OID NAME`.
compare_inventories() {
  printf '%s\n' "$1" '# now' "$2" | held=$3 awk '
    BEGIN {
      now = 0
      for (many = split(ENVIRON["held"], names, ","); many; many--) held[names[many]]
      kinds["r"] = "tables"; kinds["i"] = "indexes"; kinds["S"] = "sequences"; kinds["t"] = "TOAST tables"
      kinds["v"] = "views"; kinds["m"] = "materialized views"; kinds["c"] = "composite types"
      kinds["f"] = "foreign tables"; kinds["p"] = "partitioned tables"; kinds["I"] = "partitioned indexes"
      # These paths may differ between the servers.
      for (many = split("data_directory config_file hba_file ident_file external_pid_file", names, " "); many; many--)
        held[names[many]]
    }
    $0 == "# now" { now = 1; next }
    { gsub(/[[:cntrl:]]/, "?") }
    $1 == "identifier" { identifier[now] = $2 }
    $1 == "setting" || $1 == "option" { inforce[now, $2] = value(); next }
    $1 == "file" { file[now, $2] = value(); files[$2]; read[now] = 1; next }
    $1 == "database" {
      name = substr($0, 10)
      at[now, name] = 1
      if (!now) order[++all] = name; else if (!((0, name) in at)) fresh[name]
    }
    $1 == "exists" { exists[now, $2] }
    $1 == "oid" { oid[now, name] = $2 }
    $1 == "relations" { count[now, name, $2] = $3; kind[$2] }
    $1 == "lost" { lost[now, name] = $2; sub(/^lost [0-9]+ /, ""); which[name] = $0 }
    $1 == "invalid" {
      invalid[now, name, substr($0, 15)]
      if (now) broken[name, substr($0, 15)] = name SUBSEP substr($0, 15)
    }
    function value(    said) {
      said = $0
      sub(/^[^ ]+ [^ ]+ /, "", said)
      return said
    }
    function shown(said) {
      return said ~ /^# / ? "another value, which is not shown" : said == "" ? "nothing" : substr(said, 3)
    }
    END {
      if (!now) exit 1
      if (identifier[0] != "" && identifier[1] != "" && identifier[0] != identifier[1])
        print "wrong: Another cluster answers: its system identifier is " identifier[1] ", not " identifier[0] \
          ". Stop the server that uses this port and socket, then go on with --resume."
      if (read[0] && read[1]) for (each in files)
        if (!(each in held) && file[0, each] != file[1, each] && inforce[0, each] != inforce[1, each])
          print "wrong: The setting " each " was " shown(file[0, each]) " in the files of the old server, and is " \
            shown(file[1, each]) " in those of the new one. Set it there as it was, then go on with --resume."
      for (at_all = 1; at_all <= all; at_all++) {
        name = order[at_all]
        if (!((1, name) in at)) {
          if ((1, oid[0, name]) in exists)
            print "note: The database " name " was renamed after the inventory was taken, " \
              "or it no longer allows connections."
          else
            print "gone " (oid[0, name] == "" ? 0 : oid[0, name]) " " name
          continue
        }
        said = ""
        for (each in kind) if (count[0, name, each] != count[1, name, each])
          said = said (said == "" ? "" : ", ") count[0, name, each] + 0 " " \
            (each in kinds ? kinds[each] : "of kind " each) \
            " and " count[1, name, each] + 0 " now"
        if (said != "")
          print "note: The database " name " had " said ": clients created or dropped some " \
            "after the inventory was taken."
        if (lost[1, name] + 0 > lost[0, name] + 0)
          print "wrong: In the database " name " " lost[1, name] " relations have no file, and " lost[0, name] + 0 \
            " had none before the stop: " which[name] ". Roll back with --rollback, " \
            "and check the disks of the old server."
      }
      for (name in fresh) print "note: The database " name " was created after the inventory was taken."
      for (each in broken) {
        split(broken[each], part, SUBSEP)
        if (!((0, part[1], part[2]) in invalid))
          print "warning: The index " part[2] " of the database " part[1] " is invalid: clients began to build it " \
            "after the inventory was taken, and did not finish. Rebuild it with REINDEX, or drop it."
      }
    }' || fail 'the inventories cannot be compared'
}

# compare_settings PATH SOCKET PORT SERIES SECONDS DATA AFTER CHOSEN [SETTING FILE]...   Compare the settings of the
# server in DATA with the inventory of the old cluster on standard input, and print a warning for each that differs.
# CHOSEN are names, with commas between, whose values in the files were chosen: a note after the cutover. FILE is the
# file that SETTING must lead to, `-` if it is not known. AFTER is `cutover` on the new server, and `rollback` on the
# old server that was started again. It never fails, because clients work there already and a retry would not help them.
compare_settings() {
  if settings_said=$( (print_differing_settings "$@") 2>&1); then
    printf '%s\n' "$settings_said"
  else
    case $7 in
      rollback) printf 'warning: The settings of the old server could not be compared with those before the stop.' ;;
      *) printf 'warning: The settings of the new server could not be compared with those of the old one.' ;;
    esac
    printf ' Compare them by hand. %s' "$settings_said" | tr '\n' ' '
    echo
  fi
}

# print_differing_settings PATH SOCKET PORT SERIES SECONDS DATA AFTER CHOSEN [SETTING FILE]...   Print a warning or a
# note for each setting that differs from the inventory on standard input; the lock file of the server in DATA says
# where it listens.
print_differing_settings() {
  connect_to "$@"
  differing_before=$(read_complete) || exit
  differing_port=$(sed -n 4p "$6/postmaster.pid") || fail "$6/postmaster.pid cannot be read"
  differing_socket=$(sed -n 5p "$6/postmaster.pid") || fail "$6/postmaster.pid cannot be read"
  [ -z "$differing_port" ] || export PGPORT="$differing_port"
  [ -z "$differing_socket" ] || export PGHOST="$differing_socket"
  differing_value=$(setting_value_sql)
  differing_now=$(query_without_options "$4" "
    select case when $(setting_source_sql "$4") and $differing_value is distinct from boot_val
    then 'set ' else 'value ' end || $(setting_line_sql "$differing_value || coalesce(' ' || unit, '')")
    from pg_settings
    where name not in ('data_directory', 'config_file', 'hba_file', 'ident_file', 'external_pid_file');") || exit
  differing_said=$(printf '%s\n' "$differing_before" '# now' "$differing_now" | after=$7 chosen=$8 awk '
    BEGIN {
      here = "on the new server"; there = "on the old one"
      for (many = split(ENVIRON["chosen"], names, ","); many; many--) chosen[names[many]]
      if (ENVIRON["after"] == "rollback") { here = "on the old server now"; there = "before the stop" }
    }
    $0 == "# now" { now = 1; next }
    { gsub(/[[:cntrl:]]/, "?") }
    $1 == "database" && !now { over = 1 }
    over && !now { next }
    function value(    said) {
      said = $0
      sub(/^[^ ]+ [^ ]+ /, "", said)
      return said
    }
    function shown(said) { return said ~ /^# / ? "another value, which is not shown," : "\"" substr(said, 3) "\"" }
    !now && ($1 == "setting" || $1 == "option") { old[$2] = value(); how[$2] = $1 }
    !now && $1 == "file" { file[$2] }
    now { new[$2] = value(); if ($1 == "set") set[$2] }
    END {
      if (!now) exit 1
      for (name in new) if ((name in old) ? old[name] != new[name] : (name in set)) {
        said = name in chosen && ENVIRON["after"] != "rollback" ? "note" : "warning"
        said = said ": The setting " name " is " shown(new[name]) " " here ", and was " \
          ((name in old) ? shown(old[name]) : "at its default") " " there
        if (name in chosen) { print said ". The value of the files is in force, as was chosen."; continue }
        if (how[name] == "option") said = said ", by an option on its command line"
        else if (name in file)
          said = said ": a file was edited, and the old server had not loaded it when its inventory was taken, " \
            "before the stop"
        print said ". Check whether this is intended, and change it otherwise."
      }
    }') || fail 'the settings cannot be compared'
  printf '%s\n' "$differing_said" | sort || fail 'sort failed'
  differing_after=$7
  [ "$7" != rollback ] || warn_of_other_process "$6" "$differing_before"
  shift 8
  while [ $# -gt 1 ]; do
    warn_of_differing_file "$differing_after" "$1" "$2"
    shift 2
  done
}

# print_process DATA   Print how the server in DATA runs, apart from its settings; nothing if this account cannot see
# that. Prints `limit VALUE NAME` for soft limits, `log FILE` if its messages go to a file, `path FOLDER` for each
# folder of its PATH, and `variable HASH NAME` for each other variable that a session does not set by itself. HASH has 32 bits,
# because the value may be a secret.
print_process() {
  [ -e "$1/postmaster.pid" ] || return 0
  process_number=$(head -n 1 -- "$1/postmaster.pid") || fail "$1/postmaster.pid cannot be read"
  process_folder=/proc/$process_number
  # In a container the lock file has another number. What a process with capabilities has, only root may read.
  process_lives_in "$process_number" "$1" && (: <"$process_folder/environ") 2>/dev/null || return 0
  sed -n 's/^Max \(open files\|locked memory\|processes\|stack size\|core file size\)  *\([^ ]*\).*/limit \2 \1/p' \
    "$process_folder/limits" || fail "the limits of process $process_number cannot be read"
  if [ -f "$process_folder/fd/2" ]; then
    process_log=$(readlink "$process_folder/fd/2") || fail 'readlink failed'
    printf 'log %s\n' "$process_log"
  fi
  process_variables=$(tr '\n\0' '?\n' <"$process_folder/environ") || fail 'tr failed'
  printf '%s\n' "$process_variables" | while IFS= read -r process_line; do
    process_name=${process_line%%=*} process_value=${process_line#*=}
    case $process_name in
      PATH)
        printf '%s\n' "$process_value" | tr : '\n' | while IFS= read -r process_one; do
          [ ! -d "$process_one" ] || printf 'path %s\n' "$process_one"
        done || fail 'tr failed'
        ;;
      '' | *[!A-Za-z0-9_]* | _ | pghaul_job | PWD | OLDPWD | SHLVL | HOME | USER | LOGNAME | SHELL | MAIL | TERM) ;;
      HOSTNAME | HIST* | LESS* | LS_COLORS | LANG | LANGUAGE | LC_* | SUDO_* | SSH_* | XDG_* | DBUS_*) ;;
      INVOCATION_ID | JOURNAL_STREAM | SYSTEMD_EXEC_PID | MANAGERPID | MAINPID | LISTEN_* | NOTIFY_SOCKET) ;;
      PGDATA | PGSYSCONFDIR | PGLOCALEDIR | PG_GRANDPARENT_PID) ;; # pg_ctl and the server program set them
      *)
        process_sum=$(printf '%s' "$process_value" | sha256sum) || fail 'sha256sum failed'
        printf 'variable %.8s %s\n' "$process_sum" "$process_name"
        ;;
    esac
  done || exit
}

# warn_of_other_process DATA BEFORE   Print a warning for each limit that is lower now than in the inventory BEFORE, if
# the messages of the server in DATA go to another file, and for what its environment lacks.
warn_of_other_process() {
  other_now=$(print_process "$1") || exit
  [ -n "$other_now" ] || return 0
  printf '%s\n' "$2" '# now' "$other_now" | awk '
    BEGIN { now = 0 }
    $0 == "# now" { now = 1; next }
    $1 == "database" && !now { over = 1 }
    over && !now { next }
    { gsub(/[[:cntrl:]]/, "?"); rest = $0; sub(/^[^ ]+ [^ ]+ /, "", rest) }
    $1 == "limit" { if (now) limit[rest] = $2; else { names[++many] = rest; limits[many] = $2 } }
    $1 == "log" { log_file[now] = substr($0, 5) }
    $1 == "path" { if (now) folder[substr($0, 6)]; else folders[++all] = substr($0, 6) }
    $1 == "variable" { if (now) variable[rest] = $2; else { variables[++every] = rest; values[every] = $2 } }
    function warn(said) {
      print "warning: " said ". If the old server needs this, restart it in the way in which you usually start it."
    }
    END {
      for (i = 1; i <= many; i++) if (names[i] in limit && limit[names[i]] != "unlimited" &&
        (limits[i] == "unlimited" || limit[names[i]] + 0 < limits[i] + 0))
        warn("The limit of the old server for " names[i] " is " limit[names[i]] " now, and was " limits[i] \
          " before the stop")
      if (log_file[0] != "" && log_file[0] != log_file[1])
        warn("The old server wrote its messages to " log_file[0] " before the stop, and does not any more")
      for (i = 1; i <= all; i++) if (!(folders[i] in folder) && folders[i] !~ /games$/)
        lacking = lacking (lacking == "" ? "" : ", ") folders[i]
      if (lacking != "") warn("The PATH of the old server lacks " lacking " now, which it had before the stop")
      for (i = 1; i <= every; i++) if (variable[variables[i]] "" != values[i] "")
        changed = changed (changed == "" ? "" : ", ") variables[i]
      if (changed != "")
        warn("Variables in the environment of the old server had other values before the stop: " changed)
    }' || fail 'awk failed'
}

# warn_of_differing_file AFTER SETTING FILE   Print a warning if SETTING leads to another file than FILE; `-`: FILE is
# not known.
warn_of_differing_file() {
  [ "$3" != - ] || return 0
  file_now=$(query_cluster "select setting from pg_settings where name = '$2';") || exit
  [ "$file_now" != "$3" ] && ! [ "$file_now" -ef "$3" ] || return 0
  case $1 in
    rollback) file_said="The setting $2 is \"$file_now\" on the old server now, and was \"$3\" before the stop" ;;
    *) file_said="The setting $2 is \"$file_now\" on the new server, where the file of the old one is \"$3\"" ;;
  esac
  printf 'warning: %s. Check whether this is intended, and change it otherwise.' "$file_said" | tr '[:cntrl:]' '?' ||
    fail 'tr failed'
  echo
}

# list_clients PATH SOCKET PORT SERIES SECONDS   Print the connected clients, those with the most connections first.
list_clients() {
  connect_to "$@"
  watch_slots "$2" "$3"
  clients_name=application_name clients_which='pid <> pg_backend_pid()'
  case $4 in
    8.*) clients_name="''::text" clients_which='procpid <> pg_backend_pid()' ;;
    9.[01]) clients_which='procpid <> pg_backend_pid()' ;;
    9.*) ;;
    *) clients_which="$clients_which and backend_type in ('client backend', 'walsender')" ;;
  esac
  query_cluster "
    select regexp_replace(count(*)::text || ' of ' || coalesce(usename::text, 'nobody')
    || coalesce(' on ' || datname, '') || coalesce(' from ' || host(client_addr), ', local')
    || case when $clients_name = '' then '' else ', ' || $clients_name end, '[[:cntrl:]]', '?', 'g')
    from pg_stat_activity where $clients_which
    group by usename, datname, client_addr, $clients_name order by count(*) desc, 1;"
}

# warn_of_collation_versions PATH SOCKET PORT SERIES SECONDS   Print a warning for each database whose default collation
# has another version on this server.
warn_of_collation_versions() {
  connect_to "$@"
  query_cluster "
    select 'warning: the collation of database ' || $(escaped_name_sql datname) ||
    ' had version ' || datcollversion || ' on the old server and has version ' ||
    coalesce(pg_database_collation_actual_version(oid), 'unknown') || ' on the new server. Rebuild its indexes on text'
    from pg_database where datcollversion <> coalesce(pg_database_collation_actual_version(oid), '') order by datname;"
}

# query_new_cluster PATH SOCKET PORT SERIES SECONDS   Print the version of the server, whether it is in recovery, and
# its number of databases.
query_new_cluster() {
  connect_to "$@"
  query_cluster 'select version(), pg_is_in_recovery(), (select count(*) from pg_database);'
}

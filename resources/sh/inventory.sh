# What SQL tells of a cluster: asked before the stop, after the local-only start, and after the cutover.

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
  # to compile costs more than the questions here, and where its library cannot be loaded the first of them would fail
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

# ask_cluster STATEMENTS   ask_sql in the database postgres, or in template1 where that is gone or lets nobody in
ask_cluster() {
  keep_slots
  if cluster_said=$(printf '%s\n' "$1" | in_database postgres psql -XAtqw -v ON_ERROR_STOP=1); then
    [ -z "$cluster_said" ] || printf '%s\n' "$cluster_said"
  elif [ $? -ne 2 ] || [ -n "$cluster_said" ] || ! (ask_sql template1 "$1") 2>/dev/null; then # 2: there was no connection
    fail 'the database postgres could not be asked'
  fi
}

# ask_as_set SERIES STATEMENTS   ask_cluster in a session that is given no options of ours
# For pg_settings those would stand in the place of what files, role and database say. What SET changes leaves reset_val as it was;
# it looks for no function, so that it may come ahead of the search path.
ask_as_set() {
  (
    case $1 in
      1[1-9] | [2-9][0-9]) as_set_first='set jit = off;' ;;
      *) as_set_first='' ;;
    esac
    PGOPTIONS=''
    ask_cluster "set search_path = pg_catalog; set role none; set statement_timeout = 60000; $as_set_first
      $2"
  ) || exit
}

# ask_sql DATABASE STATEMENTS   print what they select there, bare; the first that fails ends it
ask_sql() {
  keep_slots
  printf '%s\n' "$2" | in_database "$1" psql -XAtqw -v ON_ERROR_STOP=1 || fail "the database $1 could not be asked"
}

# database_names   print a line for each database that takes connections, its name as `escaped` has it; each row says how many there
# must be
database_names() {
  names_open='datallowconn and datconnlimit <> -2 and not datistemplate' # -2: a DROP DATABASE was interrupted
  names_found=$(ask_cluster "
    select (select count(*) from pg_database where $names_open)::text || ' ' || $(escaped datname)
    from pg_database where $names_open order by datname;") || exit
  names_number=$(printf '%s\n' "$names_found" | grep -c '') || fail 'grep failed'
  [ "${names_found%% *}" = "$names_number" ] || fail 'the list of the databases broke off'
  printf '%s\n' "$names_found" | cut -d ' ' -f 2- || fail 'cut failed'
}

# take_inventory PATH SOCKET PORT SERIES SECONDS DATA   print what the cluster in DATA holds, for same_inventory and compare_settings
# A line each; of what may hold a secret a hash, of 32 bits; control characters are question marks. Sorted here: two servers
# may sort otherwise.
#   identifier N                           the system identifier, since 9.6
#   setting NAME = VALUE, option NAME = …  what is in force by a file, and by the server's command line
#   file NAME = TEXT                       what the files say, in force or not, since 9.5
#   exists OID                             each database, also one that takes no connections
#   database NAME, as `escaped` has it; then of that database:
#     oid N; relations KIND N; invalid index NAME; lost N NAMES, relations that have no file
take_inventory() {
  connect_to "$@"
  leave_slots "$2" "$3"
  enter "$6"
  inventory_files='' inventory_identifier='' inventory_value=setting inventory_source=$(given_to_all "$4")
  case $4 in
    8.*) ;;
    *) inventory_value=$(value_as_set) ;;
  esac
  case $4 in
    8.* | 9.[0-5]) ;;
    *) inventory_identifier="select 'identifier ' || system_identifier::text from pg_control_system();" ;;
  esac
  case $4 in
    8.* | 9.[0-4]) ;;
    *) inventory_files=$(ask_cluster "select 'yes' from pg_roles where rolname = current_user and rolsuper;") || exit ;;
  esac
  # of several lines for one setting the last one counts
  [ -z "$inventory_files" ] || inventory_files="
    select distinct on (name) 'file ' || $(shown_setting setting) from pg_file_settings
    where name is not null and setting is not null order by name, seqno desc;"
  inventory=$(ask_as_set "$4" "$inventory_identifier
    select case source when 'command line' then 'option ' else 'setting ' end ||
    $(shown_setting "$inventory_value || coalesce(' ' || unit, '')") from pg_settings where $inventory_source;
    select 'exists ' || oid::text from pg_database;
    $inventory_files") || exit
  printf '%s\n' "$inventory" | sort || fail 'sort failed'
  inventory_names=$(database_names) || exit
  printf '%s\n' "$inventory_names" | while IFS= read -r inventory_name; do
    printf 'database %s\n' "$inventory_name"
    whole_name "$inventory_name"
    # shellcheck disable=SC2154 # whole_name sets it
    inventory=$(ask_sql "$name_whole" "
      select 'oid ' || oid::text from pg_database where datname = current_database();
      select 'relations ' || c.relkind::text || ' ' || count(*)::text from pg_class c
      join pg_namespace n on n.oid = c.relnamespace where n.nspname !~ '^pg_(temp|toast_temp)' group by c.relkind;
      select 'invalid index ' || regexp_replace(indexrelid::regclass::text, '[[:cntrl:]]', '?', 'g')
      from pg_index where not indisvalid;") || exit
    printf '%s\n' "$inventory" | sort || fail 'sort failed'
    case $4 in 8.*) ;; *) lost_relations "$name_whole" || exit ;; esac
  done || exit
  end_mark
}

# value_as_set   print the SQL for the value of a setting, also where ask_as_set has set another one
value_as_set() {
  echo "case when source = 'session' then reset_val else setting end"
}

# given_to_all SERIES   print the SQL for whether files or the command line give a setting, also where ask_as_set has set it in the place
# of what they gave; what the role or the database of this session has is theirs alone
given_to_all() {
  case $1 in
    8.*) echo "source in ('configuration file', 'command line')" ;;
    *)
      echo "(source in ('configuration file', 'command line') or source = 'session' and reset_val is distinct from boot_val
        and not exists (select 1 from (select unnest(setconfig) as given from pg_db_role_setting
          where setdatabase in (0, (select oid from pg_database where datname = current_database()))
          and setrole in (0, (select oid from pg_roles where rolname = session_user))) as own
        where split_part(given, '=', 1) = name))"
      ;;
  esac
}

# shown_setting VALUE   print the SQL for a setting's name and VALUE in a line: of what may hold a secret a hash
shown_setting() {
  printf '%s' "name || case when name ~ '(conninfo|command|passphrase|password|secret|token|salt|[.])'
    and name not like 'ssl%file' then ' # ' || hashtext($1)::text
    else ' = ' || regexp_replace($1, '[[:cntrl:]]', '?', 'g') end"
}

# lost_relations DATABASE   here, in the data directory: print how many of its relations have no file, with the first of these
# files, and a warning
# Clients may drop a relation, or write it anew, between two looks: lost is what its catalogs have, the disk has not, and the
# catalogs still have then.
lost_relations() {
  lost_first=$(absent_relations "$1") || exit
  [ -n "$lost_first" ] || return 0
  lost_again=$(absent_relations "$1") || exit
  printf '%s\n' "$lost_first" "$lost_again" | database=$1 awk '
    NF && seen[$0]++ { many++; if (many <= 5) names = names " " $0 }
    END {
      if (!many) exit
      said = many names (many > 5 ? " ..." : "")
      database = ENVIRON["database"]
      gsub(/[[:cntrl:]]/, "?", database)
      print "lost " said
      print "warning: In the database " database " these relations have no file: " said ". Look at its disks."
    }' || fail 'awk failed'
}

# absent_relations DATABASE   here, in the data directory: print the file of each relation that has none
# By pg_relation_filepath for one relation of a tablespace alone: for each of a million it would take the server much memory.
absent_relations() {
  absent_files=$(ask_sql "$1" "
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

# same_inventory PATH SOCKET PORT SERIES SECONDS DATA HELD   on the new server: hold what DATA holds against the old inventory on
# standard input; print notes and warnings
# While the inventory was taken clients worked, and the old server may have run with other settings than its files have:
# what that explains is a note with numbers. HELD: the settings that the local-only start sets, with commas between them.
# Fails where another cluster answers, a database is gone whose files are there, a relation has no file, or a file says
# otherwise than the old one and the setting in force differs too.
same_inventory() {
  same_data=$6 same_held=$7
  same_before=$(take_whole) || exit
  same_now=$(take_inventory "$1" "$2" "$3" "$4" "$5" "$6") || exit
  same_judged=$(judged "$same_before" "$same_now" "$same_held") || exit
  enter "$same_data"
  same_said=$(printf '%s\n' "$same_judged" | while IFS=' ' read -r same_word same_rest; do
    case $same_word in
      gone) gone_database "${same_rest%% *}" "${same_rest#* }" ;;
      *) [ -z "$same_word" ] || printf '%s %s\n' "$same_word" "$same_rest" ;;
    esac
  done) || exit
  printf '%s\n' "$same_said" | sed '/^$/d; /^wrong: /d' || fail 'sed failed'
  same_wrong=$(printf '%s\n' "$same_said" | awk '/^wrong: / { printf "%s%s", many++ ? " " : "", substr($0, 8) }') ||
    fail 'awk failed'
  [ -z "$same_wrong" ] || fail "$same_wrong"
}

# gone_database OID NAME   here, in the data directory: a database of the inventory that is none any more: was it dropped?
gone_database() {
  for gone_folder in "base/$1" pg_tblspc/*/"$1" pg_tblspc/*/*/"$1"; do
    if [ -e "$gone_folder" ]; then
      echo "wrong: The database $2 is not there, but its files in $gone_folder are. Go back to the old server with --rollback."
      return 0
    fi
  done
  echo "note: The database $2 was dropped after the inventory was taken."
}

# judged BEFORE NOW HELD   print how two inventories differ: `wrong: …`, `warning: …`, `note: …` or, of a database, `gone OID NAME`
judged() {
  printf '%s\n' "$1" '# now' "$2" | held=$3 awk '
    BEGIN {
      now = 0
      for (many = split(ENVIRON["held"], names, ","); many; many--) held[names[many]]
      kinds["r"] = "tables"; kinds["i"] = "indexes"; kinds["S"] = "sequences"; kinds["t"] = "TOAST tables"
      kinds["v"] = "views"; kinds["m"] = "materialized views"; kinds["c"] = "composite types"
      kinds["f"] = "foreign tables"; kinds["p"] = "partitioned tables"; kinds["I"] = "partitioned indexes"
      # where things lie is the business of each server
      for (many = split("data_directory config_file hba_file ident_file external_pid_file", names, " "); many; many--)
        held[names[many]]
    }
    $0 == "# now" { now = 1; next }
    { gsub(/[[:cntrl:]]/, "?") }
    $1 == "identifier" { identifier[now] = $2 }
    $1 == "setting" || $1 == "option" { inforce[now, $2] = value(); next }
    $1 == "file" { file[now, $2] = value(); files[$2]; read[now] = 1; next }
    $1 == "database" { name = substr($0, 10); at[now, name] = 1; if (!now) order[++all] = name; else if (!((0, name) in at)) fresh[name] }
    $1 == "exists" { exists[now, $2] }
    $1 == "oid" { oid[now, name] = $2 }
    $1 == "relations" { count[now, name, $2] = $3; kind[$2] }
    $1 == "lost" { lost[now, name] = $2; sub(/^lost [0-9]+ /, ""); which[name] = $0 }
    $1 == "invalid" { invalid[now, name, substr($0, 15)]; if (now) broken[name, substr($0, 15)] = name SUBSEP substr($0, 15) }
    function value(    said) {
      said = $0
      sub(/^[^ ]+ [^ ]+ /, "", said)
      return said
    }
    function shown(said) { return said ~ /^# / ? "another value, which is not shown" : said == "" ? "nothing" : substr(said, 3) }
    END {
      if (!now) exit 1
      if (identifier[0] != "" && identifier[1] != "" && identifier[0] != identifier[1])
        print "wrong: Another cluster answers: its system identifier is " identifier[1] ", not " identifier[0] \
          ". End the server that has its port and socket, then go on with --resume."
      if (read[0] && read[1]) for (each in files)
        if (!(each in held) && file[0, each] != file[1, each] && inforce[0, each] != inforce[1, each])
          print "wrong: The setting " each " was " shown(file[0, each]) " in the files of the old server, and is " \
            shown(file[1, each]) " in those of the new one. Set it there as it was, then go on with --resume."
      for (at_all = 1; at_all <= all; at_all++) {
        name = order[at_all]
        if (!((1, name) in at)) {
          if ((1, oid[0, name]) in exists)
            print "note: The database " name " was renamed after the inventory was taken, or it takes no connections any more."
          else
            print "gone " (oid[0, name] == "" ? 0 : oid[0, name]) " " name
          continue
        }
        said = ""
        for (each in kind) if (count[0, name, each] != count[1, name, each])
          said = said (said == "" ? "" : ", ") count[0, name, each] + 0 " " (each in kinds ? kinds[each] : "of kind " each) \
            " and " count[1, name, each] + 0 " now"
        if (said != "") print "note: The database " name " had " said ": clients created or dropped some after the inventory was taken."
        if (lost[1, name] + 0 > lost[0, name] + 0)
          print "wrong: In the database " name " " lost[1, name] " relations have no file, and " lost[0, name] + 0 \
            " had none before the stop: " which[name] ". Go back to the old server with --rollback, and look at its disks."
      }
      for (name in fresh) print "note: The database " name " was created after the inventory was taken."
      for (each in broken) {
        split(broken[each], part, SUBSEP)
        if (!((0, part[1], part[2]) in invalid)) print "warning: The index " part[2] " of the database " part[1] \
          " is invalid: clients began or broke off to build it after the inventory was taken. Rebuild it with REINDEX, or drop it."
      }
    }' || fail 'the inventories cannot be compared'
}

# compare_settings PATH SOCKET PORT SERIES SECONDS DATA AFTER CHOSEN [SETTING FILE]...   hold the settings of the server in DATA against
# the inventory of the old one on standard input; print a warning for each that differs; CHOSEN, with commas between, are names of which
# the files are to hold: a note after the cutover. FILE is what SETTING must lead to, `-` where that is not known.
# AFTER `cutover`: on the new server, open to clients; `rollback`: on the old one, started again. It never fails: clients work
# there already, and nothing that could be done again would help them.
compare_settings() {
  if settings_said=$( (differing_settings "$@") 2>&1); then
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

# differing_settings PATH SOCKET PORT SERIES SECONDS DATA AFTER CHOSEN [SETTING FILE]...   print a warning, or a note, for each setting that differs from the
# inventory on standard input; the lock file of the server in DATA says where it listens
differing_settings() {
  connect_to "$@"
  differing_before=$(take_whole) || exit
  differing_port=$(sed -n 4p "$6/postmaster.pid") || fail "$6/postmaster.pid cannot be read"
  differing_socket=$(sed -n 5p "$6/postmaster.pid") || fail "$6/postmaster.pid cannot be read"
  [ -z "$differing_port" ] || export PGPORT="$differing_port"
  [ -z "$differing_socket" ] || export PGHOST="$differing_socket"
  differing_value=$(value_as_set)
  differing_now=$(ask_as_set "$4" "
    select case when $(given_to_all "$4") and $differing_value is distinct from boot_val
    then 'set ' else 'value ' end || $(shown_setting "$differing_value || coalesce(' ' || unit, '')") from pg_settings
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
        said = (name in chosen && ENVIRON["after"] != "rollback" ? "note" : "warning") ": The setting " name " is " shown(new[name]) " " here ", and was " \
          ((name in old) ? shown(old[name]) : "at its default") " " there
        if (name in chosen) { print said ": what the files say holds, as was chosen."; continue }
        if (how[name] == "option") said = said ", by an option on its command line"
        else if (name in file) said = said ": a file was edited, and the old server had not loaded it when its inventory was taken, before the stop"
        print said ". Look whether that is wanted, and change it where it is not."
      }
    }') || fail 'the settings cannot be compared'
  printf '%s\n' "$differing_said" | sort || fail 'sort failed'
  differing_after=$7
  shift 8
  while [ $# -gt 1 ]; do
    differing_file "$differing_after" "$1" "$2"
    shift 2
  done
}

# differing_file AFTER SETTING FILE   print a warning where SETTING leads to another file than FILE; `-`: which is not known
differing_file() {
  [ "$3" != - ] || return 0
  file_now=$(ask_cluster "select setting from pg_settings where name = '$2';") || exit
  [ "$file_now" != "$3" ] && ! [ "$file_now" -ef "$3" ] || return 0
  case $1 in
    rollback) file_said="The setting $2 is \"$file_now\" on the old server now, and was \"$3\" before the stop" ;;
    *) file_said="The setting $2 is \"$file_now\" on the new server, where the file of the old one is \"$3\"" ;;
  esac
  printf 'warning: %s. Look whether that is wanted, and change it where it is not.' "$file_said" | tr '[:cntrl:]' '?' || fail 'tr failed'
  echo
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
  ask_cluster "
    select regexp_replace(count(*)::text || ' of ' || coalesce(usename::text, 'nobody') || coalesce(' on ' || datname, '')
    || coalesce(' from ' || host(client_addr), ', local') || case when $clients_name = '' then '' else ', ' || $clients_name
    end, '[[:cntrl:]]', '?', 'g') from pg_stat_activity where $clients_which
    group by usename, datname, client_addr, $clients_name order by count(*) desc, 1;"
}

# collation_versions PATH SOCKET PORT SERIES SECONDS   print a warning for each database whose default collation has another version here
collation_versions() {
  connect_to "$@"
  ask_cluster "
    select 'warning: the collation of database ' || $(escaped datname) || ' was ' || datcollversion || ' on old and is ' ||
    coalesce(pg_database_collation_actual_version(oid), 'unknown') || ' here: rebuild its indexes on text'
    from pg_database where datcollversion <> coalesce(pg_database_collation_actual_version(oid), '') order by datname;"
}

# ask_new PATH SOCKET PORT SERIES SECONDS   print the server's version, whether it is in recovery, and how many databases it has
ask_new() {
  connect_to "$@"
  ask_cluster 'select version(), pg_is_in_recovery(), (select count(*) from pg_database);'
}

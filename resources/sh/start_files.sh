# Whether a server could be started with its files as they stand on the disk, and what of them is not in force. A running
# server goes on with what it read last: an error in a file that was edited since keeps it from ever starting again.

# start_complaints PROGRAMS SERIES DATA CONFIG   print why the server program does not take its configuration, a line each, as
# `postgres -C` reads it, which starts nothing and locks nothing; nothing where it does, or before 9.2, which has no -C
# CONFIG is its configuration file outside of DATA, or `-`. Whatever the files say of languages, logs and prefixes, it complains
# in English on standard error. A value may be a secret: what PostgreSQL quotes behind a colon, or as a token, is cut off.
start_complaints() {
  case $2 in 8.* | 9.[01]) return 0 ;; *) ;; esac
  complaints_program=$1/postgres
  if [ "$4" = - ]; then set -- -D "$3"; else set -- -D "$3" -c "config_file=$4"; fi
  set -- "$@" -c lc_messages=C -c log_destination=stderr -c log_line_prefix= -c log_min_messages=warning
  complaints_status=0
  complaints_said=$(LC_ALL=C "$complaints_program" -C port "$@" 2>&1 >/dev/null) || complaints_status=$?
  [ "$complaints_status" -ne 0 ] || return 0
  complaints_said=$(printf '%s\n' "$complaints_said" |
    sed -n 's/, near token .*//; s/": ".*/"/; s/^\(LOG\|ERROR\|FATAL\|PANIC\):  //p') || fail 'sed failed'
  printf '%s\n' "${complaints_said:-$complaints_program ended with exit status $complaints_status}"
}

# in_a_line   standard input as one line, its lines joined by semicolons
in_a_line() {
  sed -e ':more' -e '$!{N' -e 'b more' -e '}' -e 's/\n/; /g' || fail 'sed failed'
}

# prove_restartable PATH DATA CONFIG SERIES [SOCKET PORT SECONDS]   the server in DATA could be started again with its files as
# they stand; fails where it could not
# With the words behind SERIES the running server is asked about pg_hba.conf, which it reads for that (since 10). Its word for
# an error is cut at a quote or a colon: behind it stands a word of the line, which may be a password.
prove_restartable() {
  PATH=$1
  again_programs=$(command -v postgres) || fail 'there is no server program in the PATH of the cluster'
  again_said=$(start_complaints "${again_programs%/*}" "$4" "$2" "$3") || exit
  [ -z "$again_said" ] || again_refuses "$again_said"
  [ $# -gt 4 ] || return 0
  case $4 in 8.* | 9.*) return 0 ;; *) ;; esac
  connect_to "$1" "$5" "$6" "$4" "$7"
  again_said=$(ask_cluster "
    select regexp_replace(current_setting('hba_file'), '[[:cntrl:]]', '?', 'g') || ' line ' || line_number || ': ' ||
    rtrim(substring(error from '^[^:\"]*')) from pg_hba_file_rules where error is not null order by line_number limit 5;") || exit
  [ -z "$again_said" ] || again_refuses "$again_said"
}

# again_refuses LINES   fail with them
again_refuses() {
  again_said=$(printf '%s\n' "$1" | in_a_line) || exit
  fail "the old server could not be started again with its files as they stand: $again_said. It was not stopped;" \
    'start again what was stopped for the move, should this take long. Mend the file on the old server, and go on with --resume'
}

# cluster_start_files   print `complaint LINE` for each that start_complaints has, then `edited NAME HIDDEN IN-FORCE|IN-FILE` for each setting
# whose value in the files is not the one in force, `option …` where it is the server's command line or environment that gives
# it, all in hexadecimal digits, or `beyond` and the word where there may be more than 60; the last line is `whole`
# What may hold a secret is compared here, and not printed. Settings of extensions are left out: without its library the
# program does not know their units. What a role or database has set is stronger than the files.
# shellcheck disable=SC2154 # cluster_… are set by cluster_open
cluster_start_files() {
  [ -x "$cluster_programs/postgres" ] || fail "no server program of series ${cluster_series:-unknown} was found"
  files_config=$cluster_config
  if [ -n "$cluster_pid" ]; then
    sql_reach
    sql_environment
    keep_slots
    sql_finds_home
    files_config=$(echo 'show config_file;' | ask "$sql_home" -v ON_ERROR_STOP=1) || fail 'psql failed: where its configuration lies is not known'
  fi
  [ -n "$files_config" ] || [ -e "$cluster_folder/postgresql.conf" ] || fail 'where its configuration lies is not known'
  files_said=$(start_complaints "$cluster_programs" "$cluster_series" "$cluster_folder" "${files_config:--}") || exit
  if [ -n "$files_said" ]; then
    printf '%s\n' "$files_said" | while IFS= read -r files_line; do
      files_line=$(hex "$files_line") || exit
      printf 'complaint %s\n' "$files_line"
    done || exit
  elif [ -n "$cluster_pid" ]; then
    files_not_in_force edited
    files_not_in_force option
  fi
  echo whole
}

# files_not_in_force WORD   the lines of cluster_start_files that begin with WORD; nothing before 9.2
files_not_in_force() {
  case $cluster_series in 8.* | 9.[01]) return 0 ;; *) ;; esac
  keep_slots
  files_asked=$(
    [ "$1" != edited ] || unset PGOPTIONS # its questions begin with SET: see ask_as_set
    sql_questions "$1" | ask "$sql_home" -v ON_ERROR_STOP=1
  ) || fail 'psql failed'
  files_many=$(printf '%s\n' "$files_asked" | grep -c '') || fail 'grep failed'
  if [ "$files_many" -gt 60 ]; then # each costs a program's start
    echo "beyond $1"
    return
  fi
  [ -z "$files_asked" ] || printf '%s\n' "$files_asked" | while read -r files_name files_hidden files_value; do
    files_now=$(
      unset PGPORT PGDATESTYLE PGCLIENTENCODING # which the server program reads as psql does
      LC_ALL=C "$cluster_programs/postgres" -C "$files_name" -D "$cluster_folder" -c "config_file=$files_config" 2>/dev/null
    ) || continue # the series does not tell it so
    files_now=$(hex "$files_now") || exit
    [ "$files_now" != "$files_value" ] || continue
    if [ "$files_hidden" = t ]; then files_now='' files_value=''; fi
    printf '%s %s %s %s|%s\n' "$1" "$files_name" "$files_hidden" "$files_value" "$files_now"
  done || exit
}

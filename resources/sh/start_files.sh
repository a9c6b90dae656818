# Whether a server could be started again with its configuration files as they are on disk, and which of their settings
# are not in force. A running server keeps what it has read last, so an error in a file that was edited since would
# prevent its next start.

# print_start_errors PROGRAMS SERIES DATA CONFIG   Print why the server program rejects its configuration, one reason
# per line, as `postgres -C` reads it, which starts and locks nothing; nothing if it accepts it, or before 9.2, which
# has no -C. CONFIG is its configuration file if that is not DATA/postgresql.conf, or `-`. Whatever the files say about
# languages, logs and prefixes, the errors are in English on standard error. A value may be a secret: what PostgreSQL
# quotes after a colon, or as a token, is cut off.
print_start_errors() {
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

# join_lines   Print standard input as one line, with semicolons between its lines.
join_lines() {
  sed -e ':more' -e '$!{N' -e 'b more' -e '}' -e 's/\n/; /g' || fail 'sed failed'
}

# check_restartable PATH DATA CONFIG SERIES [SOCKET PORT SECONDS]   Fail if the server in DATA could not be started
# again with its files and options. With the words after SERIES, the running server is asked about pg_hba.conf and the
# files that it includes, which it reads for that (since 10). Its message is cut at a quote or a colon, because a word
# of the line follows, which may be a password.
check_restartable() {
  PATH=$1
  again_programs=$(command -v postgres) || fail 'the program postgres was not found in the PATH of the cluster'
  again_said=$(print_start_errors "${again_programs%/*}" "$4" "$2" "$3") || exit
  [ -z "$again_said" ] || fail_restart "$again_said"
  # Both servers are started with these options: see start_by_pg_ctl.
  (print_start_options "$2") >/dev/null 2>&1 ||
    fail "the options of the old server cannot be read back from $2/postmaster.opts (a value contains a quotation" \
      'mark, for example), so no server could be started with them again. It was not stopped. Write the settings into' \
      'its files, restart it without these options, and go on with --resume'
  [ $# -gt 4 ] || return 0
  case $4 in 8.* | 9.*) return 0 ;; *) ;; esac
  connect_to "$1" "$5" "$6" "$4" "$7"
  # Included files have been possible since 16, and the view has named the file since then.
  case $4 in 1[0-5]) again_file="current_setting('hba_file')" ;; *) again_file=file_name ;; esac
  again_said=$(query_cluster "
    select regexp_replace($again_file, '[[:cntrl:]]', '?', 'g') || ' line ' || line_number || ': ' ||
    rtrim(substring(error from '^[^:\"]*')) from pg_hba_file_rules where error is not null
    order by $again_file, line_number limit 5;") || exit
  [ -z "$again_said" ] || fail_restart "$again_said"
}

# fail_restart LINES   Fail with these reasons.
fail_restart() {
  again_said=$(printf '%s\n' "$1" | join_lines) || exit
  fail "the old server could not be started again with its configuration files: $again_said. It was not stopped." \
    'Start the applications again if this takes long. Correct the file on the old server, and go on with --resume'
}

# cluster_start_files
# Print what would be different after a restart of the cluster with its files as they are now. Prints `complaint LINE`
# for each error of print_start_errors. Prints `edited NAME HIDDEN UNIT IN-FORCE|IN-FILE` for each setting whose value in
# the files is not the one in force, and `option …` if the value in force comes from the server's command line or
# environment. All values are in hexadecimal digits, and count UNIT as pg_settings does; it is `-` if there is none. If
# there may be more than 60 such settings, `beyond` and the word are printed instead. The last line is `whole`. Values that may contain a secret are compared here, and are not
# printed. Settings of extensions are left out, because without its library the server program does not know their
# units. Settings of roles and databases override the files.
# shellcheck disable=SC2154 # cluster_… are set by cluster_open
cluster_start_files() {
  [ -x "$cluster_programs/postgres" ] ||
    fail "no server program of PostgreSQL ${cluster_series:-of an unknown version} was found"
  files_config=$cluster_config
  if [ -n "$cluster_pid" ]; then
    sql_reach
    sql_environment
    require_free_slot
    sql_find_home
    files_config=$(echo 'show config_file;' | run_psql "$sql_home" -v ON_ERROR_STOP=1) ||
      fail 'psql failed, so the location of the configuration is not known'
  fi
  [ -n "$files_config" ] || [ -e "$cluster_folder/postgresql.conf" ] ||
    fail 'the location of the configuration is not known'
  files_said=$(print_start_errors "$cluster_programs" "$cluster_series" "$cluster_folder" "${files_config:--}") || exit
  if [ -n "$files_said" ]; then
    printf '%s\n' "$files_said" | while IFS= read -r files_line; do
      files_line=$(hex "$files_line") || exit
      printf 'complaint %s\n' "$files_line"
    done || exit
  elif [ -n "$cluster_pid" ]; then
    print_settings_not_in_force edited
    print_settings_not_in_force option
  fi
  echo whole
}

# print_settings_not_in_force WORD   Print the lines of cluster_start_files that begin with WORD. Prints nothing before
# 9.2.
print_settings_not_in_force() {
  case $cluster_series in 8.* | 9.[01]) return 0 ;; *) ;; esac
  require_free_slot
  files_asked=$(
    [ "$1" != edited ] || unset PGOPTIONS # its questions begin with SET: see query_without_options
    sql_questions "$1" | run_psql "$sql_home" -v ON_ERROR_STOP=1
  ) || fail 'psql failed'
  files_many=$(printf '%s\n' "$files_asked" | grep -c '') || fail 'grep failed'
  if [ "$files_many" -gt 60 ]; then # each costs a program's start
    echo "beyond $1"
    return
  fi
  [ -z "$files_asked" ] || printf '%s\n' "$files_asked" | while read -r files_name files_hidden files_unit files_value; do
    files_now=$(
      unset PGPORT PGDATESTYLE PGCLIENTENCODING # which the server program reads as psql does
      LC_ALL=C "$cluster_programs/postgres" -C "$files_name" -D "$cluster_folder" \
        -c "config_file=$files_config" 2>/dev/null
    ) || continue # the series does not tell it so
    files_now=$(hex "$files_now") || exit
    [ "$files_now" != "$files_value" ] || continue
    if [ "$files_hidden" = t ]; then files_now='' files_value=''; fi
    printf '%s %s %s %s %s|%s\n' "$1" "$files_name" "$files_hidden" "$files_unit" "$files_value" "$files_now"
  done || exit
}
